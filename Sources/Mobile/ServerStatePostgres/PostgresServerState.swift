import ErrorCodes
import Foundation
import PostgresClient
import ServerState
import Synchronization

/// The state in a database of PostgreSQL, which any number of nodes share.
///
/// ```swift
/// let state = try PostgresServerState.open(
///     try PostgresConfiguration(url: "postgres://outpost@db1,db2/outpost"), keys: keys)
/// _ = try await state.migrate(dryRun: false)
/// ```
public final class PostgresServerState: ServerState {
    let client: PostgresClient
    let keys: ServerKeys
    let build: String
    /// A clock in place of the database's, for tests.
    let clock: (@Sendable () -> ServerInstant)?
    /// The random name of this run of the process.
    let run: [UInt8]
    /// The marks of the last signs of life; see ``PostgresNodeStore``.
    let marks = Mutex<[String: Set<[UInt8]>]>([:])
    private let notices: PostgresSignal
    /// The partitions of feeds by number.
    let partitions = Mutex<[RecordNumber: Int]>([:])

    private init(
        _ client: PostgresClient, keys: ServerKeys, build: String, clock: (@Sendable () -> ServerInstant)?
    ) {
        self.client = client
        self.keys = keys
        self.build = build
        self.clock = clock
        run = Self.randomBytes()
        notices = PostgresSignal(client)
    }

    static func randomBytes() -> [UInt8] { (0..<16).map { _ in UInt8.random(in: 0...255) } }

    /// Opens a state, which connects in the background. The tables come with ``migrate(dryRun:)``.
    ///
    /// - Parameters:
    ///   - configuration: The addresses, pools and time limits.
    ///   - keys: The keys of the server. All nodes have the same.
    ///   - build: The version of the program.
    ///   - clock: A clock in place of the database's, for tests.
    /// - Throws: ``ServerStateError/unavailable(reason:)``.
    public static func open(
        _ configuration: PostgresConfiguration, keys: ServerKeys, build: String = "",
        clock: (@Sendable () -> ServerInstant)? = nil
    ) throws(ServerStateError) -> PostgresServerState {
        do {
            // A new connection may lead to another server. Another timeline may lack commits, so a new incarnation
            // begins before any other statement is executed there. Of several nodes at once, one raises it.
            var greeting = configuration
            greeting.greeting = PostgresStatement(
                "select outpost_identify($1, $2)", [.integer(step()), clock.map { .instant($0()) } ?? .null])
            return PostgresServerState(
                try PostgresClient(greeting), keys: keys, build: build, clock: clock)
        } catch {
            throw .unavailable(reason: "\(error)")
        }
    }

    // MARK: Groups

    /// Applications and the versions of their configurations.
    public var applications: any ApplicationStore { PostgresApplicationStore(state: self) }
    /// Users, registrations, settings, policies, activation codes and the user directory.
    public var registrations: any RegistrationStore { PostgresRegistrationStore(state: self) }
    /// Feeds with their rows, tags and part sets.
    public var feeds: any FeedStore { PostgresFeedStore(state: self) }
    /// Jobs with leases and fences.
    public var jobs: any JobStore { PostgresJobStore(state: self) }
    /// Repeatable requests.
    public var replays: any ReplayStore { PostgresReplayStore(state: self) }
    /// Operators, their sessions, service keys, secrets, sign-in counters and the audit.
    public var operators: any OperatorStore { PostgresOperatorStore(state: self) }
    /// Values that may be used once.
    public var once: any OnceStore { PostgresOnceStore(state: self) }
    /// The nodes of the server.
    public var nodes: any NodeStore { PostgresNodeStore(state: self) }
    /// Notices between the nodes.
    public var signal: any Signal { notices }

    var sealing: PostgresSealing { PostgresSealing(keys) }

    /// Closes all connections.
    public func close() async { await client.close() }

    /// A state on a server cannot be copied by a node.
    ///
    /// - Throws: ``ServerStateError/unsupported(operation:)``: use `pg_dump` or a base backup.
    public func copy(to folder: String) async throws(ServerStateError) {
        throw .unsupported(operation: "be copied by a node: use pg_dump or a base backup")
    }

    // MARK: Statements

    /// The value of `$n` in `outpost_now($n)`.
    var given: PostgresValue { clock.map { .instant($0()) } ?? .null }

    /// Reads rows by one statement, in one snapshot.
    func rows(_ text: String, _ values: PostgresValue...) async throws(ServerStateError) -> PostgresRows {
        do {
            return try await client.read(PostgresStatement(text, values))
        } catch {
            throw Self.translated(error)
        }
    }

    /// Reads rows by one statement, and makes values of them.
    func all<Value>(
        _ text: String, _ values: PostgresValue..., each: (PostgresRow) throws -> Value
    ) async throws(ServerStateError) -> [Value] {
        do {
            return try await client.read(PostgresStatement(text, values)).map(each)
        } catch {
            throw Self.translated(error)
        }
    }

    /// Writes by one statement, once.
    @discardableResult
    func write(_ text: String, _ values: PostgresValue...) async throws(ServerStateError) -> PostgresRows {
        do {
            return try await client.write(PostgresStatement(text, values))
        } catch {
            throw Self.translated(error)
        }
    }

    /// Writes in one transaction, which is repeated after a conflict with another node.
    func work<Value: Sendable>(
        _ body: @Sendable (StateWork) async throws -> Value
    ) async throws(ServerStateError) -> Value {
        try await transact(.readCommitted, body)
    }

    /// Reads in one snapshot over several statements.
    func snapshot<Value: Sendable>(
        _ body: @Sendable (StateWork) async throws -> Value
    ) async throws(ServerStateError) -> Value {
        try await transact(.snapshot, body)
    }

    private func transact<Value: Sendable>(
        _ isolation: PostgresIsolation, _ body: @Sendable (StateWork) async throws -> Value
    ) async throws(ServerStateError) -> Value {
        let given = given
        do {
            // Two nodes that add one row at once: the second one finds it in the next try.
            return try await client.transaction(isolation, repeating: { $0.isRefusal("23505") }) { transaction in
                let cluster = try await transaction.execute(
                    PostgresStatement("select incarnation, began_at, outpost_now($1) as now from cluster", [given]))
                guard let row = cluster.first else {
                    throw ServerStateError.damaged(reason: "the table cluster is empty")
                }
                return try await body(
                    StateWork(
                        transaction: transaction, now: try row.instant("now"), incarnation: try Self.incarnation(row)))
            }
        } catch {
            throw Self.translated(error)
        }
    }

    static func translated(_ error: any Error) -> ServerStateError {
        switch error {
        case let error as ServerStateError: return error
        case is CancellationError: return .unavailable(reason: "the operation was cancelled")
        case PostgresError.refused("22021", _, _): return .unsupported(operation: "store the character 0 in a text")
        case PostgresError.refused("42P01", let reason, _):
            return reason.contains("cluster") || reason.contains("schema_version")
                ? .olderSchema(found: 0, known: Int(PostgresSchema.version)) : .damaged(reason: reason)
        case PostgresError.refused("42883", let reason, _) where reason.contains("outpost_now"):
            return .olderSchema(found: 0, known: Int(PostgresSchema.version))
        case let error as PostgresError:
            if case .unexpectedResult(let reason) = error { return .damaged(reason: reason) }
            return .unavailable(reason: "\(error)")
        default: return .unavailable(reason: "\(type(of: error))")
        }
    }

    // MARK: Clock and numbers

    /// The clock of the database.
    public func now() async throws(ServerStateError) -> ServerInstant {
        if let clock { return clock() }
        let rows = try await all("select outpost_now($1) as now", .null) { try $0.instant("now") }
        guard let now = rows.first else { throw .damaged(reason: "the database has no clock") }
        return now
    }

    /// Returns the highest change number of a scope.
    public func head(of scope: String) async throws(ServerStateError) -> ChangeNumber {
        try await all("select head from change_head where scope = $1", .text(scope)) { try $0.integer("head") }
            .first ?? 0
    }

    /// Returns the removals of a scope.
    public func removedRows(
        of scope: String, after change: ChangeNumber
    ) async throws(ServerStateError) -> [RemovedRow]? {
        try await snapshot { work in
            let row = try await work.row("select head, floor from change_head where scope = $1", .text(scope))
            guard let row else { return [] }
            let (head, floor) = (try row.integer("head"), try row.integer("floor"))
            // A number of another incarnation has no order with these, and a number above the head was lost.
            guard change >= floor, change <= head, change == 0 || change >> 32 == head >> 32 else { return nil }
            return try await work.rows(
                "select change, table_name, row_key from removed_row where scope = $1 and change > $2 order by change",
                .text(scope), .integer(change)
            ).map {
                RemovedRow(
                    change: try $0.integer("change"), table: try $0.text("table_name"), key: try $0.text("row_key"))
            }
        }
    }

    // MARK: Incarnations

    /// The incarnation of the state.
    public func incarnation() async throws(ServerStateError) -> Incarnation {
        let rows = try await all("select incarnation, began_at from cluster", each: Self.incarnation)
        guard let incarnation = rows.first else { throw .damaged(reason: "the table cluster is empty") }
        return incarnation
    }

    static func incarnation(_ row: PostgresRow) throws -> Incarnation {
        Incarnation(number: try row.integer("incarnation"), beganAt: try row.instant("began_at"))
    }

    /// Begins a new incarnation.
    public func beginIncarnation() async throws(ServerStateError) -> Incarnation {
        let rows = try await write(
            """
            update cluster set incarnation = incarnation + $1, began_at = outpost_now($2),
            fence = greatest(fence, (incarnation + $1) << 32) where incarnation + $1 < $3
            returning incarnation, began_at
            """, .integer(Self.step()), given, .integer(Self.incarnationLimit))
        do {
            guard let row = rows.first else { throw ServerStateError.unavailable(reason: "no incarnation is left") }
            return try Self.incarnation(row)
        } catch {
            throw Self.translated(error)
        }
    }

    /// A random step to the next incarnation, so that two restores of one backup have different numbers.
    static func step() -> Int64 { Int64.random(in: 1...4096) }

    /// Incarnations have 31 bits.
    static let incarnationLimit: Int64 = 1 << 31

    /// Begins a run of a node: looks at the identity of the server, and makes the partitions of the weeks.
    ///
    /// - Returns: Whether a new incarnation has begun.
    public func enter() async throws(ServerStateError) -> Bool {
        let before = try await incarnation()
        try await write("select outpost_identify($1, $2)", .integer(Self.step()), given)
        try await PostgresReplayStore(state: self).makeWeeks()
        return try await incarnation() != before
    }
}
