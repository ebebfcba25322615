import GRDB
import ODataModel
import ODataService

/// Settles conflicts by the policy. A change set is given up as a whole, since it must be made as a whole.
extension UploadStep {
    /// A request that is put on top of another version.
    private struct Rebase {
        let request: QueuedRequest
        let changes: ODataEntity
        let version: ODataEntity
        var mergesOthers = false
        /// Whether the version is one that a merged request before it makes.
        var isBehindMerge = false
    }

    /// The settlements of the requests of a unit.
    private struct Settled {
        var conflicts: [Int64: Uploader.Conflict]
        /// The paths that both sides changed, by request.
        var paths: [Int64: [String]] = [:]
        var rebased: [Rebase] = []
        /// Whether the unit is given up in favour of the server versions.
        var isGivenUp = false
        /// Whether the service already has the result of a single request.
        var isAgreed = false

        /// Whether each conflict was settled by putting its request on top of the server version.
        var isComplete: Bool {
            let count = rebased.filter { conflicts[$0.request.id] != nil }.count
            return count > 0 && count == conflicts.count
        }
    }

    /// Resolves the conflicts of a unit.
    ///
    /// - Parameters:
    ///   - conflicts: the conflicts by request; none if the service refused the unit for a reason that cannot be found.
    ///   - error: the refusal.
    ///   - wasSent: whether the unit may have acted when it was sent before.
    func resolve(
        _ conflicts: [Int64: Uploader.Conflict], _ error: ODataError?, wasSent: Bool
    ) async throws -> Next {
        let settled: Settled
        do {
            settled = try await settle(conflicts)
        } catch {
            try await uploader.putBack(unit, wasSent: wasSent)
            throw error
        }
        if settled.isGivenUp { return .done(.givenUp(try await giveUp(settled.conflicts))) }
        if settled.isAgreed, let outcome = try await acceptAgreed(settled) { return .done(outcome) }
        guard settled.isComplete, strategy.rebases < SendStrategy.maxRebases else {
            return .done(try await archive(settled, error))
        }
        let again = try await uploader.write { [uploader, unit] database in
            for rebase in settled.rebased {
                if rebase.isBehindMerge {
                    try uploader.outcomes.rebase(
                        rebase.request, changes: rebase.changes, behindMergeOnto: rebase.version, in: database)
                } else {
                    try uploader.outcomes.rebase(
                        rebase.request, changes: rebase.changes, onto: rebase.version,
                        mergesOthers: rebase.mergesOthers, in: database)
                }
            }
            return try unit.requests.compactMap { request in
                try uploader.outcomes.queue.markPending(request.id, forgetsIdentification: true, in: database)
                return try uploader.outcomes.queue.request(request.id, in: database)
            }
        }
        // The unit may have been undone meanwhile, or a part of it.
        guard let renewed = unit.renewed(again) else { return .done(.requeued) }
        var strategy = strategy
        strategy.rebases += 1
        return .again(renewed, strategy)
    }

    private func settle(_ conflicts: [Int64: Uploader.Conflict]) async throws -> Settled {
        var settled = Settled(conflicts: conflicts)
        // The versions that merged requests make of their rows: the later ones were not made of the changes of
        // other clients.
        var merged: [RowReference: ODataEntity] = [:]
        var found: [RowReference: ODataEntity] = [:]
        for request in unit.requests {
            guard let conflict = settled.conflicts[request.id] else {
                guard request.kind == .update || request.kind == .delete, let row = request.touchedRow,
                    let version = merged[row]
                else { continue }
                let isDeletion = request.kind == .delete
                let merge = VersionMerge(base: request.base, mine: isDeletion ? nil : request.changes, theirs: version)
                guard case .merged(let changes) = merge.result else {
                    if case .conflict = merge.result {
                        // The archive shows the server version, not the one that the earlier requests would have
                        // made of it.
                        settled.conflicts[request.id] = Uploader.Conflict(
                            theirs: found[row], error: .preconditionFailed(request.entitySet))
                    }
                    continue
                }
                settled.rebased.append(
                    Rebase(request: request, changes: changes, version: version, isBehindMerge: true))
                merged[row] = version.overlaid(by: changes)
                continue
            }
            switch try await uploader.settle(conflict, request) {
            case .conflict(let paths): settled.paths[request.id] = paths
            case .yield:
                settled.isGivenUp = true
                return settled
            case .agreed where unit.isSingle: settled.isAgreed = true
            case .agreed:
                guard let version = conflict.theirs else { continue }
                // All requests are made together, so that this one stays.
                settled.rebased.append(Rebase(request: request, changes: request.changes, version: version))
            case .resend(let changes, let mergesOthers):
                guard let version = conflict.theirs else { continue }
                settled.rebased.append(
                    Rebase(request: request, changes: changes, version: version, mergesOthers: mergesOthers))
                if mergesOthers, let row = request.touchedRow {
                    merged[row] = version.overlaid(by: changes)
                    found[row] = version
                }
            }
        }
        return settled
    }

    /// Accepts a single request whose effect the service already has.
    ///
    /// - Returns: `nil` for a stream that differs from the one of the request.
    private func acceptAgreed(_ settled: Settled) async throws -> Uploader.Outcome? {
        let request = unit.requests[0]
        if request.kind == .stream {
            guard let taken = try await uploader.taken(streamOf: request) else { return nil }
            return try await accept(unit, [taken], isRepeat: false)
        }
        let theirs = settled.conflicts[request.id]?.theirs
        try await uploader.write { [uploader] database in
            try uploader.outcomes.accept(
                request, theirs: theirs, etag: theirs?.control.etag, isOvertaken: true, in: database)
        }
        return .accepted(unit.requests)
    }

    /// Puts conflicts into the error archive.
    private func archive(_ settled: Settled, _ error: ODataError?) async throws -> Uploader.Outcome {
        let conflicts = settled.conflicts
        if unit.isSingle, let request = unit.requests.first, let conflict = conflicts[request.id] {
            let paths = settled.paths[request.id] ?? []
            var error = conflict.error
            if let path = paths.first { error.target = path }
            let message =
                switch conflict.kind {
                case .deleted: "The entity was deleted by somebody else."
                case .changed where paths.isEmpty: "The entity was changed by somebody else."
                case .changed: "The entity was changed by somebody else: \(paths.joined(separator: ", "))."
                }
            return try await uploader.archive(unit, .refused, error, message: message, conflicts: conflicts)
        }
        let error = error ?? uploader.doubt
        let message =
            conflicts.isEmpty
            ? error.message
            : conflicts.values.allSatisfy { $0.kind == .deleted }
                ? "An entity of the change set was deleted by somebody else."
                : "An entity of the change set was changed by somebody else."
        return try await uploader.archive(unit, .refused, error, message: message, conflicts: conflicts)
    }

    /// Gives a unit up: in favour of the server version if there is a conflict, else of the version before.
    ///
    /// - Returns: all requests that left the queue.
    private func giveUp(_ conflicts: [Int64: Uploader.Conflict]) async throws -> [QueuedRequest] {
        try await uploader.write { [uploader, unit] database in
            let outcomes = uploader.outcomes
            // Whatever their outcome is, the requests are not sent any more.
            for request in unit.requests {
                try outcomes.queue.markPending(request.id, forgetsIdentification: true, in: database)
            }
            return try outcomes.givenUp(in: database) {
                // The newest first, so that each one leaves the version that the ones before it made.
                for request in unit.requests.reversed() {
                    guard let request = try outcomes.queue.request(request.id, in: database) else { continue }
                    if let conflict = conflicts[request.id] {
                        try outcomes.yield(request, to: conflict.theirs, in: database)
                    } else {
                        try outcomes.giveUp(request, in: database)
                    }
                }
            }
        }
    }
}
