import HTTPTypes
import ODataHTTP
import ODataService

/// Lets each request wait for its turn in a ``TransferQueue``.
public struct QueuedTransport: HTTPTransport {
    private let base: any HTTPTransport
    private let queue: TransferQueue

    /// Wraps a transport.
    public init(_ base: any HTTPTransport, queue: TransferQueue) {
        self.base = base
        self.queue = queue
    }

    /// Waits, sends, and keeps the place until the response is read to its end or let go.
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

    /// Sends several requests one after the other in one place, so that their answers come in their order however
    /// many others go at the same time.
    ///
    /// - Parameter receive: gets the number of the request, from 0, and its answer; the next request is sent when it
    ///   has returned, so it should read the body. What it throws ends the bundle.
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

/// Requests that are to be sent one after the other, in their order.
///
/// ```swift
/// var bundle = TransferBundle(label: "Order 7")
/// bundle.add(header)
/// bundle.add(item)
/// try await session.send(bundle) { number, answer in … }
/// ```
public struct TransferBundle: Sendable {
    /// A request with its body and options.
    public struct Entry: Sendable {
        /// Method, URL and fields.
        public var request: HTTPRequest
        /// What is sent.
        public var body: ByteStream?
        /// What is different for it; its priority is the bundle's.
        public var options: TransferOptions
    }

    /// What the bundle is called in the queue's list.
    public var label: String
    /// Its place among others.
    public var priority: TransferOptions.Priority
    /// The requests in their order.
    public private(set) var requests: [Entry] = []

    /// Makes an empty bundle.
    public init(label: String = "bundle", priority: TransferOptions.Priority = .normal) {
        self.label = label
        self.priority = priority
    }

    /// Adds a request at the end.
    public mutating func add(_ request: HTTPRequest, body: ByteStream? = nil, options: TransferOptions = .init()) {
        requests.append(Entry(request: request, body: body, options: options))
    }

    /// Takes the request at a position out; a position that there is none at is ignored.
    public mutating func remove(at index: Int) {
        if requests.indices.contains(index) { requests.remove(at: index) }
    }

    /// Takes all requests out.
    public mutating func clear() { requests = [] }
}

extension HTTPRequest {
    /// What stands in the queue's list: the label, else method and path without the query, which often holds
    /// personal data.
    fileprivate func label(_ options: TransferOptions) -> String {
        options.label ?? "\(method) \((path ?? "/").prefix { $0 != "?" })"
    }
}
