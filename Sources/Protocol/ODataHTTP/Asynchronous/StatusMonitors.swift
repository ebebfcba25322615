import HTTPTypes
import ODataModel
import ODataService

/// The asynchronous requests and their responses until they are fetched (OData Protocol 4.01, 11.6 *Asynchronous
/// Requests*).
///
/// Responses are held in memory, so their number, their sizes and the time that they are retained are limited. If a
/// response cannot be retained, the request is executed nevertheless, and its response becomes an error with status
/// 413.
public actor StatusMonitors {
    /// The limits for running requests and retained responses.
    public struct Limits: Hashable, Sendable {
        /// The maximum number of running requests and retained responses together. Further requests are answered
        /// synchronously.
        public var maxCount: Int
        /// The maximum size of one response in bytes; a larger one becomes an error.
        public var maxAnswerSize: Int
        /// The maximum size of all responses in bytes, including those of running batches.
        ///
        /// To make room, responses of the caller with the most bytes are removed. A response that still does not
        /// fit becomes an error.
        public var maxTotalSize: Int
        /// The maximum number of running requests and retained responses of one caller, a principal or an anonymous
        /// address.
        public var maxCountOfCaller: Int
        /// The maximum size of the retained responses of one caller in bytes.
        public var maxSizeOfCaller: Int
        /// The time for which a completed response is retained.
        public var lifetime: Duration

        /// Creates limits.
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

    /// A response. The body of a batch response is empty, because its parts are in ``BatchProgress``.
    struct Answer: Sendable {
        var head: HTTPResponse
        var body: [UInt8]
    }

    /// The state of an asynchronous request.
    enum State: Sendable {
        case running(BatchProgress?)
        /// The request has finished. The parts of a batch response are in the batch.
        case finished(Answer, BatchProgress?)
        /// The request is unknown, or its response is not retained any more.
        case gone
    }

    private struct Job {
        /// The principal that may fetch the response.
        var owner: CallerID?
        /// The caller to which the memory of the response is charged.
        var caller: CallerID?
        var task: Task<Void, Never>?
        var answer: Answer?
        /// The memory of the response.
        var share: AnswerSpace.Share
        /// The responses to a batch so far.
        var progress: BatchProgress?
        var finished: ContinuousClock.Instant?
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let limits: Limits
    private let space: AnswerSpace
    private let now: @Sendable () -> ContinuousClock.Instant
    private var jobs: [String: Job] = [:]

    /// Creates an empty collection.
    ///
    /// - Parameters:
    ///   - limits: the limits for running requests and retained responses.
    ///   - now: returns the current time; the system's clock by default.
    public init(
        limits: Limits = Limits(), now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.limits = limits
        space = AnswerSpace(limits)
        self.now = now
    }

    /// Returns an unused share of the memory for a response.
    nonisolated func share(of caller: CallerID?) -> AnswerSpace.Share { AnswerSpace.Share(of: space, for: caller) }

    /// Starts work with a response that is fetched later.
    ///
    /// - Returns: the id of the monitor, which cannot be guessed; `nil` if a limit was reached.
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
            // The responses to a batch are already retained one by one.
            let isKept = progress != nil && head.status == .ok
            finish(id, isKept ? Answer(head: head, body: []) : await collected(head, stream, share))
        }
        return id
    }

    /// Waits until the response is complete, but not longer than a duration.
    func wait(for id: String, atMost duration: Duration) async {
        guard let job = jobs[id], job.answer == nil else { return }
        let alarm = Task {
            try? await Task.sleep(for: duration)
            wake(id)
        }
        await withCheckedContinuation { jobs[id]?.waiting.append($0) }
        alarm.cancel()
    }

    /// Returns the state of a request.
    func state(of id: String, for owner: CallerID? = nil) -> State {
        removeExpired()
        guard let job = jobs[id], job.owner == owner else { return .gone }
        return job.answer.map { .finished($0, job.progress) } ?? .running(job.progress)
    }

    /// Cancels a request, or removes its response.
    ///
    /// - Returns: whether the request was known.
    func cancel(_ id: String, for owner: CallerID? = nil) -> Bool {
        removeExpired()
        guard let job = jobs[id], job.owner == owner else { return false }
        jobs[id] = nil
        job.task?.cancel()
        for continuation in job.waiting { continuation.resume() }
        return true
    }

    /// Cancels all requests and removes all responses, for a server that stops.
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

    /// Removes responses of the callers with the most bytes until another response fits.
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
