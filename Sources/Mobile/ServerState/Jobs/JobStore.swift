/// A kind of job.
public enum JobKind: String, Hashable, Sendable, Codable, CaseIterable {
    /// A feed is refreshed; the target is its number.
    case refresh
    /// The keys of a feed are compared; the target is its number.
    case sweep
    /// The delta link of a feed is renewed.
    case renewLink = "renew-link"
    /// A version of a configuration becomes active; the target is `APPLICATION`, the payload the version.
    case activate
    /// A feed is dropped; the target is its number.
    case drop
    /// Removals of feeds and old rows go.
    case prune
    /// A backup is written.
    case backup
    /// Old data goes.
    case expire
}

/// A job to be added. Jobs are unique by kind and target.
public struct NewJob: Hashable, Sendable {
    /// The kind.
    public var kind: JobKind
    /// The target.
    public var target: String
    /// The payload for the worker.
    public var payload: [UInt8]?
    /// The moment from which on the job is due; `nil` for now.
    public var dueAt: ServerInstant?

    /// Creates a job.
    public init(kind: JobKind, target: String, payload: [UInt8]? = nil, dueAt: ServerInstant? = nil) {
        self.kind = kind
        self.target = target
        self.payload = payload
        self.dueAt = dueAt
    }
}

/// A job as it is stored.
public struct JobRecord: Hashable, Sendable {
    /// The number.
    public var id: RecordNumber
    /// The kind.
    public var kind: JobKind
    /// The target.
    public var target: String
    /// The payload.
    public var payload: [UInt8]?
    /// The moment from which on the job is due.
    public var dueAt: ServerInstant
    /// The end of the lease; `nil` if no node works on the job.
    public var leaseUntil: ServerInstant?
    /// The node that has the lease.
    public var owner: String?
    /// The number of failed tries.
    public var tries: Int
    /// The last error.
    public var error: String?

    /// Creates a record.
    public init(
        id: RecordNumber, kind: JobKind, target: String, payload: [UInt8]?, dueAt: ServerInstant,
        leaseUntil: ServerInstant?, owner: String?, tries: Int, error: String?
    ) {
        self.id = id
        self.kind = kind
        self.target = target
        self.payload = payload
        self.dueAt = dueAt
        self.leaseUntil = leaseUntil
        self.owner = owner
        self.tries = tries
        self.error = error
    }
}

/// A job with the lease of a node.
public struct LeasedJob: Hashable, Sendable {
    /// The number.
    public var id: RecordNumber
    /// The kind.
    public var kind: JobKind
    /// The target.
    public var target: String
    /// The payload.
    public var payload: [UInt8]?
    /// The node.
    public var owner: String
    /// The fence: *incarnation << 32 | n*, higher than that of every earlier lease of the job in the incarnation.
    public var fence: Fence
    /// The end of the lease by the database's clock.
    public var leaseUntil: ServerInstant
    /// The number of failed tries.
    public var tries: Int

    /// Creates a leased job.
    public init(
        id: RecordNumber, kind: JobKind, target: String, payload: [UInt8]?, owner: String, fence: Fence,
        leaseUntil: ServerInstant, tries: Int
    ) {
        self.id = id
        self.kind = kind
        self.target = target
        self.payload = payload
        self.owner = owner
        self.fence = fence
        self.leaseUntil = leaseUntil
        self.tries = tries
    }
}

/// The outcome of a job.
public enum JobOutcome: Hashable, Sendable {
    /// The job is done and goes.
    case done
    /// The job is due again.
    case again(at: ServerInstant)
    /// The job failed; it is due again after a delay, at most ten times. Then it waits for an operator.
    case failed(reason: String, retryAfter: Duration)
    /// The node gives the lease back, without a try.
    case returned
}

/// Jobs with leases and fences. Leases count by the database's clock.
public protocol JobStore: Sendable {
    /// Adds a job. A job of the same kind and target stays, and is due at the earlier of both moments; the new payload
    /// wins. A job that waits for an operator is due again. A job that is leased is due again after its lease ends.
    func add(_ job: NewJob) async throws(ServerStateError)

    /// Claims due jobs, oldest first. A job is given to one node only until its lease ends.
    func claim(
        _ kinds: Set<JobKind>, limit: Int, lease: Duration, owner: String
    ) async throws(ServerStateError) -> [LeasedJob]

    /// Extends a lease from now on.
    ///
    /// - Returns: `false` if the lease was lost: the node stops the job.
    func extend(_ job: LeasedJob, by lease: Duration) async throws(ServerStateError) -> Bool

    /// Ends a job.
    ///
    /// - Returns: `false` if the lease was lost: nothing was written.
    func finish(_ job: LeasedJob, _ outcome: JobOutcome) async throws(ServerStateError) -> Bool

    /// Returns all jobs in the order of their due moments, at most 1,000.
    func all() async throws(ServerStateError) -> [JobRecord]
}

/// A node of the server.
public struct NodeRecord: Hashable, Sendable {
    /// The name of the node.
    public var id: String
    /// The build.
    public var build: String
    /// The version of the tables that the node knows.
    public var schemaVersion: Int
    /// The start.
    public var startedAt: ServerInstant
    /// The last sign of life.
    public var seenAt: ServerInstant
    /// Whether the node ends.
    public var isDraining: Bool

    /// Creates a record.
    public init(
        id: String, build: String, schemaVersion: Int, startedAt: ServerInstant, seenAt: ServerInstant,
        isDraining: Bool
    ) {
        self.id = id
        self.build = build
        self.schemaVersion = schemaVersion
        self.startedAt = startedAt
        self.seenAt = seenAt
        self.isDraining = isDraining
    }
}

/// The nodes of the server.
public protocol NodeStore: Sendable {
    /// Writes a sign of life of a node.
    func beat(_ id: String, build: String, isDraining: Bool) async throws(ServerStateError)

    /// Removes a node that has ended.
    func leave(_ id: String) async throws(ServerStateError)

    /// Returns all nodes that were seen within five minutes.
    func all() async throws(ServerStateError) -> [NodeRecord]
}
