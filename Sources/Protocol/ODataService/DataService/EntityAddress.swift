import ODataModel
import ODataQuery

extension ODataURL {
    /// Creates the URL of an entity set (OData URL Conventions 4.01, 4.1).
    public init(set: String, options: QueryOptions = QueryOptions()) {
        self.init(path: ResourcePath([.name(Identifier(set), .none)]), options: options)
    }

    /// Creates the URL of an entity by its key (OData URL Conventions 4.01, 4.3.1 *Canonical URL*).
    ///
    /// - Parameter model: the model with the types of the key properties, which enumeration literals need.
    public init(set: String, key: EntityKey, model: EntityDataModel? = nil, options: QueryOptions = QueryOptions()) {
        let shape = model?.shape(ofSet: set)
        self.init(
            path: ResourcePath([.name(Identifier(set), .key(KeyPredicate(key, shape: shape, model: model)))]),
            options: options)
    }
}

extension KeyPredicate {
    /// Creates the predicate of a key: the value alone for a single-part key, else names and values.
    public init(_ key: EntityKey, shape: TypeShape? = nil, model: EntityDataModel? = nil) {
        let arguments = key.parts.map { part in
            let path = shape?.key.first { $0.name == part.name }?.path ?? part.name
            let type = shape?.property(path)?.type
            return CommonExpression.NamedArgument(
                name: Identifier(part.name), value: .literal(Literal(of: part.value, type: type, model: model)))
        }
        self = arguments.count == 1 ? .single(arguments[0].value) : .compound(arguments)
    }
}

extension DataService {
    /// Returns a request for an existing entity.
    ///
    /// The address is the given set, or else the only set of the entity's type, or else the link that the service
    /// gave.
    func request(_ method: ODataRequest.Method, _ entity: ODataEntity, in set: String?) async throws -> ODataRequest {
        let model = try await provider.model
        if let set {
            guard model.entitySet(set) != nil else { throw DataServiceError.unknownEntitySet(set) }
            guard let key = entity.key else { throw DataServiceError.notAddressable(type: entity.shape.name) }
            return ODataRequest(method, ODataURL(set: set, key: key, model: model))
        }
        let candidates = Self.sets(of: entity.shape.name, in: model)
        if let key = entity.key, candidates.count == 1 {
            return ODataRequest(method, ODataURL(set: candidates[0], key: key, model: model))
        }
        if let link = entity.control.editLink ?? entity.control.id {
            var request = ODataRequest(method, ODataURL())
            request.link = link
            return request
        }
        guard entity.key != nil else { throw DataServiceError.notAddressable(type: entity.shape.name) }
        throw DataServiceError.ambiguousEntitySet(type: entity.shape.name, candidates: candidates)
    }

    /// Returns the given set, or else the only set that holds a type.
    func set(of type: QualifiedName, named set: String?) async throws -> String {
        let model = try await provider.model
        if let set {
            guard model.entitySet(set) != nil else { throw DataServiceError.unknownEntitySet(set) }
            return set
        }
        let candidates = Self.sets(of: type, in: model)
        guard candidates.count == 1 else {
            throw DataServiceError.ambiguousEntitySet(type: type, candidates: candidates)
        }
        return candidates[0]
    }

    /// Returns the sets declared with a type, or else the sets of its base types.
    private static func sets(of type: QualifiedName, in model: EntityDataModel) -> [String] {
        let sets = model.container.entitySets
        let exact = sets.filter { $0.type == type }
        return (exact.isEmpty ? sets.filter { model.isType(type, $0.type) } : exact).map(\.name)
    }
}
