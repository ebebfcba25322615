import GRDB
import ODataModel
import ODataSQL
import ODataService

/// Applies a response to the queue, the row, its before image, and everything that refers to the row. Every
/// method runs in its caller's transaction, so that a response is stored as a whole or not at all (rule 3).
struct UploadOutcomes: Sendable {
    let mapping: StorageMapping
    let environment: EngineEnvironment
    let queue: QueueTable
    let before: BeforeImages
    /// Whether each failure adds a log record.
    private let writesLogRecords: Bool

    init(mapping: StorageMapping, environment: EngineEnvironment, writesLogRecords: Bool = false) {
        self.writesLogRecords = writesLogRecords
        self.mapping = mapping
        self.environment = environment
        queue = QueueTable(model: mapping.model, environment: environment)
        before = BeforeImages(snapshots: queue.snapshots)
    }

    /// The time at which the server version was read, relative to the request and the other requests of its
    /// change set.
    enum Reading: Sendable {
        /// With the response.
        case atOnce
        /// After the response: other clients may have changed the entity in between.
        case later(with: Set<Int64> = [])
        /// Possibly long after the request acted: the response to a repeat shows the current server version.
        case repeated(with: Set<Int64> = [])

        var isRepeated: Bool { if case .repeated = self { true } else { false } }
    }

    /// Stores that the service accepted a request.
    ///
    /// - Parameters:
    ///   - theirs: the current server version, if the response contains it.
    ///   - etag: its ETag.
    ///   - streamETag: the ETag of the stream that was sent.
    ///   - seen: the server version before the request, if it was read because no ETag guards the request.
    ///   - isOvertaken: whether another client is known to have changed the entity after the request. Pending
    ///     changes of it then meet a conflict.
    ///   - reading: the time at which the server version was read.
    func accept(
        _ request: QueuedRequest, theirs: ODataEntity?, etag: String?, streamETag: String? = nil,
        seen: ODataEntity? = nil,
        isOvertaken: Bool = false, reading: Reading = .atOnce, in database: Database
    ) throws {
        try accept(streamOf: request, etag: streamETag, in: database)
        guard request.isOfRow else {
            try queue.remove(request.id, in: database)
            try markRelated(by: request, in: database)
            try noteEnd(madeBy: request, in: database)
            try accept(call: request, theirs: theirs, seen: seen, isRepeated: reading.isRepeated, in: database)
            return try Events.add(
                "accepted", "\(request.kind.rawValue) \(describe(request))", environment: environment, in: database)
        }
        guard let table = mapping.tables[request.entitySet] else { return }
        let theirs = try theirs.map { try storable($0, table, in: database) }
        var twin: BeforeImages.Image?
        if request.kind == .create {
            let key = theirs?.key ?? request.key
            let rewriter = KeyRewriter(mapping: mapping, queue: queue)
            twin =
                key == request.key
                ? try rewriter.makeRoom(
                    for: key, table, rowID: request.rowID, parent: request.parentRow, in: database)
                : try rewriter.rewrite(request, table, to: key, in: database)
        }
        try queue.remove(request.id, in: database)
        let rest = try queue.requests(set: request.entitySet, rowID: request.rowID, in: database)
        if request.kind == .delete {
            try forget(request, table, in: database)
            return
        }
        if request.kind == .create, request.options.removesCreatedEntity, rest.isEmpty,
            try Containment(mapping: mapping).requests(within: request.rowID, table, queue, in: database)
                .allSatisfy(\.isWithoutPlace), try !isNamed(request, in: database),
            try (twin ?? image(of: request, table, in: database))?.entity == nil
        {
            // The service will assign a key later. Pending relations are still sent.
            try KeyRewriter(mapping: mapping, queue: queue).rewriteRelations(
                of: request, table, to: theirs?.key ?? request.key, in: database)
            try BulkLoader(set: table.set, mapping: mapping, in: database).delete(request.rowID)
            try forget(request, table, in: database)
            return
        }
        try Membership.markUploaded(request.rowID, of: request.entitySet, in: database)
        let known = try twin ?? image(of: request, table, in: database)
        if reading.isRepeated, request.kind == .update, theirs == nil {
            // A download may have brought later changes of other clients, which this version would hide.
            try requireComparison(of: request.entitySet, in: database)
        }
        var accepted = known?.entity ?? ODataEntity(shape: request.changes.shape, key: request.key)
        accepted = accepted.merging(request.changes)
        if let theirs { accepted = accepted.merging(theirs) }
        if let newer = twin?.entity { accepted = accepted.merging(newer) }
        let etag = twin == nil ? etag : twin?.etag
        accepted.control.etag = etag
        // A version that a download brought under the assigned key may already contain changes of other clients.
        let mergesOthers = request.isMergedWithOthers
        let isOvertaken = isOvertaken || mergesOthers || twin?.entity.map { !request.isShown(by: $0) } ?? false
        // Changes that other clients made before a stream was sent, or beneath a merged change, are not work of
        // this client. A call must not act on them.
        let isOurs =
            !mergesOthers
            && (request.kind != .stream || known?.entity.flatMap { old in theirs.map(old.matches) } ?? false)
        if isOurs {
            try queue.setETag(
                etag, ofCallsBoundTo: RowReference(set: request.entitySet, rowID: request.rowID), in: database)
        }
        // A stream has an ETag of its own, and no properties.
        if let next = rest.first(where: { $0.kind != .stream }) {
            if request.kind == .stream {
                // The base version of the next change does not come from this response: other clients may have
                // changed the entity before.
                if theirs.map({ isMade(next, of: $0) }) ?? true { try queue.setETag(etag, of: next.id, in: database) }
            } else if isOvertaken || meetOthers(rest, in: theirs, behind: request, reading) {
                // Pending changes are not based on later changes of other clients. The values decide when they
                // are sent.
            } else if request.kind != .update || request.etag != nil {
                // The version that the service made of this change is the base version of the next one.
                try put(next, on: accepted, table, in: database)
                if etag == nil {
                    try advance(rest, behind: next, of: request, seen: seen, to: accepted, table, in: database)
                }
            } else {
                try advance(rest, of: request, seen: seen, to: accepted, table, in: database)
            }
        }
        try keep(accepted, table, rowID: request.rowID, beneath: rest, owner: known?.owner ?? 0, in: database)
        try Events.add(
            "accepted", "\(request.kind.rawValue) \(describe(request))", environment: environment, in: database)
    }

    /// The server version of the entity that a request changes.
    private func image(
        of request: QueuedRequest, _ table: TableStorage, in database: Database
    ) throws -> BeforeImages.Image? {
        try before.image(set: request.entitySet, rowID: request.rowID, shape: table.shape, in: database)
    }

    /// Whether a pending call or header field refers to a created entity. Only the row provides the key that the
    /// service assigned.
    private func isNamed(_ creation: QueuedRequest, in database: Database) throws -> Bool {
        let entity = HeaderPlaceholders.Named(set: creation.entitySet, key: creation.key)
        return try queue.requests(in: database).contains { request in
            guard request.kind != .call || !request.dependsOn.contains(creation.id) else { return true }
            return HeaderPlaceholders.entities(in: request.options.headers, model: mapping.model).contains(entity)
        }
    }

    /// Whether the base version of an update equals the server version in the properties that it changes.
    private func isMade(_ request: QueuedRequest, of theirs: ODataEntity) -> Bool {
        guard request.kind == .update, let base = request.base else { return true }
        return theirs.matches(base)
    }

    /// Detects changes by other clients between an update guarded by an ETag and the later reading of the entity,
    /// for the pending requests behind the update.
    private func meetOthers(
        _ rest: [QueuedRequest], in theirs: ODataEntity?, behind request: QueuedRequest, _ reading: Reading
    ) -> Bool {
        guard request.kind == .update, request.etag != nil, let theirs else { return false }
        let acted: Set<Int64>
        switch reading {
        case .atOnce: return false
        case .later(let others), .repeated(let others): acted = others
        }
        // The value that a pending change gives a property is the base value of the changes behind it.
        var changed = request.changes.loadedProperties
        for waiting in rest {
            // A deletion affects the whole entity. The service itself may have changed some properties with the
            // update, so the server version right after the update counts as its result.
            let isMade = waiting.kind == .update || waiting.kind == .delete && reading.isRepeated
            if isMade, !acted.contains(waiting.id), let base = waiting.base,
                !theirs.matches(base.only(where: { !changed.contains($0) }))
            {
                return true
            }
            changed.formUnion(waiting.changes.loadedProperties)
        }
        return false
    }

    /// Marks both ends of an accepted relation as uploaded, as far as they are in the store.
    private func markRelated(by request: QueuedRequest, in database: Database) throws {
        guard Relations(mapping: mapping).pair(of: request) != nil, let relation = request.relation else { return }
        for (set, row) in [(request.entitySet, relation.sourceRow), (relation.targetSet, relation.targetRow)] {
            guard let table = mapping.tables[set], try Rows.owner(table, rowID: row, in: database) != nil
            else { continue }
            try Membership.markUploaded(row, of: set, in: database)
        }
    }

    /// Stores that the service accepted a stream, with its ETag if the response has one, or its deletion. The
    /// downloaded bytes are not needed any more.
    private func accept(streamOf request: QueuedRequest, etag: String?, in database: Database) throws {
        guard let stream = request.stream else {
            guard request.kind == .stream else { return }
            return try StreamTable.remove(request.streamOwner, local: false, in: database)
        }
        try StreamTable.markUploaded(stream, etag: etag, in: database)
        let next = try queue.requests(set: request.entitySet, rowID: request.rowID, in: database).first {
            $0.id > request.id && $0.kind == .stream && $0.streamProperty == request.streamProperty
        }
        if let next { try queue.setETag(etag, of: next.id, in: database) }
    }

    /// Removes the downloaded bytes of a stream that another client has replaced. An undo of the local change
    /// loads them again.
    private func removeOutdated(streamOf request: QueuedRequest, _ theirs: ODataEntity, in database: Database) throws {
        guard request.kind == .stream else { return }
        try StreamTable.remove(request.streamOwner, local: false, unless: request.etag(in: theirs), in: database)
    }

    /// Removes the entity from the store.
    private func forget(_ request: QueuedRequest, _ table: TableStorage, in database: Database) throws {
        try before.remove(set: request.entitySet, rowID: request.rowID, in: database)
        try DeletionShelf(mapping: mapping).drop(set: request.entitySet, rowID: request.rowID, in: database)
        for name in ["outpost_member", "outpost_expanded", "outpost_uploaded", "outpost_alias", "outpost_replay"] {
            try database.execute(
                sql: "DELETE FROM \(name) WHERE entity_set = ? AND row_id = ?",
                arguments: [request.entitySet, request.rowID])
        }
        try Events.add(
            "accepted", "\(request.kind.rawValue) \(describe(request))", environment: environment, in: database)
    }

    /// Stores that an action made an entity without naming it: the row goes, and the next download brings the entity.
    ///
    /// - Returns: `false` if the request calls no action, or if other changes need the row.
    func acceptUnnamed(_ request: QueuedRequest, in database: Database) throws -> Bool {
        guard request.options.action != nil, let table = mapping.tables[request.entitySet],
            try queue.requests(set: request.entitySet, rowID: request.rowID, in: database).count == 1,
            try Containment(mapping: mapping).requests(within: request.rowID, table, queue, in: database)
                .allSatisfy(\.isWithoutPlace),
            try !queue.requests(in: database).contains(where: { $0.dependsOn.contains(request.id) }),
            try image(of: request, table, in: database)?.entity == nil
        else { return false }
        try queue.remove(request.id, in: database)
        try BulkLoader(set: table.set, mapping: mapping, in: database).delete(request.rowID)
        try forget(request, table, in: database)
        return true
    }

    /// Stores that the service refused a request, or that its outcome is unknown.
    func fail(
        _ request: QueuedRequest, _ state: QueuedRequest.State, _ failure: QueuedRequest.Failure,
        in database: Database
    ) throws {
        // The request may have been undone while the service was asked about it.
        guard try queue.request(request.id, in: database) != nil else { return }
        try Events.add(
            "failed", "\(request.kind.rawValue) \(describe(request)): \(failure.status ?? 0) \(failure.code)",
            environment: environment, in: database)
        let rest = try queue.requests(set: request.entitySet, rowID: request.rowID, in: database)
        if request.kind == .create, state == .refused, rest.contains(where: { $0.kind == .delete }) {
            // The entity was deleted locally and never reached the service: both sides agree. An entity of the
            // service under the same key belongs to another client, and comes back.
            try Undo(mapping: mapping, queue: queue, environment: environment).undo(
                set: request.entitySet, rowID: request.rowID, in: database)
            return
        }
        try queue.markFailed(request.id, state, failure, in: database)
        if writesLogRecords { try LogRecordTable.add(request, failure, environment: environment, in: database) }
        if failure.conflict == .deleted, request.isOfRow, request.kind != .create {
            // Withdrawing the change shows the server version: no entity.
            try before.deleteEntity(set: request.entitySet, rowID: request.rowID, in: database)
        }
        guard let theirs = failure.theirs, request.kind != .create else { return }
        if request.kind == .call { return try fail(call: request, state, theirs, in: database) }
        if request.kind.isRelation { return try noteEnd(of: request, in: theirs, in: database) }
        if request.kind == .stream {
            try removeOutdated(streamOf: request, theirs, in: database)
            // The change is sent again on top of that version, whose ETag is not part of the stored entity.
            try queue.setETag(request.etag(in: theirs), of: request.id, in: database)
        }
        try renew(request, to: theirs, in: database)
    }

    /// Stores the server version of a row, with the queued changes on top.
    private func renew(_ request: QueuedRequest, to theirs: ODataEntity, in database: Database) throws {
        guard let table = mapping.tables[request.entitySet] else { return }
        let theirs = try storable(theirs, table, in: database)
        let known = try before.image(
            set: request.entitySet, rowID: request.rowID, shape: table.shape, in: database)
        let newest = known?.entity?.retyped(as: theirs).merging(theirs) ?? theirs
        try before.save(
            BeforeImages.Image(entity: newest, etag: theirs.control.etag, owner: known?.owner ?? 0),
            set: request.entitySet, rowID: request.rowID, in: database)
        guard try Rows.owner(table, rowID: request.rowID, in: database) != nil else { return }
        let queued = try queue.requests(set: request.entitySet, rowID: request.rowID, in: database)
        try BulkLoader(set: table.set, mapping: mapping, in: database).update(
            request.rowID, queued.reduce(newest) { $0.overlaid(by: $1.changes) })
    }

    /// Returns the part of the server version that the row can store. If properties are missing, the next
    /// download of the set compares all rows and reports the fault; the queue must not be blocked by it.
    func storable(_ theirs: ODataEntity, _ table: TableStorage, in database: Database) throws -> ODataEntity {
        let held = try BulkLoader(set: table.set, mapping: mapping, in: database).storable(theirs)
        if held.values != theirs.values { try requireComparison(of: table.set, in: database) }
        return held
    }

    /// Lets the next download compare all rows that queries bring of a set.
    private func requireComparison(of set: String, in database: Database) throws {
        for query in try QueryTable.all(in: database) where query.sets(in: mapping).contains(set) {
            try QueryTable.requireComparison(of: query, in: database)
        }
    }

    /// Accepts a request of unknown outcome, as a person decided. A download may already have brought its result,
    /// or later changes by other clients, and would not bring them again: the next download compares all rows.
    ///
    /// - Parameter key: the key that the service assigned, if it is known.
    /// - Throws: ``OfflineError/keyNeeded(request:)`` if other changes wait for a key that is not known.
    func accept(inDoubt request: QueuedRequest, key: EntityKey?, in database: Database) throws {
        guard !request.isWithoutPlace else { return try accept(request, theirs: nil, etag: nil, in: database) }
        try requireComparison(of: request.touchedRow?.set ?? request.entitySet, in: database)
        if let key {
            let shape = request.changes.shape
            return try accept(request, theirs: ODataEntity(shape: shape, key: key), etag: nil, in: database)
        }
        guard request.kind == .create, !request.omitted.isEmpty else {
            return try accept(request, theirs: nil, etag: nil, in: database)
        }
        let waits = try queue.requests(in: database).contains { other in
            other.dependsOn.contains(request.id)
        }
        guard !waits else { throw OfflineError.keyNeeded(request: request.id) }
        try queue.remove(request.id, in: database)
        // The next download brings the entity under its own key and removes the row under the temporary key.
        try Membership.markUploaded(request.rowID, of: request.entitySet, in: database)
        try Events.add("accepted", "create \(describe(request))", environment: environment, in: database)
    }

    /// Withdraws changes and returns all that were removed: changes that depend on them go too, and so do the
    /// other changes of the same change set.
    func givenUp(in database: Database, _ giveUp: () throws -> Void) throws -> [QueuedRequest] {
        let before = try queue.requests(in: database)
        if try ServiceKnowledge.hasChangeSets(model: mapping.model, in: database) {
            let cancelling = Cancelling(mapping: mapping, queue: queue, environment: environment)
            for request in try WholeChangeSets(cancelling: cancelling).keep(takingOthers: true, in: database, giveUp) {
                try Events.add(
                    "given up", "\(request.kind.rawValue) \(describe(request))", environment: environment, in: database)
            }
        } else {
            try giveUp()
        }
        let left = Set(try queue.requests(in: database).map(\.id))
        return before.filter { !left.contains($0.id) }
    }

    /// Withdraws a change in favour of the server version. Later changes of the entity were not based on that
    /// version: each meets its own conflict when it is sent. Without a server version, all of them are withdrawn.
    func yield(_ request: QueuedRequest, to theirs: ODataEntity?, in database: Database) throws {
        // The request may have been undone while the service was asked about it.
        guard try queue.request(request.id, in: database) != nil else { return }
        if request.kind == .call {
            try queue.remove(request.id, in: database)
            return try Events.add("given up", "call \(describe(request))", environment: environment, in: database)
        }
        if request.kind.isRelation {
            try queue.markPending(request.id, forgetsIdentification: true, in: database)
            guard let waiting = try queue.request(request.id, in: database) else { return }
            return try giveUp(waiting, in: database)
        }
        if let theirs { try removeOutdated(streamOf: request, theirs, in: database) }
        let requests = try queue.requests(set: request.entitySet, rowID: request.rowID, in: database)
        if let theirs, let next = requests.first(where: { $0.id != request.id }) {
            try queue.remove(request.id, in: database)
            if request.kind == .stream, let stream = request.stream {
                try StreamTable.remove(stream, in: database)
            }
            if next.etag == nil, next.isAbout(sameVersionAs: request) {
                try queue.setETag(request.etag, of: next.id, in: database)
            }
            try renew(request, to: theirs, in: database)
            try Undo(mapping: mapping, queue: queue, environment: environment).undoDependents(
                of: [request], leaving: requests.filter { $0.id != request.id }, in: database)
        } else {
            if let theirs { try renew(request, to: theirs, in: database) }
            if theirs == nil { try before.deleteEntity(set: request.entitySet, rowID: request.rowID, in: database) }
            try Undo(mapping: mapping, queue: queue, environment: environment).undo(
                set: request.entitySet, rowID: request.rowID, in: database)
        }
        for request in theirs == nil ? requests : [request] {
            try Events.add(
                "given up", "\(request.kind.rawValue) \(describe(request))", environment: environment, in: database)
        }
    }

    /// Withdraws a change without a conflict of its own, because its change set is withdrawn. The entity keeps
    /// its other changes.
    func giveUp(_ request: QueuedRequest, in database: Database) throws {
        try Cancelling(mapping: mapping, queue: queue, environment: environment).cancel(request, in: database)
        try Events.add(
            "given up", "\(request.kind.rawValue) \(describe(request))", environment: environment, in: database)
    }

    /// The base version of the whole entity; `nil` if the store has another version by now.
    func known(beneath request: QueuedRequest, in database: Database) throws -> ODataEntity? {
        let row = request.boundRow ?? RowReference(set: request.entitySet, rowID: request.rowID)
        guard let etag = request.etag, let table = mapping.tables[row.set], !request.kind.isRelation else { return nil }
        let known =
            try before.image(set: row.set, rowID: row.rowID, shape: table.shape, in: database)?.entity
            ?? BulkLoader(set: row.set, mapping: mapping, in: database).read(row.rowID)
        return known?.control.etag == etag ? known : nil
    }

    /// Puts a change on top of the server version, to be sent again.
    ///
    /// - Parameter mergesOthers: whether other clients changed properties outside of the base version, so that
    ///   pending changes behind it meet them.
    func rebase(
        _ request: QueuedRequest, changes: ODataEntity, onto theirs: ODataEntity, mergesOthers: Bool = false,
        in database: Database
    ) throws {
        // The request may have been undone while the service was asked about it.
        guard try queue.request(request.id, in: database) != nil else { return }
        if request.kind == .call { return try rebase(call: request, onto: theirs, in: database) }
        if request.kind.isRelation {
            try noteEnd(of: request, in: theirs, in: database)
            return try queue.markPending(request.id, forgetsIdentification: true, in: database)
        }
        guard let table = mapping.tables[request.entitySet] else { return }
        let theirs = try storable(theirs, table, in: database)
        try removeOutdated(streamOf: request, theirs, in: database)
        let owner =
            try before.image(set: request.entitySet, rowID: request.rowID, shape: table.shape, in: database)?.owner
            ?? 0
        try before.save(
            BeforeImages.Image(entity: theirs, etag: theirs.control.etag, owner: owner), set: request.entitySet,
            rowID: request.rowID, in: database)
        try queue.rewrite(
            request.id, key: ODataEntity(shape: table.shape, key: request.key), changes: changes,
            base: request.kind == .delete ? theirs : theirs.only(where: { changes[$0] != nil }), in: database)
        try queue.setETag(request.etag(in: theirs), of: request.id, in: database)
        if mergesOthers { try noteMerge(of: request, in: database) }
        try queue.markPending(request.id, forgetsIdentification: true, in: database)
    }

    /// Puts a change on top of a version that one before it in its change set makes.
    func rebase(
        _ request: QueuedRequest, changes: ODataEntity, behindMergeOnto version: ODataEntity, in database: Database
    )
        throws
    {
        guard try queue.request(request.id, in: database) != nil else { return }
        try queue.rewrite(
            request.id, key: ODataEntity(shape: changes.shape, key: request.key), changes: changes,
            base: request.kind == .delete ? version : version.only(where: { changes[$0] != nil }), in: database)
        try noteMerge(of: request, in: database)
    }

    private func noteMerge(of request: QueuedRequest, in database: Database) throws {
        try queue.markMerged(request.id, in: database)
    }

    /// The target of an accepted relation to one entity is the version that later changes of the same relation
    /// replace, whatever their own base version was.
    private func noteEnd(madeBy request: QueuedRequest, in database: Database) throws {
        guard request.kind == .link, let made = request.relation,
            mapping.tables[request.entitySet]?.shape.navigationProperty(made.navigation)?.isCollection == false
        else { return }
        for other in try queue.links(set: request.entitySet, rowID: made.sourceRow, in: database) {
            guard case .relation(var waiting) = other.subject, other.entitySet == request.entitySet,
                waiting.sourceRow == made.sourceRow, waiting.navigation == made.navigation
            else { continue }
            let pair = QueuedRequest.RelatedPair(source: made.sourceRow, target: made.targetRow)
            waiting.seen = (waiting.seen ?? []) + [pair]
            try queue.setSubject(.relation(waiting), of: other.id, in: database)
        }
    }

    /// Stores the server's target of a relation as the base version: a repeat of the request replaces that
    /// target.
    private func noteEnd(of request: QueuedRequest, in theirs: ODataEntity, in database: Database) throws {
        guard case .relation(var relation)? = try queue.request(request.id, in: database)?.subject,
            case .references(let ids)? = theirs.related[relation.navigation]
        else { return }
        relation.shown = ids.first
        try queue.setSubject(.relation(relation), of: request.id, in: database)
    }

    /// Whether the server version of the entity that a request changes has a known ETag.
    func hasETag(_ request: QueuedRequest, in database: Database) throws -> Bool {
        guard let table = mapping.tables[request.entitySet] else { return false }
        return try image(of: request, table, in: database)?.etag != nil
    }

    /// Whether a request is the first one queued for its row.
    func isFirst(_ request: QueuedRequest, in database: Database) throws -> Bool {
        try queue.requests(set: request.entitySet, rowID: request.rowID, in: database).first?.id == request.id
    }

    private func describe(_ request: QueuedRequest) -> String {
        request.entityText
    }
}

extension QueuedRequest {
    /// The stream that the request is about.
    var streamOwner: StreamTable.Owner {
        StreamTable.Owner(set: entitySet, rowID: rowID, property: streamProperty ?? "")
    }
}
