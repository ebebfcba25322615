import HTTPTypes
import ODataHTTP
import ODataService

/// A transport with everything around it that an app wants: a queue, retries, redirects, signing in, cookies, limits
/// and progress. It is a transport itself, so a client takes it in place of one.
///
/// The steps, from the outside to the inside: ``TransferQueue``, the limit of time, ``RetryPolicy``, redirects,
/// authentication, cookies, fields for intermediaries, counting and bandwidth, the connection's state, ``MinimumRate``, the transport.
/// So a repeat, and each hop of a redirect, signs in anew and gets
/// the cookies of the moment; waiting for a turn does not count as time; and an attempt that a challenge made void is
/// not counted as progress.
///
/// A client makes a session of its own around a plain transport; give it one to set what is here, to let several
/// clients share cookies and queue, or to send requests besides those of OData.
///
/// ```swift
/// var configuration = HTTPSession.Configuration()
/// configuration.authentication = Authentication(try OAuth2(…))
/// let session = try HTTPSession(
///     try NIOTransport(), serviceRoot: "https://services.example/Northwind/", configuration: configuration)
/// let client = try ODataClient(serviceRoot: "https://services.example/Northwind/", transport: session)
/// ```
public final class HTTPSession: HTTPTransport {
    /// What can be set.
    public struct Configuration: Sendable {
        /// How the client shows who it is, to the service's own origin and to ``furtherOrigins``.
        public var authentication: Authentication
        /// Other origins that credentials and ``fields`` may go to.
        public var furtherOrigins: Set<Origin>
        /// Which redirects are followed.
        public var redirects: RedirectingTransport.Policy
        /// What is sent again.
        public var retry: RetryPolicy
        /// How long an exchange may take as a whole; `nil` for no limit.
        public var wholeTimeout: Duration?
        /// Lets requests go; one queue may serve several sessions.
        public var queue: TransferQueue
        /// How many bytes a chunk of a response has at most.
        public var chunkSize: ChunkSize
        /// Keeps cookies; `nil` keeps none.
        public var cookies: CookieJar?
        /// Measures and limits bytes; one may serve several sessions.
        public var bandwidth: Bandwidth
        /// Is told how connections fare; `nil` tells nobody.
        public var monitor: ConnectionMonitor?
        /// Whether credentials and ``fields`` may go to another machine over plain http, where everybody on the way can
        /// read them; `false` unless given. This machine (`localhost`, 127.0.0.0/8, ::1) needs no permission.
        public var allowsPlainHTTP: Bool
        /// The least that must come of a body that is waited for; `nil` for no limit.
        public var minimumRate: MinimumRate?
        /// Fields for intermediaries, asked for each time a request is sent.
        public var fields: (@Sendable () async throws -> HTTPFields)?

        /// Makes a configuration.
        public init(
            authentication: Authentication = .none, furtherOrigins: Set<Origin> = [],
            redirects: RedirectingTransport.Policy = .sameOrigin, retry: RetryPolicy = RetryPolicy(),
            wholeTimeout: Duration? = nil, queue: TransferQueue = .standard(), chunkSize: ChunkSize = .standard,
            cookies: CookieJar? = CookieJar(), bandwidth: Bandwidth = Bandwidth(),
            monitor: ConnectionMonitor? = nil, allowsPlainHTTP: Bool = false,
            minimumRate: MinimumRate? = .standard, fields: (@Sendable () async throws -> HTTPFields)? = nil
        ) {
            self.authentication = authentication
            self.furtherOrigins = furtherOrigins
            self.redirects = redirects
            self.retry = retry
            self.wholeTimeout = wholeTimeout
            self.queue = queue
            self.chunkSize = chunkSize
            self.cookies = cookies
            self.bandwidth = bandwidth
            self.monitor = monitor
            self.allowsPlainHTTP = allowsPlainHTTP
            self.minimumRate = minimumRate
            self.fields = fields
        }
    }

    /// What was set.
    public let configuration: Configuration
    private let queued: QueuedTransport

    /// Makes a session; nothing is sent yet.
    ///
    /// - Parameters:
    ///   - transport: carries the requests.
    ///   - serviceRoot: the service, to whose scheme, host and port credentials may go.
    /// - Throws: ``TransportError/invalidURL(_:)`` unless the root is an absolute http URL.
    public init(
        _ transport: any HTTPTransport, serviceRoot: String, configuration: Configuration = Configuration()
    ) throws(TransportError) {
        let root = try ServiceRoot(serviceRoot)
        guard let own = root.origin else { throw .invalidURL(serviceRoot) }
        let origins = configuration.furtherOrigins.union([own])
        self.configuration = configuration
        var step: any HTTPTransport = transport
        if let rate = configuration.minimumRate { step = PacedTransport(step, rate: rate) }
        if let monitor = configuration.monitor { step = MonitoredTransport(step, monitor: monitor) }
        step = ProgressTransport(step, bandwidth: configuration.bandwidth, chunkSize: configuration.chunkSize)
        if let fields = configuration.fields {
            step = HeaderTransport(
                step, origins: origins, allowsPlainHTTP: configuration.allowsPlainHTTP, fields: fields)
        }
        if let jar = configuration.cookies { step = CookieTransport(step, jar: jar) }
        step = AuthenticatingTransport(
            step, authentication: configuration.authentication, origins: origins,
            allowsPlainHTTP: configuration.allowsPlainHTTP)
        step = RedirectingTransport(step, policy: configuration.redirects)
        step = RetryingTransport(step, policy: configuration.retry)
        step = TimeLimitedTransport(step, limit: configuration.wholeTimeout)
        queued = QueuedTransport(step, queue: configuration.queue)
    }

    /// The queue.
    public var queue: TransferQueue { configuration.queue }

    /// Whether a request is on its way.
    public var isInUse: Bool { configuration.queue.entries.contains(where: \.isRunning) }

    /// It is a session itself.
    public var keepsSession: Bool { true }

    /// Sends a request when its turn comes.
    public func send(
        _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
    ) async throws -> (HTTPResponse, ByteStream) {
        options.departure?.watch()
        guard let monitor = configuration.monitor else {
            return try await queued.send(request, body: body, options: options)
        }
        let watched = options.reporting { event in
            if case .interrupted = event { monitor.noteWaiting() }
        }
        return try await queued.send(request, body: body, options: watched)
    }

    /// Sends several requests one after the other; see ``QueuedTransport/send(_:receive:)``.
    public func send(
        _ bundle: TransferBundle,
        receive: (Int, Result<(HTTPResponse, ByteStream), any Error>) async throws -> Void
    ) async throws {
        try await queued.send(bundle, receive: receive)
    }

    /// Sends a request and gives what happens as a sequence; the response is not packed unless the options ask for it.
    public func events(
        of request: HTTPRequest, body: ByteStream? = nil, options: TransferOptions = TransferOptions()
    ) -> RequestEvents {
        RequestEvents(request, body: body, options: options, over: self)
    }

    /// Forgets the cookies.
    public func reset() { configuration.cookies?.clear() }
}
