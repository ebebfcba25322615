import HTTPTypes
import ODataHTTP
import ODataService
import Synchronization

/// What happens to a request, in its order.
public enum RequestEvent: Sendable {
    /// Its turn has come.
    case started
    /// So many bytes of its body are sent, of so many in all where known. A smaller number than before means that
    /// the body is sent anew.
    case sent(Int64, of: Int64?)
    /// The head of the response has come.
    case headers(HTTPResponse)
    /// The body of the response comes packed in this coding, such as `gzip`; its chunks are unpacked already.
    case unpacked(coding: String)
    /// A redirect is followed.
    case redirected(to: String, status: Int)
    /// The service or a proxy wants to know who asks.
    case authenticationNeeded(host: String, realm: String?, isProxy: Bool)
    /// It failed for the moment, and is sent again after a while.
    case interrupted(any Error, retryAfter: Duration)
    /// A part of the response's body.
    case chunk([UInt8])
    /// The body is complete; nothing follows.
    case finished
    /// It failed, or was cancelled (`CancellationError`); nothing follows.
    case failed(any Error)

    /// Whether nothing follows.
    public var isTerminal: Bool {
        switch self {
        case .finished, .failed: true
        default: false
        }
    }
}

/// A request as a sequence of what happens to it, which ends with exactly one terminal event.
///
/// The request is sent when the first event is asked for. The response's body is read as chunks are asked for: a slow
/// reader holds the service back. Cancelling the reading task, or letting the iterator go, ends the request.
///
/// ```swift
/// for await event in session.events(of: request) {
///     switch event {
///     case .chunk(let bytes): try file.write(bytes)
///     case .failed(let error): throw error
///     default: break
///     }
/// }
/// ```
public struct RequestEvents: AsyncSequence, Sendable {
    /// What happens.
    public typealias Element = RequestEvent
    /// It never throws: a failure is an event.
    public typealias Failure = Never

    private let start:
        @Sendable (@escaping @Sendable (TransferEvent) -> Void) async throws -> (HTTPResponse, ByteStream)

    /// Makes the sequence; nothing is sent yet.
    ///
    /// The response is a stream, so it is not packed unless the options say so.
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

    /// Starts the request with the first `next()`.
    public func makeAsyncIterator() -> Iterator { Iterator(start) }

    /// Reads the events one by one.
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

        /// The next event, `nil` after a terminal one.
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

/// Events that wait to be read. There are few: chunks are asked for one by one.
private final class EventQueue: Sendable {
    fileprivate struct State {
        var events: [RequestEvent] = []
        var body: ByteStream?
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    var body: ByteStream? { state.withLock { $0.body } }

    /// Keeps what callers hear of; the moments of the wire are for those who measure.
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
            // Of the progress of an upload that nobody reads, the newest is enough.
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

    /// Waits until there is an event.
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
