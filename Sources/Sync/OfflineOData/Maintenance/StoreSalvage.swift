import EncryptedSQLite
import Foundation
import GRDB
import ODataModel
import ODataSQL

/// The result of ``OfflineStore/salvage(at:protection:origin:incarnations:)``.
///
/// ```swift
/// let report = try await OfflineStore.salvage(at: directory, protection: protection)
/// show("\(report.savedRows) rows and \(report.savedChanges) changes are saved")
/// ```
public struct SalvageReport: Hashable, Sendable {
    /// The path of the kept damaged files.
    public var damagedFile: String
    /// The number of saved rows, by table: of entity sets, and of the engine's own.
    public var saved: [String: Int] = [:]
    /// The number of unreadable places: rows, by table; frames of the log, under the name of its file.
    public var losses: [String: Int] = [:]

    /// The number of saved rows of entity sets.
    public var savedRows: Int {
        saved.filter { !$0.key.hasPrefix("outpost_") && !$0.key.hasPrefix("sqlite_") }.values.reduce(0, +)
    }
    /// The number of saved pending changes.
    public var savedChanges: Int { saved["outpost_queue"] ?? 0 }
}

/// The service of a store, for a damaged file that cannot tell it.
///
/// ```swift
/// let origin = StoreOrigin(serviceRoot: root, model: model)
/// show(origin.serviceRoot)
/// ```
public struct StoreOrigin: Sendable {
    /// The root of the service.
    public var serviceRoot: String
    /// The service's model at the time when the store was last used.
    public var model: EntityDataModel

    /// Creates an origin.
    public init(serviceRoot: String, model: EntityDataModel) {
        self.serviceRoot = serviceRoot
        self.model = model
    }
}

extension OfflineStore {
    /// Saves the readable content of a store with damaged files into new files, pending changes first, and
    /// replaces the damaged files. These are kept beside the new ones (``verify(at:protection:)`` finds damage).
    /// The next download compares all rows with the service, and so restores lost rows.
    ///
    /// The store must not be open, and cannot be opened meanwhile. The damaged files and their log are never
    /// opened, only a copy of them. It needs as much free disk space as twice the store.
    ///
    /// ```swift
    /// if try await !OfflineStore.verify(at: directory, protection: protection).isWhole {
    ///     let report = try await OfflineStore.salvage(at: directory, protection: protection)
    ///     print("\(report.savedChanges) changes saved")
    /// }
    /// ```
    /// - Parameters:
    ///   - directory: the directory of the store.
    ///   - protection: the key of the store; the new files have it too.
    ///   - origin: the service of the store, used if the file cannot tell it.
    ///   - incarnations: the place of this device's notes (``OfflineStore/RuntimeOptions/incarnations``). The
    ///     queue of the new files is held unless the damaged ones are known to be the newest state of the store.
    /// - Returns: the saved and the lost content.
    /// - Throws: ``OfflineError/noStore(path:)``; ``OfflineError/busy(processID:)``;
    ///   ``OfflineError/originLost(path:)`` if neither the file nor the caller tells the service; `StoreError`:
    ///   `locked` while any process has the store open, `corrupt` if nothing at all can be found. Nothing has
    ///   changed then.
    public static func salvage(
        at directory: String, protection: StoreProtection, origin: StoreOrigin? = nil,
        incarnations: IncarnationNotes = .standard
    ) async throws -> SalvageReport {
        let path = StoreFiles.database(in: directory)
        guard FileManager.default.fileExists(atPath: path) else { throw OfflineError.noStore(path: directory) }
        let lock = try SyncLock(path: StoreFiles.lock(in: directory))
        defer { withExtendedLifetime(lock) {} }
        let files = try SalvageFiles(path: path, protection, incarnations)
        defer { files.removeRemains() }
        let leftOut = try files.makeCopy()
        var report = try await StoreSalvage.copy(files, protection, origin: origin)
        if leftOut > 0 { report.losses["store.db-wal"] = leftOut }
        report.damagedFile = try files.replace()
        return report
    }
}

/// Copies the readable content of a damaged database into a new one.
///
/// SQLite reads as much as it can. If it does not find a table or a part of it, the pages are searched for rows
/// (``StoreCarver``) that fit the engine's tables.
struct StoreSalvage {
    /// `nil` if SQLite cannot open it.
    private let source: Database?
    private let target: Database
    /// `nil` if SQLite must read every row.
    private let pages: DatabasePages?
    private var report = SalvageReport(damagedFile: "")
    /// The number of ranges in a table without any readable row.
    private var failures = 0

    /// After so many failures the rest of a table is skipped: its upper pages are lost, and each row would be
    /// tried.
    static let maximumFailures = 200_000

    /// The tables in the order of their importance: data that only this device has come first.
    private static let first = [
        "outpost_queue", "outpost_dependency", "outpost_setting", "outpost_before", "outpost_shelf", "outpost_query",
        "outpost_stream", "outpost_stream_chunk",
    ]

    static func copy(
        _ files: SalvageFiles, _ protection: StoreProtection, origin: StoreOrigin?
    ) async throws -> SalvageReport {
        let options = OfflineStore.Options()
        let pages = try files.pages()
        var source: StoreDatabase?
        do throws(StoreError) {
            source = try StoreDatabase.open(
                path: files.copy, protection: protection, options: options.connections(createsFile: false))
        } catch {
            guard case .corrupt = error else { throw error }
        }
        defer { try? source?.close() }
        let target = try StoreDatabase.open(
            path: files.target, protection: protection, options: options.connections(createsFile: true))
        do {
            let report = try await target.write {
                [path = files.path, notes = files.notes, identity = files.identity, source] target in
                func salvaged(_ source: Database?) throws -> SalvageReport {
                    var salvage = StoreSalvage(source: source, target: target, pages: pages)
                    try salvage.run(origin)
                    let settings = SalvagedSettings(database: target, path: path)
                    try settings.complete(with: origin)
                    try settings.keepIncarnation(of: identity, notes, isCertain: !salvage.hasGuessed)
                    try salvage.finish()
                    return salvage.report
                }
                guard let source else { return try salvaged(nil) }
                // Without a transaction, since SQLite ends one at the first unreadable page.
                return try source.pool.unsafeRead { try salvaged($0) }
            }
            // Closing moves the log too, but does not report a failure.
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
    /// - Throws: `DatabaseError`, also for a damaged source.
    static func copyAll(from source: Database, to target: Database) throws {
        var salvage = StoreSalvage(source: source, target: target, pages: nil)
        try salvage.run(nil)
        guard salvage.report.losses.isEmpty else {
            let tables = salvage.report.losses.keys.sorted().joined(separator: ", ")
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "damaged: \(tables)")
        }
        try salvage.copyNumbers()
    }

    /// Whether changes were saved that may have left the queue before.
    private var hasGuessed = false

    private init(source: Database?, target: Database, pages: DatabasePages?) {
        (self.source, self.target, self.pages) = (source, target, pages)
    }

    /// - Parameter origin: the service of the store, used if the file cannot tell it.
    private mutating func run(_ origin: StoreOrigin?) throws {
        var carver: StoreCarver?
        let schema: SalvagedSchema
        do {
            guard let source else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
            schema = try SalvagedSchema(of: source)
        } catch let error as DatabaseError where Self.isDamage(error) && pages != nil {
            guard let pages else { throw error }
            let found = StoreCarver(pages)
            carver = found
            schema = try SalvagedSchema(carvedBy: found, origin: origin)
        }
        guard !schema.tables.isEmpty else {
            throw StoreError.corrupt(message: "no table can be found, and so nothing can be saved")
        }
        // One statement each: an attacker may have appended others in the file.
        for table in schema.tables { try target.makeStatement(sql: table.sql).execute() }
        let names = schema.tables.map(\.name)
        let ordered = Self.first.filter(names.contains) + names.filter { !Self.first.contains($0) }
        // If the tables had to be searched for, SQLite does not find their rows.
        if let source, carver == nil { for name in ordered { try copy(name, from: source) } }
        for statement in schema.others where statement.type == "index" {
            try target.makeStatement(sql: statement.sql).execute()
        }
        if let pages, carver != nil || !report.losses.isEmpty { try carve(ordered, carver ?? StoreCarver(pages)) }
        for statement in schema.others where statement.type != "index" {
            try target.makeStatement(sql: statement.sql).execute()
        }
        // No internal id is given twice, including those of lost rows.
        let given = source.flatMap { try? Row.fetchAll($0, sql: "SELECT name, seq FROM sqlite_sequence") } ?? []
        for row in given where names.contains(row["name"]) {
            try RowNumbers.setLast(row["seq"], of: row["name"], in: target)
        }
    }

    /// Searches the pages for the rows of tables that SQLite could not read to the end.
    private mutating func carve(_ names: [String], _ carver: StoreCarver) throws {
        let wanted = report.saved.isEmpty ? names : names.filter { report.losses[$0] != nil }
        for (name, count) in try carver.copyRows(of: wanted, among: names, to: target) {
            report.saved[name, default: 0] += count
        }
        hasGuessed = carver.guessed.contains("outpost_queue")
        for name in wanted where report.losses[name] == nil {
            // The number of missing rows is not known for a table that was found by its rows.
            let missing = carver.missingPages(of: name)
            if missing > 0 || !carver.knows(name) { report.losses[name] = max(missing, 1) }
        }
    }

    fileprivate static func isDamage(_ error: DatabaseError) -> Bool {
        [.SQLITE_IOERR, .SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.resultCode)
    }

    /// Copies `application_id` and `user_version`.
    private func copyNumbers() throws {
        for pragma in [Pragma.applicationID, .userVersion] {
            let value: Int? = try source.flatMap { source in
                do {
                    return try source.pragma(pragma)
                } catch let error as DatabaseError where Self.isDamage(error) && pages != nil {
                    return nil
                }
            }
            let known = pragma == .applicationID ? OfflineLayout.applicationID : OfflineLayout.version
            try target.setPragma(pragma, value ?? known)
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
        if try target.tableExists("outpost_dependency") {
            // Otherwise, the number of a lost request could be given again.
            try target.execute(
                sql: "DELETE FROM outpost_dependency WHERE request NOT IN (SELECT id FROM outpost_queue)")
        }
        try Events.add(
            "salvaged", "\(report.savedChanges) changes, \(report.losses.count) tables with losses",
            environment: .system, in: target
        )
    }

    private mutating func copy(_ table: String, from source: Database) throws {
        let columns = try source.columns(in: table).map(\.name)
        let list = columns.map(\.sqlIdentifier).joined(separator: ", ")
        let name = table.sqlIdentifier
        let insert =
            "INSERT OR IGNORE INTO \(name)(\(list)) VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))"
        report.saved[table] = 0
        failures = 0
        if let rowID = try Self.rowID(of: table, in: source) {
            let (range, areRead) = try bounds(of: table, rowID, in: source)
            try copy(
                name, table, list: list, insert: insert, rowID: rowID, from: range.lowerBound, to: range.upperBound,
                from: source)
            // The rows behind an unreadable end are unknown.
            if !areRead, report.losses[table] == nil { report.losses[table] = 1 }
        } else {
            // A table ordered by its key is read from both ends up to the damage.
            let isWhole = try copyAll("SELECT \(list) FROM \(name)", insert, table: table, from: source)
            guard !isWhole else { return }
            report.losses[table, default: 0] += 1
            let key = try source.primaryKey(table).columns.map { "\($0.sqlIdentifier) DESC" }
            _ = try copyAll(
                "SELECT \(list) FROM \(name) ORDER BY \(key.joined(separator: ", "))", insert, table: table,
                from: source)
        }
    }

    static func hasRowIDs(_ table: String, in database: Database) throws -> Bool {
        try rowID(of: table, in: database) != nil
    }

    private static func rowID(of table: String, in database: Database) throws -> String? {
        guard
            let sql = try String.fetchOne(
                database, sql: "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", arguments: [table]),
            sql.range(of: "WITHOUT ROWID", options: [.caseInsensitive, .backwards]) == nil
        else { return nil }
        return "_rowid_"
    }

    /// The first and the last row id of a table, or bounds of them if an end cannot be read.
    private func bounds(
        of table: String, _ rowID: String, in source: Database
    ) throws -> (range: ClosedRange<Int64>, areRead: Bool) {
        func end(_ function: String, from index: String? = nil) throws -> Int64? {
            let hint = index.map { " INDEXED BY \($0.sqlIdentifier)" } ?? ""
            return try Int64.fetchOne(
                source, sql: "SELECT \(function)(\(rowID)) FROM \(table.sqlIdentifier)\(hint)")
        }
        /// The row ids in the indexes of the table.
        func indexed(_ function: String) -> [Int64] {
            ((try? source.indexes(on: table)) ?? []).compactMap { (try? end(function, from: $0.name)) ?? nil }
        }
        /// The last id that the table has assigned, if it counts them.
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

    /// Copies a range of rows. If the range cannot be read, each half of it is copied, down to single rows.
    private mutating func copy(
        _ name: String, _ table: String, list: String, insert: String, rowID: String, from: Int64, to: Int64,
        from source: Database
    ) throws {
        let sql = "SELECT \(list) FROM \(name) WHERE \(rowID) BETWEEN \(from) AND \(to)"
        let before = report.saved[table]
        if try copyAll(sql, insert, table: table, from: source) { return }
        failures += 1
        guard from < to, failures < Self.maximumFailures else {
            report.losses[table, default: 0] += 1
            return
        }
        // Rows read before the damage exist already, and are ignored the second time.
        report.saved[table] = before
        // Damaged row ids may have any value: their sum or difference may overflow.
        let middle = (from >> 1) + (to >> 1) + (from & to & 1)
        try copy(name, table, list: list, insert: insert, rowID: rowID, from: from, to: middle, from: source)
        try copy(name, table, list: list, insert: insert, rowID: rowID, from: middle + 1, to: to, from: source)
    }

    /// - Returns: whether every row could be read.
    private mutating func copyAll(
        _ sql: String, _ insert: String, table: String, from source: Database
    ) throws -> Bool {
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
