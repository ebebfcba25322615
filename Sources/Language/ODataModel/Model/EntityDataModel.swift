import ErrorCodes
import Synchronization

/// The complete model of a service: all types with their inherited members, the container, and lookup by name.
///
/// A model is immutable. It is created by the CSDL readers or from schemas in code.
///
/// ```swift
/// let model = try await client.model
/// let orders = model.entitySet("Orders")
/// let shape = model.shape(ofSet: "Orders")
/// ```
public final class EntityDataModel: Sendable {
    /// The OData version of the source document.
    public let version: ODataVersion
    /// The schemas in document order.
    public let schemas: [ODataSchema]
    /// The schemas that the document includes from other documents, if these were read.
    public let includedSchemas: [ODataSchema]
    /// The references in the document.
    public let references: [CSDLReference]
    /// The document, if the reader was configured to keep it.
    public let originalText: [UInt8]?
    /// The container, merged with the containers that it extends.
    public let container: EntityContainer

    /// The names of entity sets and singletons that the ``container`` lacks because no document declares their
    /// entity types, in document order. Written documents do not contain them.
    public let setsOfUnknownTypes: [String]

    private let typesByName: [QualifiedName: DeclaredType]
    private let entitySetsByName: [String: Int]
    private let singletonsByName: [String: Int]
    private let importsByName: [String: [Int]]
    /// An index that is created on first use, because readers of data may never need it.
    private let lateIndex = AtomicLazyReference<LateIndex>()

    /// A type, or its place in a schema.
    private enum DeclaredType {
        case structured(StructuredTypeSlot)
        case enumeration(Place)
        case definition(Place)
    }

    /// The place of a declaration: the number of the schema, followed by included schemas, and the index in the
    /// schema.
    fileprivate struct Place {
        var schema: Int
        var index: Int
    }

    /// Creates a model.
    ///
    /// - Parameters:
    ///   - schemas: the schemas in document order.
    ///   - version: the version of the document.
    ///   - includedSchemas: schemas of other documents that the first schemas use.
    ///   - references: the references to these documents.
    ///   - originalText: the document, which the model keeps.
    ///   - setsOfUnknownTypes: the names of sets that are left out because their types are not declared.
    /// - Throws: ``ModelError`` if a base type is missing, inheritance is circular, two elements have the same
    ///   name, or the type of a set is missing.
    public init(
        schemas: [ODataSchema], version: ODataVersion = .v401, includedSchemas: [ODataSchema] = [],
        references: [CSDLReference] = [], originalText: [UInt8]? = nil, setsOfUnknownTypes: [String] = []
    ) throws(ModelError) {
        self.version = version
        self.schemas = schemas
        self.includedSchemas = includedSchemas
        self.references = references
        self.originalText = originalText
        self.setsOfUnknownTypes = setsOfUnknownTypes
        let all = includedSchemas.isEmpty ? schemas : schemas + includedSchemas
        var types: [QualifiedName: DeclaredType] = [:]
        types.reserveCapacity(
            all.reduce(0) { $0 + $1.structuredTypes.count + $1.enumTypes.count + $1.typeDefinitions.count })
        for (number, schema) in all.enumerated() {
            for index in schema.structuredTypes.indices {
                let slot = StructuredTypeSlot(schema.structuredTypes[index])
                guard types.updateValue(.structured(slot), forKey: slot.type.name) == nil else {
                    throw .duplicateName(slot.type.name.description)
                }
            }
            for index in schema.enumTypes.indices {
                let name = schema.enumTypes[index].name
                guard types.updateValue(.enumeration(Place(schema: number, index: index)), forKey: name) == nil else {
                    throw .duplicateName(name.description)
                }
            }
            for index in schema.typeDefinitions.indices {
                let name = schema.typeDefinitions[index].name
                guard types.updateValue(.definition(Place(schema: number, index: index)), forKey: name) == nil else {
                    throw .duplicateName(name.description)
                }
            }
        }
        container = Self.flatten((includedSchemas + schemas).compactMap(\.container))
        typesByName = types
        var sets: [String: Int] = [:]
        for (index, set) in container.entitySets.enumerated() {
            guard case .structured(let slot) = types[set.type], slot.type.kind == .entity else {
                throw .unknownType(set.type, usedBy: set.name)
            }
            guard sets.updateValue(index, forKey: set.name) == nil else { throw .duplicateName(set.name) }
        }
        for (index, set) in container.entitySets.enumerated() {
            if let name = set.qualifiedName, sets[name] == nil { sets[name] = index }
        }
        entitySetsByName = sets
        var singletons: [String: Int] = [:]
        for (index, singleton) in container.singletons.enumerated() {
            guard case .structured(let slot) = types[singleton.type], slot.type.kind == .entity else {
                throw .unknownType(singleton.type, usedBy: singleton.name)
            }
            guard sets[singleton.name] == nil, singletons.updateValue(index, forKey: singleton.name) == nil else {
                throw .duplicateName(singleton.name)
            }
        }
        singletonsByName = singletons
        var imports: [String: [Int]] = [:]
        for (index, operation) in container.operationImports.enumerated() {
            imports[operation.name, default: []].append(index)
            if let name = operation.qualifiedName { imports[name, default: []].append(index) }
        }
        importsByName = imports
        try checkInheritance()
    }

    /// Returns a self-contained model, in which the included schemas become schemas of the document.
    ///
    /// References to these schemas are removed, so that a written document needs no other document.
    ///
    /// ```swift
    /// let whole = try await client.model.resolved()
    /// let text = CSDLWriter.xml(whole)
    /// ```
    /// - Throws: errors of the initializer; never for a model from a reader.
    public func resolved() throws(ModelError) -> EntityDataModel {
        let namespaces = Set(includedSchemas.map(\.namespace))
        let rest = references.compactMap { reference in
            var reference = reference
            reference.includes.removeAll { namespaces.contains($0.namespace) }
            return reference.includes.isEmpty && reference.includedAnnotations.isEmpty ? nil : reference
        }
        // The container of the document comes last because it extends the other containers.
        return try EntityDataModel(
            schemas: includedSchemas + schemas, version: version, references: rest,
            setsOfUnknownTypes: setsOfUnknownTypes)
    }

    /// Creates an empty model.
    public init() {
        version = .v401
        schemas = []
        includedSchemas = []
        references = []
        originalText = nil
        setsOfUnknownTypes = []
        container = Self.flatten([])
        typesByName = [:]
        entitySetsByName = [:]
        singletonsByName = [:]
        importsByName = [:]
    }

    /// Checks that every base type exists and no type derives from itself.
    private func checkInheritance() throws(ModelError) {
        // Types with a valid chain of base types.
        var checked: Set<ObjectIdentifier> = []
        // Document order makes the reported type deterministic.
        let starts = (schemas + includedSchemas).lazy.flatMap(\.structuredTypes).filter { $0.baseType != nil }
        for type in starts {
            guard let start = slot(type.name) else { continue }
            var current = start
            var steps = 0
            while !checked.contains(ObjectIdentifier(current)), let base = current.type.baseType {
                guard case .structured(let next) = typesByName[base] else {
                    throw .unknownType(base, usedBy: current.type.name.description)
                }
                current = next
                steps += 1
                guard steps <= typesByName.count else { throw .circularInheritance(firstOfCircle(through: current)) }
            }
            current = start
            while checked.insert(ObjectIdentifier(current)).inserted, let base = current.type.baseType,
                case .structured(let next) = typesByName[base]
            {
                current = next
            }
        }
    }

    /// Returns the first declared type in a circle of base types.
    private func firstOfCircle(through slot: StructuredTypeSlot) -> QualifiedName {
        var circle: Set<QualifiedName> = [slot.type.name]
        var next = slot.type.baseType
        while let name = next, circle.insert(name).inserted { next = self.slot(name)?.type.baseType }
        let types = (schemas + includedSchemas).lazy.flatMap(\.structuredTypes)
        return types.first { circle.contains($0.name) }?.name ?? slot.type.name
    }

    /// Returns the entity set with a name, which may be qualified by its container or schema, or be the name in
    /// URLs.
    public func entitySet(_ name: String) -> EntitySet? {
        if let index = entitySetsByName[name] { return container.entitySets[index] }
        // A path such as `NS.Container/Orders`, as used in bindings, is also accepted.
        let dotted = name.replacing("/", with: ".")
        guard let qualified = QualifiedName(dotted), let index = entitySetsByName[qualified.name] else { return nil }
        let owners = [container.name.description, container.name.namespace, container.name.name]
        return owners.contains(qualified.namespace) ? container.entitySets[index] : nil
    }

    /// Returns the singleton with a name.
    public func singleton(_ name: String) -> Singleton? { singletonsByName[name].map { container.singletons[$0] } }

    /// Returns the operation imports with a name or a name in URLs; V4 overloads share an import.
    public func operationImports(_ name: String) -> [OperationImport] {
        importsByName[name]?.map { container.operationImports[$0] } ?? []
    }

    /// Returns the overloads of an action or function.
    public func operations(_ name: QualifiedName) -> [ODataOperation] {
        index.operations[name]?.map { schema(of: $0).operations[$0.index] } ?? []
    }

    private var index: LateIndex {
        lateIndex.load() ?? lateIndex.storeIfNil(LateIndex(schemas + includedSchemas))
    }

    private func schema(of place: Place) -> ODataSchema {
        place.schema < schemas.count ? schemas[place.schema] : includedSchemas[place.schema - schemas.count]
    }

    /// Returns the shape of an entity or complex type.
    ///
    /// The shape is created on first use, because a model has hundreds of types and an app uses few of them.
    public func shape(_ name: QualifiedName) -> TypeShape? {
        guard case .structured(let slot) = typesByName[name] else { return nil }
        return slot.shape(in: self)
    }

    /// Returns the declaration of an entity or complex type.
    public func structuredType(_ name: QualifiedName) -> StructuredType? { slot(name)?.type }

    fileprivate func slot(_ name: QualifiedName) -> StructuredTypeSlot? {
        guard case .structured(let slot) = typesByName[name] else { return nil }
        return slot
    }

    /// Returns the shape of an entity set's declared type.
    public func shape(ofSet name: String) -> TypeShape? { entitySet(name).flatMap { shape($0.type) } }

    /// Returns the shape of an entity set's declared type, or throws if it is missing.
    ///
    /// - Throws: ``ModelError/noEntityType(set:)``.
    public func requiredShape(ofSet name: String) throws(ModelError) -> TypeShape {
        guard let shape = shape(ofSet: name) else { throw .noEntityType(set: name) }
        return shape
    }

    /// Returns the enumeration type with a name.
    public func enumType(_ name: QualifiedName) -> EnumType? {
        guard case .enumeration(let place) = typesByName[name] else { return nil }
        return schema(of: place).enumTypes[place.index]
    }

    /// Returns the type definition with a name.
    public func typeDefinition(_ name: QualifiedName) -> TypeDefinition? {
        guard case .definition(let place) = typesByName[name] else { return nil }
        return schema(of: place).typeDefinitions[place.index]
    }

    /// Returns the types that derive directly from a type, in document order.
    public func derivedTypes(of name: QualifiedName) -> [QualifiedName] { index.derivedTypes[name] ?? [] }

    /// Returns whether a type is the same as a base type or derives from it.
    public func isType(_ name: QualifiedName, _ base: QualifiedName) -> Bool {
        var current: QualifiedName? = name
        while let type = current {
            if type == base { return true }
            current = slot(type)?.type.baseType
        }
        return false
    }

    /// Returns the entity set that a navigation property of a set or singleton leads to.
    ///
    /// The navigation property binding determines the set. Without a binding, the set must be the only one with a
    /// matching type (OData CSDL 4.01, 13.4).
    /// - Parameters:
    ///   - source: the set or singleton at which the path starts.
    ///   - path: the navigation property's path, such as `Customer` or `Address/Country`.
    ///   - target: the type of the related entities.
    public func targetSet(of source: String, path: String, target: QualifiedName) -> EntitySet? {
        let bindings = entitySet(source)?.bindings ?? singleton(source)?.bindings ?? []
        if let binding = bindings.first(where: { $0.path == path }) {
            return entitySet(binding.target.parts(between: "/").last.map(String.init) ?? binding.target)
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
            result.associationSets = other.associationSets + result.associationSets
        }
        return result
    }
}

/// The index of operations and derived types.
private final class LateIndex: Sendable {
    /// The overloads with each name.
    let operations: [QualifiedName: [EntityDataModel.Place]]
    /// The types that derive directly from each type, in document order.
    let derivedTypes: [QualifiedName: [QualifiedName]]

    init(_ schemas: [ODataSchema]) {
        var operations: [QualifiedName: [EntityDataModel.Place]] = [:]
        var derivedTypes: [QualifiedName: [QualifiedName]] = [:]
        for (number, schema) in schemas.enumerated() {
            for type in schema.structuredTypes {
                if let base = type.baseType { derivedTypes[base, default: []].append(type.name) }
            }
            for index in schema.operations.indices {
                let place = EntityDataModel.Place(schema: number, index: index)
                operations[schema.operations[index].name, default: []].append(place)
            }
        }
        self.operations = operations
        self.derivedTypes = derivedTypes
    }
}

/// A structured type with its lazily created shape.
private final class StructuredTypeSlot: Sendable {
    let type: StructuredType
    private let compiled = AtomicLazyReference<TypeShape>()

    init(_ type: StructuredType) { self.type = type }

    /// Returns the shape. The model has checked that the chain of base types is finite and complete.
    func shape(in model: EntityDataModel) -> TypeShape {
        if let shape = compiled.load() { return shape }
        // The loop starts at the nearest base type with a shape. Recursion is avoided because chains may be long.
        var line = [self]
        var base: TypeShape?
        while let name = line[line.count - 1].type.baseType, let slot = model.slot(name) {
            if let shape = slot.compiled.load() {
                base = shape
                break
            }
            line.append(slot)
        }
        var result = TypeShape(line[line.count - 1].type, base: base)
        result = line[line.count - 1].compiled.storeIfNil(result)
        for slot in line.dropLast().reversed() { result = slot.compiled.storeIfNil(TypeShape(slot.type, base: result)) }
        return result
    }
}

/// An error in a set of schemas or in the use of a model.
public enum ModelError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Two elements have the same name.
    case duplicateName(String)
    /// A base type or the type of a set is missing from the model.
    case unknownType(QualifiedName, usedBy: String)
    /// A type derives from itself.
    case circularInheritance(QualifiedName)
    /// The required entity set with this name, or its entity type, is not declared.
    case noEntityType(set: String)

    /// A message that describes the error.
    public var description: String {
        switch self {
        case .duplicateName(let name): "The name \(name) is declared twice."
        case .unknownType(let type, let user): "\(user) names the type \(type), which the model does not declare."
        case .circularInheritance(let type): "The type \(type) derives from itself."
        case .noEntityType(let set): "The model declares no entity type of the set \(set)."
        }
    }
}

extension ModelError: CodedError {
    /// `model.…`.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .duplicateName: "duplicate-name"
            case .unknownType: "unknown-type"
            case .circularInheritance: "circular"
            case .noEntityType: "no-type"
            }
        return ErrorCode(rawValue: "model.\(name)")
    }
    /// The metadata contradict themselves.
    public var failureKind: FailureKind { .service }
}
