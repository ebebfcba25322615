/// A service's complete model: every type with what it inherits, the container, and look-up by name.
/// Immutable; made by the CSDL readers or from schemas built in code.
///
/// ```swift
/// let model = try EntityDataModel(schemas: [schema])
/// let orders = model.entitySet("Orders")
/// let shape = model.shape(ofSet: "Orders")
/// ```
public final class EntityDataModel: Sendable {
    /// The version of the document that the model came from.
    public let version: ODataVersion
    /// The schemas in document order.
    public let schemas: [Schema]
    /// The container with everything it extends folded in.
    public let container: EntityContainer

    private let shapes: [QualifiedName: Shape]
    private let enumTypesByName: [QualifiedName: EnumType]
    private let typeDefinitionsByName: [QualifiedName: TypeDefinition]
    private let operationsByName: [QualifiedName: [Operation]]
    private let entitySetsByName: [String: EntitySet]
    private let singletonsByName: [String: Singleton]
    private let importsByName: [String: [OperationImport]]
    private let derivedTypesByBase: [QualifiedName: [QualifiedName]]

    /// Compiles a model.
    ///
    /// - Throws: ``ModelError`` when a base type is missing or inheritance goes in a circle, when two
    ///   elements share a name, or when a set names a type that is not there.
    public init(schemas: [Schema], version: ODataVersion = .v401) throws(ModelError) {
        self.version = version
        self.schemas = schemas
        var declared: [QualifiedName: StructuredType] = [:]
        var enums: [QualifiedName: EnumType] = [:]
        var definitions: [QualifiedName: TypeDefinition] = [:]
        var operations: [QualifiedName: [Operation]] = [:]
        var derived: [QualifiedName: [QualifiedName]] = [:]
        for schema in schemas {
            for type in schema.structuredTypes {
                guard declared.updateValue(type, forKey: type.name) == nil else {
                    throw .duplicateName(type.name.description)
                }
                if let base = type.baseType { derived[base, default: []].append(type.name) }
            }
            for type in schema.enumTypes { enums[type.name] = type }
            for type in schema.typeDefinitions { definitions[type.name] = type }
            for operation in schema.operations { operations[operation.name, default: []].append(operation) }
        }
        shapes = try Shape.compile(declared)
        container = Self.flatten(schemas.compactMap(\.container))
        enumTypesByName = enums
        typeDefinitionsByName = definitions
        operationsByName = operations
        derivedTypesByBase = derived
        var sets: [String: EntitySet] = [:]
        for set in container.entitySets {
            guard shapes[set.type]?.kind == .entity else { throw .unknownType(set.type, usedBy: set.name) }
            guard sets.updateValue(set, forKey: set.name) == nil else { throw .duplicateName(set.name) }
        }
        entitySetsByName = sets
        var singletons: [String: Singleton] = [:]
        for singleton in container.singletons {
            guard shapes[singleton.type]?.kind == .entity else {
                throw .unknownType(singleton.type, usedBy: singleton.name)
            }
            singletons[singleton.name] = singleton
        }
        singletonsByName = singletons
        importsByName = Dictionary(grouping: container.operationImports, by: \.name)
    }

    /// The entity set with a name, qualified by its container or not.
    public func entitySet(_ name: String) -> EntitySet? {
        if let set = entitySetsByName[name] { return set }
        guard let qualified = QualifiedName(name), qualified.namespace == container.name.description else { return nil }
        return entitySetsByName[qualified.name]
    }

    /// The singleton with a name.
    public func singleton(_ name: String) -> Singleton? { singletonsByName[name] }

    /// The operation imports with a name: overloads share one in V4.
    public func operationImports(_ name: String) -> [OperationImport] { importsByName[name] ?? [] }

    /// The overloads of an action or function.
    public func operations(_ name: QualifiedName) -> [Operation] { operationsByName[name] ?? [] }

    /// The shape of an entity or complex type.
    public func shape(_ name: QualifiedName) -> Shape? { shapes[name] }

    /// The shape of an entity set's declared type.
    public func shape(ofSet name: String) -> Shape? { entitySet(name).flatMap { shapes[$0.type] } }

    /// An enumeration type.
    public func enumType(_ name: QualifiedName) -> EnumType? { enumTypesByName[name] }

    /// A type definition.
    public func typeDefinition(_ name: QualifiedName) -> TypeDefinition? { typeDefinitionsByName[name] }

    /// The types that derive from a type directly, in document order.
    public func derivedTypes(of name: QualifiedName) -> [QualifiedName] { derivedTypesByBase[name] ?? [] }

    /// Whether a type is another or derives from it.
    public func isType(_ name: QualifiedName, _ base: QualifiedName) -> Bool {
        var current: QualifiedName? = name
        while let type = current {
            if type == base { return true }
            current = shapes[type]?.baseType
        }
        return false
    }

    /// The entity set that a navigation property of a set or singleton leads to.
    ///
    /// Follows the navigation property binding; where none is stated, the only set of the target's
    /// type (OData CSDL 4.01, 13.4).
    /// - Parameters:
    ///   - source: the set or singleton where the path starts.
    ///   - path: the navigation property's path, such as `Customer` or `Address/Country`.
    ///   - target: the type of the related entities.
    public func targetSet(of source: String, path: String, target: QualifiedName) -> EntitySet? {
        let bindings = entitySetsByName[source]?.bindings ?? singletonsByName[source]?.bindings ?? []
        if let binding = bindings.first(where: { $0.path == path }) {
            return entitySet(binding.target.split(separator: "/").last.map(String.init) ?? binding.target)
        }
        let candidates = container.entitySets.filter { isType(target, $0.type) || isType($0.type, target) }
        return candidates.count == 1 ? candidates[0] : nil
    }

    private static func flatten(_ containers: [EntityContainer]) -> EntityContainer {
        guard var result = containers.last else {
            return EntityContainer(name: QualifiedName("Default", "Container"))
        }
        for other in containers.dropLast().reversed() {
            result.entitySets = other.entitySets + result.entitySets
            result.singletons = other.singletons + result.singletons
            result.operationImports = other.operationImports + result.operationImports
        }
        return result
    }
}

/// What makes a set of schemas no model.
public enum ModelError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Two elements have the same name.
    case duplicateName(String)
    /// A type that the model lacks is named as a base type or by a set.
    case unknownType(QualifiedName, usedBy: String)
    /// A type derives from itself.
    case circularInheritance(QualifiedName)

    /// What is wrong and where.
    public var description: String {
        switch self {
        case .duplicateName(let name): "The name \(name) is declared twice."
        case .unknownType(let type, let user): "\(user) names the type \(type), which the model does not declare."
        case .circularInheritance(let type): "The type \(type) derives from itself."
        }
    }
}
