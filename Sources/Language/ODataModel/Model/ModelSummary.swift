/// A summary of a model in numbers and names, as an overview of an unknown service.
public struct ModelSummary: Hashable, Sendable, Codable {
    /// An entity set or singleton.
    public struct Set: Hashable, Sendable, Codable {
        /// The name.
        public var name: String
        /// The type of the entities.
        public var type: String
        /// The names of the key properties.
        public var key: [String]
        /// The number of structural properties, including inherited ones.
        public var properties: Int
        /// The navigation properties with their targets.
        public var navigation: [String]
        /// Whether the element is a singleton.
        public var isSingleton: Bool
    }

    /// The version of OData.
    public var version: String
    /// The namespaces of the schemas.
    public var namespaces: [String]
    /// The full name of the container; `nil` if the model has none.
    public var container: String?
    /// The number of entity types.
    public var entityTypes: Int
    /// The number of complex types.
    public var complexTypes: Int
    /// The number of enumeration types.
    public var enumTypes: Int
    /// The number of type definitions.
    public var typeDefinitions: Int
    /// The number of actions and functions, including overloads.
    public var operations: Int
    /// The number of terms.
    public var terms: Int
    /// The entity sets and singletons, in document order.
    public var sets: [Set]
    /// The names of the action and function imports.
    public var imports: [String]
    /// The URIs of the referenced documents.
    public var references: [String]

    /// Creates the summary of a model.
    public init(_ model: EntityDataModel) {
        let types = model.schemas.flatMap(\.structuredTypes)
        version = model.version.rawValue
        namespaces = model.schemas.map(\.namespace)
        container = model.schemas.contains { $0.container != nil } ? model.container.name.description : nil
        entityTypes = types.count { $0.kind == .entity }
        complexTypes = types.count { $0.kind == .complex }
        enumTypes = model.schemas.reduce(0) { $0 + $1.enumTypes.count }
        typeDefinitions = model.schemas.reduce(0) { $0 + $1.typeDefinitions.count }
        operations = model.schemas.reduce(0) { $0 + $1.operations.count }
        terms = model.schemas.reduce(0) { $0 + $1.terms.count }
        func set(_ name: String, _ type: QualifiedName, isSingleton: Bool) -> Set {
            let shape = model.shape(type)
            return Set(
                name: name, type: type.description, key: shape?.key.map(\.name) ?? [],
                properties: shape?.properties.count ?? 0,
                navigation: shape?.navigationProperties.map { property in
                    let target = model.targetSet(of: name, path: property.name, target: property.target)?.name
                    return "\(property.name) → \(target ?? property.target.description)"
                } ?? [],
                isSingleton: isSingleton)
        }
        sets =
            model.container.entitySets.map { set($0.name, $0.type, isSingleton: false) }
            + model.container.singletons.map { set($0.name, $0.type, isSingleton: true) }
        imports = model.container.operationImports.map(\.name)
        references = model.references.map(\.uri)
    }
}
