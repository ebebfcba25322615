import ODataHTTP
import ODataModel
import ODataService
import ODataSQL

/// Reads the current entities of requests.
extension Uploader {
    /// The key of a created entity, if the headers of the answer name it.
    func namedKey(_ request: QueuedRequest, _ response: ODataResponse) -> EntityKey? {
        // Neither URL needs to have a form with a key.
        [response.location, response.entityID].lazy.compactMap { $0 }.compactMap {
            KeyURL.key(inID: $0, shape: request.changes.shape, model: mapping.model)
        }.first
    }

    /// Reads the current entity after an incomplete response, with the ETag that the next requests need (rule 5).
    /// A failure to read does not undo the change.
    func readAgain(_ request: QueuedRequest, _ key: EntityKey) async -> ODataEntity? {
        try? await current(request, key)
    }

    /// The server version of a request's entity; `nil` if there is none.
    func current(_ request: QueuedRequest, _ key: EntityKey) async throws -> ODataEntity? {
        do {
            var read = ODataRequest(.read, try await url(of: request, key: key))
            if key == request.key { read.link = try await link(of: request) }
            let response = try await remote.execute(read)
            guard case .entity(var entity) = response.body else { return nil }
            if let found = entity.key, !key.parts.isEmpty, found != key, !found.isFolded(key) {
                throw ODataError(
                    status: 500, code: "AnotherEntity",
                    message: "The service answered the request for \(request.entityText) with another entity.")
            }
            if entity.control.etag == nil { entity.control.etag = response.etag }
            return entity
        } catch let error as ODataError where error.isNotFound {
            try await confirm(error)
            return nil
        }
    }

    /// The entity sets of which whole entities can be sent after a unit with single properties was refused for
    /// its method: the one that the refusal names, if it names one.
    func untriedWholeSets(
        of unit: UploadUnit, _ error: ODataError, _ strategy: SendStrategy
    ) async throws -> Set<String> {
        let known = try await database.read { try ServiceKnowledge.wholeEntities(in: $0) }
        let sets = Set(unit.requests.filter { $0.kind == .update && $0.options.action == nil }.map(\.entitySet))
            .subtracting(strategy.wholeSets).filter { !known.contains($0) }
        guard let named = error.target, sets.contains(named) else { return sets }
        return [named]
    }
}
