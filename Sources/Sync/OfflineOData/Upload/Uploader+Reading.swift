import ODataHTTP
import ODataModel
import ODataService
import ODataSQL

/// Reads the current entities of requests.
extension Uploader {
    /// The key of a created entity, if the headers of the answer name it.
    func namedKey(_ request: QueuedRequest, _ response: ODataResponse) -> EntityKey? {
        // Either may be of a form that tells no key.
        [response.location, response.entityID].lazy.compactMap { $0 }.compactMap {
            KeyURL.key(inID: $0, shape: request.changes.shape, model: mapping.model)
        }.first
    }

    /// After an answer that does not say enough: the entity as it is now, with the ETag that the next requests
    /// need (rule 5). Not being able to read it does not undo the change.
    func readAgain(_ request: QueuedRequest, _ key: EntityKey) async -> ODataEntity? {
        try? await current(request, key)
    }

    /// The entity of a request as the service has it now; `nil` when it has none.
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

    /// The entity sets of which whole entities can be sent after a unit with single properties was refused for its method: the
    /// one that the refusal names, if it names one.
    func untriedWholeSets(
        of unit: UploadUnit, _ error: ODataError, _ strategy: SendStrategy
    ) async throws -> Set<String> {
        let known = try await database.read { try ServiceKnowledge.wholeEntities(in: $0) }
        let sets = Set(unit.requests.filter { $0.kind == .update }.map(\.entitySet))
            .subtracting(strategy.wholeSets).filter { !known.contains($0) }
        guard let named = error.target, sets.contains(named) else { return sets }
        return [named]
    }
}
