import ODataModel
import ODataService

/// Changes of entities that other clients changed meanwhile.
extension Uploader {
    struct Conflict {
        var theirs: ODataEntity?
        var error: ODataError

        /// As the error archive has it.
        var kind: QueuedRequest.Failure.Conflict { theirs == nil ? .deleted : .changed }
    }

    /// The decision about a change that met another version of its entity.
    enum Settlement {
        /// It goes to the error archive. Both sides changed these paths, if a merge found some.
        case conflict([String])
        /// It is withdrawn.
        case yield
        /// The service already has the result of the change.
        case agreed
        /// These changes are sent on top of the server version.
        ///
        /// - mergesOthers: whether other clients changed properties outside of the base version.
        case resend(ODataEntity, mergesOthers: Bool)
    }

    /// Settles a conflict: by the values, if the entity merely has another ETag (rule 41), else by the policy of
    /// its set.
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
            entitySet: request.boundRow?.set ?? request.entitySet,
            key: request.kind == .call ? conflict.theirs?.key ?? request.key : request.key,
            kind: request.kind, base: request.base, mine: request.changes, theirs: conflict.theirs, known: known)
    }

    /// Merges the versions of a stream, each of which is one value. Its base version is known as long as its
    /// bytes are in the store.
    private func merge(streamOf request: QueuedRequest, _ conflict: Conflict) async throws -> ConflictMerge {
        let shape = request.changes.shape
        let name = request.streamProperty ?? "$value"
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
}
