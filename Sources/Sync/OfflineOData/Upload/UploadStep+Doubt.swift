import ODataModel
import ODataService

/// Settles units whose response was lost.
extension UploadStep {
    /// Finds out whether a unit with a lost response acted, at a service that does not recognise a repeat (rule
    /// 1).
    ///
    /// - Parameter refusal: the refusal of the repeat, if it was sent again.
    /// - Returns: `nil` if the unit may be sent once more.
    func settle(refusedWith refusal: ODataError? = nil) async throws -> Uploader.Outcome? {
        let doubt = refusal ?? uploader.doubt
        var traces: [Verdict.Trace] = []
        var answers: [ODataResponse] = []
        for request in unit.requests {
            let (trace, theirs) = try await trace(of: request)
            traces.append(trace)
            answers.append(theirs.map { ODataResponse(body: .entity($0)) } ?? ODataResponse(status: 204))
        }
        switch Verdict.of(traces: traces) {
        case .acted: return try await accept(unit, answers, isRepeat: true)
        case .sendAgain: return nil
        case .unknown: return try await uploader.archive(unit, .inDoubt, doubt, message: doubt.message)
        }
    }

    /// Finds out whether a unit acted that was refused when it was sent again, by an answer that does not say
    /// whether the service recognised it.
    ///
    /// - Returns: `nil` if it did not act.
    func settle(refused error: ODataError) async throws -> Uploader.Outcome? {
        do {
            return try await settle(refusedWith: error)
        } catch let unreadable {
            guard uploader.refusal(unreadable, of: unit) != nil else { throw unreadable }
            return try await uploader.archive(unit, .inDoubt, error, message: error.message)
        }
    }

    /// Looks for the evidence of a request, with the current entity if the service was asked.
    private func trace(of request: QueuedRequest) async throws -> (trace: Verdict.Trace, theirs: ODataEntity?) {
        switch request.kind {
        case .create:
            guard request.omitted.isEmpty else {
                guard let (name, value) = uploader.correlation(of: request) else { return (.unknown, nil) }
                let theirs = try await uploader.correlated(request, name, value)
                return (theirs == nil ? .notMade : .made, theirs)
            }
            guard let theirs = try await uploader.current(request, request.key) else { return (.notMade, nil) }
            // Another version may be the work of another client, or ours with later changes of other clients.
            return (theirs.matches(request.changes) ? .made : .unknown, theirs)
        case .update where request.options.action != nil && request.guardingETag == nil:
            // The action may do more than the attributes show.
            guard let theirs = try await uploader.current(request, request.key) else { return (.unknown, nil) }
            return (theirs.matches(request.changes) ? .made : .unknown, theirs)
        case .delete where request.options.action != nil:
            return (try await uploader.current(request, request.key) == nil ? .deleted : .notMade, nil)
        case .update:
            // A single one is guarded by its ETag, or compared before it is sent.
            if unit.isSingle {
                guard request.etag == nil, let theirs = try await uploader.current(request, request.key) else {
                    return (.harmless, nil)
                }
                return (theirs.matches(request.changes) ? .made : .notMade, theirs)
            }
            guard request.isGuarded else { return (.unknown, nil) }
            guard let theirs = try await uploader.current(request, request.key) else { return (.harmless, nil) }
            return (request.hasUpdated(theirs).map { $0 ? .made : .notMade } ?? .harmless, theirs)
        case .delete:
            if unit.isSingle { return (.harmless, nil) }
            return (try await uploader.current(request, request.key) == nil ? .deleted : .notMade, nil)
        case .stream, .link, .unlink: return (unit.isSingle ? .harmless : .unknown, nil)
        case .call: return (.unknown, nil)
        }
    }
}

extension QueuedRequest {
    /// Whether a version that the request was made of is known, by its ETag or by its values.
    fileprivate var isGuarded: Bool { etag != nil || base != nil }

    /// Whether an update seems to have made the current version of the entity: that has the values which were sent, and
    /// not those which the update was made of.
    ///
    /// - Returns: `nil` if the values tell neither or both, since other clients changed them or nothing differs.
    fileprivate func hasUpdated(_ theirs: ODataEntity) -> Bool? {
        if let etag, theirs.control.etag == etag { return false }
        let isMine = theirs.matches(changes)
        guard let base else { return isMine ? true : nil }
        guard isMine != theirs.matches(base) else { return nil }
        if isMine { return true }
        // Under another ETag, other clients may have restored the old values.
        return etag == nil ? false : nil
    }
}
