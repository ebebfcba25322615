import HTTPTypes
import Logging
import ODataServer
import ODataService
import Secrets
import ServerState

/// The listeners of a node.
public enum NodeListener: String, Hashable, Sendable, CaseIterable {
    /// The listener of the device API: `server.listen`.
    case devices
    /// The listener of the operators' API: `server.operator_listen`.
    case operators
}

/// A part of a node: it adds mounts, workers for jobs, and checks. The node starts parts in order and stops them in the
/// opposite one.
///
/// ```swift
/// struct Greeting: ServerPart {
///     func mounts(of listener: NodeListener) -> [Mount] {
///         listener == .devices ? [Mount(path: "/hello/", authentication: .open) { _, _, _ in … }] : []
///     }
/// }
/// ```
public protocol ServerPart: Sendable {
    /// The mounts of the part at a listener.
    func mounts(of listener: NodeListener) -> [Mount]

    /// The workers of the part by kind of job. Each kind belongs to one part.
    var workers: [JobKind: any JobWorker] { get }

    /// Starts the part, after the migration and before the node listens.
    func start() async throws

    /// Stops the part, after the last request.
    func stop() async

    /// Checks the configuration and the surroundings for `outpost-server check`, and changes nothing.
    func check() async -> [CheckFinding]
}

extension ServerPart {
    /// No workers.
    public var workers: [JobKind: any JobWorker] { [:] }
    /// No start.
    public func start() async throws {}
    /// No stop.
    public func stop() async {}
    /// No findings.
    public func check() async -> [CheckFinding] { [] }
}

/// A worker of jobs of one kind.
public protocol JobWorker: Sendable {
    /// Carries out a job. It is cancelled when the lease is lost. Each write to the state names the fence of the job.
    ///
    /// - Returns: The outcome; an error counts as a failure.
    func run(_ job: LeasedJob) async throws -> JobOutcome
}

/// A finding of `outpost-server check`.
public struct CheckFinding: Hashable, Sendable, Codable {
    /// The weight of a finding.
    public enum Severity: String, Hashable, Sendable, Codable {
        /// Everything is well.
        case fine
        /// The server runs, and something may surprise.
        case warning
        /// The server or a part of it does not work.
        case error
    }

    /// The weight.
    public var severity: Severity
    /// The subject, such as `destination shop/northwind`.
    public var subject: String
    /// A sentence about it.
    public var message: String

    /// Creates a finding.
    public init(_ severity: Severity, _ subject: String, message: String) {
        self.severity = severity
        self.subject = subject
        self.message = message
    }
}

/// The things that all parts of a node share.
public struct NodeServices: Sendable {
    /// The state.
    public let state: any ServerState
    /// The keys.
    public let keys: ServerKeys
    /// The configuration of the node.
    public let configuration: ServerConfiguration
    /// The applications with their active configurations.
    public let applications: ApplicationDirectory
    /// The values of secret references.
    public let secrets: SecretResolver
    /// The classes of requests.
    public let admission: NodeAdmission
    /// The name of the node.
    public let nodeName: String
    /// The data folder.
    public let dataFolder: String
    /// The log of the node.
    public let logger: Logger
    /// The clock of the node; leases and expiry use ``ServerState/ServerState/now()``.
    public let clock: @Sendable () -> ServerInstant

    /// Creates the services of a node.
    public init(
        state: any ServerState, keys: ServerKeys, configuration: ServerConfiguration,
        nodeName: String = "node", dataFolder: String, logger: Logger = Logger(label: "outpost.server"),
        clock: @escaping @Sendable () -> ServerInstant = { .current() }
    ) {
        self.state = state
        self.keys = keys
        self.configuration = configuration
        self.nodeName = nodeName
        self.dataFolder = dataFolder
        self.logger = logger
        self.clock = clock
        applications = ApplicationDirectory(state: state)
        secrets = SecretResolver(state: state, folder: dataFolder)
        admission = NodeAdmission(configuration.limits)
    }
}

/// The classes of requests of a node (`mobile-server.md` 5.10).
public struct NodeAdmission: Sendable {
    /// First reads of feeds, and requests that pass to a back end.
    public let newReads: AdmissionClass
    /// Deltas of feeds that exist.
    public let deltas: AdmissionClass
    /// Changes and uploads.
    public let uploads: AdmissionClass

    /// Creates classes from limits.
    public init(_ limits: ServerLimits) {
        newReads = AdmissionClass(name: "new_reads", limit: limits.newReads)
        deltas = AdmissionClass(name: "deltas", limit: limits.deltas)
        uploads = AdmissionClass(name: "uploads", limit: limits.uploads)
    }
}
