import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// The result of an operation, prepared for further reading.
enum ComposedResult: Sendable {
    /// No result.
    case none
    /// A value that is not an entity.
    case value(ODataValue, TypeReference)
    /// Entities that are not in the store.
    case transient([ODataEntity], isCollection: Bool)
    /// Stored entities. The ids give the order of the operation's result, if it has one.
    case stored(EntityPlace, order: [String]?)

    /// Returns the empty collection of a type.
    private static func empty(_ type: TypeReference, _ core: ServiceCore) -> ComposedResult {
        guard case .entity(let name?) = type.element,
            let set = core.mapping.model.container.entitySets.first(where: { core.mapping.model.isType(name, $0.type) }
            ),
            let shape = core.mapping.tables[set.name]?.shape
        else { return .transient([], isCollection: true) }
        let query = StoreReader.query(shape, set)
        let steps: [BoundSegment] = [.entitySet(set, shape), .filter(KeyCondition.any(of: [], query), query.variable)]
        return EntityPlace(steps).map { .stored($0, order: nil) } ?? .transient([], isCollection: true)
    }

    /// Classifies the result of an operation.
    init(_ result: OperationResult, _ operation: ODataOperation, transaction: ServiceTransaction) throws {
        let type = operation.returnType ?? .untyped("Edm.Untyped")
        switch result {
        case .none: self = .none
        case .value(let value): self = .value(value, type)
        case .entity(let entity):
            guard let place = EntityPlace(ofStored: [entity], in: transaction.core, isCollection: false) else {
                self = .transient([entity], isCollection: false)
                return
            }
            self = .stored(place, order: nil)
        case .entities(let entities):
            if entities.isEmpty {
                self = Self.empty(type, transaction.core)
                return
            }
            guard let place = EntityPlace(ofStored: entities, in: transaction.core, isCollection: true) else {
                self = .transient(entities, isCollection: true)
                return
            }
            self = .stored(place, order: entities.compactMap(\.control.id))
        case .query(let text): self = try Self.query(text, type, transaction: transaction)
        }
    }

    /// Returns the result of a query. A query without limits is combined with the options of the request; one
    /// with limits is read immediately.
    private static func query(
        _ text: String, _ type: TypeReference, transaction: ServiceTransaction
    ) throws -> ComposedResult {
        let url: ODataURL
        do throws(QueryError) { url = try ODataURL(parsing: text) } catch { throw ODataError(error) }
        let bound = try transaction.core.bind(url)
        guard var place = EntityPlace(bound.resource.steps) else {
            throw ODataError.notImplemented("The result \(text)")
        }
        if let query = bound.query {
            guard query.top == nil, query.skip == nil, query.apply.isEmpty, query.search == nil else {
                let entities = try transaction.entities(bound)
                if entities.isEmpty { return empty(type, transaction.core) }
                guard let place = EntityPlace(ofStored: entities, in: transaction.core, isCollection: type.isCollection)
                else {
                    return .transient(entities, isCollection: true)
                }
                return .stored(place, order: entities.compactMap(\.control.id))
            }
            if let filter = query.filter { place.steps.append(.filter(filter, query.variable)) }
            place.orderBy = query.orderBy
        }
        return .stored(place, order: nil)
    }
}

/// Stored entities, described by a path.
struct EntityPlace: Sendable {
    var steps: [BoundSegment]
    var shape: TypeShape
    var set: EntitySet?
    /// Whether the path addresses a collection.
    var isCollection: Bool
    /// The order of the entities unless the request states another one.
    var orderBy: [BoundOrder] = []

    /// The entity set or singleton at the end of the path; empty for contained entities.
    var storedSet: String {
        if let set { return set.name }
        if case .singleton(let singleton, _)? = steps.last(where: { if case .cast = $0 { false } else { true } }) {
            return singleton.name
        }
        return ""
    }

    /// Creates the place at the end of a path; `nil` if the path does not lead to entities.
    init?(_ steps: [BoundSegment]) {
        self.steps = steps
        var place: (TypeShape, EntitySet?, Bool)?
        for step in steps {
            switch step {
            case .entitySet(let set, let shape): place = (shape, set, true)
            case .singleton(_, let shape): place = (shape, nil, false)
            case .key: place?.2 = false
            case .navigation(let navigation, let set, let shape): place = (shape, set, navigation.isCollection)
            case .cast(let shape): place?.0 = shape
            case .filter: continue
            default: return nil
            }
        }
        guard let place else { return nil }
        (shape, set, isCollection) = place
    }

    /// Creates the place of entities from one set; `nil` if they are not from one set.
    init?(ofStored entities: [ODataEntity], in core: ServiceCore, isCollection: Bool) {
        let names = Set(entities.compactMap { entity in entity.control.id.map { String($0.prefix { $0 != "(" }) } })
        // A slash within a key is percent-encoded; any other slash leads to a contained entity.
        guard names.count == 1, let name = names.first, let table = core.mapping.tables[name],
            entities.allSatisfy({ $0.control.id?.contains("/") == false })
        else { return nil }
        self.isCollection = isCollection
        shape = table.shape
        if let singleton = core.mapping.model.singleton(name) {
            steps = [.singleton(singleton, table.shape)]
            return
        }
        guard let set = core.mapping.model.entitySet(name) else { return nil }
        self.set = set
        let keys = entities.compactMap(\.key)
        guard keys.count == entities.count else { return nil }
        steps = [.entitySet(set, table.shape)]
        if !isCollection, let key = keys.first {
            steps.append(.key(key))
        } else {
            let query = StoreReader.query(table.shape, set)
            steps.append(.filter(KeyCondition.any(of: keys, query), query.variable))
        }
    }
}

/// The read that an operation call is reduced to: the path to the resulting entities, followed by the rest of
/// the URL.
struct ComposedRead {
    /// The resolved URL.
    var bound: BoundURL
    /// The ids in the order of the operation's result.
    var order: [String]?
    /// Whether the response is the single entity that the operation returned. The entity may be missing.
    var isOwnEntity: Bool
    /// Whether the response is the collection that the operation returned, in its order.
    var keepsOrder: Bool

    init(
        _ place: EntityPlace, _ rest: [BoundSegment], bound: BoundURL, request: ODataRequest,
        binder: Binder
    ) throws {
        var target = bound.resource.target
        var query = bound.query
        if case .operation = target {
            target = place.isCollection ? .entities(place.shape, set: place.set) : .entity(place.shape, set: place.set)
        }
        let end = EntityPlace(place.steps + rest)
        switch target {
        case .entities(let shape, let set): target = .entities(shape, set: set ?? end?.set)
        case .entity(let shape, let set): target = .entity(shape, set: set ?? end?.set)
        case .count(let shape, let set): target = .count(shape, set: set ?? end?.set)
        case .references(let navigation, let shape, let set, let isCollection):
            target = .references(navigation, shape, set: set ?? end?.set, isCollection: isCollection)
        default: break
        }
        if query?.set == nil, let end {
            // The operation declares no entity set, but the store knows the set.
            do throws(QueryError) {
                query = try binder.bindQuery(request.url.options, shape: end.shape, set: end.set)
            } catch {
                throw ODataError(error)
            }
        }
        if rest.isEmpty, query?.orderBy.isEmpty == true { query?.orderBy = place.orderBy }
        (isOwnEntity, keepsOrder) = (false, false)
        switch target {
        case .entity: isOwnEntity = rest.isEmpty
        case .entities:
            keepsOrder = rest.isEmpty && query?.orderBy.isEmpty == true && query?.apply.isEmpty == true
        default: break
        }
        self.bound = BoundURL(resource: BoundResource(steps: place.steps + rest, target: target), query: query)
    }
}
