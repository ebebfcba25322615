/// Resolves the names in a document: aliases to namespaces, and type names to types.
struct CSDLNameResolver {
    /// Namespaces by alias, for the document that is being read (OData CSDL 4.01, 5.1).
    private var names = CSDLNameMap()
    /// The types that the documents declare, with their elements.
    var declared: [QualifiedName: (type: TypeReference, node: CSDLDocument.Node)] = [:]
    private let document: CSDLDocument
    /// The unambiguous simple names of types, computed when a name without a namespace occurs.
    private var simpleNames: [String: QualifiedName]?
    /// The types by the number of the text that names them, because documents repeat few names many times.
    private var resolved = CSDLTextTable<TypeReference>(count: 0)
    private var fullNames = CSDLTextTable<String>(count: 0)

    init(document: CSDLDocument) { self.document = document }

    /// Switches to the aliases of another document.
    mutating func enter(_ aliases: [String: String]) {
        names = CSDLNameMap(aliases)
        resolved = CSDLTextTable(count: document.texts.count)
        fullNames = CSDLTextTable(count: document.texts.count)
    }

    /// Returns a dotted name with its alias replaced.
    func fullName(_ name: some StringProtocol) -> String { names.name(name) }

    /// Returns a dotted name of the document with its alias replaced. Results are cached because names of terms
    /// occur thousands of times.
    mutating func fullName(text: CSDLDocument.Text) -> String {
        if let known = fullNames[text] { return known }
        let name = fullName(document.string(text))
        fullNames.insert(name, for: text)
        return name
    }

    func qualifiedName(_ text: String) -> QualifiedName? { QualifiedName(fullName(text)) }

    /// Returns the qualified name for a name without a namespace; `nil` if the text is not a simple name.
    ///
    /// The namespace is that of the surrounding schema, unless only one declared type has this name and is in
    /// another schema.
    mutating func qualified(_ text: String, in namespace: String) -> QualifiedName? {
        let separators: Set<UInt8> = [UInt8(ascii: "."), UInt8(ascii: "/"), UInt8(ascii: "("), UInt8(ascii: " ")]
        guard !text.isEmpty, !namespace.isEmpty, !text.utf8.contains(where: separators.contains) else { return nil }
        let own = QualifiedName(namespace, text)
        guard declared[own] == nil else { return own }
        if simpleNames == nil {
            let names = Dictionary(grouping: declared.keys) { $0.name }
            simpleNames = names.compactMapValues { $0.count == 1 ? $0[0] : nil }
        }
        return simpleNames?[text] ?? own
    }

    /// Returns the type with a name in the document, and whether the type is known.
    mutating func type(_ text: CSDLDocument.Text) -> (type: TypeReference, isKnown: Bool) {
        if let type = resolved[text] { return (type, true) }
        let (type, isKnown) = type(document.string(text))
        if isKnown { resolved.insert(type, for: text) }
        return (type, isKnown)
    }

    /// Returns the type with a name, and whether the type is known.
    func type(_ text: String) -> (type: TypeReference, isKnown: Bool) {
        guard let name = text.collectionElement else { return elementType(text) }
        // A collection of collections is not valid in OData and is treated as unknown.
        let (element, isKnown) = elementType(String(name))
        return (.collection(element), isKnown)
    }

    private func elementType(_ text: String) -> (type: TypeReference, isKnown: Bool) {
        let name = fullName(text)
        // CSDL 1 omits `Edm.`.
        if let type = QualifiedName(name).flatMap({ declared[$0]?.type }) ?? TypeReference(builtIn: name)
            ?? (name.utf8.contains(UInt8(ascii: ".")) ? nil : TypeReference(builtIn: "Edm." + name))
        {
            return (type, true)
        }
        return (.untyped(name), false)
    }

    /// Returns the full name of a type, which may be unknown.
    func typeName(_ text: String) -> String {
        let (type, isKnown) = type(text)
        return isKnown ? type.description : names.type(text)
    }

    /// Returns a path with the aliases in its segments replaced.
    func path(_ text: String) -> String { names.path(text) }
}

extension PrimitiveType {
    /// Creates the type that metadata name; `Edm.` may be missing, as in CSDL 1.
    init?(stated name: String) {
        self.init(rawValue: name.utf8.contains(UInt8(ascii: ".")) ? name : "Edm." + name)
    }
}
