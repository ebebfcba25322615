import ODataModel
import ODataService

/// Change sets of which nobody knows whether they acted.
extension Uploader {
    /// Finds out what became of a change set whose answer was lost: all of it was made, or nothing. Every member that
    /// can be looked at is asked. Where they disagree, others have been there, and it stays in doubt; and so it does where
    /// only deletions seem made, since others may have deleted the same, and where none of them tells.
    ///
    /// - Parameter refusal: why it was refused when it was sent again, where it was.
    /// - Returns: `nil` when sending it once more can do no harm.
    func settle(
        changeSet requests: [QueuedRequest], refusedWith refusal: ODataError? = nil
    ) async throws -> Result? {
        let doubt = refusal ?? doubt
        var verdicts: Set<Bool> = []
        var deletesAlone = true
        var answers: [ODataResponse] = []
        for request in requests {
            let (hasActed, theirs) = try await trace(of: request)
            answers.append(theirs.map { ODataResponse(body: .entity($0)) } ?? ODataResponse(status: 204))
            guard let hasActed else { continue }
            verdicts.insert(hasActed)
            if request.kind != .delete { deletesAlone = false }
        }
        if verdicts == [false] { return nil }
        // Updates made once more come to the same, and what others changed meanwhile is found before (rules 5 and 8).
        if verdicts.isEmpty, requests.allSatisfy({ $0.kind == .update && $0.isGuarded }) { return nil }
        // Nothing but deletions, and nothing is left of what was to be deleted: it comes to the same.
        let isDeletion = requests.allSatisfy { $0.kind == .delete }
        guard verdicts == [true], !deletesAlone || isDeletion else {
            return try await archive(changeSet: requests, .inDoubt, doubt, message: doubt.message)
        }
        return try await accept(changeSet: requests, answers, isRepeat: true)
    }

    /// As ``settle(refused:_:)`` of a single request, for a change set that was refused when it was sent again.
    ///
    /// - Returns: `nil` where none of it was made.
    func settle(refused requests: [QueuedRequest], _ error: ODataError) async throws -> Result? {
        do {
            return try await settle(changeSet: requests, refusedWith: error)
        } catch let unreadable {
            guard requests.contains(where: { refusal(unreadable, of: $0) != nil }) else { throw unreadable }
            return try await archive(changeSet: requests, .inDoubt, error, message: error.message)
        }
    }

    /// Whether a request seems to have acted, by what the service has now; `nil` where that does not tell. With the entity as
    /// the service has it now, where it was asked.
    private func trace(of request: QueuedRequest) async throws -> (hasActed: Bool?, theirs: Entity?) {
        switch request.kind {
        case .create:
            guard request.omitted.isEmpty else {
                guard let (name, value) = correlation(of: request) else { return (nil, nil) }
                let theirs = try await correlated(request, name, value)
                return (theirs != nil, theirs)
            }
            guard let theirs = try await current(request, request.key) else { return (false, nil) }
            // Another one may be somebody else's, or ours as others have changed it since.
            return (theirs.matches(request.changes) ? true : nil, theirs)
        case .update:
            guard request.isGuarded, let theirs = try await current(request, request.key) else { return (nil, nil) }
            return (request.hasUpdated(theirs), theirs)
        case .delete: return (try await current(request, request.key) == nil, nil)
        case .stream, .link, .unlink, .call: return (nil, nil)
        }
    }
}

extension QueuedRequest {
    /// Whether a version that the request was made of is known, by its ETag or by its values.
    fileprivate var isGuarded: Bool { etag != nil || base != nil }

    /// Whether an update seems to have made the version that the service has: that has the values which were sent, and
    /// not those which the update was made of.
    ///
    /// - Returns: `nil` where the values tell neither or both, since others have been there or nothing differs.
    fileprivate func hasUpdated(_ theirs: Entity) -> Bool? {
        if let etag, theirs.control.etag == etag { return false }
        let isMine = theirs.matches(changes)
        guard let base else { return isMine ? true : nil }
        guard isMine != theirs.matches(base) else { return nil }
        if isMine { return true }
        // Under another ETag, others may have put the old values back.
        return etag == nil ? false : nil
    }
}
