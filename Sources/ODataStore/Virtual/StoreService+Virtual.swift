import GRDB
import ODataModel
import ODataQuery
import ODataService

/// A read of an entity set whose entities a closure gives.
public struct VirtualRead {
    /// The request.
    public let request: ODataRequest
    /// The key, where one entity is asked for: what saves making the others.
    public let key: EntityKey?
    /// Reads the store in the transaction of the request.
    public let transaction: ServiceTransaction

    /// Who asks.
    public var principal: Principal? { request.principal }
}

/// Entity sets that no table holds.
extension StoreService {
    private static let mark = "v~"

    /// Whether a request addresses a virtual entity set, and its closure.
    private func virtualSet(_ bound: BoundURL) -> (EntitySet, ServiceDefinition.VirtualRows)? {
        guard case .entitySet(let set, _)? = bound.resource.steps.first,
            let rows = core.definition.virtualSets[set.name]
        else { return nil }
        return (set, rows)
    }

    /// Refuses a change of a virtual entity set.
    func refuseVirtual(_ bound: BoundURL, _ request: ODataRequest) throws {
        guard virtualSet(bound) != nil, bound.resource.operation == nil else { return }
        throw ODataError.methodNotAllowed(request.method, allowed: ["GET"])
    }

    /// Answers a read of a virtual entity set; `nil` for any other.
    func readVirtual(_ bound: BoundURL, _ request: ODataRequest) async throws -> ODataResponse? {
        guard let (set, rows) = virtualSet(bound), let shape = model.shape(set.type) else { return nil }
        var key: EntityKey?
        if case .key(let given)? = bound.resource.steps.dropFirst().first { key = given }
        let entities = try await database.read { [core, key] database in
            try rows(
                VirtualRead(
                    request: request, key: key,
                    transaction: ServiceTransaction(core: core, database: database, request: request))
            ).map { entity in
                var entity = entity
                if let key = entity.key {
                    entity.control.id = EntityID.canonical(
                        set: set.name, key: key, shape: shape, model: core.mapping.model)
                }
                entity.markUnchanged()
                return entity
            }
        }
        var memory = EntitiesInMemory(entities, model: model, now: options.now())
        if let filter = try core.rowFilter(request.principal, set.name) { try memory.keep(filter.condition) }
        var properties: [Property] = []
        for step in bound.resource.steps.dropFirst() {
            switch step {
            case .key(let key): memory.keep(key)
            case .filter(let condition, _), .alternateKey(_, let condition, _): try memory.keep(condition)
            case .cast(let shape): memory.keep(shape)
            case .property(let property, _, _): properties.append(property)
            default: throw ODataError.notImplemented("This path through \(set.name)")
            }
        }
        return try answer(memory, properties, bound, request)
    }

    private func answer(
        _ memory: EntitiesInMemory, _ properties: [Property], _ bound: BoundURL, _ request: ODataRequest
    ) throws -> ODataResponse {
        switch bound.resource.target {
        case .entities(let shape, let set):
            return try page(memory, bound.query ?? StoreReader.query(shape, set), request)
        case .count(let shape, let set):
            var query = bound.query ?? StoreReader.query(shape, set)
            query.expand = []
            return ODataResponse(body: .count(Int64(try memory.page(query).entities.count)))
        case .entity(let shape, let set):
            let found = try memory.page(bound.query ?? StoreReader.query(shape, set)).entities.first
            guard let found else { throw ODataError.notFound(StoreReader.name(of: bound.resource.steps)) }
            return ODataResponse(body: .entity(found), etag: found.control.etag)
        case .property, .rawValue:
            guard let entity = memory.entities.first, let last = properties.last else {
                throw ODataError.notFound(StoreReader.name(of: bound.resource.steps))
            }
            var value = ODataValue.complex(entity)
            for property in properties {
                guard case .complex(let holder) = value else { break }
                value = holder[property.name] ?? .null
            }
            if value.isNull { return ODataResponse(status: 204) }
            if case .property = bound.resource.target { return ODataResponse(body: .value(value, last.type)) }
            return ODataResponse(body: try StoreReader.raw(value, last.type, model))
        default: throw ODataError.notImplemented("This resource of a virtual entity set")
        }
    }

    /// A page of entities in memory; the link to the next one says where it begins.
    func page(
        _ memory: EntitiesInMemory, _ query: BoundQuery, _ request: ODataRequest
    ) throws -> ODataResponse {
        var start = 0
        if let token = query.skipToken {
            guard token.hasPrefix(Self.mark), let position = Int(token.dropFirst(Self.mark.count)), position >= 0 else {
                throw PageToken.invalid
            }
            start = position
        }
        var page = try memory.page(query)
        let size = max(1, min(request.preferences.maxPageSize ?? .max, options.pageSizeLimit))
        let rest = page.entities.dropFirst(start)
        if rest.count > size {
            var url = request.url
            url.options.skipToken = "\(Self.mark)\(start + size)"
            page.nextLink = (request.format?.serviceRoot ?? "") + url.urlEncoded()
        }
        page.entities = Array(rest.prefix(size))
        var response = ODataResponse(body: .page(page))
        if let wanted = request.preferences.maxPageSize {
            response.preferencesApplied.append("maxpagesize=\(min(wanted, size))")
        }
        return response
    }
}
