import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// Calls of actions, and their effects on the entities to which they are bound.
extension Uploader {
    /// The call in the form for the service, with the ETag of the entity to which it is bound. The action then
    /// acts on the version that the caller has seen, or not at all (OData Protocol 4.01, 11.5.5.1).
    func call(_ request: QueuedRequest) async throws -> ODataRequest {
        guard let call = request.actionCall else { throw modelChanged(request) }
        var url = try ODataURL(parsing: call.url)
        let binder = Binder(model: mapping.model)
        guard let bound = try? binder.bind(url), case .operation(let operation) = bound.resource.target else {
            throw modelChanged(request)
        }
        let path = url.path
        let stored = try CallParameters.values(
            call.parameters, of: operation, model: mapping.model)
        let (now, parameters) = try await database.read { [mapping] database in
            let keys = TemporaryKeys(mapping: mapping)
            return (
                try Aliases(mapping: mapping).present(path, in: database),
                try stored.mapValues { try keys.replaced($0, in: database) }
            )
        }
        if let now { url.path = now }
        return ODataRequest(.create, url, body: .parameters(parameters), ifMatch: request.etag)
    }

    /// The URL of the entity to which an action is bound, with the current keys of the entities on the way.
    func boundURL(of call: QueuedRequest) async throws -> ODataURL {
        var path = try ODataURL(parsing: call.actionCall?.url ?? "").path
        guard path.segments.count > 1 else {
            throw OfflineError.damagedQueue(reason: "request \(call.id) names no bound action")
        }
        path.segments.removeLast()
        let bound = path
        let now = try await database.read { [mapping] database in
            try Aliases(mapping: mapping).present(bound, in: database)
        }
        return ODataURL(path: now ?? bound)
    }

    /// The entity to which an action is bound, after the action: from the response, or read again. It is read
    /// again if the call has an ETag, since the stored version may be outdated, or if a change is pending behind
    /// the call (rule 5).
    ///
    /// - Returns: `nil` if the action is bound to no entity of the store, if the entity is neither in the
    ///   response nor read again, and if it cannot be read.
    func boundEntity(after call: QueuedRequest, _ response: ODataResponse) async throws -> ODataEntity? {
        guard call.boundRow != nil else { return nil }
        if case .entity(var entity) = response.body {
            if entity.control.etag == nil { entity.control.etag = response.etag }
            let answer = entity
            let isBound = try await read { try outcomes.isBound(call, to: answer, in: $0) }
            if isBound, answer.control.etag != nil || call.etag == nil { return answer }
        }
        let isNeeded = try await read { database in
            try call.etag != nil || outcomes.next(behind: call, in: database) != nil
        }
        return isNeeded ? await readAgain(call, call.key) : nil
    }

    /// Compares the server version of the entity to which an action is bound with the base version of its next
    /// change, if no ETag is known (rule 8). After the action, its effects cannot be told from those of other
    /// clients.
    func comparison(behind call: QueuedRequest) async throws -> Comparison {
        guard call.etag == nil, options.comparesWithoutETags else { return Comparison() }
        let change = try await database.read { database -> QueuedRequest? in
            // One in the archive is not sent with the call.
            guard let next = try outcomes.next(behind: call, in: database), next.state == .pending else { return nil }
            // One on top of another of our own has no version of the service to compare with.
            return try outcomes.isFirst(next, in: database) ? next : nil
        }
        guard let next = change else { return Comparison() }
        let found: ODataEntity?
        do {
            found = try await current(call, call.key)
        } catch let unreadable where refusal(unreadable, of: call) != nil {
            return Comparison()
        }
        // The service itself reports that the entity is gone.
        guard let theirs = found else { return Comparison() }
        let isUnchanged = next.etag.map { $0 == theirs.control.etag } ?? next.base.map(theirs.matches) ?? true
        guard isUnchanged else {
            return Comparison(conflict: Conflict(theirs: theirs, error: .preconditionFailed(next.entitySet)))
        }
        return Comparison(seen: theirs)
    }

    /// The server version of the entity to which an action of unknown outcome is bound, which the action may have
    /// changed. The next changes meet this version, and the action is called again on it.
    ///
    /// - Returns: `nil` unless the request is an action of unknown outcome with an ETag, and if the entity cannot
    ///   be read.
    func version(behind request: QueuedRequest, _ state: QueuedRequest.State) async -> ODataEntity? {
        guard state == .inDoubt, request.kind == .call, request.etag != nil else { return nil }
        return await readAgain(request, request.key)
    }
}
