import Crypto
import Foundation
import GRDB
import Secrets

/// The state in three encrypted SQLite files: `state.db`, `feeds.db` and `intake.db`. Several processes of one machine
/// may use them.
///
/// ```swift
/// let state = try SQLiteServerState.open(folder: folder, keys: keys)
/// _ = try await state.migrate(dryRun: false)
/// ```
public final class SQLiteServerState: ServerState {
    let stateFile: SQLiteFile
    let feedsFile: SQLiteFile
    let intakeFile: SQLiteFile
    let keys: ServerKeys
    let clock: @Sendable () -> ServerInstant
    private let folder: String?
    private let build: String
    private let notices = LocalSignal()

    /// The name of the file with applications, users, registrations, jobs and operators.
    public static let stateFileName = "state.db"
    /// The name of the file with feeds.
    public static let feedsFileName = "feeds.db"
    /// The name of the file with what devices send.
    public static let intakeFileName = "intake.db"
    /// The name of the file whose number must be that in both databases; see ``enter()``.
    public static let nonceFileName = "nonce"

    private init(
        state: SQLiteFile, feeds: SQLiteFile, intake: SQLiteFile, keys: ServerKeys, folder: String?, build: String,
        clock: @escaping @Sendable () -> ServerInstant
    ) {
        stateFile = state
        feedsFile = feeds
        intakeFile = intake
        self.keys = keys
        self.folder = folder
        self.build = build
        self.clock = clock
    }

    /// Opens the files of a folder, or creates them. The tables come with ``migrate(dryRun:)``.
    ///
    /// - Parameters:
    ///   - folder: The data folder, which must exist.
    ///   - keys: The keys of the server.
    ///   - build: The version of the program.
    ///   - clock: The clock of the database.
    /// - Throws: ``ServerStateError/unavailable(reason:)`` with wrong keys or without access.
    public static func open(
        folder: String, keys: ServerKeys, build: String = "",
        clock: @escaping @Sendable () -> ServerInstant = { .current() }
    ) throws(ServerStateError) -> SQLiteServerState {
        let key = keys.key(.files)
        var files: [SQLiteFile] = []
        do throws(ServerStateError) {
            for name in [stateFileName, feedsFileName, intakeFileName] {
                files.append(try SQLiteFile(path: folder + "/" + name, key: key))
            }
        } catch {
            for file in files { file.close() }
            throw error
        }
        return SQLiteServerState(
            state: files[0], feeds: files[1], intake: files[2], keys: keys, folder: folder, build: build, clock: clock)
    }

    /// Creates an empty state in memory, for tests and simulations.
    ///
    /// - Throws: ``ServerStateError/unavailable(reason:)``.
    public static func inMemory(
        keys: ServerKeys = .generate(), clock: @escaping @Sendable () -> ServerInstant = { .current() }
    ) throws(ServerStateError) -> SQLiteServerState {
        SQLiteServerState(
            state: try SQLiteFile(), feeds: try SQLiteFile(), intake: try SQLiteFile(), keys: keys, folder: nil,
            build: "",
            clock: clock)
    }

    // MARK: Groups

    /// Applications and the versions of their configurations.
    public var applications: any ApplicationStore { SQLiteApplicationStore(state: self) }
    /// Users, registrations, settings, policies, activation codes and the user directory.
    public var registrations: any RegistrationStore { SQLiteRegistrationStore(state: self) }
    /// Feeds with their rows, tags and part sets.
    public var feeds: any FeedStore { SQLiteFeedStore(state: self) }
    /// Jobs with leases and fences.
    public var jobs: any JobStore { SQLiteJobStore(state: self) }
    /// Repeatable requests.
    public var replays: any ReplayStore { SQLiteReplayStore(state: self) }
    /// Operators, their sessions, service keys, secrets, sign-in counters and the audit.
    public var operators: any OperatorStore { SQLiteOperatorStore(state: self) }
    /// Values that may be used once.
    public var once: any OnceStore { SQLiteOnceStore(state: self) }
    /// The nodes of the server.
    public var nodes: any NodeStore { SQLiteNodeStore(state: self) }
    /// Notices within this process.
    public var signal: any Signal { notices }

    /// The clock of this process.
    public func now() async throws(ServerStateError) -> ServerInstant { clock() }

    /// Closes all files.
    public func close() async {
        stateFile.close()
        feedsFile.close()
        intakeFile.close()
    }

    // MARK: Migration

    /// Brings the tables of all files to the version of this build. A step that has reached some files only is repeated
    /// for the others.
    public func migrate(dryRun: Bool) async throws(ServerStateError) -> MigrationReport {
        let versions = try await (Self.version(of: stateFile), Self.version(of: feedsFile))
        let intake = try await Self.version(of: intakeFile)
        let newest = max(versions.0, versions.1, intake)
        guard newest <= SQLiteSchema.version else {
            throw .newerSchema(found: newest, known: SQLiteSchema.version)
        }
        let from = min(versions.0, versions.1)
        // A server of the first version has no file of intakes, which gets all steps.
        let steps = SQLiteSchema.steps.filter { $0.version > min(from, max(intake, 1)) }
        let report = MigrationReport(from: from, to: SQLiteSchema.version, steps: steps.map(\.name))
        guard !dryRun else { return report }
        let (moment, build, nonce) = (clock(), build, Self.newNonce())
        for step in SQLiteSchema.steps {
            for (file, text) in [(intakeFile, step.intake), (feedsFile, step.feeds), (stateFile, step.state)] {
                try await file.write { database in
                    guard try Self.version(in: database) < step.version else { return }
                    try database.execute(sql: text)
                    try database.execute(
                        sql: "insert into schema_version values (?, ?, ?)",
                        arguments: [step.version, moment.rawValue, build])
                    if try step.version == 1 && database.tableExists("cluster") {
                        try database.execute(
                            sql: "insert into cluster (id, incarnation, began_at, nonce) values (1, 1, ?, ?)",
                            arguments: [moment.rawValue, nonce])
                    }
                }
            }
        }
        // A folder that has a number already had other files before: the next start begins a new incarnation.
        if from == 0, let folder, !FileManager.default.fileExists(atPath: folder + "/" + Self.nonceFileName) {
            try Self.write(nonce, to: folder)
        }
        return report
    }

    private static func version(of file: SQLiteFile) async throws(ServerStateError) -> Int {
        try await file.read { try version(in: $0) }
    }

    private static func version(in database: Database) throws -> Int {
        guard try database.tableExists("schema_version") else { return 0 }
        return try Int.fetchOne(database, sql: "select max(version) from schema_version") ?? 0
    }

    // MARK: Incarnations

    /// The incarnation of the state.
    public func incarnation() async throws(ServerStateError) -> Incarnation {
        try await stateFile.read { try Self.incarnation(in: $0) }
    }

    static func incarnation(in database: Database) throws -> Incarnation {
        guard let row = try Row.fetchOne(database, sql: "select incarnation, began_at from cluster") else {
            throw ServerStateError.damaged(reason: "the table cluster is empty")
        }
        return Incarnation(number: row["incarnation"], beganAt: ServerInstant(rawValue: row["began_at"]))
    }

    /// Begins a new incarnation in both files, the feeds first.
    public func beginIncarnation() async throws(ServerStateError) -> Incarnation {
        let feeds = try await feedsFile.read { try Self.incarnation(in: $0) }
        let state = try await incarnation()
        let former = max(feeds.number, state.number)
        guard former < Self.lastIncarnation else { throw .unavailable(reason: "no incarnation is left") }
        // The space between is divided, so that a million restores find a number.
        let room = min(Self.lastIncarnation - former, 4096)
        let new = Incarnation(number: former + Int64.random(in: 1...room), beganAt: clock())
        for file in [feedsFile, stateFile] {
            try await file.write { database in
                try database.execute(
                    sql: "update cluster set incarnation = ?, began_at = ?, fence = ?",
                    arguments: [new.number, new.beganAt.rawValue, new.number << 32])
            }
        }
        return new
    }

    /// The last number of 31 bits.
    private static let lastIncarnation: Int64 = (1 << 31) - 1

    /// Begins a run of a node: compares the nonces of both files and the one beside them, and writes a new one to all
    /// three. If they differ, one file was put back alone, and a new incarnation begins.
    ///
    /// - Returns: Whether a new incarnation has begun.
    public func enter() async throws(ServerStateError) -> Bool {
        let feeds = try await feedsFile.read { try Self.nonce(in: $0) }
        let state = try await stateFile.read { try Self.nonce(in: $0) }
        let beside = folder.map {
            (try? Data(contentsOf: URL(fileURLWithPath: $0 + "/" + Self.nonceFileName))) ?? Data()
        }
        let numbers = try await (
            feedsFile.read { try Self.incarnation(in: $0).number }, incarnation().number
        )
        let isFork = feeds != state || (beside ?? state) != state || numbers.0 != numbers.1
        if isFork { _ = try await beginIncarnation() }
        let nonce = Self.newNonce()
        for file in [feedsFile, stateFile] {
            try await file.write { try $0.execute(sql: "update cluster set nonce = ?", arguments: [nonce]) }
        }
        if let folder { try Self.write(nonce, to: folder) }
        return isFork
    }

    private static func newNonce() -> Data { Data((0..<16).map { _ in UInt8.random(in: 0...255) }) }

    private static func write(_ nonce: Data, to folder: String) throws(ServerStateError) {
        do {
            try nonce.write(to: URL(fileURLWithPath: folder + "/" + nonceFileName), options: .atomic)
        } catch {
            throw .unavailable(reason: "\(folder)/\(nonceFileName) cannot be written")
        }
    }

    private static func nonce(in database: Database) throws -> Data {
        try Data.fetchOne(database, sql: "select nonce from cluster") ?? Data()
    }

    // MARK: Change numbers

    /// Returns the highest change number of a scope.
    public func head(of scope: String) async throws(ServerStateError) -> ChangeNumber {
        try await stateFile.read { database in
            try Int64.fetchOne(database, sql: "select head from change_head where scope = ?", arguments: [scope]) ?? 0
        }
    }

    /// Takes the next change number of a scope, within a transaction.
    static func nextChange(of scope: String, in database: Database) throws -> ChangeNumber {
        let base = try incarnation(in: database).number << 32
        let number = try Int64.fetchOne(
            database,
            sql: """
                insert into change_head (scope, head) values (?1, ?2 + 1)
                on conflict (scope) do update set head = max(head, ?2) + 1 returning head
                """, arguments: [scope, base])
        guard let number else { throw ServerStateError.damaged(reason: "no change number was given") }
        return number
    }

    /// Notes a removal in its scope, within the transaction of the removal.
    static func noteRemoval(
        of key: String, from table: String, scope: String, at moment: ServerInstant, in database: Database
    ) throws {
        let change = try nextChange(of: scope, in: database)
        try database.execute(
            sql: "insert into removed_row values (?, ?, ?, ?, ?)",
            arguments: [scope, change, table, key, moment.rawValue])
    }

    /// Returns the removals of a scope.
    public func removedRows(
        of scope: String, after change: ChangeNumber
    ) async throws(ServerStateError) -> [RemovedRow]? {
        try await stateFile.read { database in
            let row = try Row.fetchOne(
                database, sql: "select head, floor from change_head where scope = ?", arguments: [scope])
            guard let row else { return [] }
            let (head, floor): (Int64, Int64) = (row["head"], row["floor"])
            // A number of another incarnation has no order with these.
            guard change >= floor, change == 0 || change >> 32 == head >> 32 else { return nil }
            return try Row.fetchAll(
                database, sql: "select * from removed_row where scope = ? and change > ? order by change",
                arguments: [scope, change]
            ).map { RemovedRow(change: $0["change"], table: $0["table_name"], key: $0["row_key"]) }
        }
    }

    // MARK: Age

    /// The rows that one call of ``expire(_:)`` removes from each table.
    private static let expirySteps = 1000

    /// Removes old rows, at most 1,000 from each table.
    public func expire(_ ages: RetentionAges) async throws(ServerStateError) -> Bool {
        let (now, keys) = (clock(), keys)
        let limit = Self.expirySteps
        let state = try await stateFile.write { database in
            var remains = false
            func remove(_ sql: String, _ arguments: StatementArguments) throws {
                try database.execute(sql: sql, arguments: arguments)
                if database.changesCount >= limit { remains = true }
            }
            try remove(
                "delete from once where rowid in (select rowid from once where expires_at < ? limit ?)",
                [now.rawValue, limit])
            try remove(
                "delete from activation where rowid in (select rowid from activation where expires_at < ? limit ?)",
                [(now - .seconds(86_400)).rawValue, limit])
            try remove(
                "delete from approval where id in (select id from approval where expires_at < ? limit ?)",
                [now.rawValue, limit])
            let week = ReplayKey(owner: [], requestID: "", firstSent: now - ages.replays).week
            try remove(
                "delete from replay where rowid in (select rowid from replay where week < ? limit ?)", [week, limit])
            try remove(
                """
                delete from sign_in where rowid in
                (select rowid from sign_in where known = 0 and failed_at < ? limit ?)
                """, [(now - .seconds(86_400)).rawValue, limit])
            try remove(
                """
                delete from registration where rowid in
                (select rowid from registration where state = 205 and ended_at < ? limit ?)
                """, [(now - .seconds(30 * 86_400)).rawValue, limit])
            let day = (now - .seconds(86_400)).rawValue
            try database.execute(
                sql: """
                    update change_head set floor = max(floor, coalesce((select max(change) from removed_row r
                    where r.scope = change_head.scope and r.at < ?), 0))
                    """, arguments: [day])
            try database.execute(sql: "delete from removed_row where at < ?", arguments: [day])
            try AuditChain(keys: keys).expire(before: now - ages.audit, limit: limit, in: database)
            if try SQLiteMessageStore.expire(at: now, limit: limit, in: database) { remains = true }
            return remains
        }
        let feeds = try await feedsFile.write { database in
            try database.execute(
                sql: "delete from part_set where rowid in (select rowid from part_set where used_at < ? limit ?)",
                arguments: [(now - .seconds(60 * 86_400)).rawValue, limit])
            return database.changesCount >= limit
        }
        let intake = try await intakeFile.write { database in
            try SQLiteBundleStore.expire(at: now, in: database)
            let uploads = try SQLiteUploadStore.expire(at: now, in: database)
            return try SQLiteRecordStore.expire(at: now, limit: limit, in: database) || uploads
        }
        return state || feeds || intake
    }

    // MARK: Copies

    /// Writes a consistent copy: the feeds and intakes first, then the state, while the state is not written.
    public func copy(to folder: String) async throws(ServerStateError) {
        guard self.folder != nil else { throw .unsupported(operation: "copy a state in memory") }
        let key = keys.key(.files)
        try await stateFile.write { [feedsFile, intakeFile, stateFile] _ in
            let files = [
                (feedsFile, Self.feedsFileName), (intakeFile, Self.intakeFileName), (stateFile, Self.stateFileName),
            ]
            for (file, name) in files {
                let copy = try SQLiteFile(path: folder + "/" + name, key: key)
                defer { copy.close() }
                try file.writer.backup(to: copy.writer)
                try copy.writer.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
            }
        }
    }
}
