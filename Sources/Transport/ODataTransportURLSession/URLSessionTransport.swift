import Foundation
import HTTPTypes
import ODataHTTP
import ODataService
import Synchronization

#if !canImport(Darwin)
    import FoundationNetworking
#endif

/// A transport with `URLSession` for apps on Apple platforms. It supports the proxies, trust settings and
/// energy saving of the system (RFC 9110; the binding of OData Protocol 4.01, 8).
///
/// Response bodies are streamed. On Apple platforms, the transfer is suspended while the reader is slow. On
/// Linux, Foundation cannot suspend it, so unread bytes stay in memory, and request bodies are held in memory
/// up to ``Configuration/maxUploadSize``. Nothing is written to temporary files, which would not be encrypted.
///
/// ```swift
/// let client = try ODataClient(
///     serviceRoot: "https://services.example/Northwind/", transport: URLSessionTransport())
/// ```
public final class URLSessionTransport: HTTPTransport {
    /// The settings of a transport.
    public struct Configuration: Sendable {
        /// The maximum time for which the service may be silent.
        public var timeout: Duration
        /// The maximum number of bytes of a request body that is held in memory.
        public var maxUploadSize: Int
        /// Whether compressed responses are requested.
        public var acceptsCompression: Bool
        #if canImport(Security)
            /// The trust in server certificates.
            public var trust: ServerTrust
            /// The client certificate for servers that request one.
            public var clientIdentity: ClientIdentity?
        #endif

        /// Creates a configuration.
        public init(
            timeout: Duration = .seconds(60), maxUploadSize: Int = 64 << 20, acceptsCompression: Bool = true
        ) {
            self.timeout = timeout
            self.maxUploadSize = maxUploadSize
            self.acceptsCompression = acceptsCompression
            #if canImport(Security)
                trust = .system
                clientIdentity = nil
            #endif
        }
    }

    private let session: URLSession
    /// Whether the session was invalidated, so that it cannot create tasks.
    private let isShutDown = Mutex(false)
    let transfers: TransferDelegate
    private let configuration: Configuration

    /// Creates a transport with its own session and without a cache.
    public init(configuration: Configuration = Configuration()) {
        self.configuration = configuration
        transfers = TransferDelegate(configuration)
        let session = URLSessionConfiguration.ephemeral
        session.timeoutIntervalForRequest = TimeInterval(configuration.timeout.components.seconds)
        session.requestCachePolicy = .reloadIgnoringLocalCacheData
        session.urlCache = nil
        // Cookies and credentials are handled by outer layers.
        session.httpCookieStorage = nil
        session.httpShouldSetCookies = false
        self.session = URLSession(configuration: session, delegate: transfers, delegateQueue: nil)
    }

    /// Ends the session. Running transfers finish, and further requests fail.
    public func shutdown() {
        isShutDown.withLock { isShutDown in
            isShutDown = true
            session.finishTasksAndInvalidate()
        }
    }

    /// The client certificate of the configuration.
    public var configuredIdentity: ClientIdentity? {
        #if canImport(Security)
            configuration.clientIdentity
        #else
            nil
        #endif
    }

    /// Sends a request and returns the response. Redirects are not followed.
    ///
    /// The system itself asks for the credentials of its proxies, so ``TransferOptions/proxyAuthorization`` is
    /// refused. ``TransferOptions/clientIdentity`` is refused on Linux, because Foundation does not support
    /// client certificates there.
    ///
    /// - Throws:
    ///   - ``TransportError`` if the connection fails.
    ///   - ``ClientIdentityError`` for an identity that the system cannot read.
    ///   - ``ODataError`` with status 413 if the body exceeds the limit.
    ///   - `CancellationError`, and the errors of the request body's producer.
    public func send(
        _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
    ) async throws -> (HTTPResponse, ByteStream) {
        let host = request.authority ?? ""
        let text = "\(request.scheme ?? "")://\(host)\(request.path ?? "/")"
        guard request.scheme == "http" || request.scheme == "https", !host.isEmpty, let url = URL(string: text) else {
            throw TransportError.invalidURL(text)
        }
        try requireSupport(of: options)
        var outgoing = URLRequest(url: url)
        outgoing.httpMethod = request.method.rawValue
        outgoing.add(request.headerFields)
        if request.headerFields[.acceptEncoding] == nil {
            let accepts = options.acceptsCompression ?? configuration.acceptsCompression
            outgoing.setValue(accepts ? "gzip, deflate" : "identity", forHTTPHeaderField: "Accept-Encoding")
        }
        try Task.checkCancellation()
        let task = try await task(outgoing, body: body)
        let transfer = transfers.begin(task, host: host, options: options)
        return try await withTaskCancellationHandler {
            var response = try await transfer.head()
            options.report?(.firstByte(.now))
            let coding = response.headerFields[.contentEncoding]?.lowercased()
            let isPacked = request.method != .head && ["gzip", "x-gzip", "deflate"].contains(coding)
            let length = isPacked ? nil : response.headerFields[.contentLength].flatMap { Int64($0) }
            if isPacked {
                options.report?(.unpacked(coding: coding ?? ""))
                response.headerFields[.contentEncoding] = nil
                response.headerFields[.contentLength] = nil
            }
            let reader = BodyReader(transfer: transfer, task: task)
            let stream = ByteStream(length: request.method == .head ? nil : length) {
                let chunk = try await reader.next()
                if chunk == nil { options.report?(.lastByte(.now)) }
                return chunk
            }
            return (response, stream)
        } onCancel: {
            task.cancel()
        }
    }

    /// Refuses options that are not supported.
    private func requireSupport(of options: TransferOptions) throws {
        guard options.proxyAuthorization == nil else {
            throw TransportError.unsupportedOption("proxyAuthorization", transport: "URLSessionTransport")
        }
        #if canImport(Security)
            if let identity = options.clientIdentity ?? configuration.clientIdentity { _ = try identity.credential() }
        #else
            guard options.clientIdentity == nil else {
                throw TransportError.unsupportedOption("clientIdentity", transport: "URLSessionTransport on Linux")
            }
        #endif
    }

    private func task(_ request: URLRequest, body: ByteStream?) async throws -> URLSessionTask {
        guard let body else { return try made(request) { $0.dataTask(with: request) } }
        #if canImport(Darwin)
            return try await streamingTask(request, body: body)
        #else
            // Foundation on Linux reads a body stream without waiting for it, so the whole body is collected.
            var request = request
            request.httpBody = Data(try await body.collect(limit: configuration.maxUploadSize))
            let whole = request
            return try made(whole) { $0.dataTask(with: whole) }
        #endif
    }

    /// Creates a task of the session. An invalidated session would trap, so an error is thrown instead.
    func made(_ request: URLRequest, _ task: (URLSession) -> URLSessionTask) throws(TransportError) -> URLSessionTask {
        let task = isShutDown.withLock { $0 ? nil : task(session) }
        guard let task else {
            throw .cannotConnect(host: request.url?.host() ?? "", reason: "the transport is shut down")
        }
        return task
    }
}

/// Reads the body of a transfer, and cancels the transfer when it is deallocated.
private final class BodyReader: Sendable {
    private let transfer: Transfer
    private let task: URLSessionTask

    init(transfer: Transfer, task: URLSessionTask) {
        self.transfer = transfer
        self.task = task
    }

    deinit { task.cancel() }

    func next() async throws -> [UInt8]? {
        try await withTaskCancellationHandler {
            try await transfer.nextChunk()
        } onCancel: {
            task.cancel()
        }
    }
}

/// Receives the callbacks of the session and passes them to their transfers.
final class TransferDelegate: NSObject, URLSessionDataDelegate, Sendable {
    private let transfers = Mutex<[Int: Transfer]>([:])
    private let failures = Mutex<[Int: any Error]>([:])
    let configuration: URLSessionTransport.Configuration

    init(_ configuration: URLSessionTransport.Configuration) { self.configuration = configuration }

    /// Records why the body of a request ended early, because the system reports only a cancelled task.
    func note(_ error: any Error, of task: URLSessionTask) {
        failures.withLock { $0[task.taskIdentifier] = error }
    }

    func begin(_ task: URLSessionTask, host: String, options: TransferOptions) -> Transfer {
        let transfer = Transfer(task: task, host: host, options: options)
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
        let failure = failures.withLock { $0.removeValue(forKey: task.taskIdentifier) }
        transfer?.finish(failure ?? error)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    #if !canImport(Darwin)
        // Foundation on Linux withholds a response that requires a password: its head is in the challenge, and
        // its body is lost. Elsewhere, the challenge is declined and the response is delivered.
        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            if let response = challenge.failureResponse,
                let transfer = transfers.withLock({ $0.removeValue(forKey: task.taskIdentifier) })
            {
                transfer.receive(head: response)
                transfer.finish(nil)
            }
            completionHandler(.cancelAuthenticationChallenge, nil)
        }
    #endif

    func transfer(of task: URLSessionTask) -> Transfer? {
        transfers.withLock { $0[task.taskIdentifier] }
    }
}
