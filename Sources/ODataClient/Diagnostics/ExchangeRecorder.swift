import ODataService
import Synchronization

/// Takes the times of one request, from wherever its parts happen, and gives them out once.
final class ExchangeRecorder: Sendable {
    private struct State {
        var timings: RequestTimings
        var isFinished = false
    }

    private let clock = ContinuousClock()
    private let started: ContinuousClock.Instant
    private let state: Mutex<State>
    private let report: @Sendable (RequestTimings) -> Void

    init(operation: String, report: @escaping @Sendable (RequestTimings) -> Void) {
        started = clock.now
        self.report = report
        state = Mutex(
            State(
                timings: RequestTimings(
                    operation: operation, endToEnd: .zero, client: .zero, transport: .zero, network: .zero,
                    sentBytes: 0, receivedBytes: 0, documents: [])))
    }

    var now: ContinuousClock.Instant { clock.now }

    func update(_ change: (inout RequestTimings) -> Void) { state.withLock { change(&$0.timings) } }

    /// Runs something that waits for the other side.
    func waiting<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        let start = clock.now
        defer {
            let waited = clock.now - start
            update { $0.network += waited }
        }
        return try await body()
    }

    /// A body that is counted as it goes out.
    func sending(_ stream: ByteStream) -> ByteStream {
        stream.observed { chunk in self.update { $0.sentBytes += Int64(chunk?.count ?? 0) } }
    }

    /// A body that is timed as it comes in.
    ///
    /// - Parameters:
    ///   - client: when the message was made.
    ///   - transport: when it was handed over.
    ///   - finishes: whether the exchange is over with the last byte: the answer is a stream.
    func receiving(
        _ stream: ByteStream, client: ContinuousClock.Instant, transport: ContinuousClock.Instant
    ) -> ByteStream {
        ByteStream(length: stream.length) {
            do {
                let chunk = try await self.waiting { try await stream.next() }
                let now = self.clock.now
                self.update {
                    $0.receivedBytes += Int64(chunk?.count ?? 0)
                    $0.client = now - client
                    $0.transport = now - transport
                }
                if chunk == nil { self.finishIfStreaming() }
                return chunk
            } catch {
                self.finishIfStreaming()
                throw error
            }
        }
    }

    /// The time spent waiting so far.
    var network: Duration { state.withLock { $0.timings.network } }

    /// Takes a document that was read while its bytes came: the waiting among it is not reading.
    func parsed(_ kind: RequestTimings.Document.Kind, since start: ContinuousClock.Instant, waited: Duration?) {
        let taken = clock.now - start
        update { timings in
            let waiting = timings.network - (waited ?? .zero)
            timings.documents.append(
                .init(kind: kind, bytes: timings.receivedBytes, duration: max(.zero, taken - waiting)))
        }
    }

    private let streams = Mutex(false)

    /// Says that the answer is a stream, so that its end is the end.
    func leaveOpen() { streams.withLock { $0 = true } }

    private func finishIfStreaming() {
        if streams.withLock({ $0 }) { finish() }
    }

    /// Gives the times out; a second call does nothing.
    func finish() {
        let ended = clock.now - started
        let timings: RequestTimings? = state.withLock { state in
            guard !state.isFinished else { return nil }
            state.isFinished = true
            state.timings.endToEnd = ended
            return state.timings
        }
        if let timings { report(timings) }
    }
}
