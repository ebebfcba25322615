/// The terms that the documents of a model declare, for options that treat undeclared terms specially.
struct CSDLKnownTerms {
    private var declared: Set<String> = []
    /// The namespaces that the documents declare.
    private var declaredNamespaces: Set<String> = []
    private var referredNamespaces: Set<String> = []
    private let resolvesStandard: Bool
    /// The OASIS and SAP vocabularies that were used but not read, in order of their use.
    private(set) var missingVocabularies: [String] = []
    /// The terms with a warning.
    var warned: Set<String> = []

    init(_ document: CSDLDocument, _ terms: CSDLReaderOptions.Terms) {
        resolvesStandard = terms == .resolved
        var namespace = ""
        for index in document.elements.indices {
            let node = CSDLDocument.Node(index: index)
            switch document.name(node) {
            case .schema:
                namespace = document.attribute(node, .namespace) ?? ""
                declaredNamespaces.insert(namespace)
            case .term, .valueTerm:
                if let name = document.attribute(node, .name) { declared.insert("\(namespace).\(name)") }
            case .include:
                if let namespace = document.attribute(node, .namespace) { referredNamespaces.insert(namespace) }
            default: break
            }
        }
    }

    /// Returns whether a term is declared, or may be declared in a document that was not read.
    mutating func isKnown(_ term: String) -> Bool {
        if declared.contains(term) { return true }
        guard let namespace = term.halves(atLast: ".").map({ String($0.before) }) else { return false }
        guard !declaredNamespaces.contains(namespace) else { return false }
        if namespace == ObjectsVocabulary.namespace { return ObjectsVocabulary.declares(term) }
        if CSDLReference.isStandard(namespace) {
            if resolvesStandard, !missingVocabularies.contains(namespace) { missingVocabularies.append(namespace) }
            return true
        }
        return referredNamespaces.contains(namespace)
    }
}

extension CSDLBuilder {
    /// The OASIS and SAP vocabularies that remain to be read.
    var missingVocabularies: [CSDLReference] {
        knownTerms?.missingVocabularies.compactMap { CSDLReference(standardVocabulary: $0) } ?? []
    }

    /// Returns whether an annotation is read, according to the options for undeclared terms.
    mutating func takesTerm(of node: Node) -> Bool {
        guard options.terms != .kept, let text = document.attributeText(node, .term) else { return true }
        let term = resolver.fullName(text: text)
        guard knownTerms?.isKnown(term) == false else { return true }
        if options.terms == .ignored { return false }
        if knownTerms?.warned.insert(term).inserted == true { warn("The term \(term) is not declared.", at: node) }
        return true
    }

    /// Checks that names are simple identifiers, and that namespaces and terms consist of them, if the options
    /// request the check.
    mutating func checkIdentifiers(_ schemas: [Node], references: [Node]) throws(CSDLError) {
        guard options.names != .allowed else { return }
        var waiting = Array((references + schemas).reversed())
        while let node = waiting.popLast() {
            for child in document.children(node).reversed() { waiting.append(child) }
            switch document.name(node) {
            case .schema, .include:
                try checkIdentifier(.namespace, of: node, isQualified: true)
                try checkIdentifier(.alias, of: node)
            case .annotation, .valueAnnotation, .typeAnnotation:
                try checkIdentifier(.term, of: node, isQualified: true)
                try checkIdentifier(.qualifier, of: node)
            case .annotations: try checkIdentifier(.qualifier, of: node)
            case .propertyValue: try checkIdentifier(.property, of: node)
            case .entityType, .complexType, .enumType, .typeDefinition, .property, .navigationProperty, .member,
                .action,
                .function, .parameter, .term, .entityContainer, .entitySet, .singleton, .actionImport, .functionImport,
                .association:
                try checkIdentifier(.name, of: node)
            default: continue
            }
        }
    }

    private mutating func checkIdentifier(
        _ attribute: CSDLName, of node: Node, isQualified: Bool = false
    ) throws(CSDLError) {
        guard let name = document.attribute(node, attribute) else { return }
        let parts =
            isQualified
            ? name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map { Substring($0) }
            : [name[...]]
        guard !parts.allSatisfy(\.isSimpleIdentifier) else { return }
        guard options.names == .warned else {
            throw document.error(
                .invalidAttribute(attribute.rawValue, element: document.localName(node), value: name), at: node,
                expected: "a letter or underscore, then letters, digits and underscores, at most 128 in all")
        }
        warn("\(name) is no simple identifier.", at: node)
    }
}
