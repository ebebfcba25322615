import HTTPTypes
import ODataModel
import ODataService

/// The requests that are answered later, and their answers until somebody fetches them
/// (OData Protocol 4.01, 11.6 *Asynchronous Requests*).
///
/// Answers are held in memory, so everything about them has a limit: how many there are, how large each is and all are
/// together, and how long they are kept. Where an answer cannot be kept, what was asked for is done all the same, and the
/// answer is an error with status 413.
public actor StatusMonitors {
    /// What may be under way and kept at once.
    public struct Limits: Hashable, Sendable {
        /// The most requests under way and answers kept together; beyond, requests are answered at once.
        public var maxCount: Int
        /// The most bytes of one answer; a larger one becomes an error.
        public var maxAnswerSize: Int
        /// The most bytes of all answers together, those to a batch that is under way included. The caller with the most
        /// makes room for others; an answer that still has none becomes an error.
        public var maxTotalSize: Int
        /// The most requests under way and answers kept for one caller: a principal, or an address of anonymous callers.
        public var maxCountOfCaller: Int
        /// The most bytes of the answers that are kept for one caller.
        public var maxSizeOfCaller: Int
        /// How long an answer is kept after it was there.
        public var lifetime: Duration

        /// Makes limits.
        public init(
            maxCount: Int = 1000, maxAnswerSize: Int = 64 << 20, maxTotalSize: Int = 512 << 20,
            maxCountOfCaller: Int = 8, maxSizeOfCaller: Int = 256 << 20, lifetime: Duration = .seconds(3600)
        ) {
            self.maxCountOfCaller = maxCountOfCaller
            self.maxSizeOfCaller = maxSizeOfCaller
            self.maxCount = maxCount
            self.maxAnswerSize = maxAnswerSize
            self.maxTotalSize = maxTotalSize
            self.lifetime = lifetime
        }
    }

    /// An answer as a whole. To a batch it has no body: the answers to its requests are kept in ``BatchProgress``.
    struct Answer: Sendable {
        var head: HTTPResponse
        var body: [UInt8]
    }

    /// What a monitor tells.
    enum State: Sendable {
        case running(BatchProgress?)
        /// The batch is that which the answer is to be taken from.
        case finished(Answer, BatchProgress?)
        /// There is no such request, or its answer is no longer kept.
        case gone
    }

    private struct Job {
        /// The principal, who alone may fetch the answer.
        var owner: CallerID?
        /// The caller whose share the answer uses.
        var caller: CallerID?
        var task: Task<Void, Never>?
        var answer: Answer?
        /// The room that the answer takes.
        var share: AnswerSpace.Share
        /// The answers to a batch that are there.
        var progress: BatchProgress?
        var finished: ContinuousClock.Instant?
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let limits: Limits
    private let space: AnswerSpace
    private let now: @Sendable () -> ContinuousClock.Instant
    private var jobs: [String: Job] = [:]

    /// Makes an empty collection.
    ///
    /// - Parameters:
    ///   - limits: what may be under way and kept at once.
    ///   - now: the time; the system's clock by default.
    public init(
        limits: Limits = Limits(), now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.limits = limits
        space = AnswerSpace(limits)
        self.now = now
    }

    /// Room for an answer, none of which is taken yet.
    nonisolated func share(of caller: CallerID?) -> AnswerSpace.Share { AnswerSpace.Share(of: space, for: caller) }

    /// Begins work whose answer is fetched later.
    ///
    /// - Returns: the id of its monitor, which nobody can guess; `nil` when there are too many already.
    func begin(
        for owner: CallerID? = nil, _ caller: CallerID? = nil, _ progress: BatchProgress? = nil,
        _ work: @escaping @Sendable () async -> (HTTPResponse, ByteStream)
    ) -> String? {
        removeExpired()
        guard jobs.count < limits.maxCount,
            jobs.values.count(where: { $0.caller == caller }) < limits.maxCountOfCaller
        else { return nil }
        let id = "\(ODataGuid.random())"
        let share = share(of: caller)
        jobs[id] = Job(owner: owner, caller: caller, share: share, progress: progress)
        jobs[id]?.task = Task {
            let (head, stream) = await work()
            // The answers to a batch are kept one by one already.
            let isKept = progress != nil && head.status == .ok
            finish(id, isKept ? Answer(head: head, body: []) : await collected(head, stream, share))
        }
        return id
    }

    /// Waits until an answer is there, and no longer than a client is ready to.
    func wait(for id: String, atMost duration: Duration) async {
        guard let job = jobs[id], job.answer == nil else { return }
        let alarm = Task {
            try? await Task.sleep(for: duration)
            wake(id)
        }
        await withCheckedContinuation { jobs[id]?.waiting.append($0) }
        alarm.cancel()
    }

    /// How a request is getting on.
    func state(of id: String, for owner: CallerID? = nil) -> State {
        removeExpired()
        guard let job = jobs[id], job.owner == owner else { return .gone }
        return job.answer.map { .finished($0, job.progress) } ?? .running(job.progress)
    }

    /// Ends a request, or throws its answer away.
    ///
    /// - Returns: whether there was one.
    func cancel(_ id: String, for owner: CallerID? = nil) -> Bool {
        removeExpired()
        guard let job = jobs[id], job.owner == owner else { return false }
        jobs[id] = nil
        job.task?.cancel()
        for continuation in job.waiting { continuation.resume() }
        return true
    }

    /// Ends all requests and throws all answers away: for a server that stops.
    public func cancelAll() {
        for job in jobs.values {
            job.task?.cancel()
            for continuation in job.waiting { continuation.resume() }
        }
        jobs = [:]
    }

    private func collected(_ head: HTTPResponse, _ stream: ByteStream, _ share: AnswerSpace.Share) async -> Answer {
        var body: [UInt8] = []
        do {
            while let chunk = try await stream.next() {
                makeRoom(for: chunk.count, of: share.caller)
                try share.take(chunk.count)
                body += chunk
            }
            return Answer(head: head, body: body)
        } catch {
            share.release()
            let refusal = RefusalWriter.refusal(error)
            return Answer(head: ErrorResponse.head(refusal, ResponseFormat()), body: ErrorObject.bytes(refusal))
        }
    }

    /// Forgets answers of the callers that have most, until others have room.
    private func makeRoom(for bytes: Int, of caller: CallerID?) {
        while space.isFull(bytes) {
            let sizes = space.sizes
            guard let (greatest, size) = sizes.max(by: { $0.value < $1.value }), size > sizes[caller, default: 0] else {
                return
            }
            let oldest = jobs.filter { $0.value.caller == greatest && $0.value.answer != nil }
                .min { ($0.value.finished ?? now()) < ($1.value.finished ?? now()) }
            guard let oldest else { return }
            jobs[oldest.key] = nil
            oldest.value.progress?.share.release()
            oldest.value.share.release()
        }
    }

    private func finish(_ id: String, _ answer: Answer) {
        guard jobs[id] != nil else { return }
        jobs[id]?.answer = answer
        jobs[id]?.finished = now()
        jobs[id]?.task = nil
        wake(id)
    }

    private func wake(_ id: String) {
        guard let waiting = jobs[id]?.waiting else { return }
        jobs[id]?.waiting = []
        for continuation in waiting { continuation.resume() }
    }

    private func removeExpired() {
        let limit = now() - limits.lifetime
        jobs = jobs.filter { $0.value.finished.map { $0 > limit } ?? true }
    }
}
