import GRDB
import ODataModel
import ODataQuery
import ODataSQL
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
    public var principal: Principal? { request.context.principal }
}

/// Entity sets that no table holds.
extension StoreService {
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
        guard let (set, rows) = virtualSet(bound) else { return nil }
        var key: EntityKey?
        if case .key(let given)? = bound.resource.steps.dropFirst().first { key = given }
        let entities = try await database.read { [core, key] database in
            try request.context.budget.running(on: database) {
                try rows(
                    VirtualRead(
                        request: request, key: key,
                        transaction: ServiceTransaction(core: core, database: database, request: request))
                )
            }
        }
        var virtual = VirtualEntities(
            entities, of: set, model: model, now: options.now(), maxPageSize: options.serving.pageBound)
        if let filter = try core.rowFilter(request.context.principal, set.name) { try virtual.keep(filter.condition) }
        return try virtual.answer(bound, request)
    }

    /// A page of entities in memory.
    func page(
        _ memory: EntitiesInMemory, _ query: BoundQuery, request: ODataRequest
    ) throws -> ODataResponse {
        try VirtualEntities.page(memory, query, request: request, maxPageSize: options.serving.pageBound)
    }
}
