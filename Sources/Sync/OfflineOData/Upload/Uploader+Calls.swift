import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// Calls of actions, and what they make of the entities that they are bound to.
extension Uploader {
    /// The call as the service gets it. The ETag of what it is bound to is told to the service: it acts on what the caller
    /// has seen, or not at all (OData Protocol 4.01, 11.5.5.1).
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

    /// The URL of what an action is bound to, under the keys that the entities on the way have by now.
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

    /// The entity that an action is bound to as the action has left it: by its answer, or read again where the call has an
    /// ETag, so that what is here is of a version that the service may have no more, or where a change waits behind it
    /// (rule 5).
    ///
    /// - Returns: `nil` for what is bound to no entity that is here, for what is neither answered nor read again, and where it
    ///   cannot be read.
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

    /// Where no ETag is known, as at services without: what the service has of the entity that an action is bound to, held
    /// against what the next change of it was made of (rule 8). Once the action has acted, nobody can tell what is its work
    /// and what another's.
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
        // That it is gone, the service says itself.
        guard let theirs = found else { return Comparison() }
        let isUnchanged = next.etag.map { $0 == theirs.control.etag } ?? next.base.map(theirs.matches) ?? true
        guard isUnchanged else {
            return Comparison(conflict: Conflict(theirs: theirs, error: .preconditionFailed(next.entitySet)))
        }
        return Comparison(seen: theirs)
    }

    /// What the service has of the entity that an action in doubt is bound to, which the action may have changed: the version
    /// that the next changes meet, and that the action is called on again.
    ///
    /// - Returns: `nil` for anything but an action in doubt that has an ETag, and where the entity cannot be read.
    func version(behind request: QueuedRequest, _ state: QueuedRequest.State) async -> ODataEntity? {
        guard state == .inDoubt, request.kind == .call, request.etag != nil else { return nil }
        return await readAgain(request, request.key)
    }
}
