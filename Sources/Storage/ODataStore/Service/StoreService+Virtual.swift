import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// A read of a virtual entity set.
public struct VirtualRead {
    /// The request.
    public let request: ODataRequest
    /// The key if a single entity is addressed. The closure need not create the other entities.
    public let key: EntityKey?
    /// The transaction of the request, in which the store can be read.
    public let transaction: ServiceTransaction

    /// The caller.
    public var principal: Principal? { request.context.principal }
}

/// Virtual entity sets.
extension StoreService {
    /// Returns the virtual entity set that a request addresses, and its closure.
    private func virtualSet(_ bound: BoundURL) -> (EntitySet, ServiceDefinition.VirtualRows)? {
        guard case .entitySet(let set, _)? = bound.resource.steps.first,
            let rows = core.definition.virtualSets[set.name]
        else { return nil }
        return (set, rows)
    }

    /// Throws if a request would change a virtual entity set.
    func refuseVirtual(_ bound: BoundURL, _ request: ODataRequest) throws {
        guard virtualSet(bound) != nil, bound.resource.operation == nil else { return }
        throw ODataError.methodNotAllowed(request.method, allowed: ["GET"])
    }

    /// Returns the response to a read of a virtual entity set; `nil` for other reads.
    func readVirtual(_ bound: BoundURL, _ request: ODataRequest) async throws -> ODataResponse? {
        guard let (set, rows) = virtualSet(bound) else { return nil }
        var key: EntityKey?
        if case .key(let given)? = bound.resource.steps.dropFirst().first { key = given }
        let entities = try await request.context.budget.reading(from: database) { [core, key] database in
            try rows(
                VirtualRead(
                    request: request, key: key,
                    transaction: ServiceTransaction(core: core, database: database, request: request)))
        }
        var virtual = VirtualEntities(
            entities, of: set, model: model, now: options.now(), maxPageSize: options.serving.pageBound)
        if let filter = try core.rowFilter(request.context.principal, set.name) { try virtual.keep(filter.condition) }
        return try virtual.answer(bound, request)
    }

    /// Returns a page of entities in memory.
    func page(
        _ memory: EntitiesInMemory, _ query: BoundQuery, request: ODataRequest
    ) throws -> ODataResponse {
        try VirtualEntities.page(memory, query, request: request, maxPageSize: options.serving.pageBound)
    }
}
