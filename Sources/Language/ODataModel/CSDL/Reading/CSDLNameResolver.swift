/// Turns the names in a document into what they stand for: aliases into namespaces, type names into types.
struct CSDLNameResolver {
    /// Namespaces by alias, for the document that is being read (OData CSDL 4.01, 5.1).
    private var names = CSDLNameMap()
    /// The types that the documents declare with the place of each.
    var declared: [QualifiedName: (type: TypeReference, node: CSDLDocument.Node)] = [:]
    private let document: CSDLDocument
    /// The types whose simple name no other type has; made when a name without a namespace is met.
    private var simpleNames: [String: QualifiedName]?
    /// Types by the number of the text that names them: a document names few types many times.
    private var resolved = CSDLTextTable<TypeReference>(count: 0)
    private var fullNames = CSDLTextTable<String>(count: 0)

    init(document: CSDLDocument) { self.document = document }

    /// From here on, the aliases of another document hold.
    mutating func enter(_ aliases: [String: String]) {
        names = CSDLNameMap(aliases)
        resolved = CSDLTextTable(count: document.texts.count)
        fullNames = CSDLTextTable(count: document.texts.count)
    }

    /// A dotted name with its alias replaced.
    func fullName(_ name: some StringProtocol) -> String { names.name(name) }

    /// A dotted name of the document with its alias replaced; names of terms come by the thousand.
    mutating func fullName(text: CSDLDocument.Text) -> String {
        if let known = fullNames[text] { return known }
        let name = fullName(document.string(text))
        fullNames.insert(name, for: text)
        return name
    }

    func qualifiedName(_ text: String) -> QualifiedName? { QualifiedName(fullName(text)) }

    /// The name that was meant by one without a namespace: that of the schema it stands in, unless the documents declare
    /// one type of this name, and in another schema; `nil` for a text that is no simple name.
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

    /// The type with a name that the document has; the flag tells whether it is known.
    mutating func type(_ text: CSDLDocument.Text) -> (type: TypeReference, isKnown: Bool) {
        if let type = resolved[text] { return (type, true) }
        let (type, isKnown) = type(document.string(text))
        if isKnown { resolved.insert(type, for: text) }
        return (type, isKnown)
    }

    /// The type with a name; the flag tells whether it is known.
    func type(_ text: String) -> (type: TypeReference, isKnown: Bool) {
        guard let name = text.collectionElement else { return elementType(text) }
        // A collection of collections is no type of OData, and is not known as one.
        let (element, isKnown) = elementType(String(name))
        return (.collection(element), isKnown)
    }

    private func elementType(_ text: String) -> (type: TypeReference, isKnown: Bool) {
        let name = fullName(text)
        // CSDL 1 leaves out `Edm.`.
        if let type = QualifiedName(name).flatMap({ declared[$0]?.type }) ?? TypeReference(builtIn: name)
            ?? (name.utf8.contains(UInt8(ascii: ".")) ? nil : TypeReference(builtIn: "Edm." + name))
        {
            return (type, true)
        }
        return (.untyped(name), false)
    }

    /// The full name of a type, whether or not the type is known.
    func typeName(_ text: String) -> String {
        let (type, isKnown) = type(text)
        return isKnown ? type.description : names.type(text)
    }

    /// A path with the aliases in its segments replaced.
    func path(_ text: String) -> String { names.path(text) }
}

extension PrimitiveType {
    /// The type that metadata name; `Edm.` may be left out, as it is in CSDL 1.
    init?(stated name: String) {
        self.init(rawValue: name.utf8.contains(UInt8(ascii: ".")) ? name : "Edm." + name)
    }
}
