import Foundation
import GRDB
import ODataModel
import ODataSQL
import ODataService

/// Reads and writes the queue of changes. Every method runs in its caller's transaction.
struct QueueTable {
    let model: EntityDataModel
    let snapshots: SnapshotCoder
    /// Gives each request its identification.
    private let newGuid: @Sendable () -> ODataGuid

    /// - Parameter environment: where identifiers come from; whoever adds requests or sends them gives the store's.
    init(model: EntityDataModel, environment: Environment = .system) {
        self.model = model
        newGuid = environment.newGuid
        snapshots = SnapshotCoder(model: model)
    }

    private static let columns =
        """
        id, entity_set, row_id, kind, entity_key, changes, base, etag, omitted, depends, state, request_id,
        first_sent, created_at, options, change_set, detail, status, code, message, target, inner_error, theirs,
        failed_at
        """

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

    /// The requests for what the entities of a set contain, in order.
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

    /// The requests of a set that depend on any of some, each with its row. They are found without reading what they carry.
    func dependents(
        on ids: Set<Int64>, ofSet set: String, in database: Database
    ) throws -> [(id: Int64, rowID: Int64)] {
        let statement = try database.cachedStatement(
            sql: """
                SELECT id, row_id FROM outpost_queue
                WHERE entity_set = ? AND depends <> '' AND instr(',' || depends || ',', ',' || ? || ',') > 0
                """)
        return try ids.flatMap { id in
            try Row.fetchAll(statement, arguments: [set, id]).map { (id: $0[0] as Int64, rowID: $0[1] as Int64) }
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

    /// Appends a request and gives its number. It waits for what its header fields name, too (rule 6). It gets its identification
    /// here, so that a copy of the store sends the same one (rule 2).
    func append(
        _ kind: QueuedRequest.Kind, set: String, rowID: Int64, key: Entity, changes: Entity, base: Entity? = nil,
        etag: String? = nil, omitted: Set<String> = [], dependsOn: [Int64], createdAt: String, options: ChangeOptions,
        detail: RequestDetail? = nil, in database: Database
    ) throws -> Int64 {
        let dependencies = try creations(namedIn: options.headers, in: database).union(dependsOn).sorted()
        try database.execute(
            sql: """
                INSERT INTO outpost_queue(
                    entity_set, row_id, kind, entity_key, changes, base, etag, omitted, depends, created_at,
                    options, category, priority, change_set, detail, request_id)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                set, rowID, kind.rawValue, snapshots.encode(key), snapshots.encode(changes),
                base.map(snapshots.encode), etag, omitted.sorted().joined(separator: ","),
                dependencies.map(String.init).joined(separator: ","), createdAt,
                Self.text(options), options.category, options.priority, options.changeSet,
                try detail.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) },
                newGuid().description,
            ])
        let id = database.lastInsertedRowID
        if let changeSet = options.changeSet { try takeIn(dependencies, changeSet, in: database) }
        return id
    }

    /// Marks a request as on its way, before its first byte leaves (rule 3). Identification and time of
    /// the first sending stay as they are when it is sent again (rule 2).
    func markSending(_ id: Int64, firstSent: String, in database: Database) throws {
        try database.execute(
            sql: """
                UPDATE outpost_queue SET state = 'sending', attempts = attempts + 1,
                    request_id = coalesce(request_id, ?), first_sent = coalesce(first_sent, ?)
                WHERE id = ?
                """, arguments: [newGuid().description, firstSent, id])
    }

    /// Puts a request that certainly did not act back.
    ///
    /// - Parameter forgetsIdentification: whether the next sending is a new request to the service.
    func markPending(_ id: Int64, forgetsIdentification: Bool, in database: Database) throws {
        try database.execute(
            sql: """
                UPDATE outpost_queue SET state = 'pending', status = NULL, code = NULL, message = NULL,
                    target = NULL, inner_error = NULL, theirs = NULL, failed_at = NULL
                WHERE id = ?
                """, arguments: [id])
        if forgetsIdentification { try markUnacted(id, in: database) }
    }

    /// Puts a request back of which nothing has left: its first sending is still to come.
    func markUnsent(_ id: Int64, in database: Database) throws {
        try markPending(id, forgetsIdentification: false, in: database)
        try database.execute(sql: "UPDATE outpost_queue SET first_sent = NULL WHERE id = ?", arguments: [id])
    }

    /// Notes that a request which is on its way has not acted: sent again, it is a new one to the service.
    func markUnacted(_ id: Int64, in database: Database) throws {
        try database.execute(
            sql: "UPDATE outpost_queue SET request_id = ?, first_sent = NULL WHERE id = ?",
            arguments: [newGuid().description, id])
    }

    /// Puts a change that is asked for again back: it is a new request to the service, and waits anew.
    func renew(_ id: Int64, at instant: String, in database: Database) throws {
        try database.execute(
            sql: "UPDATE outpost_queue SET created_at = ? WHERE id = ?", arguments: [instant, id])
        try markPending(id, forgetsIdentification: true, in: database)
    }

    /// Puts a request into the error archive.
    func markFailed(
        _ id: Int64, _ state: QueuedRequest.State, _ failure: QueuedRequest.Failure, in database: Database
    ) throws {
        let errors = failure.details.map {
            RequestDetail.FurtherError(code: $0.code, message: $0.message, target: $0.target)
        }
        let text = try errors.isEmpty ? nil : String(decoding: JSONEncoder().encode(errors), as: UTF8.self)
        try database.execute(
            sql: """
                UPDATE outpost_queue SET state = ?, status = ?, code = ?, message = ?, target = ?, inner_error = ?,
                    theirs = ?, failed_at = ?,
                    detail = nullif(json_patch(
                        coalesce(detail, '{}'), json_object('conflict', ?, 'errors', json(?))), '{}')
                WHERE id = ?
                """,
            arguments: [
                state.rawValue, failure.status, failure.code, failure.message, failure.target,
                failure.innerError,
                failure.theirs.map(snapshots.encode), failure.at, failure.conflict?.rawValue, text, id,
            ])
    }

    func setETag(_ etag: String?, of id: Int64, in database: Database) throws {
        try database.execute(sql: "UPDATE outpost_queue SET etag = ? WHERE id = ?", arguments: [etag, id])
    }

    /// Sets the ETag of the changes and calls that wait for an entity and were made of a version which has another ETag now.
    func advanceETag(from old: String, to new: String, of row: RowReference, in database: Database) throws {
        try database.execute(
            sql: """
                UPDATE outpost_queue SET etag = :new WHERE etag = :old AND state = 'pending' AND (
                    (entity_set = :set AND row_id = :row AND kind IN ('update', 'delete'))
                    OR (entity_set = '' AND row_id = 0 AND kind = 'call' AND json_extract(detail, '$.bound.set') = :set
                        AND json_extract(detail, '$.bound.row') = :row))
                """, arguments: ["new": new, "old": old, "set": row.set, "row": row.rowID])
    }

    /// Sets the ETag of what the service was found to have before a request that has none of its own is sent.
    func setFoundETag(_ etag: String?, of id: Int64, in database: Database) throws {
        try database.execute(
            sql: """
                UPDATE outpost_queue
                SET detail = nullif(json_patch(coalesce(detail, '{}'), json_object('foundETag', ?)), '{}') WHERE id = ?
                """, arguments: [etag, id])
    }

    /// Keeps the whole entity that is sent in the place of single properties, or forgets it with `nil`.
    func setSentEntity(_ entity: Entity?, of id: Int64, in database: Database) throws {
        let text = entity.map { String(decoding: snapshots.encode($0), as: UTF8.self) }
        try database.execute(
            sql: """
                UPDATE outpost_queue
                SET detail = nullif(json_patch(coalesce(detail, '{}'), json_object('sentEntity', ?)), '{}') WHERE id = ?
                """, arguments: [text, id])
    }

    /// Sets the ETag of the calls of actions that are bound to a row.
    func setETag(_ etag: String?, ofCallsBoundTo row: RowReference, in database: Database) throws {
        // No entity set and no row of their own: an index has them together.
        let statement = try database.cachedStatement(
            sql: """
                UPDATE outpost_queue SET etag = ? WHERE entity_set = '' AND row_id = 0 AND kind = 'call'
                    AND json_extract(detail, '$.bound.set') = ? AND json_extract(detail, '$.bound.row') = ?
                """)
        try statement.execute(arguments: [etag, row.set, row.rowID])
    }

    /// Keeps a request that the model has no place for as what it was, apart from any row.
    func markWithoutPlace(_ request: QueuedRequest, as former: FormerRequest, in database: Database) throws {
        var detail = request.detail
        detail.former = former
        try setDetail(detail, of: request.id, in: database)
        // Should a set of this name come back, its rows are others.
        try database.execute(sql: "UPDATE outpost_queue SET row_id = 0 WHERE id = ?", arguments: [request.id])
    }

    func setDetail(_ detail: RequestDetail, of id: Int64, in database: Database) throws {
        try database.execute(
            sql: "UPDATE outpost_queue SET detail = ? WHERE id = ?",
            arguments: [String(decoding: try JSONEncoder().encode(detail), as: UTF8.self), id])
    }

    func setDependencies(_ ids: Set<Int64>, of id: Int64, in database: Database) throws {
        try database.execute(
            sql: "UPDATE outpost_queue SET depends = ? WHERE id = ?",
            arguments: [ids.sorted().map(String.init).joined(separator: ","), id])
    }

    /// Takes a request out of its change set, to be sent by itself.
    func leaveChangeSet(_ id: Int64, in database: Database) throws {
        try database.execute(sql: "UPDATE outpost_queue SET change_set = NULL WHERE id = ?", arguments: [id])
    }

    /// Lets what depends on one request depend on another, or on none, instead.
    func replaceDependency(on old: Int64, by new: Int64?, in database: Database) throws {
        let rows = try Row.fetchAll(
            database, sql: "SELECT id, depends FROM outpost_queue WHERE ',' || depends || ',' LIKE '%,' || ? || ',%'",
            arguments: [old])
        for row in rows {
            let depends: String = row["depends"]
            var ids = Set(depends.split(separator: ",").compactMap { Int64($0) })
            ids.remove(old)
            if let new, new != row["id"] { ids.insert(new) }
            try setDependencies(ids, of: row["id"], in: database)
        }
    }

    func setOptions(_ options: ChangeOptions, of id: Int64, in database: Database) throws {
        try database.execute(
            sql: "UPDATE outpost_queue SET options = ?, category = ?, priority = ? WHERE id = ?",
            arguments: [Self.text(options), options.category, options.priority, id])
    }

    private static func text(_ options: ChangeOptions) throws -> String? {
        // Its change set has a column.
        var options = options
        options.changeSet = nil
        return options == ChangeOptions() ? nil : String(decoding: try JSONEncoder().encode(options), as: UTF8.self)
    }

    /// The queued creations of entities that header fields name.
    func creations(namedIn headers: [String: String], in database: Database) throws -> Set<Int64> {
        var found: Set<Int64> = []
        for entity in HeaderPlaceholders.entities(in: headers, model: model) {
            let creations = try fetch("WHERE entity_set = ? AND kind = 'create'", [entity.set], in: database)
            found.formUnion(creations.filter { $0.key == entity.key }.map(\.id))
        }
        return found
    }

    /// The queued deletions of what has a key in a set.
    ///
    /// - Parameter parent: the row that contains it; `nil` where nothing does.
    func deletions(
        of key: EntityKey, in set: String, parent: Int64?, in database: Database
    ) throws -> [Int64] {
        var condition = "WHERE entity_set = ? AND kind = 'delete'"
        var arguments: [any DatabaseValueConvertible] = [set]
        // There may be many: those of others are not read.
        for part in key.parts where model.shape(ofStored: set)?.property(part.name) != nil {
            condition += " AND instr(entity_key, ?) > 0"
            arguments.append(snapshots.trace(of: part.value, in: part.name))
        }
        return try fetch(condition, arguments, in: database)
            .filter { $0.key == key && $0.detail.parentRow == parent }.map(\.id)
    }

    /// The row of what was deleted here before something else was made here with its key, be that several times: what the
    /// service has under the key is the first of them, as long as the deletion waits.
    ///
    /// - Parameter rowID: the row that has the key.
    /// - Returns: `nil` where it is the first one.
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

    /// Replaces key and changes: what a key given by the back end makes of waiting requests.
    func rewrite(_ id: Int64, key: Entity, changes: Entity, base: Entity?, in database: Database) throws {
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
        let detail =
            try text.map { try JSONDecoder().decode(RequestDetail.self, from: Data($0.utf8)) } ?? RequestDetail()
        // A call need not be about an entity, and one without a place is about nothing that there still is.
        let hasNoEntity = kind == .call || detail.former != nil
        guard let shape = hasNoEntity ? Self.noShape : model.shape(ofStored: set) else {
            throw OfflineError.damagedQueue(reason: "request \(id) names the entity set \(set)")
        }
        func entity(_ column: String) throws -> Entity {
            hasNoEntity ? Entity(shape: shape) : try snapshots.decode(row[column], shape: shape)
        }
        let hasNoKey = hasNoEntity || model.singleton(set) != nil
        guard let key = hasNoKey ? EntityKey([]) : try entity("entity_key").key else {
            throw OfflineError.damagedQueue(reason: "request \(id) has no key")
        }
        let omitted: String = row["omitted"]
        let depends: String = row["depends"]
        let base: [UInt8]? = hasNoEntity ? nil : (row["base"] as Data?).map(Array.init)
        let options: String? = row["options"]
        let theirs: Data? = row["theirs"]
        // A call was refused for what it is bound to.
        let theirSet = kind == .call ? detail.bound?.set : hasNoEntity ? nil : set
        var failure: QueuedRequest.Failure?
        if let message: String = row["message"] {
            failure = QueuedRequest.Failure(
                status: row["status"], code: row["code"] ?? "", message: message, target: row["target"],
                details: (detail.errors ?? []).map {
                    ODataError.Detail(code: $0.code, message: $0.message, target: $0.target)
                },
                innerError: row["inner_error"], conflict: detail.conflict, at: row["failed_at"] ?? "")
            if let theirs, let theirShape = theirSet.flatMap({ model.shape(ofStored: $0) }) {
                failure?.theirs = try snapshots.decode(theirs, shape: theirShape)
            }
        }
        var decodedOptions =
            try options.map { try JSONDecoder().decode(ChangeOptions.self, from: Data($0.utf8)) } ?? ChangeOptions()
        decodedOptions.changeSet = row["change_set"]
        return QueuedRequest(
            id: id, entitySet: set, rowID: row["row_id"], kind: kind, key: key,
            changes: try entity("changes"),
            base: try base.map { try snapshots.decode(bytes: $0, shape: shape) }, etag: row["etag"],
            omitted: Set(omitted.split(separator: ",").map(String.init)),
            dependsOn: depends.split(separator: ",").compactMap { Int64($0) }, state: state,
            requestID: row["request_id"], firstSent: row["first_sent"], createdAt: row["created_at"],
            options: decodedOptions, failure: failure, detail: detail)
    }

    /// What a call carries instead of an entity.
    static let noShape = Shape(dynamic: QualifiedName("Edm", "Untyped"), properties: [])
}
