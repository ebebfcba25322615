/// Builds a model from the elements of a document and of the documents that it refers to.
///
/// This file reads the document header and the schemas. The extensions read types, operations, containers,
/// associations and annotations.
struct CSDLBuilder {
    typealias Node = CSDLDocument.Node

    let document: CSDLDocument
    let options: CSDLReaderOptions
    var resolver: CSDLNameResolver
    var warnings: [CSDLWarning] = []
    /// The annotations with external targeting.
    var targeted = CSDLTargets()
    /// The targets of the main document in document order.
    var targets: [(group: CSDLTargets.Group, entry: Int, added: Range<Int>, node: Node)] = []
    /// The groups by first segment of a target, as written in the document being read.
    var targetHeads = CSDLTextTable<CSDLTargets.Group>(count: 0)
    /// The probable index of the next target in the document's list.
    var targetHint = 0
    /// Whether a target is a single overload of an operation.
    var targetsOverloads = false
    /// The declaration of each set and singleton. All containers are merged into one.
    var setNames: [String: Node] = [:]
    /// The names of sets and singletons whose entity types are not declared.
    var setsOfUnknownTypes: [String] = []
    /// The type that last had a child with each text as its name, as its index plus one; 0 for none.
    var owners: [Int32] = []
    /// The declaration of each container, by full name.
    var containers: [String: Node] = [:]
    /// The full names of V2 and V3 containers whose sets have unqualified names in URLs.
    var plainContainers: Set<String> = []
    /// The names of the sets in `plainContainers`.
    var plainSetNames: Set<String> = []
    /// The V2 and V3 associations by full name.
    var associations: [String: Association] = [:]
    /// The declaration of each association.
    var associationNodes: [String: Node] = [:]
    var associationProperties: [String: [String: (type: QualifiedName, name: String)]] = [:]
    /// Whether the schema being read is CSDL 4.
    var isV4 = true
    /// The namespace of the schema being read.
    var namespace = ""
    /// The root of the document whose names are being resolved.
    private var enteredRoot: Node?
    /// Whether the document being read is in JSON.
    var isJSON = false
    /// The types of terms and of complex types' properties, which determine the kinds of JSON constants.
    var constantTypes = CSDLConstantTypes()
    /// The namespaces of all schemas read, for the check for undeclared names.
    var declaredNamespaces: Set<String> = []
    /// The names of types with a warning.
    var warnedTypes: Set<String> = []
    /// The terms that the documents declare; `nil` if the options keep all annotations.
    var knownTerms: CSDLKnownTerms?
    /// Whether an error has occurred that the options treat as fatal. Reading then stops instead of leaving
    /// elements out.
    private var isRefused = false

    static let v4Namespace = "http://docs.oasis-open.org/odata/ns/edm"
    static let metadataNamespace = "http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"

    init(document: CSDLDocument, options: CSDLReaderOptions) {
        self.document = document
        self.options = options
        resolver = CSDLNameResolver(document: document)
        owners = Array(repeating: 0, count: document.texts.count)
    }

    /// The schemas of one document.
    struct Part {
        var root: Node
        var isJSON: Bool
        /// The aliases that are valid within the document.
        var aliases: [String: String]
        var schemas: [Node]
        /// The annotations to use from a document that is included only for its annotations.
        var includedAnnotations: [CSDLReference.IncludeAnnotations]
        /// Whether only the annotations are used, all of them (``CSDLReaderOptions/annotationDocuments``).
        var isAnnotations = false
    }

    /// Returns the references in the document with this root.
    mutating func readReferences(root index: Int) throws(CSDLError) -> [CSDLReference] {
        guard document.roots.indices.contains(index) else { return [] }
        let root = document.roots[index].node
        guard document.name(root) == .edmx else { return [] }
        resolver.enter(try aliases(root, try schemaNodes(root)))
        return try readReferences(root)
    }

    /// Builds the model.
    ///
    /// - Parameters:
    ///   - uses: for each further root, the reference for which the document was loaded. The roots behind these are
    ///     documents of annotations.
    ///   - originalText: the document, which the model keeps.
    mutating func build(uses: [CSDLReference] = [], originalText: [UInt8]? = nil) throws(CSDLError) -> CSDLReader.Result
    {
        guard let root = document.roots.first?.node else {
            throw CSDLError(reason: .empty, line: 1, column: 1, expected: "a metadata document")
        }
        var parts: [Part] = []
        enteredRoot = nil
        for (index, documentRoot) in document.roots.enumerated() {
            let nodes = withoutRepeatedSchemas(try schemaNodes(documentRoot.node))
            let aliases = try aliases(documentRoot.node, nodes)
            warnOfAmbiguousAliases(documentRoot.node, nodes, aliases: aliases)
            var part = Part(
                root: documentRoot.node, isJSON: documentRoot.isJSON, aliases: aliases, schemas: nodes,
                includedAnnotations: [])
            if index > 0, index <= uses.count {
                let namespaces = uses[index - 1].includes.map(\.namespace)
                part.schemas = nodes.filter { namespaces.contains(document.attribute($0, .namespace) ?? "") }
                part.includedAnnotations = uses[index - 1].includedAnnotations
            } else if index > 0 {
                part.schemas = []
                part.isAnnotations = true
            }
            parts.append(part)
        }
        for part in parts { try declareTypes(part.schemas) }
        if options.terms != .kept { knownTerms = CSDLKnownTerms(document, options.terms) }
        if parts.contains(where: \.isJSON) {
            for part in parts {
                enter(part)
                declareConstantTypes(part.schemas)
            }
        }
        enter(parts[0])
        let references = document.name(root) == .edmx ? try readReferences(root) : []
        for (index, part) in parts.enumerated() {
            enter(part)
            try collectTargetedAnnotations(part, isMain: index == 0)
        }
        for part in parts {
            enter(part)
            try readAssociations(part.schemas)
        }
        for part in parts {
            enter(part)
            findAssociationProperties(part.schemas)
        }
        findPlainContainers(parts)
        var schemas: [ODataSchema] = []
        var included: [ODataSchema] = []
        for (index, part) in parts.enumerated() {
            enter(part)
            for node in part.schemas {
                let schema = try readSchema(node)
                if index == 0 { schemas.append(schema) } else { included.append(schema) }
            }
        }
        enter(parts[0])
        keepUnusedTargets(&schemas)
        try checkIdentifiers(
            parts[0].schemas, references: document.children(root).filter { document.name($0) == .reference })
        try checkNames(parts[0].schemas)
        let mainNodes = parts[0].schemas
        let fallback: ODataVersion =
            mainNodes.allSatisfy(isV4Schema)
            ? .v4 : mainNodes.contains { document.namespace($0).contains("/2009/11/") } ? .v3 : .v2
        do throws(ModelError) {
            let model = try EntityDataModel(
                schemas: schemas, version: version(root) ?? fallback, includedSchemas: included,
                references: references, originalText: originalText, setsOfUnknownTypes: setsOfUnknownTypes)
            if options.warnsOfDanglingReferences {
                checkReferences(parts, uses, model: model)
            } else if let first = parts.first(where: \.isAnnotations) {
                checkTargets(CSDLPathFinder(model: model), from: first.root)
            }
            return CSDLReader.Result(model: model, references: references, warnings: document.ordered(warnings))
        } catch {
            let name: String =
                switch error {
                case .circularInheritance(let name): name.description
                case .unknownType(_, let user): user
                case .duplicateName(let name), .noEntityType(let name): name
                }
            throw document.error(
                .model(error), at: declaration(name) ?? setNames[name] ?? root, expected: "a consistent model")
        }
    }

    /// Finds the default container before V4, and the containers that it extends. The first container is the
    /// default if none is marked.
    private mutating func findPlainContainers(_ parts: [Part]) {
        var found: [(name: String, isDefault: Bool, extends: String?, node: Node)] = []
        for part in parts {
            for schema in part.schemas where !isV4Schema(schema) {
                let namespace = document.attribute(schema, .namespace) ?? ""
                for node in document.children(schema, named: .entityContainer) {
                    guard let name = document.attribute(node, .name) else { continue }
                    let base = document.attribute(node, .extends).map { $0.has(".") ? $0 : "\(namespace).\($0)" }
                    let isDefault =
                        document.attribute(node, .isDefaultEntityContainer).flatMap { Bool(stated: $0) } == true
                    found.append(("\(namespace).\(name)", isDefault, base, node))
                }
            }
        }
        let isStated = found.contains(where: \.isDefault)
        var waiting = isStated ? found.filter(\.isDefault).map(\.name) : found.prefix(1).map(\.name)
        while let name = waiting.popLast() {
            guard plainContainers.insert(name).inserted else { continue }
            waiting += found.filter { $0.name == name }.compactMap(\.extends)
        }
        for container in found where plainContainers.contains(container.name) {
            let sets = document.children(container.node, named: .entitySet)
            plainSetNames.formUnion(sets.compactMap { document.attribute($0, .name) })
        }
    }

    /// Switches name resolution to this document.
    private mutating func enter(_ part: Part) {
        // A single document is entered again for each pass.
        guard enteredRoot != part.root else { return }
        enteredRoot = part.root
        isJSON = part.isJSON
        resolver.enter(part.aliases)
        targetHeads = CSDLTextTable(count: document.texts.count)
    }

    /// Returns the declaration of a type or container.
    func declaration(_ name: String) -> Node? {
        QualifiedName(name).flatMap { resolver.declared[$0]?.node } ?? containers[name]
    }

    private func schemaNodes(_ root: Node) throws(CSDLError) -> [Node] {
        switch document.name(root) {
        case .schema: return [root]
        case .edmx:
            let services = document.children(root, named: .dataServices)
            guard !services.isEmpty else {
                throw document.error(.notCSDL(root: "Edmx"), at: root, expected: "DataServices within Edmx")
            }
            return services.flatMap { document.children($0, named: .schema) }
        default:
            let name = document.localName(root)
            throw document.error(
                name.lowercased() == "html" ? .html : .notCSDL(root: name), at: root, expected: "the root element Edmx")
        }
    }

    /// Returns the protocol version of a document; `nil` if only the schemas determine the version.
    ///
    /// A V2 service states `DataServiceVersion="1.0"` if a V1 client can read its metadata. Therefore, no version
    /// below 2.0 is inferred.
    private func version(_ root: Node) -> ODataVersion? {
        guard document.name(root) == .edmx else { return nil }
        if let text = document.attribute(root, .version), text.hasPrefix("4") {
            return text == "4.0" ? .v4 : .v401
        }
        guard let services = document.child(root, named: .dataServices),
            let stated = document.attribute(services, .maxDataServiceVersion)
                ?? document.attribute(services, .dataServiceVersion)
        else { return nil }
        return stated.hasPrefix("3") ? .v3 : stated.hasPrefix("4") ? .v4 : .v2
    }

    func isV4Schema(_ node: Node) -> Bool {
        let namespace = document.namespace(node)
        return namespace.hasPrefix("http://docs.oasis-open.org/odata/") || namespace.isEmpty
    }

    // MARK: Names

    private func aliases(_ root: Node, _ schemas: [Node]) throws(CSDLError) -> [String: String] {
        var namespaces: [String: String] = [:]
        for reference in document.children(root, named: .reference) {
            for include in document.children(reference, named: .include) {
                if let alias = document.attribute(include, .alias),
                    let namespace = document.attribute(include, .namespace)
                {
                    namespaces[alias] = namespace
                }
            }
        }
        for schema in schemas {
            let namespace = try required(schema, .namespace, expected: "the schema's namespace")
            if let alias = document.attribute(schema, .alias) { namespaces[alias] = namespace }
            for using in document.children(schema, named: .using) {
                if let alias = document.attribute(using, .alias), let used = document.attribute(using, .namespace) {
                    namespaces[alias] = used
                }
            }
        }
        return namespaces
    }

    /// Warns of an alias for several namespaces, or an alias that is also another namespace (OData CSDL 4.01, 5.1
    /// and 4.2).
    private mutating func warnOfAmbiguousAliases(_ root: Node, _ schemas: [Node], aliases: [String: String]) {
        guard !aliases.isEmpty else { return }
        let includes = document.children(root, named: .reference).flatMap { document.children($0, named: .include) }
        let owners = includes + schemas
        let namespaces = Set(owners.compactMap { document.attribute($0, .namespace) })
        for owner in owners {
            guard let alias = document.attribute(owner, .alias), let namespace = document.attribute(owner, .namespace),
                let meaning = aliases[alias]
            else { continue }
            if meaning != namespace {
                warn("The alias \(alias) stands for \(meaning), and not for \(namespace) as well.", at: owner)
            } else if alias != namespace, namespaces.contains(alias) {
                warn("The alias \(alias) stands for \(namespace), and hides the namespace of this name.", at: owner)
            }
        }
    }

    private mutating func declareTypes(_ schemas: [Node]) throws(CSDLError) {
        let count = schemas.reduce(0) { sum, schema in
            let counts = document.childCounts(schema)
            return sum + counts.structuredTypes + counts.enumTypes + counts.typeDefinitions
        }
        resolver.declared.reserveCapacity(resolver.declared.count + count)
        for schema in schemas {
            let namespace = document.attribute(schema, .namespace) ?? ""
            for node in document.children(schema) {
                let kind = document.name(node)
                guard kind == .entityType || kind == .complexType || kind == .enumType || kind == .typeDefinition else {
                    continue
                }
                let name: QualifiedName
                let type: TypeReference
                do throws(CSDLError) {
                    name = QualifiedName(namespace, try required(node, .name, expected: "the type's name"))
                    type = try declaredType(node, name)
                } catch {
                    try leaveOut(node, error)
                    continue
                }
                guard let other = resolver.declared[name]?.node else {
                    resolver.declared[name] = (type, node)
                    continue
                }
                guard document.isEqual(other, node) else {
                    throw document.error(
                        .duplicateName(name.description), at: node, expected: "each name once in its namespace")
                }
                warn("\(name) is declared twice in the same way: the first one holds.", at: node)
            }
        }
    }

    private func declaredType(_ node: Node, _ name: QualifiedName) throws(CSDLError) -> TypeReference {
        switch document.name(node) {
        case .entityType: return .entity(name)
        case .complexType: return .complex(name)
        case .enumType: return .enumeration(name)
        default:
            let text = try required(node, .underlyingType, expected: "a primitive type")
            if let primitive = PrimitiveType(stated: text) { return .typeDefinition(name, primitive) }
            throw document.error(
                .invalidAttribute("UnderlyingType", element: "TypeDefinition", value: text), at: node,
                expected: "a primitive type")
        }
    }

    /// Returns the schemas without identical repetitions, which cause warnings.
    private mutating func withoutRepeatedSchemas(_ nodes: [Node]) -> [Node] {
        guard nodes.count > 1 else { return nodes }
        var repeats = CSDLRepeats()
        return nodes.filter { node in
            guard repeats.isRepeated(node, in: document) else { return true }
            warnOfRepeat(node)
            return false
        }
    }

    private mutating func readReferences(_ root: Node) throws(CSDLError) -> [CSDLReference] {
        var result: [CSDLReference] = []
        for node in document.children(root, named: .reference) {
            guard let uri = document.attribute(node, .uri) ?? document.attribute(node, .url) else {
                warn("Reference lacks the attribute Uri and was left out.", at: node)
                continue
            }
            var reference = CSDLReference(uri: uri, annotations: try readAnnotations(node))
            for child in document.children(node) {
                do throws(CSDLError) { try readInclusion(child, into: &reference) } catch { try leaveOut(child, error) }
            }
            result.append(reference)
        }
        return result
    }

    private mutating func readInclusion(_ node: Node, into reference: inout CSDLReference) throws(CSDLError) {
        switch document.name(node) {
        case .include:
            reference.includes.append(
                CSDLReference.Include(
                    namespace: try required(node, .namespace, expected: "a namespace"),
                    alias: document.attribute(node, .alias), annotations: try readAnnotations(node)))
        case .includeAnnotations:
            reference.includedAnnotations.append(
                CSDLReference.IncludeAnnotations(
                    termNamespace: try required(node, .termNamespace, expected: "a namespace"),
                    qualifier: document.attribute(node, .qualifier),
                    targetNamespace: document.attribute(node, .targetNamespace)))
        default: break
        }
    }

    // MARK: A schema

    private mutating func readSchema(_ node: Node) throws(CSDLError) -> ODataSchema {
        namespace = try required(node, .namespace, expected: "the schema's namespace")
        isV4 = isV4Schema(node)
        var schema = ODataSchema(namespace: namespace, alias: document.attribute(node, .alias))
        schema.annotations = try readAnnotations(node)
        if let group = targeted.group(root: namespace) {
            schema.annotations += targeted.take(CSDLTargets.itself, of: group) ?? []
            schema.annotations = withoutRepeats(schema.annotations)
        }
        let counts = document.childCounts(node)
        schema.structuredTypes.reserveCapacity(counts.structuredTypes)
        schema.enumTypes.reserveCapacity(counts.enumTypes)
        if isV4 { schema.operations.reserveCapacity(counts.operations) }
        var repeats = CSDLRepeats()
        for child in document.children(node) {
            do throws(CSDLError) {
                try readDeclaration(child, into: &schema, &repeats)
            } catch {
                try leaveOut(child, error)
            }
        }
        return schema
    }

    private mutating func readDeclaration(
        _ node: Node, into schema: inout ODataSchema, _ repeats: inout CSDLRepeats
    ) throws(CSDLError) {
        switch document.name(node) {
        case .entityType where isDeclaration(node):
            schema.structuredTypes.append(try readStructuredType(node, .entity))
        case .complexType where isDeclaration(node):
            schema.structuredTypes.append(try readStructuredType(node, .complex))
        case .enumType where isDeclaration(node): schema.enumTypes.append(try readEnumType(node))
        case .typeDefinition where isDeclaration(node): schema.typeDefinitions.append(try readTypeDefinition(node))
        // Types that were left out or repeated have a warning already.
        case .entityType, .complexType, .enumType, .typeDefinition: break
        case .action where isV4, .function where isV4, .term, .valueTerm:
            switch document.name(node) {
            case .action, .function:
                let operation = try readOperation(node, document.name(node) == .action ? .action : .function)
                guard repeats.operations.insert(operation).inserted else { return warnOfRepeat(node) }
                schema.operations.append(operation)
            default:
                let term = try readTerm(node)
                guard repeats.terms.insert(term).inserted else { return warnOfRepeat(node) }
                schema.terms.append(term)
            }
        case .function: warn("Function of CSDL 2 and 3 is no part of OData and was left out.", at: node)
        case .entityContainer: try readContainer(node, into: &schema)
        case .association:
            let name = "\(namespace).\(document.attribute(node, .name) ?? "")"
            if associationNodes[name] == node, let association = associations[name] {
                schema.associations.append(association)
            }
        case .annotation, .annotations, .valueAnnotation, .typeAnnotation, .documentation, .using: break
        default: warnUnknown(node, in: "Schema")
        }
    }

    /// Returns whether this declaration of a type is the one in use.
    private func isDeclaration(_ node: Node) -> Bool {
        guard let name = document.attribute(node, .name) else { return false }
        return resolver.declared[QualifiedName(namespace, name)]?.node == node
    }

    // MARK: Attributes

    func required(_ node: Node, _ name: CSDLName, expected: String) throws(CSDLError) -> String {
        if let value = document.attribute(node, name), !value.isEmpty { return value }
        throw document.error(
            .missingAttribute(name.rawValue, element: document.localName(node)), at: node, expected: expected)
    }

    /// Returns the value of a boolean attribute. An invalid value causes a warning and is ignored.
    mutating func flag(_ node: Node, _ name: CSDLName) -> Bool? {
        guard let text = document.attributeText(node, name) else { return nil }
        return flag(text, name, node: node)
    }

    mutating func flag(_ text: CSDLDocument.Text, _ name: CSDLName, node: Node) -> Bool? {
        let text = document.string(text)
        guard let value = Bool(stated: text) else {
            warn("\(name.rawValue)=\"\(text)\" is neither true nor false and was ignored.", at: node)
            return nil
        }
        return value
    }

    /// Returns the type that an attribute or element names.
    mutating func type(_ text: CSDLDocument.Text, at node: Node) -> TypeReference {
        let (type, isKnown) = resolver.type(text)
        return isKnown ? type : unknownType(document.string(text), type, at: node)
    }

    mutating func type(named text: String, at node: Node) -> TypeReference {
        let (type, isKnown) = resolver.type(text)
        return isKnown ? type : unknownType(text, type, at: node)
    }

    /// Returns the type for an undeclared name, whose namespace may be missing.
    private mutating func unknownType(_ text: String, _ type: TypeReference, at node: Node) -> TypeReference {
        let element = text.collectionElement.map(String.init)
        if let name = resolver.qualified(element ?? text, in: namespace), let found = resolver.declared[name]?.type {
            warnOfShortName(element ?? text, name, at: node)
            return element == nil ? found : .collection(found)
        }
        warnUnknownType(text, at: node)
        return type
    }

    mutating func warnOfShortName(_ text: String, _ name: QualifiedName, at node: Node) {
        warn("\(text) has no namespace and was read as \(name).", at: node)
    }

    private mutating func warnUnknownType(_ text: String, at node: Node) {
        guard warnedTypes.insert(text).inserted || options.warnsOfDanglingReferences else { return }
        warn("The document does not declare the type \(resolver.fullName(text)).", at: node)
    }

    /// Returns the type that an element must state.
    mutating func requiredType(_ node: Node, _ expected: String) throws(CSDLError) -> TypeReference {
        guard let text = document.attributeText(node, .type), !document.texts.isEmpty(text) else {
            // CSDL 3 may state the type in nested elements.
            if let type = nestedType(node) { return type }
            throw document.error(
                .missingAttribute("Type", element: document.localName(node)), at: node, expected: expected)
        }
        return type(text, at: node)
    }

    /// Returns the type in `CollectionType` or `TypeRef`, the elements that CSDL 3 uses in place of the attribute
    /// `Type`.
    private mutating func nestedType(_ node: Node) -> TypeReference? {
        for child in document.children(node) {
            switch document.localName(child) {
            case "TypeRef": return document.attributeText(child, .type).map { type($0, at: child) }
            case "CollectionType":
                var element = document.attribute(child, other: "ElementType").map { type(named: $0, at: child) }
                if element == nil { element = nestedOnce(child) }
                return element.map { .collection($0) }
            default: break
            }
        }
        return nil
    }

    private mutating func nestedOnce(_ node: Node) -> TypeReference? {
        for child in document.children(node) where document.localName(child) == "TypeRef" {
            return document.attributeText(child, .type).map { type($0, at: child) }
        }
        return nil
    }

    mutating func qualifiedName(_ node: Node, _ name: CSDLName) throws(CSDLError) -> QualifiedName {
        let text = try required(node, name, expected: "a qualified name")
        if let result = resolver.qualifiedName(text) { return result }
        if let result = resolver.qualified(text, in: namespace) {
            warnOfShortName(text, result, at: node)
            return result
        }
        throw document.error(
            .invalidAttribute(name.rawValue, element: document.localName(node), value: text), at: node,
            expected: "a name with namespace or alias")
    }

    // MARK: Warnings

    mutating func warn(_ message: String, at node: Node) { warnings.append(document.warning(message, at: node)) }

    /// Leaves out an unreadable element with a warning, so that the rest of the model remains usable.
    ///
    /// - Throws: the error, if the options treat it as fatal.
    mutating func leaveOut(_ node: Node, _ error: CSDLError) throws(CSDLError) {
        guard !isRefused else { throw error }
        let name = document.attribute(node, .name).map { " \($0)" } ?? ""
        let message = "\(document.localName(node))\(name) was left out: \(error.problem)."
        warnings.append(
            CSDLWarning(message: message, line: error.line, column: error.column, source: error.source))
    }

    mutating func warnOfRepeat(_ node: Node) {
        let name = (document.attribute(node, .name) ?? document.attribute(node, .namespace)).map { " \($0)" } ?? ""
        warn("\(document.localName(node))\(name) is declared twice in the same way: the first one holds.", at: node)
    }

    /// Ignores, reports or rejects an invalid facet, according to the options.
    mutating func refuseFacet(_ message: String, _ name: CSDLName, value: String, at node: Node) throws(CSDLError) {
        switch options.facets {
        case .ignored: break
        case .warned: warn(message, at: node)
        case .strict:
            isRefused = true
            throw document.error(
                .invalidAttribute(name.rawValue, element: document.localName(node), value: value), at: node,
                expected: "a facet that is valid for the type and agrees with the other facets")
        }
    }

    /// Warns of an unknown element in a CSDL namespace. Elements of other namespaces are ignored.
    mutating func warnUnknown(_ node: Node, in parent: String) {
        let name = document.name(node)
        guard name != .documentation else { return }
        let namespace = document.namespace(node)
        guard namespace.isEmpty || namespace.hasSuffix("/edm") else { return }
        warn("\(document.localName(node)) within \(parent) is not known and was left out.", at: node)
    }

    /// Checks for names that differ only in case, if the options request the check.
    private mutating func checkNames(_ schemas: [Node]) throws(CSDLError) {
        guard options.caseConflicts != .allowed else { return }
        for schema in schemas {
            try checkNames(of: document.children(schema), in: document.attribute(schema, .namespace) ?? "Schema")
            for child in document.children(schema) {
                switch document.name(child) {
                case .entityType, .complexType, .enumType, .entityContainer:
                    try checkNames(of: document.children(child), in: document.attribute(child, .name) ?? "")
                default: break
                }
            }
        }
    }

    private mutating func checkNames(of nodes: CSDLDocument.Children, in owner: String) throws(CSDLError) {
        var names: [String: String] = [:]
        for node in nodes {
            switch document.name(node) {
            // Overloads have the same name intentionally.
            case .action, .function, .annotation, .annotations: continue
            default: break
            }
            guard let name = document.attribute(node, .name) else { continue }
            guard let other = names.updateValue(name, forKey: name.lowercased()), other != name else { continue }
            guard options.caseConflicts == .warned else {
                throw document.error(
                    .duplicateName(name), at: node, expected: "names in \(owner) that differ in more than case")
            }
            warn("\(name) and \(other) in \(owner) differ in case alone.", at: node)
        }
    }
}

extension CSDLDocument {
    /// Returns the value of an attribute whose name is not in ``CSDLName``.
    func attribute(_ node: Node, other name: String) -> String? {
        for attribute in attributes(node) where attribute.name == .other && string(attribute.otherName) == name {
            return string(attribute.value)
        }
        return nil
    }
}

extension Bool {
    /// Parses a boolean in metadata: `true` and `1`, `false` and `0`, and capitalised words, which some tools
    /// write.
    init?(stated text: String) {
        switch text {
        case "true", "1", "True", "TRUE": self = true
        case "false", "0", "False", "FALSE": self = false
        default: return nil
        }
    }
}
