import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// Reads of a service.
extension StoreService {
    func read(_ request: ODataRequest) async throws -> ODataResponse {
        if let response = try await trackedRead(request) { return response }
        if SnapshotSpool.isFurtherPage(request) { return try await snapshots.page(request) }
        let provider = provider(for: request.context.principal)
        return try await provider.read(request) { bound, entry in
            let allowed = try restricted(bound, request)
            if case .all = bound.resource.target, !core.definition.virtualSets.isEmpty {
                throw ODataError.notImplemented("$all of a service with virtual entity sets")
            }
            if bound.resource.operation != nil { return try await callFunction(allowed, request, provider: provider) }
            if let response = try await readVirtual(allowed, request) { return response }
            if let response = try await readStream(allowed, request, provider: provider) { return response }
            // Compiled statements depend on the access of the caller; only those without restrictions are cached.
            return try await read(
                allowed, request, provider: provider, entry: core.access == nil ? entry : nil)
        }
    }

    /// Reads rows and the information about their streams.
    func read(
        _ bound: BoundURL, _ request: ODataRequest, provider: StoreProvider, entry: QueryCache.Entry? = nil
    ) async throws -> ODataResponse {
        if request.isolation == .snapshot, case .entities = bound.resource.target {
            return try await snapshots.start(bound, request, reader: provider.reader, in: database)
        }
        var (plain, bound) = (request, bound)
        var selection = StreamSelection()
        if var query = bound.query {
            selection = try StreamSelection(taking: &query)
            bound.query = query
        }
        var hasStreams = selection.isInline
        if !hasStreams { hasStreams = try await self.hasStreams(bound) }
        // The information about streams is added to entities, so these pages are not encoded directly. The
        // responses of a batch under snapshot isolation are read before other changes continue.
        if hasStreams || ChangeGate.isOwner { plain.format = nil }
        var response = try await provider.reader.read(bound, request: plain, in: database, cache: entry)
        if hasStreams {
            response.body = try await withStreams(
                response.body, selection, root: request.format?.serviceRoot ?? "")
        }
        return response
    }

    // MARK: Authorization

    /// Checks that the caller may read the addressed resource, and removes hidden properties from the request.
    func restricted(_ bound: BoundURL, _ request: ODataRequest) throws -> BoundURL {
        for set in bound.resource.sets where !model.allows("ReadRestrictions", "Readable", on: set) {
            throw ODataError.methodNotAllowed(.read, allowed: core.writer.allowedMethods(of: set, isEntity: false))
        }
        guard let access = core.access else { return bound }
        return try access.restriction(for: request.context.principal).restrict(bound)
    }
}

extension BoundResource {
    /// The operation in the path and its position.
    var operation: (operation: ODataOperation, position: Int)? {
        for (position, step) in steps.enumerated() {
            if case .operation(let operation, _) = step { return (operation, position) }
        }
        return nil
    }
}
