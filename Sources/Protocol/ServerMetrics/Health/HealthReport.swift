import Synchronization

/// The truth about a server's health: whether it has started, and whether it can answer requests.
///
/// ```swift
/// let health = HealthReport(checks: [.init("database") { try await database.ping() }])
/// health.finishStart()
/// let isReady = await health.isReady
/// ```
///
/// - **Alive** means that the process answers. No check belongs to it: a supervisor that restarts a server because its
///   back end is down would make an outage longer.
/// - **Started** means that ``finishStart()`` was called.
/// - **Ready** means that the server has started, does not stop, and passes all checks.
///
/// A check that does not end within its limit fails, also if it ignores its cancellation. It is not started a second
/// time while it runs, however often somebody asks.
public final class HealthReport: Sendable {
    /// A check of one thing that requests need, such as a round trip to the database.
    public struct Check: Sendable {
        /// The name, which is unique in a report.
        public let name: String
        /// The time after which the check has failed.
        public let limit: Duration
        let run: @Sendable () async throws -> Void

        /// The default limit of two seconds.
        public static let defaultLimit = Duration.seconds(2)

        /// Creates a check.
        ///
        /// - Parameters:
        ///   - name: The name.
        ///   - limit: The time after which the check has failed.
        ///   - run: Passes if it returns, and fails if it throws.
        public init(
            _ name: String, within limit: Duration = Check.defaultLimit,
            run: @escaping @Sendable () async throws -> Void
        ) {
            self.name = name
            self.limit = limit
            self.run = run
        }
    }

    /// The result of a check.
    public struct Finding: Hashable, Sendable {
        /// The outcome of a check.
        public enum Outcome: Hashable, Sendable {
            /// The check returned in time.
            case passed
            /// The check threw an error of this type. Its text is left out, because it may quote data.
            case failed(errorType: String)
            /// The check did not end in time.
            case timedOut
        }

        /// The name of the check.
        public let name: String
        /// The outcome.
        public let outcome: Outcome
        /// The time that the check took.
        public let duration: Duration
    }

    private struct State {
        var hasStarted = false
        var isStopping = false
        var running: [String: Task<Finding, Never>] = [:]
        var last: [String: (finding: Finding, time: ContinuousClock.Instant)] = [:]
    }

    /// The default age of one second.
    public static let defaultMaximumAge = Duration.seconds(1)

    private let checks: [Check]
    private let maximumAge: Duration
    private let state = Mutex(State())

    /// Creates the report of a server that is starting.
    ///
    /// - Parameters:
    ///   - checks: The checks of the resources that requests need. Of checks with one name, the first one counts.
    ///   - maximumAge: The age up to which a finding is given again, so that probes cannot load a back end.
    public init(checks: [Check], maximumAge: Duration = HealthReport.defaultMaximumAge) {
        var names: Set<String> = []
        self.checks = checks.filter { names.insert($0.name).inserted }
        self.maximumAge = maximumAge
    }

    /// Records that the server has started.
    public func finishStart() { state.withLock { $0.hasStarted = true } }

    /// Records that the server stops, so that no further requests are sent to it.
    public func beginStop() { state.withLock { $0.isStopping = true } }

    /// Whether the server has started.
    public var hasStarted: Bool { state.withLock { $0.hasStarted } }

    /// Whether the server stops.
    public var isStopping: Bool { state.withLock { $0.isStopping } }

    /// Whether the server can answer requests. The answer takes at most the longest limit of a check.
    public var isReady: Bool {
        get async {
            guard hasStarted, !isStopping else { return false }
            let findings = await findings
            return findings.allSatisfy { $0.outcome == .passed } && !isStopping
        }
    }

    /// The results of all checks, which run at the same time, in the order of the checks.
    public var findings: [Finding] {
        get async {
            await withTaskGroup(of: (Int, Finding).self) { group in
                for (index, check) in checks.enumerated() {
                    group.addTask { (index, await self.finding(of: check)) }
                }
                var findings: [(Int, Finding)] = []
                for await finding in group { findings.append(finding) }
                return findings.sorted { $0.0 < $1.0 }.map(\.1)
            }
        }
    }

    private func finding(of check: Check) async -> Finding {
        enum Source {
            case known(Finding)
            case running(Task<Finding, Never>)
        }
        let source: Source = state.withLock { state in
            if let task = state.running[check.name] { return .running(task) }
            if let last = state.last[check.name], last.time.duration(to: .now) < maximumAge {
                return .known(last.finding)
            }
            let task = Task { await self.run(check) }
            state.running[check.name] = task
            return .running(task)
        }
        switch source {
        case .known(let finding): return finding
        case .running(let task):
            return await TimeLimit.value(of: task, within: check.limit)
                ?? Finding(name: check.name, outcome: .timedOut, duration: check.limit)
        }
    }

    private func run(_ check: Check) async -> Finding {
        let start = ContinuousClock.now
        var outcome = Finding.Outcome.passed
        do {
            try await check.run()
        } catch {
            outcome = .failed(errorType: "\(type(of: error))")
        }
        let duration = start.duration(to: .now)
        if duration > check.limit { outcome = .timedOut }
        let finding = Finding(name: check.name, outcome: outcome, duration: duration)
        state.withLock { state in
            state.running[check.name] = nil
            state.last[check.name] = (finding, .now)
        }
        return finding
    }
}
