import Foundation
import HTTPTypes
import ODataHTTP
import ODataService
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Sends HTTP messages with `URLSession`: the transport for apps on Apple's platforms, where it brings the
/// system's proxies, trust settings and battery care (RFC 9110; the binding of OData Protocol 4.01, 8).
///
/// Response bodies stream: on Apple's platforms the transfer is suspended while the reader lags behind, on
/// Linux, where Foundation cannot suspend one, the rest waits in memory. Request bodies are held
/// in memory up to ``Configuration/maxUploadSize``; nothing is written to temporary files, which would
/// not be encrypted.
///
/// ```swift
/// let client = ODataClient(serviceRoot: "https://services.example/Northwind/", transport: URLSessionTransport())
/// ```
public final class URLSessionTransport: HTTPTransport {
    /// Timeouts and limits.
    public struct Configuration: Sendable {
        /// How long the service may be silent.
        public var timeout: Duration
        /// The most bytes of a request body.
        public var maxUploadSize: Int

        /// Makes a configuration.
        public init(timeout: Duration = .seconds(60), maxUploadSize: Int = 64 << 20) {
            self.timeout = timeout
            self.maxUploadSize = maxUploadSize
        }
    }

    private let session: URLSession
    private let transfers = TransferDelegate()
    private let configuration: Configuration

    /// Makes a transport with a session of its own, without a cache.
    public init(configuration: Configuration = Configuration()) {
        self.configuration = configuration
        let session = URLSessionConfiguration.ephemeral
        session.timeoutIntervalForRequest = TimeInterval(configuration.timeout.components.seconds)
        session.requestCachePolicy = .reloadIgnoringLocalCacheData
        session.urlCache = nil
        self.session = URLSession(configuration: session, delegate: transfers, delegateQueue: nil)
    }

    /// Ends the session; transfers under way finish.
    public func shutdown() {
        session.finishTasksAndInvalidate()
    }

    /// Sends a request and gives the answer as it came; redirects are the caller's.
    ///
    /// - Throws: ``TransportError``, ``ODataError`` with status 413 when the body is larger than the limit,
    ///   `CancellationError`, and what the request body's producer throws.
    public func send(
        _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
    ) async throws -> (HTTPResponse, ByteStream) {
        let host = request.authority ?? ""
        let text = "\(request.scheme ?? "")://\(host)\(request.path ?? "/")"
        guard request.scheme == "http" || request.scheme == "https", !host.isEmpty, let url = URL(string: text) else {
            throw TransportError.invalidURL(text)
        }
        var outgoing = URLRequest(url: url)
        outgoing.httpMethod = request.method.rawValue
        for field in request.headerFields {
            outgoing.addValue(field.value, forHTTPHeaderField: field.name.rawName)
        }
        if let body { outgoing.httpBody = Data(try await body.collect(limit: configuration.maxUploadSize)) }
        let task = session.dataTask(with: outgoing)
        let transfer = transfers.begin(task, host: host)
        return try await withTaskCancellationHandler {
            let response = try await transfer.head()
            let isEncoded = response.headerFields[.contentEncoding] != nil
            let length = isEncoded ? nil : response.headerFields[.contentLength].flatMap { Int64($0) }
            let stream = ByteStream(length: request.method == .head ? nil : length) {
                try await withTaskCancellationHandler {
                    try await transfer.nextChunk()
                } onCancel: {
                    task.cancel()
                }
            }
            return (response, stream)
        } onCancel: {
            task.cancel()
        }
    }
}

/// Receives the session's callbacks and hands them to the transfers that they are about.
final class TransferDelegate: NSObject, URLSessionDataDelegate, Sendable {
    private let transfers = Mutex<[Int: Transfer]>([:])

    func begin(_ task: URLSessionDataTask, host: String) -> Transfer {
        let transfer = Transfer(task: task, host: host)
        transfers.withLock { $0[task.taskIdentifier] = transfer }
        task.resume()
        return transfer
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        transfer(of: dataTask)?.receive(head: response)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        transfer(of: dataTask)?.receive(chunk: Array(data))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let transfer = transfers.withLock { $0.removeValue(forKey: task.taskIdentifier) }
        transfer?.finish(error)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    private func transfer(of task: URLSessionTask) -> Transfer? {
        transfers.withLock { $0[task.taskIdentifier] }
    }
}
