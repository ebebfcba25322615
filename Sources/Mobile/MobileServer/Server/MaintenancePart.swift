import Logging
import ODataServer
import ServerState

/// The part of a node that keeps its state small, and watches the audit.
public final class MaintenancePart: ServerPart {
    private let services: NodeServices

    /// Creates the part.
    public init(services: NodeServices) { self.services = services }

    /// No mounts.
    public func mounts(of listener: NodeListener) -> [Mount] { [] }

    /// The workers for old data, removals of feeds and dropped feeds.
    public var workers: [JobKind: any JobWorker] {
        [
            .expire: ExpiryWorker(services: services), .prune: PruningWorker(services: services),
            .drop: DroppingWorker(services: services),
        ]
    }

    /// Adds the jobs that repeat.
    public func start() async throws {
        try await services.state.jobs.add(NewJob(kind: .expire, target: "server"))
        try await services.state.jobs.add(NewJob(kind: .prune, target: "server"))
    }

    /// Checks the audit, and whether this build reads the active configurations.
    public func check() async -> [CheckFinding] {
        await unreadable() + audit()
    }

    private func unreadable() async -> [CheckFinding] {
        do {
            return try await services.applications.unreadable().sorted { $0.key < $1.key }.map { name, version in
                CheckFinding(
                    .error, "application \(name)",
                    message: "This build cannot read the active version \(version). Activate another one.")
            }
        } catch {
            return [CheckFinding(.error, "applications", message: "\(error)")]
        }
    }

    private func audit() async -> [CheckFinding] {
        do {
            switch try await services.state.operators.verifyAudit(logged: nil) {
            case .intact(let head):
                return [CheckFinding(.fine, "audit", message: "The audit is intact up to entry \(head.number).")]
            case .broken(let number):
                return [
                    CheckFinding(.error, "audit", message: "Entry \(number) of the audit is missing or was changed.")
                ]
            }
        } catch {
            return [CheckFinding(.error, "audit", message: "The audit cannot be read: \(error)")]
        }
    }
}

/// Removes old rows once an hour, in steps.
private struct ExpiryWorker: JobWorker {
    let services: NodeServices

    func run(_ job: LeasedJob) async throws -> JobOutcome {
        while try await services.state.expire(services.configuration.retention.ages) { try Task.checkCancellation() }
        return .again(at: try await services.state.now() + .seconds(3600))
    }
}

/// Removes old tombstones, and drops feeds that nobody reads, once a day (`mobile-server.md` 5.7).
private struct PruningWorker: JobWorker {
    let services: NodeServices

    /// The age at which a feed without readers is dropped.
    private static let unreadAge = Duration.seconds(30 * 86_400)
    private static let step = 10_000

    func run(_ job: LeasedJob) async throws -> JobOutcome {
        let state = services.state
        let now = try await state.now()
        let age = services.configuration.retention.ages.tombstones
        let applications = Set(try await state.applications.all().map(\.id))
        for feed in try await state.feeds.feeds(of: nil) {
            guard applications.contains(feed.application) else {
                // A crash between the two files has left the feed of a removed application.
                try await state.jobs.add(NewJob(kind: .drop, target: "\(feed.id)"))
                continue
            }
            if let asked = feed.askedAt, asked < now - Self.unreadAge {
                try await state.jobs.add(NewJob(kind: .drop, target: "\(feed.id)"))
                continue
            }
            while try await state.feeds.prune(feed.id, removedBefore: now - age, limit: Self.step) == Self.step {
                try Task.checkCancellation()
            }
        }
        return .again(at: now + .seconds(86_400))
    }
}

/// Drops a feed in steps. Each step may be repeated.
private struct DroppingWorker: JobWorker {
    let services: NodeServices

    func run(_ job: LeasedJob) async throws -> JobOutcome {
        guard let id = RecordNumber(job.target) else { return .done }
        while try await services.state.feeds.drop(id) { try Task.checkCancellation() }
        return .done
    }
}
