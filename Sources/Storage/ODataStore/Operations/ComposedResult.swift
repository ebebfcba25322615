import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// The result of an operation, made ready to be read further.
enum ComposedResult: Sendable {
    /// Nothing.
    case none
    /// A value that is no entity.
    case value(ODataValue, TypeReference)
    /// Entities that the store does not know.
    case transient([ODataEntity], isCollection: Bool)
    /// Stored entities, with their ids in the operation's order where it has one.
    case stored(EntityPlace, order: [String]?)

    /// The empty collection of a type.
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

    /// Judges what an operation gave.
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

    /// A query without limits is read together with what the caller asks for; one with limits is read now.
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

/// Stored entities by the path that leads to them.
struct EntityPlace: Sendable {
    /// The path.
    var steps: [BoundSegment]
    /// The type of the entities.
    var shape: TypeShape
    /// Their set.
    var set: EntitySet?
    /// Whether there may be many.
    var isCollection: Bool
    /// The order that they are given in unless another one is asked for.
    var orderBy: [BoundOrder] = []

    /// The entity set or singleton that the path ends in; empty for what lies within an entity.
    var storedSet: String {
        if let set { return set.name }
        if case .singleton(let singleton, _)? = steps.last(where: { if case .cast = $0 { false } else { true } }) {
            return singleton.name
        }
        return ""
    }

    /// What a path leads to; `nil` when that is no entity.
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

    /// The place of entities that were read from one set; `nil` when they were not.
    init?(ofStored entities: [ODataEntity], in core: ServiceCore, isCollection: Bool) {
        let names = Set(entities.compactMap { entity in entity.control.id.map { String($0.prefix { $0 != "(" }) } })
        // A slash within a key is percent-encoded: one that is not leads to what another entity contains.
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

/// The read that a call comes down to: the path to the entities that it gave, and what followed it in the URL.
struct ComposedRead {
    /// What is read.
    var bound: BoundURL
    /// The ids in the operation's own order.
    var order: [String]?
    /// Whether it is one entity, the operation's own result, which need not be there.
    var isOwnEntity: Bool
    /// Whether the result is the operation's own collection, in no other order.
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
            // The operation did not say which set its entities are of; the store knows.
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
