import ODataModel
import ODataService

/// Changes of what others have changed meanwhile.
extension Uploader {
    struct Conflict {
        var theirs: Entity?
        var error: ODataError

        /// As the error archive has it.
        var kind: QueuedRequest.Failure.Conflict { theirs == nil ? .deleted : .changed }
    }

    /// What the policy says of a conflict.
    func decide(_ conflict: Conflict, _ request: QueuedRequest) async -> ConflictDecision {
        switch options.conflictPolicy {
        case .fail: return .fail
        case .clientWins: return .mine
        case .serverWins: return .theirs
        case .custom(let decide):
            return await decide(
                ConflictVersions(
                    entitySet: request.detail.bound?.set ?? request.entitySet,
                    key: request.kind == .call ? conflict.theirs?.key ?? request.key : request.key,
                    kind: request.kind, base: request.base, mine: request.changes, theirs: conflict.theirs))
        }
    }

    func resolve(conflict: Conflict, _ request: QueuedRequest, _ way: Way) async throws -> Result {
        let decision = await decide(conflict, request)
        switch decision {
        case .fail:
            let message =
                conflict.theirs == nil
                ? "The entity was deleted by somebody else." : "The entity was changed by somebody else."
            return try await archive(
                request, .refused, conflict.error, message: message, theirs: conflict.theirs, conflict: conflict.kind)
        case .theirs:
            return .givenUp(
                try await write { database in
                    try outcomes.givenUp(in: database) {
                        try outcomes.yield(request, to: conflict.theirs, in: database)
                    }
                })
        case .mine, .merged:
            guard let theirs = conflict.theirs else {
                return try await archive(
                    request, .refused, conflict.error, message: "The entity was deleted by somebody else.",
                    conflict: conflict.kind)
            }
            guard way.rebases < Self.maxRebases else {
                return try await archive(
                    request, .refused, conflict.error, message: conflict.error.message, theirs: theirs,
                    conflict: conflict.kind)
            }
            var changes = request.changes
            if case .merged(let merged) = decision { changes = merged }
            let rebased = changes
            try await write { try outcomes.rebase(request, changes: rebased, onto: theirs, in: $0) }
            guard let again = try await database.read({ try outcomes.queue.request(request.id, in: $0) }) else {
                // Undone meanwhile.
                return .postponed
            }
            var next = way
            next.rebases += 1
            return try await send(again, next)
        }
    }

    /// What was found where the service was asked before a change is sent.
    struct Comparison {
        /// What differs from what the change was made of.
        var conflict: Conflict?
        /// The entity as it was then, where the change was made of that: what waits behind it meets the work of others only
        /// in what differs from this.
        var seen: Entity?
    }

    /// Where no ETag is known, as at services without: what the service has now, held against what the change was based on
    /// (rule 8).
    func comparison(before request: QueuedRequest) async throws -> Comparison {
        if request.kind == .call { return try await comparison(behind: request) }
        if request.kind.isRelation { return try await comparison(ofEnd: request) }
        guard request.kind != .create, request.etag == nil, let base = request.base else { return Comparison() }
        let isCompared = try await database.read { database in
            // A change on top of one of our own has no back-end version to compare with.
            guard try outcomes.isFirst(request, in: database) else { return false }
            // Where the service has ETags, this one has none since others have come between it and one of our own.
            return try options.comparesWithoutETags || outcomes.hasETag(request, in: database)
        }
        guard isCompared else { return Comparison() }
        guard let theirs = try await current(request, request.key) else {
            if request.kind == .delete { return Comparison() }
            return Comparison(conflict: Conflict(theirs: nil, error: .preconditionFailed(request.entitySet)))
        }
        guard theirs.matches(base) else {
            return Comparison(conflict: Conflict(theirs: theirs, error: .preconditionFailed(request.entitySet)))
        }
        return Comparison(seen: theirs)
    }
}
