import HTTPTypes
import ODataHTTP
import ODataService

/// Holds each request until a ``TransferQueue`` admits it.
public struct QueuedTransport: HTTPTransport {
    private let base: any HTTPTransport
    private let queue: TransferQueue

    /// Creates a transport that queues the requests of another one.
    public init(_ base: any HTTPTransport, queue: TransferQueue) {
        self.base = base
        self.queue = queue
    }

    /// Waits for admission and sends the request. The place in the queue is released when the response has been
    /// read to its end or is deallocated.
    public func send(
        _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
    ) async throws -> (HTTPResponse, ByteStream) {
        let slot = try await queue.enter(request.label(options), priority: options.priority)
        options.report?(.started(.now))
        do {
            let (response, stream) = try await base.send(request, body: body, options: options)
            guard stream.length != 0 else {
                slot.release()
                return (response, stream)
            }
            let guarded = ByteStream(length: stream.length) {
                do {
                    let chunk = try await stream.next()
                    if chunk == nil { slot.release() }
                    return chunk
                } catch {
                    slot.release()
                    throw error
                }
            }
            return (response, guarded)
        } catch {
            slot.release()
            throw error
        }
    }

    /// Sends several requests one after the other in one place of the queue, so that their responses arrive in
    /// order.
    ///
    /// - Parameter receive: Receives the index of the request, from 0, and its response. The next request is
    ///   sent after the closure returns, so the closure should read the body. An error of the closure ends the
    ///   bundle.
    public func send(
        _ bundle: TransferBundle,
        receive: (Int, Result<(HTTPResponse, ByteStream), any Error>) async throws -> Void
    ) async throws {
        guard !bundle.requests.isEmpty else { return }
        let slot = try await queue.enter(bundle.label, priority: bundle.priority)
        defer { slot.release() }
        for (number, entry) in bundle.requests.enumerated() {
            try Task.checkCancellation()
            entry.options.report?(.started(.now))
            let answer: Result<(HTTPResponse, ByteStream), any Error>
            do {
                answer = .success(try await base.send(entry.request, body: entry.body, options: entry.options))
            } catch {
                answer = .failure(error)
            }
            try await receive(number, answer)
        }
    }
}

/// A list of requests that are sent one after the other.
///
/// ```swift
/// var bundle = TransferBundle(label: "Order 7")
/// bundle.add(request)
/// bundle.add(HTTPRequest(method: .get, scheme: "https", authority: "services.example", path: "/Orders(7)/Items"))
/// try await session.send(bundle) { number, response in show(number, response) }
/// ```
public struct TransferBundle: Sendable {
    /// A request with its body and options.
    public struct Entry: Sendable {
        /// The method, URL and header fields.
        public var request: HTTPRequest
        /// The body of the request.
        public var body: ByteStream?
        /// The options of the request; its priority is ignored in favour of the bundle's.
        public var options: TransferOptions
    }

    /// The name of the bundle in the list of the queue.
    public var label: String
    /// The priority of the bundle in the queue.
    public var priority: TransferOptions.Priority
    /// The requests in the order of sending.
    public private(set) var requests: [Entry] = []

    /// Creates an empty bundle.
    public init(label: String = "bundle", priority: TransferOptions.Priority = .normal) {
        self.label = label
        self.priority = priority
    }

    /// Appends a request.
    public mutating func add(_ request: HTTPRequest, body: ByteStream? = nil, options: TransferOptions = .init()) {
        requests.append(Entry(request: request, body: body, options: options))
    }

    /// Removes the request at an index. An invalid index is ignored.
    public mutating func remove(at index: Int) {
        if requests.indices.contains(index) { requests.remove(at: index) }
    }

    /// Removes all requests.
    public mutating func clear() { requests = [] }
}

extension HTTPRequest {
    /// Returns the name in the list of the queue: the label, or the method and the path. The query is left out,
    /// because it often contains personal data.
    fileprivate func label(_ options: TransferOptions) -> String {
        options.label ?? "\(method) \((path ?? "/").prefix { $0 != "?" })"
    }
}
