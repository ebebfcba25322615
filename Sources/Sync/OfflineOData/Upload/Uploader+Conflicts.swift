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

    /// What becomes of a change that met another version of its entity.
    enum Settlement {
        /// It goes to the error archive; both sides changed these paths, as far as a merge found some.
        case conflict([String])
        /// It is given up.
        case yield
        /// The service has what the change makes.
        case agreed
        /// These changes are sent on top of the server version.
        ///
        /// - mergesOthers: whether others changed what the changes were not made of.
        case resend(Entity, mergesOthers: Bool)
    }

    /// Settles a conflict: by the values, if the entity merely has another ETag (rule 41), else by the policy of its set.
    func settle(_ conflict: Conflict, _ request: QueuedRequest) async throws -> Settlement {
        let versions = try await versions(in: conflict, request)
        switch request.kind {
        case .stream:
            switch try await merge(streamOf: request, conflict) {
            case .agreed: return .agreed
            case .merged: return .resend(request.changes, mergesOthers: false)
            case .conflict: break
            }
        case .update, .delete:
            guard versions.known != nil || request.etag == nil, versions.versionMerge.isOfKnownValues else { break }
            switch versions.merge() {
            case .agreed: return .agreed
            case .merged(let changes): return .resend(changes, mergesOthers: false)
            case .conflict: break
            }
        case .call:
            guard request.etag != nil, let known = versions.known,
                VersionMerge(base: known, mine: nil, theirs: conflict.theirs).isOfKnownValues
            else { break }
            return .resend(request.changes, mergesOthers: false)
        case .create, .link, .unlink: break
        }
        switch wire.conflictPolicies[versions.entitySet] ?? options.conflictPolicy {
        case .fail: return .conflict([])
        case .clientWins: return .resend(request.changes, mergesOthers: false)
        case .serverWins: return .yield
        case .merge:
            switch versions.merge() {
            case .agreed: return .agreed
            case .merged(let changes): return .resend(changes, mergesOthers: true)
            case .conflict(let paths): return .conflict(paths)
            }
        case .custom(let decide):
            switch await decide(versions) {
            case .fail: return .conflict([])
            case .mine: return .resend(request.changes, mergesOthers: false)
            case .theirs: return .yield
            case .merged(let changes):
                let isSettled =
                    request.kind == .update && changes.loadedProperties.isEmpty
                    && !request.changes.loadedProperties.isEmpty
                return isSettled ? .agreed : .resend(changes, mergesOthers: request.kind == .update)
            }
        }
    }

    /// The versions in a conflict.
    private func versions(in conflict: Conflict, _ request: QueuedRequest) async throws -> ConflictVersions {
        let known = try await read { try outcomes.known(beneath: request, in: $0) }
        return ConflictVersions(
            entitySet: request.detail.bound?.set ?? request.entitySet,
            key: request.kind == .call ? conflict.theirs?.key ?? request.key : request.key,
            kind: request.kind, base: request.base, mine: request.changes, theirs: conflict.theirs, known: known)
    }

    /// Merges the versions of a stream, each of which is one value. Its base version is known as long as its bytes are in the store.
    private func merge(streamOf request: QueuedRequest, _ conflict: Conflict) async throws -> ConflictMerge {
        let shape = request.changes.shape
        let name = request.detail.property ?? "$value"
        guard let theirs = conflict.theirs else { return .conflict([name]) }
        if try await taken(streamOf: request) != nil {
            return VersionMerge.whole(isMine: true, isBase: false, name: name, shape: shape)
        }
        let base = try await read { database in
            let known = try StreamTable.downloaded(request.streamOwner, in: database)
            return known?.etag == request.etag ? known : nil
        }
        guard request.etag(in: theirs) != nil, let base else { return .conflict([name]) }
        let isBase = try await response(toReadingStreamOf: request, ifSameAs: base) != nil
        return VersionMerge.whole(isMine: false, isBase: isBase, name: name, shape: shape)
    }

    /// Resolves a conflict.
    ///
    /// - Parameter wasSent: whether the request may have acted when it was sent before.
    func resolve(
        conflict: Conflict, _ request: QueuedRequest, wasSent: Bool, _ way: Way
    ) async throws -> Result {
        let settlement: Settlement
        do {
            settlement = try await settle(conflict, request)
        } catch {
            try await putBack([request], wasSent: wasSent)
            throw error
        }
        switch settlement {
        case .conflict(let paths):
            return try await archive(request, conflict, paths)
        case .yield:
            return .givenUp(
                try await write { database in
                    try outcomes.givenUp(in: database) {
                        try outcomes.yield(request, to: conflict.theirs, in: database)
                    }
                })
        case .agreed:
            if request.kind == .stream {
                guard let taken = try await taken(streamOf: request) else {
                    return try await archive(request, conflict, [])
                }
                return try await accept(request, taken)
            }
            let theirs = conflict.theirs
            try await write {
                try outcomes.accept(
                    request, theirs: theirs, etag: theirs?.control.etag, isOvertaken: true, in: $0)
            }
            return .accepted
        case .resend(let changes, let mergesOthers):
            guard let theirs = conflict.theirs, way.rebases < Self.maxRebases else {
                return try await archive(request, conflict, [])
            }
            try await write {
                try outcomes.rebase(request, changes: changes, onto: theirs, mergesOthers: mergesOthers, in: $0)
            }
            guard let again = try await database.read({ try outcomes.queue.request(request.id, in: $0) }) else {
                // Undone meanwhile.
                return .postponed
            }
            var next = way
            next.rebases += 1
            return try await send(again, next)
        }
    }

    /// Puts a conflict into the error archive.
    ///
    /// - Parameter paths: the paths that both sides changed.
    private func archive(_ request: QueuedRequest, _ conflict: Conflict, _ paths: [String]) async throws -> Result {
        var error = conflict.error
        if let path = paths.first { error.target = path }
        let message =
            switch conflict.kind {
            case .deleted: "The entity was deleted by somebody else."
            case .changed where paths.isEmpty: "The entity was changed by somebody else."
            case .changed: "The entity was changed by somebody else: \(paths.joined(separator: ", "))."
            }
        return try await archive(
            request, .refused, error, message: message, theirs: conflict.theirs, conflict: conflict.kind)
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
