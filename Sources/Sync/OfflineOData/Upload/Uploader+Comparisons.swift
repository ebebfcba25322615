import ODataModel
import ODataService

/// Looks for changes of other clients before a unit is sent that no ETag guards.
extension Uploader {
    /// Compares the current entities with the base versions of the requests of a unit, as far as no ETag guards
    /// them (rule 8). An earlier request determines the base values of the properties that it changes; other
    /// clients may have changed all other properties.
    ///
    /// - Returns: the requests whose entities other clients changed meanwhile, and the current entities that were
    ///   read.
    func comparisons(
        before unit: UploadUnit
    ) async throws -> (conflicts: [Int64: Conflict], seen: [RowReference: ODataEntity]) {
        var conflicts: [Int64: Conflict] = [:]
        var seen: [RowReference: ODataEntity] = [:]
        var changed: [RowReference: Set<String>] = [:]
        var related: Set<RelatedEnd> = []
        for request in unit.requests {
            let row = request.touchedRow
            // The target of an earlier request is the one that this request replaces.
            if let end = RelatedEnd(request), !related.insert(end).inserted { continue }
            if let row, let earlier = changed[row] {
                if request.kind == .update || request.kind == .delete, request.etag == nil,
                    let theirs = seen[row], let base = request.base?.only(where: { !earlier.contains($0) }),
                    !theirs.matches(base)
                {
                    conflicts[request.id] = Conflict(theirs: theirs, error: .preconditionFailed(request.entitySet))
                }
            } else {
                let comparison = try await comparison(before: request)
                conflicts[request.id] = comparison.conflict
                if let row, let theirs = comparison.seen { seen[row] = theirs }
            }
            if let row, request.isOfRow { changed[row, default: []].formUnion(request.changes.loadedProperties) }
        }
        return (conflicts, seen)
    }

    /// The source of a relation.
    private struct RelatedEnd: Hashable {
        let row: RowReference
        let navigation: String

        init?(_ request: QueuedRequest) {
            guard let relation = request.relation else { return nil }
            row = RowReference(set: request.entitySet, rowID: relation.sourceRow)
            navigation = relation.navigation
        }
    }

    /// The ETags of the current entities by the numbers of the first requests for each, if those have none of
    /// their own.
    static func etags(
        of seen: [RowReference: ODataEntity], guarding requests: [QueuedRequest]
    ) -> [Int64: String] {
        var etags: [Int64: String] = [:]
        var guarded: Set<RowReference> = []
        for request in requests {
            guard let row = request.touchedRow, !guarded.contains(row) else { continue }
            if request.etag == nil, request.kind == .update || request.kind == .delete {
                etags[request.id] = seen[row]?.control.etag
            }
            if (request.etag ?? etags[request.id]) != nil { guarded.insert(row) }
        }
        return etags
    }

    /// The result of a comparison before a change is sent.
    struct Comparison {
        /// The difference from the version that the change was made of.
        var conflict: Conflict?
        /// The current entity, if it still is the base version of the change. A later change meets the work of
        /// other clients only in the differences from it.
        var seen: ODataEntity?
    }

    /// Compares the current entity with the version that a change was made of, if no ETag is known (rule 8).
    func comparison(before request: QueuedRequest) async throws -> Comparison {
        if request.kind == .call { return try await comparison(behind: request) }
        if request.kind.isRelation { return try await comparison(ofEnd: request) }
        guard request.kind != .create, request.etag == nil, let base = request.base else { return Comparison() }
        let isCompared = try await database.read { database in
            // A change on top of one of our own has no back-end version to compare with.
            guard try outcomes.isFirst(request, in: database) else { return false }
            // The service has ETags, but this request has none, since other clients made a change after an
            // earlier one of this client.
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
