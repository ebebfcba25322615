import Foundation
import GRDB
import ODataModel
import ODataStore

/// What ``OfflineODataProvider/salvage(at:protection:origin:)`` saved.
public struct SalvageReport: Hashable, Sendable {
    /// Where the damaged files are kept.
    public var damagedFile: String
    /// How many rows were saved, by table: of entity sets, and of the engine's own.
    public var saved: [String: Int] = [:]
    /// In how many places something could not be read: rows, by table; frames of the log, under the name of its file.
    public var losses: [String: Int] = [:]

    /// How many rows of entity sets were saved.
    public var savedRows: Int {
        saved.filter { !$0.key.hasPrefix("outpost_") && !$0.key.hasPrefix("sqlite_") }.values.reduce(0, +)
    }
    /// How many changes that wait were saved.
    public var savedChanges: Int { saved["outpost_queue"] ?? 0 }
}

/// What a store was made for, where its damaged file cannot tell any more.
public struct StoreOrigin: Sendable {
    /// The root of the service.
    public var serviceRoot: String
    /// The service's model, as it was when the store was last used.
    public var model: EntityDataModel

    /// Makes an origin.
    public init(serviceRoot: String, model: EntityDataModel) {
        self.serviceRoot = serviceRoot
        self.model = model
    }
}

extension OfflineODataProvider {
    /// Saves what can be read of a store whose files are damaged (``verify(at:protection:)`` finds that) into new files,
    /// the changes that wait first, and puts these in the place of the damaged ones, which are kept beside them. The next
    /// download compares everything with the service, and so brings what was lost of it.
    ///
    /// The store must not be open, and cannot be opened meanwhile. The damaged files are opened by nobody and are kept as they
    /// are, the log too; what is read is a copy of both. It takes as much free disk as twice the store has.
    ///
    /// ```swift
    /// if try await !OfflineODataProvider.verify(at: directory, protection: protection).isWhole {
    ///     let report = try await OfflineODataProvider.salvage(at: directory, protection: protection)
    ///     print("\(report.savedChanges) changes saved")
    /// }
    /// ```
    /// - Parameters:
    ///   - directory: where the store was made.
    ///   - protection: the key it was made with; the new files have it too.
    ///   - origin: what it was made for, which counts where the file cannot tell it any more.
    /// - Returns: what was saved and what was not.
    /// - Throws: ``OfflineError/noStore(path:)``; ``OfflineError/busy(processID:)``; ``OfflineError/originLost(path:)`` where
    ///   the file does not tell what it was made for and nobody else does; `StoreError`: `locked` while anybody has the store
    ///   open, `corrupt` where not even the tables can be found. Everything is as it was then.
    public static func salvage(
        at directory: String, protection: StoreProtection, origin: StoreOrigin? = nil
    ) async throws -> SalvageReport {
        let path = StoreFiles.database(in: directory)
        guard FileManager.default.fileExists(atPath: path) else { throw OfflineError.noStore(path: directory) }
        let lock = try SyncLock(path: StoreFiles.lock(in: directory))
        defer { withExtendedLifetime(lock) {} }
        let files = try SalvageFiles(path: path, protection)
        defer { files.removeRemains() }
        let leftOut = try files.makeCopy()
        var report = try await StoreSalvage.copy(files, protection, origin)
        if leftOut > 0 { report.losses["store.db-wal"] = leftOut }
        report.damagedFile = try files.replace()
        return report
    }
}

/// Copies what can be read of a damaged database into a new one.
struct StoreSalvage {
    private let source: Database
    private let target: Database
    private var report = SalvageReport(damagedFile: "")
    /// How often nothing could be read of a table, whatever the range.
    private var failures = 0

    /// After so many failures the rest of a table is given up: its upper pages are gone, and each row would be tried.
    static let maximumFailures = 200_000

    /// Tables in the order in which they are saved: what only this device has comes first.
    private static let first = [
        "outpost_queue", "outpost_setting", "outpost_before", "outpost_shelf", "outpost_query", "outpost_stream",
        "outpost_stream_chunk",
    ]

    static func copy(
        _ files: SalvageFiles, _ protection: StoreProtection, _ origin: StoreOrigin?
    ) async throws -> SalvageReport {
        let options = OfflineODataProvider.Options()
        let source: StoreDatabase
        do throws(StoreError) {
            source = try StoreDatabase.open(
                path: files.copy, protection: protection, options: options.connections(createsFile: false))
        } catch {
            guard case .corrupt = error else { throw error }
            throw StoreError.corrupt(
                message: "the page by which all others are found cannot be read, and so nothing can be saved")
        }
        defer { try? source.close() }
        let target = try StoreDatabase.open(
            path: files.target, protection: protection, options: options.connections(createsFile: true))
        do {
            let report = try await target.write { [path = files.path] target in
                // Not in one transaction: SQLite ends that at the first page that cannot be read.
                try source.pool.unsafeRead { source in
                    var salvage = StoreSalvage(source: source, target: target)
                    try salvage.run()
                    try SalvagedSettings(database: target, path: path).complete(with: origin)
                    try salvage.finish()
                    return salvage.report
                }
            }
            // Closing moves the log too, and says nothing where it cannot.
            try await target.pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
            try target.close()
            return report
        } catch {
            try? target.close()
            throw error
        }
    }

    /// Copies every table into an empty database.
    ///
    /// - Throws: `DatabaseError` also where the source is damaged.
    static func copyAll(from source: Database, to target: Database) throws {
        var salvage = StoreSalvage(source: source, target: target)
        try salvage.run()
        guard salvage.report.losses.isEmpty else {
            let tables = salvage.report.losses.keys.sorted().joined(separator: ", ")
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "damaged: \(tables)")
        }
        try salvage.copyNumbers()
    }

    private mutating func run() throws {
        let statements = try Row.fetchAll(
            source,
            sql:
                "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'"
        )
        // Indexes for text search are made again by whoever wants them.
        let virtual = statements.filter { ($0["sql"] as String).hasPrefix("CREATE VIRTUAL") }.map {
            $0["name"] as String
        }
        let kept = statements.filter { statement in
            let (name, sql): (String, String) = (statement["name"], statement["sql"])
            return !virtual.contains { name == $0 || name.hasPrefix($0 + "_") || sql.contains("\"\($0)\"") }
        }
        let tables = kept.filter { $0["type"] == "table" }
        guard !tables.isEmpty else {
            throw StoreError.corrupt(message: "no table can be found, and so nothing can be saved")
        }
        // One statement each: whoever wrote into the file may have put others behind it.
        for table in tables { try target.makeStatement(sql: table["sql"]).execute() }
        let names = tables.map { $0["name"] as String }
        let ordered = Self.first.filter(names.contains) + names.filter { !Self.first.contains($0) }
        for name in ordered { try copy(name) }
        for statement in kept where statement["type"] != "table" {
            try target.makeStatement(sql: statement["sql"]).execute()
        }
        // No internal id is given twice, also of rows that are lost.
        let given = (try? Row.fetchAll(source, sql: "SELECT name, seq FROM sqlite_sequence")) ?? []
        for row in given where names.contains(row["name"]) {
            try RowNumbers.setLast(row["seq"], of: row["name"], in: target)
        }
    }

    /// The numbers by which a file says what it is.
    private func copyNumbers() throws {
        for pragma in ["application_id", "user_version"] {
            let value = try Int.fetchOne(source, sql: "PRAGMA \(pragma)") ?? 0
            try target.execute(sql: "PRAGMA \(pragma) = \(value)")
        }
    }

    private mutating func finish() throws {
        try copyNumbers()
        _ = try StreamHoles.mend(in: target)
        let lost = try StreamHoles.localCount(in: target)
        if lost > 0 { report.losses["outpost_stream", default: 0] += lost }
        try target.execute(
            sql: """
                UPDATE outpost_query SET next_link = NULL, delta_link = NULL;
                DELETE FROM outpost_staged;
                """)
        try Events.add(
            "salvaged", "\(report.savedChanges) changes, \(report.losses.count) tables with losses", .system, in: target
        )
    }

    private mutating func copy(_ table: String) throws {
        let columns = try source.columns(in: table).map(\.name)
        let list = columns.map(\.quotedDatabaseIdentifier).joined(separator: ", ")
        let name = table.quotedDatabaseIdentifier
        let insert =
            "INSERT OR IGNORE INTO \(name)(\(list)) VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))"
        report.saved[table] = 0
        failures = 0
        if let rowID = try Self.rowID(of: table, in: source) {
            let (range, areRead) = try bounds(of: table, rowID)
            try copy(name, table, list, insert, rowID, range.lowerBound, range.upperBound)
            // What is behind an end that cannot be read, nobody knows.
            if !areRead, report.losses[table] == nil { report.losses[table] = 1 }
        } else {
            // A table ordered by its key: from both ends up to the damage.
            let isWhole = try copyAll("SELECT \(list) FROM \(name)", insert, table)
            guard !isWhole else { return }
            report.losses[table, default: 0] += 1
            let key = try source.primaryKey(table).columns.map { "\($0.quotedDatabaseIdentifier) DESC" }
            _ = try copyAll("SELECT \(list) FROM \(name) ORDER BY \(key.joined(separator: ", "))", insert, table)
        }
    }

    /// The column by which the rows of a table are kept; `nil` for a table without row ids.
    private static func rowID(of table: String, in database: Database) throws -> String? {
        guard
            let sql = try String.fetchOne(
                database, sql: "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", arguments: [table]),
            sql.range(of: "WITHOUT ROWID", options: [.caseInsensitive, .backwards]) == nil
        else { return nil }
        return "_rowid_"
    }

    /// The first and the last row id of a table, or bounds of them where an end cannot be read.
    private func bounds(of table: String, _ rowID: String) throws -> (range: ClosedRange<Int64>, areRead: Bool) {
        func end(_ function: String, from index: String? = nil) throws -> Int64? {
            let hint = index.map { " INDEXED BY \($0.quotedDatabaseIdentifier)" } ?? ""
            return try Int64.fetchOne(
                source, sql: "SELECT \(function)(\(rowID)) FROM \(table.quotedDatabaseIdentifier)\(hint)")
        }
        /// What its indexes say, which have all row ids too.
        func indexed(_ function: String) -> [Int64] {
            ((try? source.indexes(on: table)) ?? []).compactMap { (try? end(function, from: $0.name)) ?? nil }
        }
        /// The last one that this table has ever given, where it counts them.
        func given() -> [Int64] {
            let sql = "SELECT seq FROM sqlite_sequence WHERE name = ?"
            return (try? Int64.fetchAll(source, sql: sql, arguments: [table])) ?? []
        }
        var (lower, upper, areRead): (Int64?, Int64?, Bool) = (nil, nil, true)
        do {
            lower = try end("MIN")
        } catch is DatabaseError {
            lower = indexed("MIN").min()
            areRead = false
        }
        do {
            upper = try end("MAX")
        } catch is DatabaseError {
            upper = (indexed("MAX") + given()).max() ?? Int64(UInt32.max)
            areRead = false
        }
        let first = lower ?? 1
        return (first...max(first, upper ?? first), areRead)
    }

    /// Copies a range of rows; where it cannot be read, each half of it, down to single rows.
    private mutating func copy(
        _ name: String, _ table: String, _ list: String, _ insert: String, _ rowID: String, _ from: Int64, _ to: Int64
    ) throws {
        let sql = "SELECT \(list) FROM \(name) WHERE \(rowID) BETWEEN \(from) AND \(to)"
        let before = report.saved[table]
        if try copyAll(sql, insert, table) { return }
        failures += 1
        guard from < to, failures < Self.maximumFailures else {
            report.losses[table, default: 0] += 1
            return
        }
        // What was read before the damage is there already, and is ignored the second time.
        report.saved[table] = before
        // Damaged row ids may be anywhere: their sum or difference may be beyond what a number holds.
        let middle = (from >> 1) + (to >> 1) + (from & to & 1)
        try copy(name, table, list, insert, rowID, from, middle)
        try copy(name, table, list, insert, rowID, middle + 1, to)
    }

    /// - Returns: whether every row could be read.
    private mutating func copyAll(_ sql: String, _ insert: String, _ table: String) throws -> Bool {
        let statement = try target.cachedStatement(sql: insert)
        do {
            let rows = try Row.fetchCursor(source, sql: sql)
            while let row = try rows.next() {
                try statement.execute(arguments: StatementArguments(row.databaseValues))
                report.saved[table, default: 0] += 1
            }
            return true
        } catch let error as DatabaseError where [.SQLITE_IOERR, .SQLITE_CORRUPT].contains(error.resultCode) {
            return false
        }
    }
}
