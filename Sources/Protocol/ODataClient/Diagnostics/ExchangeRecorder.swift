import ODataHTTP
import ODataService
import Synchronization

/// Collects the timings of one request and reports them once.
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

    /// Records the instants that a transport reports.
    func take(_ event: TransferEvent) {
        switch event {
        case .requestSent(let instant): moments.withLock { $0 = instant }
        case .firstByte(let instant), .lastByte(let instant):
            guard let sent = moments.withLock({ $0 }) else { return }
            update { $0.network = instant - sent }
        default: break
        }
    }

    /// The instant at which the last byte of the request was sent.
    private let moments = Mutex<ContinuousClock.Instant?>(nil)

    /// Returns a body that counts its bytes as they are sent.
    func sending(_ stream: ByteStream) -> ByteStream {
        stream.observed { chunk in self.update { $0.sentBytes += Int64(chunk?.count ?? 0) } }
    }

    /// Returns a response body that records its size and its timings.
    ///
    /// - Parameters:
    ///   - client: The instant at which the message was created.
    ///   - transport: The instant at which the message was passed to the transport.
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

    /// The time that readers of the body spent waiting for bytes.
    private let waited = Mutex(Duration.zero)

    /// Returns the start of a measurement of reading a document; pass it to ``parsed(_:since:)``.
    func reading() -> Reading { Reading(start: clock.now, waited: waited.withLock { $0 }) }

    /// The start of a measurement and the time spent waiting until then.
    struct Reading {
        let start: ContinuousClock.Instant
        let waited: Duration
    }

    /// Records a document that was read while its bytes arrived. The time spent waiting for bytes is
    /// subtracted.
    func parsed(_ kind: RequestTimings.Document.Kind, since reading: Reading?) {
        guard let reading else { return }
        let waiting = waited.withLock { $0 } - reading.waited
        let taken = clock.now - reading.start - waiting
        update { timings in
            timings.documents.append(.init(kind: kind, bytes: timings.receivedBytes, duration: max(.zero, taken)))
        }
    }

    private let streams = Mutex(false)

    /// Marks the response as a stream, so that the exchange ends with the last byte.
    func leaveOpen() { streams.withLock { $0 = true } }

    private func finishIfStreaming() {
        if streams.withLock({ $0 }) { finish() }
    }

    /// Reports the timings; further calls have no effect.
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
