/// What a model holds, in numbers and names: for people who look at a service for the first time.
public struct ModelSummary: Hashable, Sendable, Codable {
    /// An entity set or singleton.
    public struct Set: Hashable, Sendable, Codable {
        /// The name.
        public var name: String
        /// The type of the entities.
        public var type: String
        /// The names of the key properties.
        public var key: [String]
        /// How many structural properties there are, inherited ones included.
        public var properties: Int
        /// The navigation properties with where they lead.
        public var navigation: [String]
        /// Whether it is one entity.
        public var isSingleton: Bool
    }

    /// The version of OData.
    public var version: String
    /// The namespaces of the schemas.
    public var namespaces: [String]
    /// The full name of the container; `nil` where there is none.
    public var container: String?
    /// How many entity types there are.
    public var entityTypes: Int
    /// How many complex types there are.
    public var complexTypes: Int
    /// How many enumeration types there are.
    public var enumTypes: Int
    /// How many type definitions there are.
    public var typeDefinitions: Int
    /// How many actions and functions there are, overloads included.
    public var operations: Int
    /// How many terms there are.
    public var terms: Int
    /// The entity sets and singletons, in document order.
    public var sets: [Set]
    /// The names of the action and function imports.
    public var imports: [String]
    /// The documents referred to.
    public var references: [String]

    /// Sums up a model.
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
