import GRDB
import ODataModel
import ODataService
import ODataStore

/// Applies what a download brings to the rows of one entity set: new and changed rows, removed rows, and
/// local changes on top of them (rules 12 and 14).
struct RowApplier {
    /// What was done with the rows.
    struct Counts: Sendable {
        var inserted = 0
        var updated = 0
        var unchanged = 0
        var removed = 0

        mutating func add(_ change: BulkLoader.Outcome.Change) {
            switch change {
            case .inserted: inserted += 1
            case .updated: updated += 1
            case .unchanged: unchanged += 1
            }
        }
    }

    let table: TableStorage
    let query: Int64
    private let queue: QueueTable
    private let before: BeforeImages
    private let loader: BulkLoader
    private let database: Database
    /// Whether any row of the set has changes: nearly always false, and then nothing is looked up per row.
    private let hasLocalChanges: Bool
    private let isSingleton: Bool
    /// Whether the query's rows are not seen yet.
    private let isHidden: Bool
    private let containment: Containment
    /// The rows that contain what has changes, and those at an end of a relation that waits.
    private let containers: Set<Int64>
    private(set) var counts = Counts()

    init(table: TableStorage, mapping: StorageMapping, query: Int64, in database: Database) throws {
        self.table = table
        self.query = query
        self.database = database
        isSingleton = mapping.model.singleton(table.set) != nil
        queue = QueueTable(model: mapping.model)
        before = BeforeImages(snapshots: queue.snapshots)
        loader = try BulkLoader(set: table.set, mapping: mapping, in: database)
        isHidden = try Self.isHidden(query, in: database)
        containment = Containment(mapping: mapping)
        containers = try containment.rows(containingChanges: table, in: database)
        hasLocalChanges =
            try Bool.fetchOne(
                database, sql: "SELECT EXISTS(SELECT 1 FROM outpost_queue WHERE entity_set = ?)",
                arguments: [table.set]) ?? false
    }

    /// Takes in an entity as the service has it now.
    ///
    /// - Returns: the row it became.
    @discardableResult
    mutating func apply(_ entity: Entity) throws -> Int64? {
        if hasLocalChanges, isSingleton, try queue.hasRequests(set: table.set, rowID: 1, in: database) {
            try applyBehindLocalChanges(entity, rowID: 1)
            return 1
        }
        if hasLocalChanges, let key = entity.key, let rowID = try changedRow(key) {
            try applyBehindLocalChanges(entity, rowID: rowID)
            return rowID
        }
        return try take(try loader.load(entity, owner: query))
    }

    /// Takes in a row that the service has sent, straight from the text where nobody has changed a row of the set; it may
    /// wait there for others until ``finishRows()``.
    mutating func apply(_ row: borrowing JSONRow) throws {
        guard !hasLocalChanges else {
            try apply(row.entity(as: row.shape))
            return
        }
        try loader.load(row, owner: query) { _ = try take($0) }
    }

    /// Takes in the rows that wait for others, before the memory goes that they are in.
    mutating func finishRows() throws {
        try loader.loadWaiting { _ = try take($0) }
    }

    private mutating func take(_ outcome: BulkLoader.Outcome) throws -> Int64 {
        counts.add(outcome.change)
        try mark(outcome.change, outcome.rowID, of: table.set)
        if let owner = outcome.previousOwner, owner != query {
            try join(outcome.rowID, owner: owner)
        }
        return outcome.rowID
    }

    /// Notes where this download brought or changed a row, of this set or of what its rows contain. A first download brings
    /// all rows of its query, so that the query is marked instead.
    func mark(_ change: BulkLoader.Outcome.Change, _ rowID: Int64, of set: String) throws {
        guard !isHidden, change != .unchanged else { return }
        try database.cachedStatement(
            sql: "INSERT OR IGNORE INTO outpost_upserted(entity_set, row_id) VALUES (?, ?)"
        ).execute(arguments: [set, rowID])
    }

    /// Takes in that an entity is gone from the query's result.
    mutating func remove(_ key: EntityKey) throws {
        if hasLocalChanges, let rowID = try changedRow(key) {
            try releaseChanged(rowID)
            return
        }
        guard let rowID = try loader.find(key) else { return }
        try letGo(rowID)
    }

    /// Takes a row out of the query: away when nobody else holds it and it has no changes of ours.
    mutating func release(_ rowID: Int64) throws {
        if try before.image(set: table.set, rowID: rowID, shape: table.shape, in: database) == nil {
            try letGo(rowID)
        } else {
            try releaseChanged(rowID)
        }
    }

    /// A row with changes is never removed: the service's answer to them will tell (rule 12).
    private mutating func releaseChanged(_ rowID: Int64) throws {
        guard var image = try before.image(set: table.set, rowID: rowID, shape: table.shape, in: database) else {
            return
        }
        counts.removed += 1
        let owner = try Rows.owner(table, rowID: rowID, in: database) ?? image.owner
        if owner != query {
            try removeMember(query, rowID)
            guard owner == 0 else { return }
        }
        if let heir = try heir(of: rowID) {
            // It only left this query's result: the back-end version is what the other holds.
            if owner == query {
                try removeMember(heir, rowID)
                try Rows.setOwner(heir, table, rowID: rowID, in: database)
            }
            image.owner = heir
        } else {
            // Nobody holds it: when its changes are through, the next download takes it away.
            try Rows.setOwner(0, table, rowID: rowID, in: database)
            image.owner = 0
            image.entity = nil
        }
        try before.save(image, set: table.set, rowID: rowID, in: database)
    }

    /// Ends the query's membership of a row; the row goes when nobody else holds it and neither what it contains nor its
    /// relations have changes of ours.
    mutating func letGo(_ rowID: Int64) throws {
        guard let owner = try Rows.owner(table, rowID: rowID, in: database) else { return }
        if owner != query {
            try removeMember(query, rowID)
            if database.changesCount > 0 { counts.removed += 1 }
            return
        }
        counts.removed += 1
        guard let heir = try heir(of: rowID) else {
            // What it contains and its relations would go with it, and their changes could never be sent or seen.
            guard !containers.contains(rowID) else { return try containment.keep(rowID, table, in: database) }
            return try loader.delete(rowID)
        }
        try Rows.setOwner(heir, table, rowID: rowID, in: database)
        try removeMember(heir, rowID)
    }

    /// The query that takes a row over from its owner.
    private func heir(of rowID: Int64) throws -> Int64? {
        let statement = try database.cachedStatement(
            sql: "SELECT query_id FROM outpost_member WHERE entity_set = ? AND row_id = ? ORDER BY query_id LIMIT 1")
        return try Int64.fetchOne(statement, arguments: [table.set, rowID])
    }

    /// The row of a key, when it has local changes, one deleted here included.
    private func changedRow(_ key: EntityKey) throws -> Int64? {
        if let rowID = try loader.find(key) {
            return try queue.hasRequests(set: table.set, rowID: rowID, in: database) ? rowID : nil
        }
        return try before.deletedRowID(set: table.set, key: key, shape: table.shape, in: database)
    }

    /// Renews the before image, then puts the local changes on top of it again.
    private mutating func applyBehindLocalChanges(_ entity: Entity, rowID: Int64) throws {
        let known = try before.image(set: table.set, rowID: rowID, shape: table.shape, in: database)
        let merged = known?.entity?.merging(entity) ?? entity
        let change = BeforeImages.change(from: known, to: merged, etag: entity.control.etag)
        counts.add(change)
        try mark(change, rowID, of: table.set)
        // What was seen here before its query is complete stays seen: the query claims it when it is.
        let imageOwner = known.map { $0.owner == 0 && !isHidden ? query : $0.owner } ?? query
        try before.save(
            BeforeImages.Image(entity: merged, etag: entity.control.etag, owner: imageOwner),
            set: table.set, rowID: rowID, in: database)
        guard let owner = try Rows.owner(table, rowID: rowID, in: database) else {
            // Deleted here: should that be taken back, each query that holds it must still do so.
            if imageOwner != query { try addMember(query, rowID) }
            return
        }
        if owner != query { try join(rowID, owner: owner) }
        var current = merged
        for request in try queue.requests(set: table.set, rowID: rowID, in: database) {
            current = current.merging(request.changes)
        }
        try loader.update(rowID, current)
    }

    /// Settles who owns a row that was there already. The loader gives a row that was local or hidden to the
    /// new query.
    private func join(_ rowID: Int64, owner: Int64) throws {
        if owner == 0 {
            guard isHidden else {
                try Self.endUploaded(rowID, table, in: database)
                return try Rows.setOwner(query, table, rowID: rowID, in: database)
            }
            // What is seen stays seen: the row is claimed when the query is complete, which it may never be.
            try Rows.setOwner(0, table, rowID: rowID, in: database)
            return try addMember(query, rowID)
        }
        if try Self.isHidden(owner, in: database) {
            try Rows.setOwner(query, table, rowID: rowID, in: database)
            return try addMember(owner, rowID)
        }
        try addMember(query, rowID)
    }

    /// Ends that a row is known as uploaded, now that a query owns it.
    private static func endUploaded(_ rowID: Int64, _ table: TableStorage, in database: Database) throws {
        try database.execute(
            sql: "DELETE FROM outpost_uploaded WHERE entity_set = ? AND row_id = ?", arguments: [table.set, rowID])
    }

    private func addMember(_ query: Int64, _ rowID: Int64) throws {
        try database.execute(
            sql: "INSERT OR IGNORE INTO outpost_member(entity_set, row_id, query_id) VALUES (?, ?, ?)",
            arguments: [table.set, rowID, query])
    }

    private func removeMember(_ query: Int64, _ rowID: Int64) throws {
        try database.execute(
            sql: "DELETE FROM outpost_member WHERE entity_set = ? AND row_id = ? AND query_id = ?",
            arguments: [table.set, rowID, query])
    }

    private static func isHidden(_ query: Int64, in database: Database) throws -> Bool {
        try Bool.fetchOne(
            database, sql: "SELECT EXISTS(SELECT 1 FROM outpost_hidden_owner WHERE id = ?)", arguments: [query])
            ?? false
    }

    /// Lets go of rows that a first download has brought so far, since it must start again: what has gone
    /// meanwhile would never be told. Those that were changed or deleted here are its rows again when it brings them again.
    mutating func startAgain(without rows: [Int64]) throws {
        for rowID in rows {
            if try queue.hasRequests(set: table.set, rowID: rowID, in: database) {
                try releaseChanged(rowID)
            } else {
                try letGo(rowID)
            }
        }
    }

    /// Makes the query, now loaded, the owner of each of its rows that a query still loading owns: a row
    /// is seen as soon as one of its queries is complete. Local rows that it brought are claimed too, and so is what was
    /// deleted here meanwhile: should that be taken back, it is the query's.
    static func claimHiddenRows(of query: Int64, _ table: TableStorage, in database: Database) throws {
        guard let column = table.visibility?.ownerColumn, let id = table.rowID else { return }
        let (owner, row) = (column.quotedDatabaseIdentifier, id.quotedDatabaseIdentifier)
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT m.row_id, COALESCE(t.\(owner), b.owner) AS owner FROM outpost_member AS m
                LEFT JOIN \(table.table.quotedDatabaseIdentifier) AS t ON t.\(row) = m.row_id
                LEFT JOIN outpost_before AS b ON b.entity_set = m.entity_set AND b.row_id = m.row_id
                WHERE m.entity_set = ? AND m.query_id = ?
                    AND (COALESCE(t.\(owner), b.owner) = 0
                        OR COALESCE(t.\(owner), b.owner) IN (SELECT id FROM outpost_hidden_owner))
                """, arguments: [table.set, query])
        for row in rows {
            let rowID: Int64 = row[0]
            let previous: Int64 = row[1]
            try Rows.setOwner(query, table, rowID: rowID, in: database)
            try BeforeImages.setOwner(query, set: table.set, rowID: rowID, in: database)
            try database.execute(
                sql: "DELETE FROM outpost_member WHERE entity_set = ? AND row_id = ? AND query_id = ?",
                arguments: [table.set, rowID, query])
            guard previous != 0 else {
                try endUploaded(rowID, table, in: database)
                continue
            }
            try database.execute(
                sql: "INSERT OR IGNORE INTO outpost_member(entity_set, row_id, query_id) VALUES (?, ?, ?)",
                arguments: [table.set, rowID, previous])
        }
    }
}
