import Foundation
import HTTPTypes
import ODataHTTP
import ODataService
import Synchronization

#if !canImport(Darwin)
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
/// let client = try ODataClient(
///     serviceRoot: "https://services.example/Northwind/", transport: URLSessionTransport())
/// ```
public final class URLSessionTransport: HTTPTransport {
    /// Timeouts and limits.
    public struct Configuration: Sendable {
        /// How long the service may be silent.
        public var timeout: Duration
        /// The most bytes of a request body that is held in memory.
        public var maxUploadSize: Int
        /// Whether compressed answers are asked for.
        public var acceptsCompression: Bool
        #if canImport(Security)
            /// Who is believed to say which server is which.
            public var trust: ServerTrust
            /// By which certificate the client shows who it is, where a server asks for one.
            public var clientIdentity: ClientIdentity?
        #endif

        /// Makes a configuration.
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
    /// Whether the session has ended; one that has makes no tasks.
    private let isShutDown = Mutex(false)
    let transfers: TransferDelegate
    private let configuration: Configuration

    /// Makes a transport with a session of its own, without a cache.
    public init(configuration: Configuration = Configuration()) {
        self.configuration = configuration
        transfers = TransferDelegate(configuration)
        let session = URLSessionConfiguration.ephemeral
        session.timeoutIntervalForRequest = TimeInterval(configuration.timeout.components.seconds)
        session.requestCachePolicy = .reloadIgnoringLocalCacheData
        session.urlCache = nil
        // Cookies and credentials are steps above.
        session.httpCookieStorage = nil
        session.httpShouldSetCookies = false
        self.session = URLSession(configuration: session, delegate: transfers, delegateQueue: nil)
    }

    /// Ends the session; transfers under way finish, and what is sent later fails.
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

    /// Sends a request and gives the answer as it came; redirects are the caller's.
    ///
    /// The system asks for the credentials of its proxies itself: ``TransferOptions/proxyAuthorization`` is refused. So is
    /// ``TransferOptions/clientIdentity`` on Linux, where Foundation shows no certificates.
    ///
    /// - Throws: ``TransportError``, ``ClientIdentityError`` for an identity that the system cannot read,
    ///   ``ODataError`` with status 413 when the body is larger than the limit,
    ///   `CancellationError`, and what the request body's producer throws.
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

    /// Refuses the options that would have no effect.
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
            // Foundation on Linux reads a body stream without waiting for it, so the body is taken whole.
            var request = request
            request.httpBody = Data(try await body.collect(limit: configuration.maxUploadSize))
            let whole = request
            return try made(whole) { $0.dataTask(with: whole) }
        #endif
    }

    /// A task of the session, which traps where it has ended.
    func made(_ request: URLRequest, _ task: (URLSession) -> URLSessionTask) throws(TransportError) -> URLSessionTask {
        let task = isShutDown.withLock { $0 ? nil : task(session) }
        guard let task else {
            throw .cannotConnect(host: request.url?.host() ?? "", reason: "the transport is shut down")
        }
        return task
    }
}

/// Reads the body of a transfer; letting it go ends the transfer.
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

/// Receives the session's callbacks and hands them to the transfers that they are about.
final class TransferDelegate: NSObject, URLSessionDataDelegate, Sendable {
    private let transfers = Mutex<[Int: Transfer]>([:])
    private let failures = Mutex<[Int: any Error]>([:])
    let configuration: URLSessionTransport.Configuration

    init(_ configuration: URLSessionTransport.Configuration) { self.configuration = configuration }

    /// Notes why the body of a request ended early: the system knows only that its task was cancelled.
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
        // Foundation on Linux keeps an answer that asks for a password to itself: its head is in the challenge, and its
        // body is lost. Elsewhere the challenge is declined and the answer comes.
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
