/// Makes a model from the elements of a document: the header here, types, operations, containers,
/// associations and annotations in the extensions.
struct CSDLBuilder {
    typealias Node = CSDLDocument.Node

    let document: CSDLDocument
    var resolver = CSDLNameResolver()
    var warnings: [CSDLWarning] = []
    /// Annotations with external targeting by the path of their target; taken out when the target is built.
    var targeted: [String: [Annotation]] = [:]
    /// The first segments of those paths: elements under any other need not look.
    var targetedRoots: Set<String> = []
    /// Those taken by one overload of an operation that others share.
    var shared: [String: [Annotation]] = [:]
    /// The targets in document order.
    var targetOrder: [String] = []
    /// The names of sets and singletons so far: containers are folded into one.
    var setNames: Set<String> = []
    /// Where each type was declared, for messages.
    var declarations: [String: Node] = [:]
    /// V2 and V3 associations by full name.
    var associations: [String: Association] = [:]
    /// Whether the schema being read is CSDL 4.
    var isV4 = true
    /// The namespace of the schema being read.
    var namespace = ""
    /// Names of types that were warned of.
    var warnedTypes: Set<String> = []

    static let v4Namespace = "http://docs.oasis-open.org/odata/ns/edm"
    static let metadataNamespace = "http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"

    init(document: CSDLDocument) { self.document = document }

    mutating func build() throws(CSDLError) -> CSDLReader.Result {
        let root = Node(index: 0)
        let schemaNodes: [Node]
        var version: ODataVersion?
        switch document.name(root) {
        case .schema: schemaNodes = [root]
        case .edmx:
            guard let services = document.children(root, named: .dataServices).first else {
                throw document.error(.notCSDL(root: "Edmx"), at: root, expected: "DataServices within Edmx")
            }
            schemaNodes = document.children(services, named: .schema)
            version = self.version(root, services)
        default:
            let name = document.localName(root)
            throw document.error(
                name.lowercased() == "html" ? .html : .notCSDL(root: name), at: root, expected: "the root element Edmx")
        }
        try declareAliases(root, schemaNodes)
        try declareTypes(schemaNodes)
        let references = try document.name(root) == .edmx ? readReferences(root) : []
        try collectTargetedAnnotations(schemaNodes)
        try readAssociations(schemaNodes)
        var schemas: [Schema] = []
        for node in schemaNodes { schemas.append(try readSchema(node)) }
        keepUnusedTargets(&schemas, schemaNodes)
        let fallback: ODataVersion =
            schemaNodes.allSatisfy(isV4Schema)
            ? .v4 : schemaNodes.contains { document.namespace($0).contains("/2009/11/") } ? .v3 : .v2
        do throws(ModelError) {
            let model = try EntityDataModel(schemas: schemas, version: version ?? fallback)
            return CSDLReader.Result(model: model, references: references, warnings: warnings)
        } catch {
            let name: String =
                switch error {
                case .circularInheritance(let name): name.description
                case .unknownType(_, let user): user
                case .duplicateName(let name): name
                }
            throw document.error(.model(error), at: declarations[name] ?? root, expected: "a consistent model")
        }
    }

    /// The protocol version that a document stands for; `nil` where the schemas have to tell.
    ///
    /// A V2 service writes `DataServiceVersion="1.0"` into metadata that any V1 client could read, so
    /// nothing below 2.0 is concluded from it.
    private func version(_ root: Node, _ services: Node) -> ODataVersion? {
        if let text = document.attribute(root, .version), text.hasPrefix("4") {
            return text == "4.0" ? .v4 : .v401
        }
        let stated =
            document.attribute(services, .maxDataServiceVersion) ?? document.attribute(services, .dataServiceVersion)
        guard let stated else { return nil }
        return stated.hasPrefix("3") ? .v3 : stated.hasPrefix("4") ? .v4 : .v2
    }

    func isV4Schema(_ node: Node) -> Bool {
        let namespace = document.namespace(node)
        return namespace.hasPrefix("http://docs.oasis-open.org/odata/") || namespace.isEmpty
    }

    // MARK: Names

    private mutating func declareAliases(_ root: Node, _ schemas: [Node]) throws(CSDLError) {
        for reference in document.children(root, named: .reference) {
            for include in document.children(reference, named: .include) {
                if let alias = document.attribute(include, .alias),
                    let namespace = document.attribute(include, .namespace)
                {
                    resolver.namespaces[alias] = namespace
                }
            }
        }
        for schema in schemas {
            let namespace = try required(schema, .namespace, "the schema's namespace")
            if let alias = document.attribute(schema, .alias) { resolver.namespaces[alias] = namespace }
            for using in document.children(schema, named: .using) {
                if let alias = document.attribute(using, .alias), let used = document.attribute(using, .namespace) {
                    resolver.namespaces[alias] = used
                }
            }
        }
    }

    private mutating func declareTypes(_ schemas: [Node]) throws(CSDLError) {
        for schema in schemas {
            let namespace = document.attribute(schema, .namespace) ?? ""
            for node in document.children(schema) {
                let kind = document.name(node)
                guard kind == .entityType || kind == .complexType || kind == .enumType || kind == .typeDefinition else {
                    continue
                }
                let name = QualifiedName(namespace, try required(node, .name, "the type's name"))
                let type: TypeReference
                switch kind {
                case .entityType: type = .entity(name)
                case .complexType: type = .complex(name)
                case .enumType: type = .enumeration(name)
                default:
                    let text = try required(node, .underlyingType, "a primitive type")
                    guard let primitive = PrimitiveType(rawValue: text) ?? PrimitiveType(rawValue: "Edm." + text) else {
                        throw document.error(
                            .invalidAttribute("UnderlyingType", element: "TypeDefinition", value: text), at: node,
                            expected: "a primitive type")
                    }
                    type = .typeDefinition(name, primitive)
                }
                guard resolver.declared.updateValue(type, forKey: name.description) == nil else {
                    throw document.error(
                        .duplicateName(name.description), at: node, expected: "each name once in its namespace")
                }
                declarations[name.description] = node
            }
        }
    }

    private mutating func readReferences(_ root: Node) throws(CSDLError) -> [CSDLReference] {
        var result: [CSDLReference] = []
        for node in document.children(root, named: .reference) {
            guard let uri = document.attribute(node, .uri) ?? document.attribute(node, other: "Url") else {
                warn("Reference lacks the attribute Uri and was left out.", at: node)
                continue
            }
            var reference = CSDLReference(uri: uri, annotations: try readAnnotations(node))
            for child in document.children(node) {
                switch document.name(child) {
                case .include:
                    reference.includes.append(
                        CSDLReference.Include(
                            namespace: try required(child, .namespace, "a namespace"),
                            alias: document.attribute(child, .alias), annotations: try readAnnotations(child)))
                case .includeAnnotations:
                    reference.includedAnnotations.append(
                        CSDLReference.IncludeAnnotations(
                            termNamespace: try required(child, .termNamespace, "a namespace"),
                            qualifier: document.attribute(child, .qualifier),
                            targetNamespace: document.attribute(child, .targetNamespace)))
                default: break
                }
            }
            result.append(reference)
        }
        return result
    }

    // MARK: A schema

    private mutating func readSchema(_ node: Node) throws(CSDLError) -> Schema {
        namespace = try required(node, .namespace, "the schema's namespace")
        isV4 = isV4Schema(node)
        var schema = Schema(namespace: namespace, alias: document.attribute(node, .alias))
        schema.annotations = try readAnnotations(node)
        for child in document.children(node) {
            switch document.name(child) {
            case .entityType: schema.structuredTypes.append(try readStructuredType(child, .entity))
            case .complexType: schema.structuredTypes.append(try readStructuredType(child, .complex))
            case .enumType: schema.enumTypes.append(try readEnumType(child))
            case .typeDefinition: schema.typeDefinitions.append(try readTypeDefinition(child))
            case .action where isV4: schema.operations.append(try readOperation(child, .action))
            case .function where isV4: schema.operations.append(try readOperation(child, .function))
            case .function: warn("Function of CSDL 2 and 3 is no part of OData and was left out.", at: child)
            case .term, .valueTerm: schema.terms.append(try readTerm(child))
            case .entityContainer: try readContainer(child, into: &schema)
            case .annotation, .annotations, .valueAnnotation, .typeAnnotation, .association, .documentation, .using:
                break
            default: warnUnknown(child, in: "Schema")
            }
        }
        return schema
    }

    // MARK: Attributes

    func required(_ node: Node, _ name: CSDLName, _ expected: String) throws(CSDLError) -> String {
        if let value = document.attribute(node, name), !value.isEmpty { return value }
        throw document.error(
            .missingAttribute(name.rawValue, element: document.localName(node)), at: node, expected: expected)
    }

    /// A boolean attribute; anything but a boolean is warned of and taken as not stated.
    mutating func flag(_ node: Node, _ name: CSDLName) -> Bool? {
        guard let text = document.attribute(node, name) else { return nil }
        switch text {
        case "true", "1", "True", "TRUE": return true
        case "false", "0", "False", "FALSE": return false
        default:
            warn("\(name.rawValue)=\"\(text)\" is neither true nor false and was ignored.", at: node)
            return nil
        }
    }

    /// A type named by an attribute or element.
    mutating func type(_ text: String, at node: Node) -> TypeReference {
        let (type, isKnown) = resolver.type(text)
        if !isKnown, warnedTypes.insert(text).inserted {
            warn("The document does not declare the type \(resolver.fullName(text)).", at: node)
        }
        return type
    }

    func qualifiedName(_ node: Node, _ name: CSDLName) throws(CSDLError) -> QualifiedName {
        let text = try required(node, name, "a qualified name")
        if let result = resolver.qualifiedName(text) { return result }
        throw document.error(
            .invalidAttribute(name.rawValue, element: document.localName(node), value: text), at: node,
            expected: "a name with namespace or alias")
    }

    // MARK: Warnings

    mutating func warn(_ message: String, at node: Node) { warnings.append(document.warning(message, at: node)) }

    /// Elements of foreign namespaces are other people's business; CSDL's own should be known.
    mutating func warnUnknown(_ node: Node, in parent: String) {
        let name = document.name(node)
        guard name != .documentation else { return }
        let namespace = document.namespace(node)
        guard namespace.isEmpty || namespace.hasSuffix("/edm") else { return }
        warn("\(document.localName(node)) within \(parent) is not known and was left out.", at: node)
    }
}

extension CSDLDocument {
    /// The value of an attribute that has no name of its own in ``CSDLName``.
    func attribute(_ node: Node, other name: String) -> String? {
        for attribute in attributes(node) where attribute.name == .other && string(attribute.otherName) == name {
            return string(attribute.value)
        }
        return nil
    }
}
