/// Everything that a mobile server remembers, behind one protocol with two drivers.
///
/// Each operation is one transaction and writes one file of the SQLite driver. Work over two files is a job whose
/// second step is idempotent (`mobile-server.md` 0.4). Nodes keep only caches of this state: any node can be killed at
/// any instruction (`rules.md` 44). Every driver passes the suite in `ServerStateConformance`.
///
/// ```swift
/// let state = try SQLiteServerState.open(folder: folder, keys: keys)
/// _ = try await state.migrate(dryRun: false)
/// let shop = try await state.applications.application(named: "shop")
/// ```
public protocol ServerState: Sendable {
    /// Applications and the versions of their configurations.
    var applications: any ApplicationStore { get }
    /// Users, registrations, settings, policies, activation codes and the user directory.
    var registrations: any RegistrationStore { get }
    /// Feeds with their rows, tags and part sets.
    var feeds: any FeedStore { get }
    /// Jobs with leases and fences.
    var jobs: any JobStore { get }
    /// Repeatable requests.
    var replays: any ReplayStore { get }
    /// Operators, their sessions, service keys, secrets, sign-in counters and the audit.
    var operators: any OperatorStore { get }
    /// Values that may be used once: challenges, identifiers of device proofs, sign-in links.
    var once: any OnceStore { get }
    /// The nodes of the server.
    var nodes: any NodeStore { get }
    /// Notices between the nodes. A lost notice costs a second.
    var signal: any Signal { get }

    /// Brings the tables to the version of this build.
    ///
    /// - Parameter dryRun: Whether to report the steps only.
    /// - Throws: ``ServerStateError/newerSchema(found:known:)`` if a later build has changed the tables.
    func migrate(dryRun: Bool) async throws(ServerStateError) -> MigrationReport

    /// The incarnation of the state, which changes when commits may have been lost: after a restore or a failover.
    func incarnation() async throws(ServerStateError) -> Incarnation

    /// Begins a new incarnation with a random number above the stored one (`design-review.md` 3).
    func beginIncarnation() async throws(ServerStateError) -> Incarnation

    /// The clock of the database, by which leases and expiry count (`rules.md` 43).
    func now() async throws(ServerStateError) -> ServerInstant

    /// Returns the highest change number of a scope: the name of an application, or `server`. Zero if nothing was
    /// written in the scope.
    func head(of scope: String) async throws(ServerStateError) -> ChangeNumber

    /// Returns the rows that were removed after a change of a scope, oldest first.
    ///
    /// - Returns: `nil` if the list no longer reaches back that far: the reader reloads everything.
    func removedRows(of scope: String, after change: ChangeNumber) async throws(ServerStateError) -> [RemovedRow]?

    /// Removes old rows, a limited number in each call.
    ///
    /// - Returns: Whether rows remain.
    func expire(_ ages: RetentionAges) async throws(ServerStateError) -> Bool

    /// Writes a consistent copy of all files into an empty folder (`design-review.md` 39). Keys are not copied.
    ///
    /// - Throws: ``ServerStateError/unsupported(operation:)`` on a driver with other means of backup.
    func copy(to folder: String) async throws(ServerStateError)

    /// Closes the state. Later operations throw ``ServerStateError/unavailable(reason:)``.
    func close() async
}

/// The scopes of change numbers that belong to no application.
public enum ChangeNumberScope {
    /// The scope of applications, operators, service keys and secrets.
    public static let server = "server"
}

/// A removed row, for readers that follow the changes of a scope.
public struct RemovedRow: Hashable, Sendable {
    /// The number of the removal.
    public var change: ChangeNumber
    /// The name of the table.
    public var table: String
    /// The key of the row. Rows that depended on it have no entries of their own (`design-review.md` 28).
    public var key: String

    /// Creates a removed row.
    public init(change: ChangeNumber, table: String, key: String) {
        self.change = change
        self.table = table
        self.key = key
    }
}

/// The result of a migration.
public struct MigrationReport: Hashable, Sendable, Codable {
    /// The version of the tables before; 0 for an empty state.
    public var from: Int
    /// The version afterwards, or that it would have.
    public var to: Int
    /// The steps by name, oldest first.
    public var steps: [String]

    /// Creates a report.
    public init(from: Int, to: Int, steps: [String]) {
        self.from = from
        self.to = to
        self.steps = steps
    }
}

/// The ages at which data is removed.
public struct RetentionAges: Hashable, Sendable {
    /// The age of repeatable requests.
    public var replays: Duration
    /// The age of audit entries.
    public var audit: Duration
    /// The age of removed rows of feeds, and of part sets without a reader.
    public var tombstones: Duration

    /// Creates ages; by default, 50, 400 and 30 days.
    public init(
        replays: Duration = .seconds(50 * 86_400), audit: Duration = .seconds(400 * 86_400),
        tombstones: Duration = .seconds(30 * 86_400)
    ) {
        self.replays = replays
        self.audit = audit
        self.tombstones = tombstones
    }
}
