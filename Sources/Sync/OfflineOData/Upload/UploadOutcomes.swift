import GRDB
import ODataModel
import ODataSQL
import ODataService

/// What an answer does to queue, row, before image and everything that refers to the row. Every method
/// runs in its caller's transaction, so that an answer is stored as a whole or not at all (rule 3).
struct UploadOutcomes: Sendable {
    let mapping: StorageMapping
    let environment: EngineEnvironment
    let queue: QueueTable
    let before: BeforeImages

    init(mapping: StorageMapping, environment: EngineEnvironment) {
        self.mapping = mapping
        self.environment = environment
        queue = QueueTable(model: mapping.model, environment: environment)
        before = BeforeImages(snapshots: queue.snapshots)
    }

    /// When it was found out what the service has of an entity, behind its making of a request and of others in one change set
    /// with that.
    enum Reading: Sendable {
        /// With the answer.
        case atOnce
        /// After the answer, so that others may have been there in between.
        case later(with: Set<Int64> = [])
        /// Long after it acted, perhaps: a repeat is answered with what the service has now.
        case repeated(with: Set<Int64> = [])

        var isRepeated: Bool { if case .repeated = self { true } else { false } }
    }

    /// The service accepted a request.
    ///
    /// - Parameters:
    ///   - theirs: the entity as the service has it now, where it said.
    ///   - etag: its ETag.
    ///   - streamETag: the ETag of the stream that was sent.
    ///   - seen: the entity as the service had it before, where it was asked since no ETag guards the request.
    ///   - isOvertaken: whether what it has now is known to be others' work on top of the request: who waits behind it then
    ///     meets that as a conflict.
    ///   - reading: when that was found out.
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
            // The service will send its own, under whatever key, as it has not done yet. Relations that wait are still sent.
            try KeyRewriter(mapping: mapping, queue: queue).rewriteRelations(
                of: request, table, to: theirs?.key ?? request.key, in: database)
            try BulkLoader(set: table.set, mapping: mapping, in: database).delete(request.rowID)
            try forget(request, table, in: database)
            return
        }
        try Membership.markUploaded(request.rowID, of: request.entitySet, in: database)
        let known = try twin ?? image(of: request, table, in: database)
        if reading.isRepeated, request.kind == .update, theirs == nil {
            // A download may have brought what others have made of it since, which this would hide.
            try requireComparison(of: request.entitySet, in: database)
        }
        var accepted = known?.entity ?? ODataEntity(shape: request.changes.shape, key: request.key)
        accepted = accepted.merging(request.changes)
        if let theirs { accepted = accepted.merging(theirs) }
        if let newer = twin?.entity { accepted = accepted.merging(newer) }
        let etag = twin == nil ? etag : twin?.etag
        accepted.control.etag = etag
        // What a download has brought under the key that the service gave may be others' work on top already.
        let mergesOthers = request.isMergedWithOthers
        let isOvertaken = isOvertaken || mergesOthers || twin?.entity.map { !request.isShown(by: $0) } ?? false
        // What others have done before a stream was sent, or beneath a merged change, is not ours, and a call is not to act on it.
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
                // What the next change was made of is not this one's answer: others may have been there before.
                if theirs.map({ isMade(next, of: $0) }) ?? true { try queue.setETag(etag, of: next.id, in: database) }
            } else if isOvertaken || meetOthers(rest, in: theirs, behind: request, reading) {
                // What waits was not made of what others have done since: the values tell when it is sent.
            } else if request.kind != .update || request.etag != nil {
                // The next change is one of what the service made of this one.
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

    /// The back-end version of what a request changes.
    private func image(
        of request: QueuedRequest, _ table: TableStorage, in database: Database
    ) throws -> BeforeImages.Image? {
        try before.image(set: request.entitySet, rowID: request.rowID, shape: table.shape, in: database)
    }

    /// Whether a call or a header field that waits names what a request has created: only its row can tell them the key that
    /// the service gave.
    private func isNamed(_ creation: QueuedRequest, in database: Database) throws -> Bool {
        let entity = HeaderPlaceholders.Named(set: creation.entitySet, key: creation.key)
        return try queue.requests(in: database).contains { request in
            guard request.kind != .call || !request.dependsOn.contains(creation.id) else { return true }
            return HeaderPlaceholders.entities(in: request.options.headers, model: mapping.model).contains(entity)
        }
    }

    /// Whether an update was made of what the service has of the properties that it changes.
    private func isMade(_ request: QueuedRequest, of theirs: ODataEntity) -> Bool {
        guard request.kind == .update, let base = request.base else { return true }
        return theirs.matches(base)
    }

    /// Whether others have changed what requests are about that wait behind an update which an ETag guarded, between the
    /// service's making of that and the reading of the entity.
    private func meetOthers(
        _ rest: [QueuedRequest], in theirs: ODataEntity?, behind request: QueuedRequest, _ reading: Reading
    ) -> Bool {
        guard request.kind == .update, request.etag != nil, let theirs else { return false }
        let acted: Set<Int64>
        switch reading {
        case .atOnce: return false
        case .later(let others), .repeated(let others): acted = others
        }
        // What a waiting change has made of a property is what the ones behind it were made of.
        var changed = request.changes.loadedProperties
        for waiting in rest {
            // A deletion is about all of the entity, of which the service may have changed some itself with the update: what
            // it has right behind that is taken for its own work.
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

    /// Marks both ends of a relation that the service has taken as uploaded, as far as they are here.
    private func markRelated(by request: QueuedRequest, in database: Database) throws {
        guard Relations(mapping: mapping).pair(of: request) != nil, let relation = request.relation else { return }
        for (set, row) in [(request.entitySet, relation.sourceRow), (relation.targetSet, relation.targetRow)] {
            guard let table = mapping.tables[set], try Rows.owner(table, rowID: row, in: database) != nil
            else { continue }
            try Membership.markUploaded(row, of: set, in: database)
        }
    }

    /// Stores that the service has taken the stream of a request, with its ETag where it told that, or its deletion: what
    /// was downloaded before is not needed any more.
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

    /// Removes what was downloaded of a stream that others have replaced since: who takes the change back loads it again.
    private func removeOutdated(streamOf request: QueuedRequest, _ theirs: ODataEntity, in database: Database) throws {
        guard request.kind == .stream else { return }
        try StreamTable.remove(request.streamOwner, local: false, unless: request.etag(in: theirs), in: database)
    }

    /// The entity is gone here.
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

    /// The service refused a request, or nobody knows whether it acted.
    func fail(
        _ request: QueuedRequest, _ state: QueuedRequest.State, _ failure: QueuedRequest.Failure,
        in database: Database
    ) throws {
        // Undone while the service was asked about it.
        guard try queue.request(request.id, in: database) != nil else { return }
        try Events.add(
            "failed", "\(request.kind.rawValue) \(describe(request)): \(failure.status ?? 0) \(failure.code)",
            environment: environment, in: database)
        let rest = try queue.requests(set: request.entitySet, rowID: request.rowID, in: database)
        if request.kind == .create, state == .refused, rest.contains(where: { $0.kind == .delete }) {
            // It was deleted here after all, and the service never took it: both sides agree. What the service
            // has under the same key is somebody else's, and comes back.
            try Undo(mapping: mapping, queue: queue, environment: environment).undo(
                set: request.entitySet, rowID: request.rowID, in: database)
            return
        }
        try queue.markFailed(request.id, state, failure, in: database)
        if failure.conflict == .deleted, request.isOfRow, request.kind != .create {
            // Who gives the change up sees what the service has: nothing.
            try before.deleteEntity(set: request.entitySet, rowID: request.rowID, in: database)
        }
        guard let theirs = failure.theirs, request.kind != .create else { return }
        if request.kind == .call { return try fail(call: request, state, theirs, in: database) }
        if request.kind.isRelation { return try noteEnd(of: request, in: theirs, in: database) }
        if request.kind == .stream {
            try removeOutdated(streamOf: request, theirs, in: database)
            // It is sent again on top of that version, whose ETag is not among what is kept of an entity.
            try queue.setETag(request.etag(in: theirs), of: request.id, in: database)
        }
        try renew(request, to: theirs, in: database)
    }

    /// Takes the service's version of a row as the newest one, with the changes that are still queued on top.
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

    /// What of the service's version of a row the row can hold. Where that is not all, the next download of its set compares
    /// everything, and tells what is wrong: it must not keep the queue from being sent.
    func storable(_ theirs: ODataEntity, _ table: TableStorage, in database: Database) throws -> ODataEntity {
        let held = try BulkLoader(set: table.set, mapping: mapping, in: database).storable(theirs)
        if held.values != theirs.values { try requireComparison(of: table.set, in: database) }
        return held
    }

    /// Lets the next download compare everything that queries bring of a set.
    private func requireComparison(of set: String, in database: Database) throws {
        for query in try QueryTable.all(in: database) where query.sets(in: mapping).contains(set) {
            try QueryTable.requireComparison(of: query, in: database)
        }
    }

    /// A person says that a request in doubt has acted. A download may have brought meanwhile what the service made of it, or
    /// others after it, and would not bring it again: the next one compares everything.
    ///
    /// - Parameter key: the key that the service gave, where it is known.
    /// - Throws: ``OfflineError/keyNeeded(request:)`` when others wait for a key that is not known.
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
        // The next download brings it under its own key, and takes the row under the temporary one away.
        try Membership.markUploaded(request.rowID, of: request.entitySet, in: database)
        try Events.add("accepted", "create \(describe(request))", environment: environment, in: database)
    }

    /// Gives changes up, and tells all that went: what waited for them is of no use without them, and where the service makes
    /// changes together or not at all, what was made together with one that goes, goes with it.
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

    /// Gives a change up in favour of the service's version. Later changes of the same entity were made without having
    /// seen that either: each finds a conflict of its own when it is sent. Where the service has none, all go.
    func yield(_ request: QueuedRequest, to theirs: ODataEntity?, in database: Database) throws {
        // Undone while the service was asked about it.
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

    /// Gives a change up that nobody has come in the way of, since what it was to be made together with is given up: the
    /// entity shows its other changes as before.
    func giveUp(_ request: QueuedRequest, in database: Database) throws {
        try Cancelling(mapping: mapping, queue: queue, environment: environment).cancel(request, in: database)
        try Events.add(
            "given up", "\(request.kind.rawValue) \(describe(request))", environment: environment, in: database)
    }

    /// The whole entity as it was when a request was made; `nil` if the store has another version by now.
    func known(beneath request: QueuedRequest, in database: Database) throws -> ODataEntity? {
        let row = request.boundRow ?? RowReference(set: request.entitySet, rowID: request.rowID)
        guard let etag = request.etag, let table = mapping.tables[row.set], !request.kind.isRelation else { return nil }
        let known =
            try before.image(set: row.set, rowID: row.rowID, shape: table.shape, in: database)?.entity
            ?? BulkLoader(set: row.set, mapping: mapping, in: database).read(row.rowID)
        return known?.control.etag == etag ? known : nil
    }

    /// Puts a change on top of the service's version, to be sent again.
    ///
    /// - Parameter mergesOthers: whether others changed what the change was not made of, so that what waits behind it meets that.
    func rebase(
        _ request: QueuedRequest, changes: ODataEntity, onto theirs: ODataEntity, mergesOthers: Bool = false,
        in database: Database
    ) throws {
        // Undone while the service was asked about it.
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

    /// What a relation has made where there can be one only is what those behind it take the place of, whatever was seen there when
    /// they were made.
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

    /// Notes what the service has in the place of a relation: sent again, the request is one on top of that.
    private func noteEnd(of request: QueuedRequest, in theirs: ODataEntity, in database: Database) throws {
        guard case .relation(var relation)? = try queue.request(request.id, in: database)?.subject,
            case .references(let ids)? = theirs.related[relation.navigation]
        else { return }
        relation.shown = ids.first
        try queue.setSubject(.relation(relation), of: request.id, in: database)
    }

    /// Whether the service's version of what a request changes is known by an ETag.
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
    /// Which stream it is about.
    var streamOwner: StreamTable.Owner {
        StreamTable.Owner(set: entitySet, rowID: rowID, property: streamProperty ?? "")
    }
}
