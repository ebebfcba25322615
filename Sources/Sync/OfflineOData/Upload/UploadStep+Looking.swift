import ODataModel
import ODataService

/// Looks at the state of a refused unit at the service.
extension UploadStep {
    /// The state found at the service.
    struct Look {
        /// `nil` if the service was not asked.
        var finding: Verdict.Finding?
        /// The requests whose entities other clients changed or deleted.
        var conflicts: [Int64: Uploader.Conflict] = [:]
        /// The requests of a change set whose effect the service already has; `nil` for all.
        var done: Set<Int64>?
        /// The answer that the earlier transmission would have got, if it acted.
        var response: ODataResponse?
        /// The ETag of the current entity.
        var foundETag: String?
    }

    /// Looks at the state for which a verdict asks.
    func look(
        at unit: UploadUnit, after error: ODataError, _ verdict: Verdict, _ facts: Verdict.Facts
    ) async throws -> Look {
        let request = unit.requests[0]
        switch verdict {
        case .lookForRelation:
            return Look(finding: try await uploader.isLinked(request) ? .asAsked : .other)
        case .lookAtVersions where unit.isSingle: return try await look(at: request, after: error, facts)
        case .lookAtVersions: return try await look(atAllOf: unit, after: error, facts)
        case .conflict: return Look(conflicts: [request.id: Uploader.Conflict(theirs: nil, error: error)])
        default: return Look()
        }
    }

    private func look(
        at request: QueuedRequest, after error: ODataError, _ facts: Verdict.Facts
    ) async throws -> Look {
        let theirs: ODataEntity?
        do {
            theirs = try await uploader.current(request, request.key)
        } catch let unreadable where uploader.refusal(unreadable, of: request) != nil {
            return Look(finding: .unreadable)
        } catch let failure {
            // The unit was refused and has not acted, even if the service cannot be asked.
            try await uploader.putBack(unit, wasSent: facts.mayHaveActed(beside: error))
            throw failure
        }
        let conflicts = [request.id: Uploader.Conflict(theirs: theirs, error: error)]
        switch request.kind {
        case .delete where theirs == nil: return Look(finding: .asAsked)
        case .call where theirs != nil && theirs?.control.etag == request.etag: return Look(finding: .unchanged)
        case .create, .update, .delete:
            // Nobody has changed it, but its version was not known here.
            guard error.status == 428, facts.version == .none, let etag = theirs?.control.etag,
                let base = request.base, theirs?.matches(base) ?? false
            else { break }
            return Look(finding: .unchanged, foundETag: etag)
        case .stream, .call, .link, .unlink: break
        }
        if facts.mayBeOurs(beside: error) {
            if request.kind == .stream, let taken = try await uploader.taken(streamOf: request) {
                return Look(finding: .ours, conflicts: conflicts, response: taken)
            }
            if request.kind == .update, let theirs, theirs.matches(request.changes) {
                return Look(finding: .ours, conflicts: conflicts, response: ODataResponse(body: .entity(theirs)))
            }
        }
        return Look(finding: .other, conflicts: conflicts)
    }

    private func look(
        atAllOf unit: UploadUnit, after error: ODataError, _ facts: Verdict.Facts
    ) async throws -> Look {
        do {
            if error.status != 428 {
                let deleted = try await deletionsDone(of: unit)
                if !deleted.isEmpty { return Look(finding: .asAsked, done: deleted) }
            }
            let conflicts = try await conflicts(in: unit, error)
            return Look(finding: conflicts.isEmpty ? .unchanged : .other, conflicts: conflicts)
        } catch let failure {
            try await uploader.putBack(unit, wasSent: facts.mayHaveActed(beside: error))
            throw failure
        }
    }

    /// The deletions of a change set whose entities other clients have deleted. A deletion is left out if another
    /// request waits for the same entity: that request meets it as a conflict.
    private func deletionsDone(of unit: UploadUnit) async throws -> Set<Int64> {
        var done: Set<Int64> = []
        for request in unit.requests where request.kind == .delete {
            let isAlone = try await uploader.read { [uploader] database in
                try uploader.outcomes.queue.requests(set: request.entitySet, rowID: request.rowID, in: database).count
                    == 1
            }
            guard isAlone else { continue }
            do {
                if try await uploader.current(request, request.key) == nil { done.insert(request.id) }
            } catch let unreadable where uploader.refusal(unreadable, of: request) != nil {
                continue
            }
        }
        return done
    }

    /// The requests of a change set whose entities other clients have changed: the service refuses the whole set
    /// because of one.
    private func conflicts(
        in unit: UploadUnit, _ error: ODataError
    ) async throws -> [Int64: Uploader.Conflict] {
        var conflicts: [Int64: Uploader.Conflict] = [:]
        for request in unit.requests where [QueuedRequest.Kind.update, .delete, .call].contains(request.kind) {
            guard let etag = request.guardingETag else { continue }
            let theirs: ODataEntity?
            do {
                theirs = try await uploader.current(request, request.key)
            } catch let unreadable where uploader.refusal(unreadable, of: request) != nil {
                continue
            }
            if theirs?.control.etag != etag {
                conflicts[request.id] = Uploader.Conflict(theirs: theirs, error: error)
            }
        }
        return conflicts
    }
}
