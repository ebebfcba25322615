import Foundation
import GRDB
import GRDBSQLite
import ODataSQL
import ODataService
import ODataStore
import Synchronization

/// The versions of the rows of a served database, from which the changes since a version can be determined
/// (OData Protocol 4.01, 11.3).
///
/// A set is watched from the first request for its changes. Changes of this server get their versions in the
/// same transaction. Changes of other programs are found by comparing each row with its stored digest. The
/// comparison scans the watched tables, and only happens if another program has changed the file.
final class ChangeTracker: Sendable {
    /// The time for which removed rows are kept, in seconds: 30 days.
    static let tombstoneLifetime: Int64 = 30 * 86_400

    let side: SideFile
    let path: String
    let tables: [String: TrackedTable]
    /// Whether triggers in the database record the changes.
    let readsTriggers: Bool
    private let state = Mutex(State())

    private struct State {
        /// The value of `PRAGMA data_version` when all watched sets were last compared. SQLite changes the
        /// value for this connection only when another connection commits.
        var comparedAt: Int64?
        /// The number of whole-table comparisons, for tests.
        var comparisons = 0
    }

    init(side: SideFile, path: String, tables: [TrackedTable], readsTriggers: Bool) {
        self.side = side
        self.path = path
        self.tables = Dictionary(tables.map { ($0.storage.set, $0) }, uniquingKeysWith: { first, _ in first })
        self.readsTriggers = readsTriggers
    }

    /// The number of tables that were compared row by row.
    var comparisons: Int { state.withLock { $0.comparisons } }

    // MARK: Before a tracked read

    /// Updates the versions of all watched sets, and starts to watch the given sets.
    ///
    /// - Parameters:
    ///   - sets: the requested sets.
    ///   - database: the writing connection, outside a transaction.
    ///   - now: the current time in seconds since 1970.
    func refresh(_ sets: Set<String>, in database: Database, now: Int64) throws -> ChangePosition {
        let tables = try sets.sorted().map { set in
            guard let table = self.tables[set] else { throw ODataError.notImplemented("Tracking changes of \(set)") }
            return table
        }
        var position = ChangePosition(instance: "", version: 0, horizon: 0)
        var dataVersion: Int64 = 0
        // The transaction only reads the database itself, so it does not block other programs.
        try database.inTransaction(.deferred) {
            dataVersion = try Self.dataVersion(of: database)
            _ = try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM main.sqlite_master")
            let fingerprint = FileFingerprint.read(in: database, path: path)
            position = try side.use(in: database) { side in
                var clock = VersionClock(side: side)
                try bringUpToDate(
                    in: database, side, clock: &clock, fingerprint: fingerprint, dataVersion: dataVersion, now: now)
                let watched = Set(try tables.map { try watch($0, in: database, side: side, clock: &clock, now: now) })
                try forgetRemoved(side, now: now)
                try clock.save()
                let known: String? = try side.meta("fingerprint")
                if known != fingerprint { try side.setMeta("fingerprint", fingerprint) }
                // The changes recorded so far are included in the versions.
                if readsTriggers { try ChangeTriggers.skip(side, in: database) }
                let horizon = try side.watched().filter { watched.contains($0.id) }.map(\.horizon).max() ?? 0
                return ChangePosition(instance: try side.instance(), version: clock.version, horizon: horizon)
            }
            return .commit
        }
        state.withLock { $0.comparedAt = dataVersion }
        // The recorded changes are stored in the side file. If another program is writing, the next read deletes
        // the notes.
        if readsTriggers { try? pruneNotes(in: database) }
        return position
    }

    /// Deletes the processed notes of triggers, without waiting for other programs.
    private func pruneNotes(in database: Database) throws {
        guard try side.use(in: database, { try ChangeTriggers.hasReadNotes($0, in: database) }) else { return }
        let timeout: Int32 = try database.pragma(.busyTimeout) ?? 0
        sqlite3_busy_timeout(database.sqliteConnection, 0)
        defer { sqlite3_busy_timeout(database.sqliteConnection, timeout) }
        try database.inTransaction(.immediate) {
            try side.use(in: database) { try ChangeTriggers.prune($0, in: database) }
            return .commit
        }
    }

    /// Updates the versions if other programs have written to the database.
    ///
    /// - Returns: the data version whose changes are all known.
    func compared(_ sets: Set<String>, in database: Database, now: Int64) throws -> Int64 {
        let current = try Self.dataVersion(of: database)
        if state.withLock({ $0.comparedAt }) == current { return current }
        _ = try refresh(sets, in: database, now: now)
        return state.withLock { $0.comparedAt } ?? current
    }

    /// Returns the data version, which SQLite changes when another connection commits.
    static func dataVersion(of database: Database) throws -> Int64 {
        try database.pragma(.dataVersion, of: "main") ?? 0
    }

    private func bringUpToDate(
        in database: Database, _ side: SideTables, clock: inout VersionClock, fingerprint: String?,
        dataVersion: Int64, now: Int64
    ) throws {
        let comparedAt = state.withLock { $0.comparedAt }
        if comparedAt == dataVersion { return }
        let known: String? = try side.meta("fingerprint")
        // After the first comparison in this process, only the data version counts, because changes of this process
        // alter the file as well.
        if comparedAt == nil, let known, known == fingerprint { return }
        if readsTriggers, try ChangeTriggers.areComplete(Array(tables.values), in: database),
            let keys = try ChangeTriggers.take(side, in: database, tables: tables)
        {
            for (set, key) in keys { try version(key, of: set, in: database, side: side, clock: &clock, now: now) }
            for set in Set(keys.map(\.set)) {
                try versionReplaced(in: set, database, side: side, clock: &clock, now: now)
            }
            return
        }
        for watched in try side.watched() {
            guard let table = tables[watched.set], table.definition == watched.definition else { continue }
            try compare(table, watched.id, in: database, side: side, clock: &clock, now: now)
        }
    }

    /// Starts to watch a set, or restarts if its columns have changed.
    private func watch(
        _ table: TrackedTable, in database: Database, side: SideTables, clock: inout VersionClock, now: Int64
    ) throws -> Int64 {
        let known = try side.watched().first { $0.set == table.storage.set }
        if let known, known.definition == table.definition { return known.id }
        if let known {
            try side.database.execute(
                sql: """
                    DELETE FROM \(side.schema).row_version WHERE watched = ?;
                    DELETE FROM \(side.schema).watched WHERE id = ?
                    """, arguments: [known.id, known.id])
            try RowLinks.forget(known.id, side)
        }
        // Earlier tokens are refused, because the earlier columns are unknown.
        let version = try clock.next()
        try side.database.execute(
            sql: "INSERT INTO \(side.schema).watched (set_name, definition, horizon) VALUES (?, ?, ?)",
            arguments: [table.storage.set, table.definition, version])
        let id = side.database.lastInsertedRowID
        try compare(table, id, in: database, side: side, clock: &clock, now: now)
        return id
    }

    private func forgetRemoved(_ side: SideTables, now: Int64) throws {
        let limit = now - Self.tombstoneLifetime
        let old = try Row.fetchAll(
            side.database,
            sql: """
                SELECT watched, MAX(version) AS version FROM \(side.schema).row_version
                WHERE removed_at IS NOT NULL AND removed_at < ? GROUP BY watched
                """, arguments: [limit])
        let forgotten =
            try old.map { (watched: $0["watched"] as Int64, version: $0["version"] as Int64) }
            + RowLinks.forget(before: limit, side)
        for (watched, version) in forgotten {
            try side.database.execute(
                sql: "UPDATE \(side.schema).watched SET horizon = MAX(horizon, ?) WHERE id = ?",
                arguments: [version, watched])
        }
        if !old.isEmpty {
            try side.database.execute(
                sql: "DELETE FROM \(side.schema).row_version WHERE removed_at IS NOT NULL AND removed_at < ?",
                arguments: [limit])
        }
    }

    // MARK: Comparing

    /// Compares every row of a table with its stored digest.
    private func compare(
        _ table: TrackedTable, _ watched: Int64, in database: Database, side: SideTables,
        clock: inout VersionClock, now: Int64
    ) throws {
        state.withLock { $0.comparisons += 1 }
        let known = try countKnown(watched, side)
        let find = try side.database.cachedStatement(
            sql: "SELECT digest FROM \(side.schema).row_version WHERE watched = ? AND key = ?")
        let put = try side.database.cachedStatement(sql: Self.put(side.schema))
        var found = 0
        let rows = try Row.fetchCursor(database, sql: table.selection)
        while let row = try rows.next() {
            let identity = table.identify(row)
            let before = try Row.fetchOne(find, arguments: [watched, identity.key])
            if let before, let digestBefore: Data = before[0] {
                found += 1
                if digestBefore == identity.digest { continue }
            }
            let version = try clock.next()
            try put.execute(arguments: [watched, identity.key, identity.digest, version, nil as Int64?])
            guard !table.linkColumns.isEmpty else { continue }
            try RowLinks.keep(
                identity.links, of: identity.key, watched: watched, version: version, side: side, now: now)
        }
        // If all stored digests were found, no row has been deleted.
        if found != known { try versionGone(table, watched, in: database, side: side, clock: &clock, now: now) }
    }

    /// Finds rows that were replaced by a key without a trigger. All other changes are recorded, so the number
    /// of rows reveals such replacements.
    private func versionReplaced(
        in set: String, _ database: Database, side: SideTables, clock: inout VersionClock, now: Int64
    ) throws {
        guard let table = tables[set], table.hasOtherKeys, let watched = try clock.watched(set),
            watched.definition == table.definition
        else { return }
        let found = try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM main.\(table.storage.table.sqlIdentifier)")
        if try found != countKnown(watched.id, side) {
            try versionGone(table, watched.id, in: database, side: side, clock: &clock, now: now)
        }
    }

    /// Returns the number of rows at the last comparison.
    private func countKnown(_ watched: Int64, _ side: SideTables) throws -> Int? {
        try Int.fetchOne(
            side.database,
            sql: "SELECT COUNT(*) FROM \(side.schema).row_version WHERE watched = ? AND digest IS NOT NULL",
            arguments: [watched])
    }

    /// Records versions for deleted rows.
    private func versionGone(
        _ table: TrackedTable, _ watched: Int64, in database: Database, side: SideTables,
        clock: inout VersionClock, now: Int64
    ) throws {
        let put = try side.database.cachedStatement(sql: Self.put(side.schema))
        let gone = try Data.fetchAll(
            side.database,
            sql: "SELECT key FROM \(side.schema).row_version WHERE watched = ? AND digest IS NOT NULL",
            arguments: [watched]
        ).filter { try table.currentDigest(of: $0, in: database) == nil }
        for key in gone {
            let version = try clock.next()
            try put.execute(arguments: [watched, key, nil as Data?, version, now])
            guard !table.linkColumns.isEmpty else { continue }
            try RowLinks.keep(nil, of: key, watched: watched, version: version, side: side, now: now)
        }
    }

    private static func put(_ schema: String) -> String {
        """
        INSERT INTO \(schema).row_version (watched, key, digest, version, removed_at) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (watched, key) DO UPDATE SET digest = excluded.digest, version = excluded.version,
          removed_at = excluded.removed_at
        """
    }

    // MARK: After a change of this server

    /// Records versions for the rows that a transaction has touched.
    ///
    /// - Parameters:
    ///   - touched: the rows.
    ///   - database: the writing connection, inside the transaction or directly after it.
    func record(_ touched: [TouchedRows.Row], in database: Database, _ side: SideTables, now: Int64) throws {
        guard !touched.isEmpty else { return }
        var clock = VersionClock(side: side)
        for row in touched { try version(row.key, of: row.set, in: database, side: side, clock: &clock, now: now) }
        try clock.save()
    }

    private func version(
        _ key: Data, of set: String, in database: Database, side: SideTables, clock: inout VersionClock, now: Int64
    ) throws {
        guard let table = tables[set], let watched = try clock.watched(set), watched.definition == table.definition
        else { return }
        let current = try table.current(key, in: database)
        let digest = current?.digest
        let known = try Row.fetchOne(
            side.database.cachedStatement(
                sql: "SELECT digest FROM \(side.schema).row_version WHERE watched = ? AND key = ?"),
            arguments: [watched.id, key])
        let before: Data? = known?[0]
        if digest == before, known != nil || digest == nil { return }
        let version = try clock.next()
        try side.database.cachedStatement(sql: Self.put(side.schema)).execute(
            arguments: [watched.id, key, digest, version, digest == nil ? now : nil])
        guard !table.linkColumns.isEmpty else { return }
        try RowLinks.keep(current?.links, of: key, watched: watched.id, version: version, side: side, now: now)
    }

    // MARK: Reading changes

    /// A changed row.
    struct Change: Sendable {
        /// The stored values of the key.
        var key: [DatabaseValue]
        /// The version of the change.
        var version: Int64
        /// Whether the row was deleted.
        var isRemoved: Bool
    }

    /// Returns the rows whose last change is in a range of versions, in the order of their changes.
    func changes(
        of set: String, after version: Int64, upTo last: Int64, limit: Int, _ side: SideTables
    ) throws -> [Change] {
        let sql = """
            SELECT r.key, r.version, r.digest IS NULL AS gone FROM \(side.schema).row_version AS r
            JOIN \(side.schema).watched AS w ON w.id = r.watched
            WHERE w.set_name = ? AND r.version > ? AND r.version <= ? ORDER BY r.version LIMIT ?
            """
        let rows = try Row.fetchAll(side.database, sql: sql, arguments: [set, version, last, limit])
        return rows.compactMap { row in
            StoredKey.decode(row["key"]).map { Change(key: $0, version: row["version"], isRemoved: row["gone"]) }
        }
    }

    /// Returns the number of rows that ``changes(of:after:upTo:limit:_:)`` would find without a limit.
    func countChanges(of set: String, after version: Int64, upTo last: Int64, _ side: SideTables) throws -> Int {
        let sql = """
            SELECT COUNT(*) FROM \(side.schema).row_version AS r JOIN \(side.schema).watched AS w ON w.id = r.watched
            WHERE w.set_name = ? AND r.version > ? AND r.version <= ?
            """
        return try Int.fetchOne(side.database, sql: sql, arguments: [set, version, last]) ?? 0
    }

    /// Marks the versions as outdated, so that the next tracked read checks the file.
    func doubt() { state.withLock { $0.comparedAt = nil } }

    // MARK: Closing

    /// Stores the fingerprint of the file if all changes are known, so that the next start needs no comparison.
    func settle(in database: Database) throws {
        guard let comparedAt = state.withLock({ $0.comparedAt }) else { return }
        try database.inTransaction(.immediate) {
            guard try Self.dataVersion(of: database) == comparedAt else { return .rollback }
            let fingerprint = FileFingerprint.read(in: database, path: path)
            try side.use(in: database) { try $0.setMeta("fingerprint", fingerprint) }
            return .commit
        }
    }
}

/// The version numbers within a transaction. Each change has its own number, so a page of changes can end after
/// any change.
struct VersionClock {
    private let side: SideTables
    private var current: Int64?
    private var isChanged = false
    private var sets: [String: SideTables.Watched]?

    init(side: SideTables) { self.side = side }

    /// The last assigned version, in this transaction or an earlier one.
    private(set) var version: Int64 = 0

    /// Returns the next version.
    mutating func next() throws -> Int64 {
        try load()
        version += 1
        isChanged = true
        return version
    }

    /// Returns the entry of a watched set.
    mutating func watched(_ set: String) throws -> SideTables.Watched? {
        let sets = try sets ?? Dictionary(side.watched().map { ($0.set, $0) }, uniquingKeysWith: { first, _ in first })
        self.sets = sets
        return sets[set]
    }

    private mutating func load() throws {
        guard current == nil else { return }
        version = try side.version()
        current = version
    }

    /// Stores the last version.
    mutating func save() throws {
        try load()
        if isChanged { try side.setMeta("version", version) }
    }
}
