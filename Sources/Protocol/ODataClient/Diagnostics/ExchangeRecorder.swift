import ODataHTTP
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

    /// Takes the moments that a transport tells.
    func take(_ event: TransferEvent) {
        switch event {
        case .requestSent(let instant): moments.withLock { $0 = instant }
        case .firstByte(let instant), .lastByte(let instant):
            guard let sent = moments.withLock({ $0 }) else { return }
            update { $0.network = instant - sent }
        default: break
        }
    }

    /// When the last byte of the request had gone.
    private let moments = Mutex<ContinuousClock.Instant?>(nil)

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
                let before = self.clock.now
                let chunk = try await stream.next()
                let now = self.clock.now
                self.waited.withLock { $0 += now - before }
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

    /// The time that readers of the body waited for its bytes.
    private let waited = Mutex(Duration.zero)

    /// Begins to take the time of reading a document.
    func reading() -> Reading { Reading(start: clock.now, waited: waited.withLock { $0 }) }

    /// When reading began, and what had been waited until then.
    struct Reading {
        let start: ContinuousClock.Instant
        let waited: Duration
    }

    /// Takes a document that was read while its bytes came: the waiting among it is not reading.
    func parsed(_ kind: RequestTimings.Document.Kind, since reading: Reading?) {
        guard let reading else { return }
        let waiting = waited.withLock { $0 } - reading.waited
        let taken = clock.now - reading.start - waiting
        update { timings in
            timings.documents.append(.init(kind: kind, bytes: timings.receivedBytes, duration: max(.zero, taken)))
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
