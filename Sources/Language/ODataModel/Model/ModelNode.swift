/// An element of a model with its path, from which its parent, its children and all other elements can be reached.
///
/// ```swift
/// let property = model.node(at: "Shop.Order/Freight")
/// let type = property?.parent          // Shop.Order
/// ```
public struct ModelNode: Sendable {
    /// The kinds of element, each with its value.
    public enum Element: Hashable, Sendable {
        /// A schema.
        case schema(ODataSchema)
        /// An entity type or complex type.
        case structuredType(StructuredType)
        /// An enumeration type.
        case enumType(EnumType)
        /// A type definition.
        case typeDefinition(TypeDefinition)
        /// An overload of an action or function.
        case operation(ODataOperation)
        /// A term.
        case term(Term)
        /// An entity container.
        case container(EntityContainer)
        /// A structural property.
        case property(Property)
        /// A navigation property.
        case navigationProperty(NavigationProperty)
        /// A member of an enumeration type.
        case enumMember(EnumType.Member)
        /// A parameter of an operation.
        case parameter(ODataOperation.Parameter)
        /// An entity set.
        case entitySet(EntitySet)
        /// A singleton.
        case singleton(Singleton)
        /// An action or function import.
        case operationImport(OperationImport)
    }

    /// The model that contains the element.
    public let model: EntityDataModel
    /// The path of the element in the notation of annotation targets: `NS`, `NS.Type`, `NS.Type/Property`,
    /// `NS.Container/Set` (OData CSDL 4.01, 14.2.1).
    public let path: String
    /// The element with its content.
    public let element: Element

    /// The element that contains this element; `nil` for a schema.
    public var parent: ModelNode? {
        if let owner = path.halves(atLast: "/")?.before { return model.node(at: String(owner)) }
        if case .schema = element { return nil }
        let name = Substring(path.utf8.prefix { $0 != UInt8(ascii: "(") })
        return name.halves(atLast: ".").flatMap { model.node(at: String($0.before)) }
    }

    /// The annotations on the element.
    public var annotations: [Annotation] {
        switch element {
        case .schema(let element): element.annotations
        case .structuredType(let element): element.annotations
        case .enumType(let element): element.annotations
        case .typeDefinition(let element): element.annotations
        case .operation(let element): element.annotations
        case .term(let element): element.annotations
        case .container(let element): element.annotations
        case .property(let element): element.annotations
        case .navigationProperty(let element): element.annotations
        case .enumMember(let element): element.annotations
        case .parameter(let element): element.annotations
        case .entitySet(let element): element.annotations
        case .singleton(let element): element.annotations
        case .operationImport(let element): element.annotations
        }
    }

    /// The elements that this element contains, in document order.
    public var children: [ModelNode] {
        func child(_ name: String, _ element: Element) -> ModelNode {
            ModelNode(model: model, path: "\(path)/\(name)", element: element)
        }
        switch element {
        case .schema(let schema): return Self.elements(of: schema, model)
        case .structuredType(let type):
            return type.properties.map { child($0.name, .property($0)) }
                + type.navigationProperties.map { child($0.name, .navigationProperty($0)) }
        case .enumType(let type): return type.members.map { child($0.name, .enumMember($0)) }
        case .operation(let operation): return operation.parameters.map { child($0.name, .parameter($0)) }
        case .container(let container):
            return container.entitySets.map { child($0.name, .entitySet($0)) }
                + container.singletons.map { child($0.name, .singleton($0)) }
                + container.operationImports.map { child($0.name, .operationImport($0)) }
        default: return []
        }
    }

    private static func elements(of schema: ODataSchema, _ model: EntityDataModel) -> [ModelNode] {
        func node(_ name: QualifiedName, _ element: Element) -> ModelNode {
            ModelNode(model: model, path: name.description, element: element)
        }
        var result = schema.structuredTypes.map { node($0.name, .structuredType($0)) }
        result += schema.enumTypes.map { node($0.name, .enumType($0)) }
        result += schema.typeDefinitions.map { node($0.name, .typeDefinition($0)) }
        result += schema.operations.map { operation in
            ModelNode(
                model: model, path: "\(operation.name)(\(operation.signature))", element: .operation(operation))
        }
        result += schema.terms.map { node($0.name, .term($0)) }
        if let container = schema.container { result.append(node(container.name, .container(container))) }
        return result
    }
}

extension EntityDataModel {
    /// The schemas as nodes, in document order; schemas of other documents come last.
    public var nodes: [ModelNode] {
        (schemas + includedSchemas).map { ModelNode(model: self, path: $0.namespace, element: .schema($0)) }
    }

    /// Returns the element at a path, which contains full names or aliases of schemas.
    ///
    /// - Parameter path: a path such as `NS.Type/Property`, `NS.Container/Set` or `NS.Function(NS.Type)/parameter`.
    ///   An operation without parentheses is the first of its overloads.
    public func node(at path: String) -> ModelNode? {
        var aliases: [String: String] = [:]
        for schema in schemas {
            if let alias = schema.alias { aliases[alias] = schema.namespace }
        }
        let segments = CSDLNameMap.segments(CSDLNameMap(aliases).path(path)).map(String.init)
        guard let first = segments.first else { return nil }
        let schemaNodes = nodes
        var node = schemaNodes.first { $0.path == first }
        if node == nil {
            let candidates = schemaNodes.filter { first.begins(with: $0.path + ".") }.flatMap(\.children)
            node = candidates.first { $0.path == first } ?? candidates.first { $0.path.begins(with: first + "(") }
        }
        for segment in segments.dropFirst() {
            let path = node.map { "\($0.path)/\(segment)" }
            node = node?.children.first { $0.path == path }
        }
        return node
    }
}
