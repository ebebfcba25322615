import HTTPTypes
import ODataHTTP
import ODataService
import Synchronization

/// The events of a request, in the order in which they occur.
public enum RequestEvent: Sendable {
    /// The queue has admitted the request.
    case started
    /// The number of bytes sent and the total, if it is known. A smaller number than before means that the body
    /// is sent again.
    case sent(Int64, of: Int64?)
    /// The head of the response has arrived.
    case headers(HTTPResponse)
    /// The body of the response is compressed with this coding, such as `gzip`; its chunks are already
    /// decompressed.
    case unpacked(coding: String)
    /// A redirect is followed.
    case redirected(to: String, status: Int)
    /// The service or a proxy requires authentication.
    case authenticationNeeded(host: String, realm: String?, isProxy: Bool)
    /// The request failed temporarily and is sent again after a delay.
    case interrupted(any Error, retryAfter: Duration)
    /// A part of the response body.
    case chunk([UInt8])
    /// The body is complete. This is the last event.
    case finished
    /// The request failed or was cancelled (`CancellationError`). This is the last event.
    case failed(any Error)

    /// Whether no further event follows.
    public var isTerminal: Bool {
        switch self {
        case .finished, .failed: true
        default: false
        }
    }
}

/// A request as a sequence of its events, which ends with exactly one terminal event.
///
/// The request is sent when the first event is requested. The response body is read on demand, so that a slow
/// reader slows down the service. The request ends when the reading task is cancelled or the iterator is
/// deallocated.
///
/// ```swift
/// var received: [UInt8] = []
/// for await event in session.events(of: request) {
///     switch event {
///     case .chunk(let bytes): received += bytes
///     case .failed(let error): throw error
///     default: break
///     }
/// }
/// ```
public struct RequestEvents: AsyncSequence, Sendable {
    /// The elements are events of the request.
    public typealias Element = RequestEvent
    /// The sequence never throws; a failure is an event.
    public typealias Failure = Never

    private let start:
        @Sendable (@escaping @Sendable (TransferEvent) -> Void) async throws -> (HTTPResponse, ByteStream)

    /// Creates the sequence. No request is sent yet.
    ///
    /// The response is read as a stream, so compression is off unless the options enable it.
    public init(
        _ request: HTTPRequest, body: ByteStream? = nil, options: TransferOptions = TransferOptions(),
        over transport: any HTTPTransport
    ) {
        start = { report in
            var own = options.reporting(to: report)
            own.acceptsCompression = options.acceptsCompression ?? false
            return try await transport.send(request, body: body, options: own)
        }
    }

    /// Returns an iterator; its first `next()` sends the request.
    public func makeAsyncIterator() -> Iterator { Iterator(start) }

    /// An iterator over the events of a request.
    public final class Iterator: AsyncIteratorProtocol {
        private let start:
            @Sendable (@escaping @Sendable (TransferEvent) -> Void) async throws -> (HTTPResponse, ByteStream)
        private let queue = EventQueue()
        private var sending: Task<Void, Never>?
        private var isOver = false

        fileprivate init(
            _ start:
                @escaping @Sendable (@escaping @Sendable (TransferEvent) -> Void) async throws ->
                (HTTPResponse, ByteStream)
        ) {
            self.start = start
        }

        deinit { sending?.cancel() }

        /// Returns the next event, or `nil` after a terminal one.
        public func next() async -> RequestEvent? {
            guard !isOver else { return nil }
            begin()
            let task = sending
            let queue = queue
            while true {
                if let event = queue.take() {
                    isOver = event.isTerminal
                    return event
                }
                if let body = queue.body {
                    do {
                        let chunk = try await body.next()
                        queue.add(chunk.map { .chunk($0) } ?? .finished)
                    } catch {
                        queue.add(.failed(Task.isCancelled ? CancellationError() : error))
                    }
                } else {
                    await withTaskCancellationHandler {
                        await queue.wait()
                    } onCancel: {
                        task?.cancel()
                    }
                }
            }
        }

        private func begin() {
            guard sending == nil else { return }
            sending = Task { [start, queue] in
                do {
                    let (response, body) = try await start { queue.note($0) }
                    queue.add(.headers(response), body: body)
                } catch {
                    queue.add(.failed(Task.isCancelled ? CancellationError() : error))
                }
            }
        }
    }
}

/// Events that have not been read yet. There are few, because chunks are read on demand.
private final class EventQueue: Sendable {
    fileprivate struct State {
        var events: [RequestEvent] = []
        var body: ByteStream?
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    var body: ByteStream? { state.withLock { $0.body } }

    /// Adds events that are meant for callers. Connection timings are meant for diagnostics and are ignored.
    func note(_ event: TransferEvent) {
        switch event {
        case .started: add(.started)
        case .sent(let bytes, let total): add(.sent(bytes, of: total))
        case .redirected(let url, let status): add(.redirected(to: url, status: status))
        case .authenticationNeeded(let host, let realm, let isProxy):
            add(.authenticationNeeded(host: host, realm: realm, isProxy: isProxy))
        case .interrupted(let error, let delay): add(.interrupted(error, retryAfter: delay))
        case .unpacked(let coding): add(.unpacked(coding: coding))
        case .connected, .secured, .reusedConnection, .requestSent, .firstByte, .lastByte, .received: break
        }
    }

    func add(_ event: RequestEvent, body: ByteStream? = nil) {
        let waiter = state.withLock { state in
            // Of several unread progress events, only the newest is kept.
            if case .sent = event, case .sent? = state.events.last { state.events.removeLast() }
            state.events.append(event)
            if let body { state.body = body }
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    func take() -> RequestEvent? {
        state.withLock { $0.events.isEmpty ? nil : $0.events.removeFirst() }
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                guard state.events.isEmpty else { return true }
                state.waiter = continuation
                return false
            }
            if isReady { continuation.resume() }
        }
    }
}
