import Logging
import ServerState
import Synchronization

/// Claims due jobs, keeps their leases, and carries them out (`mobile-server.md` 8).
///
/// A lease lasts 30 s by the database's clock and is renewed every 10 s. A job whose lease cannot be renewed is
/// cancelled 25 s after the last success.
actor JobRunner {
    /// The times of leases.
    struct Times {
        var lease = Duration.seconds(30)
        var renewal = Duration.seconds(10)
        var patience = Duration.seconds(25)
        var poll = Duration.seconds(1)
    }

    private let state: any ServerState
    private let workers: [JobKind: any JobWorker]
    private let owner: String
    private let logger: Logger
    private let times: Times
    /// The number of jobs at once.
    private let capacity: Int
    private var running: [RecordNumber: Task<Void, Never>] = [:]
    private var loop: Task<Void, Never>?
    private var isEnding = false

    init(
        state: any ServerState, workers: [JobKind: any JobWorker], owner: String, logger: Logger, capacity: Int = 4,
        times: Times = Times()
    ) {
        self.state = state
        self.workers = workers
        self.owner = owner
        self.logger = logger
        self.capacity = capacity
        self.times = times
    }

    func start() {
        guard loop == nil, !workers.isEmpty else { return }
        let notices = state.signal.topics()
        let (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let poll = times.poll
        loop = Task {
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    for await topics in notices where topics.contains(.jobs) { wake.yield() }
                }
                group.addTask {
                    while !Task.isCancelled {
                        wake.yield()
                        try? await Task.sleep(for: poll)
                    }
                }
                group.addTask { for await _ in wakes { await self.claim() } }
                await group.waitForAll()
            }
        }
    }

    private func claim() async {
        guard !isEnding, running.count < capacity else { return }
        do throws(ServerStateError) {
            let jobs = try await state.jobs.claim(
                Set(workers.keys), limit: capacity - running.count, lease: times.lease, owner: owner)
            for job in jobs {
                guard !isEnding else {
                    _ = await finish(job, .returned)
                    continue
                }
                running[job.id] = Task { await self.run(job) }
            }
        } catch {
            logger.warning("jobs cannot be claimed", metadata: ["reason": "\(error)"])
        }
    }

    private func run(_ job: LeasedJob) async {
        guard let worker = workers[job.kind] else { return }
        let work = Task { try await worker.run(job) }
        let keeping = Task { [state, times] in
            var last = ContinuousClock.now
            while !Task.isCancelled {
                try? await Task.sleep(for: times.renewal)
                guard !Task.isCancelled else { return }
                if let isKept = try? await state.jobs.extend(job, by: times.lease) {
                    guard isKept else { return work.cancel() }
                    last = .now
                } else if last.duration(to: .now) > times.patience {
                    return work.cancel()
                }
            }
        }
        let result = await withTaskCancellationHandler {
            await work.result
        } onCancel: {
            work.cancel()
        }
        let outcome: JobOutcome
        switch result {
        case .success(let result): outcome = result
        case .failure where isEnding: outcome = .returned
        case .failure(let error):
            logger.warning(
                "a job failed",
                metadata: ["kind": "\(job.kind.rawValue)", "target": "\(job.target)", "reason": "\(error)"])
            outcome = .failed(reason: "\(error)", retryAfter: Self.delay(after: job.tries))
        }
        keeping.cancel()
        if await !finish(job, outcome) {
            logger.warning("the lease of a job was lost", metadata: ["kind": "\(job.kind.rawValue)"])
        }
        running[job.id] = nil
    }

    /// Writes an outcome, also from a task that is cancelled: the database would refuse to work for it.
    ///
    /// - Returns: Whether the job still belonged to this node.
    private func finish(_ job: LeasedJob, _ outcome: JobOutcome) async -> Bool {
        await Task { [state] in (try? await state.jobs.finish(job, outcome)) == true }.value
    }

    /// Returns a delay from 1 s to 15 min, with full jitter.
    static func delay(after tries: Int) -> Duration {
        let longest = min(900_000, 1000 << min(max(tries, 0), 20))
        return .milliseconds(Int.random(in: 1000...max(1000, longest)))
    }

    /// Claims no further jobs, and gives back those that do not end in time.
    func stop(within time: Duration) async {
        isEnding = true
        let ended = loop
        loop = nil
        ended?.cancel()
        // A claim that is under way either begins no job or gives it back.
        await ended?.value
        let jobs = Array(running.values)
        let deadline = Task {
            try? await Task.sleep(for: time)
            for job in jobs { job.cancel() }
        }
        for job in jobs { await job.value }
        deadline.cancel()
    }
}
