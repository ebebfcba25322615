import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// The access of callers to a served database.
extension ServedDatabase {
    /// Returns a provider that reads only the rows that the caller of a request sees.
    func restricted(_ provider: StoreProvider, to request: ODataRequest) -> StoreProvider {
        guard let access else { return provider }
        return StoreProvider(provider, reader: access.reader(provider.reader, for: request.context.principal))
    }

    /// Checks that the caller may read the addressed resource, and removes hidden properties from the request.
    func restricted(_ bound: BoundURL, _ request: ODataRequest) throws -> BoundURL {
        guard let access else { return bound }
        for case .operation(let operation, _) in bound.resource.steps {
            // Callers and permissions know the operation by the name of its import.
            let name = model.container.operationImports.first { $0.operation == operation.name }?.name
            try access.require(
                operation.kind == .function ? .read : .update, name ?? operation.name.name,
                for: request.context.principal)
        }
        return try access.restriction(for: request.context.principal).restrict(bound)
    }

    /// Performs a change in a transaction, with the access of its caller.
    ///
    /// - Throws: ``ODataError``: 401 or 403 if the caller may not address the resource, and 404 if it does not see a
    ///   row on the way.
    func perform(_ request: ODataRequest, _ bound: BoundURL, in database: Database) throws -> ODataResponse {
        guard let access else { return try writing.perform(request, bound, in: database) }
        try access.checkPath(of: bound, request)
        let provider = restricted(writing, to: request)
        let compiler = provider.reader.restricting(SQLCompiler.Options(now: options.now()))
        try provider.reader.checkParents(bound.resource.steps, compiler, in: database)
        return try provider.perform(request, bound, in: database)
    }

    /// Removes from the response to a change everything that its caller may not read.
    func shown(_ response: ODataResponse, _ request: ODataRequest) async -> ODataResponse {
        guard let access else { return (try? await writing.completed(response, request)) ?? response }
        // The change is committed, so a failure to read the entity does not make it fail.
        var shown = (try? await writing.completed(response, request, reading: plainRead)) ?? response
        do {
            try access.restriction(for: request.context.principal).hide(in: &shown)
            return shown
        } catch {
            shown.body = .none
            shown.status = 204
            shown.entityID = shown.entityID ?? shown.location
            return shown
        }
    }
}
