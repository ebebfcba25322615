import Foundation
import GRDB
import ODataModel
import ODataSQL
import ODataService

/// Reads and writes the queue of changes. Every method runs in its caller's transaction.
struct QueueTable {
    let model: EntityDataModel
    let snapshots: SnapshotCoder
    /// Creates the identification of each request.
    private let newGuid: @Sendable () -> ODataGuid

    /// - Parameter environment: the source of identifiers. A caller that adds or sends requests passes the
    ///   environment of the store.
    init(model: EntityDataModel, environment: EngineEnvironment = .system) {
        self.model = model
        newGuid = environment.newGuid
        snapshots = SnapshotCoder(model: model)
    }

    private static let columns =
        """
        id, entity_set, row_id, kind, entity_key, changes, base, etag, omitted, \(dependencies) AS depends, state,
        request_id, first_sent, created_at, options, change_set, detail, status, code, message, target, inner_error,
        theirs, failed_at, conflict, errors, found_etag, sent_entity, is_merged, counter
        """

    /// SQL of the requests that a request of the queue waits for, as ``ids(_:)`` reads them.
    static let dependencies = "(SELECT group_concat(needs) FROM outpost_dependency WHERE request = outpost_queue.id)"

    static func ids(_ text: String?) -> Set<Int64> {
        Set((text ?? "").split(separator: ",").compactMap { Int64($0) })
    }

    /// All requests, or those in some states, in order.
    func requests(_ states: [QueuedRequest.State]? = nil, in database: Database) throws -> [QueuedRequest] {
        guard let states else {
            return try fetch("ORDER BY id", [], in: database)
        }
        let marks = states.map { _ in "?" }.joined(separator: ",")
        return try fetch("WHERE state IN (\(marks)) ORDER BY id", states.map(\.rawValue), in: database)
    }

    func request(_ id: Int64, in database: Database) throws -> QueuedRequest? {
        try fetch("WHERE id = ?", [id], in: database).first
    }

    /// The requests of one change set, in order.
    func requests(ofChangeSet changeSet: String, in database: Database) throws -> [QueuedRequest] {
        try fetch("WHERE change_set = ? ORDER BY id", [changeSet], in: database)
    }

    /// The requests for entities contained in entities of a set, in order.
    func requests(ofSetsWithin set: String, in database: Database) throws -> [QueuedRequest] {
        try fetch(
            "WHERE substr(entity_set, 1, ?) = ? ORDER BY id", [set.unicodeScalars.count + 1, set + "/"], in: database)
    }

    /// The requests for one row, in order.
    func requests(set: String, rowID: Int64, in database: Database) throws -> [QueuedRequest] {
        try fetch("WHERE entity_set = ? AND row_id = ? ORDER BY id", [set, rowID], in: database)
    }

    func hasRequests(set: String, rowID: Int64, in database: Database) throws -> Bool {
        let statement = try database.cachedStatement(
            sql: "SELECT EXISTS(SELECT 1 FROM outpost_queue WHERE entity_set = ? AND row_id = ?)")
        return try Bool.fetchOne(statement, arguments: [set, rowID]) ?? false
    }

    func hasRequests(ofSet set: String, in database: Database) throws -> Bool {
        let statement = try database.cachedStatement(
            sql: "SELECT EXISTS(SELECT 1 FROM outpost_queue WHERE entity_set = ?)")
        return try Bool.fetchOne(statement, arguments: [set]) ?? false
    }

    /// The requests of a set that depend on any of the given ones, each with its row. Their contents are not
    /// read.
    func dependents(
        on ids: Set<Int64>, ofSet set: String, in database: Database
    ) throws -> [(id: Int64, rowID: Int64)] {
        let statement = try database.cachedStatement(
            sql: """
                SELECT queued.id, queued.row_id FROM outpost_dependency AS dependency
                JOIN outpost_queue AS queued ON queued.id = dependency.request
                WHERE dependency.needs = ? AND queued.entity_set = ?
                """)
        return try ids.flatMap { id in
            try Row.fetchAll(statement, arguments: [id, set]).map { (id: $0[0] as Int64, rowID: $0[1] as Int64) }
        }
    }

    func count(in database: Database) throws -> [QueuedRequest.State: Int] {
        var counts: [QueuedRequest.State: Int] = [:]
        let rows = try Row.fetchAll(database, sql: "SELECT state, COUNT(*) FROM outpost_queue GROUP BY state")
        for row in rows {
            if let state = QueuedRequest.State(rawValue: row[0]) { counts[state] = row[1] }
        }
        return counts
    }

    /// Appends a request and returns its number. The request also waits for entities in its header fields (rule
    /// 6). It gets its identification here, so that a copy of the store sends the same one (rule 2).
    func append(
        _ kind: QueuedRequest.Kind, set: String, rowID: Int64, key: ODataEntity, changes: ODataEntity,
        base: ODataEntity? = nil,
        etag: String? = nil, omitted: Set<String> = [], dependsOn: [Int64], createdAt: String, options: ChangeOptions,
        subject: QueuedRequest.Subject = .entity(QueuedRequest.EntityChange()), in database: Database
    ) throws -> Int64 {
        let dependencies = try creations(namedIn: options.headers, in: database).union(dependsOn)
        try database.execute(
            sql: """
                INSERT INTO outpost_queue(
                    entity_set, row_id, kind, entity_key, changes, base, etag, omitted, created_at,
                    options, category, priority, change_set, detail, request_id, state)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                set, rowID, kind.rawValue, snapshots.encode(key), snapshots.encode(changes),
                base.map(snapshots.encode), etag, omitted.sorted().joined(separator: ","), createdAt,
                Self.text(options), options.category, options.priority, options.changeSet,
                Self.text(subject),
                newGuid().description,
                (options.isHeld ? QueuedRequest.State.held : .pending).rawValue,
            ])
        let id = database.lastInsertedRowID
        try Self.addDependencies(dependencies, of: id, in: database)
        if let changeSet = options.changeSet { try takeIn(dependencies.sorted(), changeSet, in: database) }
        return id
    }

    /// Marks a request as sent, before its first byte leaves (rule 3). A repeat keeps the identification and the
    /// time of the first transmission (rule 2). The reason for which it waited is forgotten.
    func markSending(_ id: Int64, firstSent: String, in database: Database) throws {
        try database.execute(
            sql: """
                UPDATE outpost_queue SET state = 'sending', attempts = attempts + 1,
                    request_id = coalesce(request_id, ?), first_sent = coalesce(first_sent, ?), status = NULL,
                    code = NULL, message = NULL, target = NULL, inner_error = NULL, failed_at = NULL, errors = NULL
                WHERE id = ?
                """, arguments: [newGuid().description, firstSent, id])
    }

    /// Puts a request back that certainly did not act.
    ///
    /// - Parameter forgetsIdentification: whether the next transmission is a new request for the service.
    func markPending(_ id: Int64, forgetsIdentification: Bool, in database: Database) throws {
        try database.execute(
            sql: """
                UPDATE outpost_queue SET state = 'pending', status = NULL, code = NULL, message = NULL,
                    target = NULL, inner_error = NULL, theirs = NULL, failed_at = NULL, conflict = NULL,
                    errors = NULL
                WHERE id = ?
                """, arguments: [id])
        if forgetsIdentification { try markUnacted(id, in: database) }
    }

    /// Puts a request back that has not left: its first transmission is still to come.
    func markUnsent(_ id: Int64, in database: Database) throws {
        try markPending(id, forgetsIdentification: false, in: database)
        try database.execute(sql: "UPDATE outpost_queue SET first_sent = NULL WHERE id = ?", arguments: [id])
    }

    /// Records that a sent request has not acted. Sent again, it is a new request for the service.
    func markUnacted(_ id: Int64, in database: Database) throws {
        try database.execute(
            sql: "UPDATE outpost_queue SET request_id = ?, first_sent = NULL WHERE id = ?",
            arguments: [newGuid().description, id])
    }

    /// Puts a change back that is retried: it is a new request for the service, and its pending time starts
    /// again.
    ///
    /// - Parameter isHeld: whether it waits until the app submits it.
    func renew(_ id: Int64, at instant: String, isHeld: Bool = false, in database: Database) throws {
        try database.execute(
            sql: "UPDATE outpost_queue SET created_at = ? WHERE id = ?", arguments: [instant, id])
        try markPending(id, forgetsIdentification: true, in: database)
        if isHeld {
            try database.execute(sql: "UPDATE outpost_queue SET state = 'held' WHERE id = ?", arguments: [id])
        }
    }

    /// Notes the replay counter of the row with which a change was submitted.
    func setCounter(_ counter: Int64?, of id: Int64, in database: Database) throws {
        try database.execute(sql: "UPDATE outpost_queue SET counter = ? WHERE id = ?", arguments: [counter, id])
    }

    /// Lets an upload send a held change. Its identification stays, so that a copy of the store sends the same one
    /// (rule 2).
    func release(_ id: Int64, at instant: String, in database: Database) throws {
        try database.execute(
            sql: "UPDATE outpost_queue SET state = 'pending', created_at = ? WHERE id = ? AND state = 'held'",
            arguments: [instant, id])
    }

    /// Leaves a request in the queue that the service does not take for now, with the reason.
    ///
    /// - Parameter mayHaveActed: whether an earlier transmission may have acted. Otherwise, the next transmission is a
    ///   new request for the service.
    func markWaiting(
        _ id: Int64, _ failure: QueuedRequest.Failure, mayHaveActed: Bool, in database: Database
    ) throws {
        try markFailed(id, mayHaveActed ? .sending : .pending, failure, in: database)
        if !mayHaveActed { try markUnacted(id, in: database) }
    }

    /// Puts a request into the error archive, or stores the reason for which it stays in the queue.
    func markFailed(
        _ id: Int64, _ state: QueuedRequest.State, _ failure: QueuedRequest.Failure, in database: Database
    ) throws {
        try database.execute(
            sql: """
                UPDATE outpost_queue SET state = ?, status = ?, code = ?, message = ?, target = ?, inner_error = ?,
                    theirs = ?, failed_at = ?, conflict = ?, errors = ?
                WHERE id = ?
                """,
            arguments: [
                state.rawValue, failure.status, failure.code, failure.message, failure.target,
                failure.innerError,
                failure.theirs.map(snapshots.encode), failure.at?.description, failure.conflict?.rawValue,
                Self.text(failure.details), id,
            ])
    }

    func setETag(_ etag: String?, of id: Int64, in database: Database) throws {
        try database.execute(sql: "UPDATE outpost_queue SET etag = ? WHERE id = ?", arguments: [etag, id])
    }

    /// Sets the ETag of the pending changes and calls of an entity that are based on a version with a new ETag.
    func advanceETag(from old: String, to new: String, of row: RowReference, in database: Database) throws {
        try database.execute(
            sql: """
                UPDATE outpost_queue SET etag = :new WHERE etag = :old AND state = 'pending' AND (
                    (entity_set = :set AND row_id = :row AND kind IN ('update', 'delete'))
                    OR (entity_set = '' AND row_id = 0 AND kind = 'call' AND json_extract(detail, '$.bound.set') = :set
                        AND json_extract(detail, '$.bound.row') = :row))
                """, arguments: ["new": new, "old": old, "set": row.set, "row": row.rowID])
    }

    /// Sets the ETag of the server version that was read before the transmission of a request without an ETag of
    /// its own.
    func setFoundETag(_ etag: String?, of id: Int64, in database: Database) throws {
        try database.execute(
            sql: "UPDATE outpost_queue SET found_etag = ? WHERE id = ?", arguments: [etag, id])
    }

    /// Stores the whole entity that is sent instead of single properties, or removes it with `nil`.
    func setSentEntity(_ entity: ODataEntity?, of id: Int64, in database: Database) throws {
        let text = entity.map { String(decoding: snapshots.encode($0), as: UTF8.self) }
        try database.execute(
            sql: "UPDATE outpost_queue SET sent_entity = ? WHERE id = ?", arguments: [text, id])
    }

    /// Sets the ETag of the calls of actions that are bound to a row.
    func setETag(_ etag: String?, ofCallsBoundTo row: RowReference, in database: Database) throws {
        // They have no entity set and no row of their own. An index finds them.
        let statement = try database.cachedStatement(
            sql: """
                UPDATE outpost_queue SET etag = ? WHERE entity_set = '' AND row_id = 0 AND kind = 'call'
                    AND json_extract(detail, '$.bound.set') = ? AND json_extract(detail, '$.bound.row') = ?
                """)
        try statement.execute(arguments: [etag, row.set, row.rowID])
    }

    /// Stores the former form of a request that has no place in the model, apart from any row.
    func markWithoutPlace(_ request: QueuedRequest, as former: QueuedRequest.FormerRequest, in database: Database)
        throws
    {
        try setSubject(.unmapped(former, request.subject), of: request.id, in: database)
        // If a set of this name comes back, it has other rows.
        try database.execute(sql: "UPDATE outpost_queue SET row_id = 0 WHERE id = ?", arguments: [request.id])
    }

    func setSubject(_ subject: QueuedRequest.Subject, of id: Int64, in database: Database) throws {
        try database.execute(
            sql: "UPDATE outpost_queue SET detail = ? WHERE id = ?", arguments: [Self.text(subject), id])
    }

    private static func text(_ subject: QueuedRequest.Subject) throws -> String? {
        let stored = StoredSubject(subject)
        return stored.isEmpty ? nil : String(decoding: try JSONEncoder().encode(stored), as: UTF8.self)
    }

    func setDependencies(_ ids: Set<Int64>, of id: Int64, in database: Database) throws {
        try database.execute(sql: "DELETE FROM outpost_dependency WHERE request = ?", arguments: [id])
        try Self.addDependencies(ids, of: id, in: database)
    }

    /// Adds dependencies to those of a request.
    static func addDependencies(_ ids: Set<Int64>, of id: Int64, in database: Database) throws {
        guard !ids.isEmpty else { return }
        let statement = try database.cachedStatement(
            sql: "INSERT OR IGNORE INTO outpost_dependency(request, needs) VALUES (?, ?)")
        for other in ids { try statement.execute(arguments: [id, other]) }
    }

    /// Notes that a request was merged with changes of other clients.
    func markMerged(_ id: Int64, in database: Database) throws {
        try database.execute(sql: "UPDATE outpost_queue SET is_merged = 1 WHERE id = ?", arguments: [id])
    }

    /// Removes a request from its change set, to send it separately.
    func leaveChangeSet(_ id: Int64, in database: Database) throws {
        try database.execute(sql: "UPDATE outpost_queue SET change_set = NULL WHERE id = ?", arguments: [id])
    }

    /// Replaces a dependency on one request with a dependency on another, or on none.
    func replaceDependency(on old: Int64, by new: Int64?, in database: Database) throws {
        if let new {
            try database.execute(
                sql: """
                    INSERT OR IGNORE INTO outpost_dependency(request, needs)
                    SELECT request, :new FROM outpost_dependency WHERE needs = :old AND request <> :new
                    """, arguments: ["old": old, "new": new])
        }
        try database.execute(sql: "DELETE FROM outpost_dependency WHERE needs = ?", arguments: [old])
    }

    func setOptions(_ options: ChangeOptions, of id: Int64, in database: Database) throws {
        try database.execute(
            sql: "UPDATE outpost_queue SET options = ?, category = ?, priority = ? WHERE id = ?",
            arguments: [Self.text(options), options.category, options.priority, id])
    }

    private static func text(_ options: ChangeOptions) throws -> String? {
        // The change set and the held state have columns of their own.
        var options = options
        options.changeSet = nil
        options.isHeld = false
        return options == ChangeOptions() ? nil : String(decoding: try JSONEncoder().encode(options), as: UTF8.self)
    }

    /// The queued creations of entities in header fields.
    func creations(namedIn headers: [String: String], in database: Database) throws -> Set<Int64> {
        var found: Set<Int64> = []
        for entity in HeaderPlaceholders.entities(in: headers, model: model) {
            let creations = try fetch("WHERE entity_set = ? AND kind = 'create'", [entity.set], in: database)
            found.formUnion(creations.filter { $0.key == entity.key }.map(\.id))
        }
        return found
    }

    /// The queued deletions of entities with a key in a set.
    ///
    /// - Parameter parent: the row that contains the entity; `nil` outside of containment.
    func deletions(
        of key: EntityKey, in set: String, parent: Int64?, in database: Database
    ) throws -> [Int64] {
        var condition = "WHERE entity_set = ? AND kind = 'delete'"
        var arguments: [any DatabaseValueConvertible] = [set]
        // Only deletions that contain the key are read, since there may be many.
        for part in key.parts where model.shape(ofStored: set)?.property(part.name) != nil {
            condition += " AND instr(entity_key, ?) > 0"
            arguments.append(snapshots.trace(of: part.value, in: part.name))
        }
        return try fetch(condition, arguments, in: database)
            .filter { $0.key == key && $0.parentRow == parent }.map(\.id)
    }

    /// The first of the deleted rows with the key of a row that was created later. The server entity under the
    /// key belongs to that row while its deletion is pending.
    ///
    /// - Parameter rowID: the row that has the key.
    /// - Returns: `nil` if no earlier row had the key.
    func predecessor(of rowID: Int64, in set: String, in database: Database) throws -> Int64? {
        var found: Int64?
        while let creation = try requests(set: set, rowID: found ?? rowID, in: database).first,
            creation.kind == .create,
            let deletion = try creation.dependsOn.filter({ $0 < creation.id })
                .compactMap({ try request($0, in: database) })
                .first(where: { $0.kind == .delete && $0.entitySet == set && $0.key == creation.key })
        {
            found = deletion.rowID
        }
        return found
    }

    func remove(_ id: Int64, in database: Database) throws {
        try database.execute(sql: "DELETE FROM outpost_queue WHERE id = ?", arguments: [id])
    }

    /// Replaces key and changes of a pending request after the service has assigned a key.
    func rewrite(_ id: Int64, key: ODataEntity, changes: ODataEntity, base: ODataEntity?, in database: Database) throws
    {
        try database.execute(
            sql: "UPDATE outpost_queue SET entity_key = ?, changes = ?, base = ? WHERE id = ?",
            arguments: [snapshots.encode(key), snapshots.encode(changes), base.map(snapshots.encode), id])
    }

    func fetch(
        _ condition: String, _ arguments: [any DatabaseValueConvertible], in database: Database
    ) throws -> [QueuedRequest] {
        try Row.fetchAll(
            database, sql: "SELECT \(Self.columns) FROM outpost_queue \(condition)",
            arguments: StatementArguments(arguments)
        ).map { row in
            do {
                return try decode(row)
            } catch let error as DecodingError {
                throw OfflineError.damagedQueue(reason: "the options of a request cannot be read: \(error)")
            }
        }
    }

    private func decode(_ row: Row) throws -> QueuedRequest {
        let id: Int64 = row["id"]
        let set: String = row["entity_set"]
        guard let kind = QueuedRequest.Kind(rawValue: row["kind"]),
            let state = QueuedRequest.State(rawValue: row["state"])
        else { throw OfflineError.damagedQueue(reason: "request \(id) has no kind or state") }
        let text: String? = row["detail"]
        let stored =
            try text.map { try JSONDecoder().decode(StoredSubject.self, from: Data($0.utf8)) } ?? StoredSubject()
        // A call may have no entity, and a request without a place in the model has none either.
        let hasNoEntity = kind == .call || !stored.isMapped
        guard let shape = hasNoEntity ? Self.noShape : model.shape(ofStored: set) else {
            throw OfflineError.damagedQueue(reason: "request \(id) names the entity set \(set)")
        }
        func entity(_ column: String) throws -> ODataEntity {
            hasNoEntity ? ODataEntity(shape: shape) : try snapshots.decode(row[column], shape: shape)
        }
        let hasNoKey = hasNoEntity || model.singleton(set) != nil
        guard let key = hasNoKey ? EntityKey([]) : try entity("entity_key").key else {
            throw OfflineError.damagedQueue(reason: "request \(id) has no key")
        }
        let omitted: String = row["omitted"]
        let base: [UInt8]? = hasNoEntity ? nil : (row["base"] as Data?).map(Array.init)
        let options: String? = row["options"]
        let theirs: Data? = row["theirs"]
        // A call was refused because of the entity to which it is bound.
        let theirSet = kind == .call ? stored.boundSet : hasNoEntity ? nil : set
        var failure: QueuedRequest.Failure?
        if let message: String = row["message"] {
            failure = QueuedRequest.Failure(
                status: row["status"], code: row["code"] ?? "", message: message, target: row["target"],
                details: try (row["errors"] as String?).map(Self.errors) ?? [],
                innerError: row["inner_error"],
                conflict: (row["conflict"] as String?).flatMap(QueuedRequest.Failure.Conflict.init),
                at: (row["failed_at"] as String?).flatMap(ODataDateTimeOffset.init))
            if let theirs, let theirShape = theirSet.flatMap({ model.shape(ofStored: $0) }) {
                failure?.theirs = try snapshots.decode(theirs, shape: theirShape)
            }
        }
        var decodedOptions =
            try options.map { try JSONDecoder().decode(ChangeOptions.self, from: Data($0.utf8)) } ?? ChangeOptions()
        decodedOptions.changeSet = row["change_set"]
        decodedOptions.isHeld = state == .held
        return QueuedRequest(
            id: id, entitySet: set, rowID: row["row_id"], kind: kind, key: key,
            changes: try entity("changes"),
            base: try base.map { try snapshots.decode(bytes: $0, shape: shape) }, etag: row["etag"],
            omitted: Set(omitted.split(separator: ",").map(String.init)),
            dependsOn: Self.ids(row["depends"]).sorted(), state: state,
            requestID: row["request_id"], firstSentField: row["first_sent"],
            createdAt: ODataDateTimeOffset(row["created_at"] as String),
            options: decodedOptions, failure: failure, subject: try stored.subject(of: kind, id),
            foundETag: row["found_etag"],
            sentEntity: row["sent_entity"], isMergedWithOthers: row["is_merged"], counter: row["counter"])
    }

    /// A further error in its stored form.
    private struct FurtherError: Codable {
        var code: String
        var message: String
        var target: String?
    }

    private static func text(_ errors: [ODataError.Detail]) throws -> String? {
        let stored = errors.map { FurtherError(code: $0.code, message: $0.message, target: $0.target) }
        return try stored.isEmpty ? nil : String(decoding: JSONEncoder().encode(stored), as: UTF8.self)
    }

    private static func errors(_ text: String) throws -> [ODataError.Detail] {
        try JSONDecoder().decode([FurtherError].self, from: Data(text.utf8)).map {
            ODataError.Detail(code: $0.code, message: $0.message, target: $0.target)
        }
    }

    /// The shape for a call, which has no entity.
    static let noShape = TypeShape(dynamic: QualifiedName("Edm", "Untyped"), properties: [])
}
