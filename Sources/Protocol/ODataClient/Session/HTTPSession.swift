import HTTPTypes
import ODataHTTP
import ODataService

/// A transport that adds the features of a session: a queue, retries, redirects, authentication, cookies,
/// limits and progress.
///
/// The layers from the outside to the inside are: ``TransferQueue``, the time limit, ``RetryPolicy``,
/// redirects, authentication, cookies, fields for intermediaries, progress and bandwidth, the connection state,
/// ``MinimumRate`` and the transport. Each repeat and each redirect therefore authenticates again and uses the
/// current cookies. The time spent in the queue does not count towards the limit. Bytes of an attempt that was
/// challenged do not count as progress.
///
/// A client creates a session around a plain transport. Create one to change its settings, to share cookies and
/// a queue between clients, or to send requests other than those of OData.
///
/// ```swift
/// var configuration = HTTPSession.Configuration()
/// configuration.authentication = .basic(user: "ann", password: password)
/// let session = try HTTPSession(
///     URLSessionTransport(), serviceRoot: "https://services.example/Northwind/", configuration: configuration)
/// let client = try ODataClient(serviceRoot: "https://services.example/Northwind/", transport: session)
/// ```
public final class HTTPSession: HTTPTransport {
    /// The settings of a session.
    ///
    /// ```swift
    /// var configuration = HTTPSession.Configuration()
    /// configuration.authentication = .basic(user: "ann", password: password)
    /// configuration.wholeTimeout = .seconds(60)
    /// ```
    public struct Configuration: Sendable {
        /// The authentication for the origin of the service and for ``furtherOrigins``.
        public var authentication: Authentication
        /// Further origins that may receive credentials and ``fields``.
        public var furtherOrigins: Set<Origin>
        /// The redirects that are followed.
        public var redirects: RedirectingTransport.Policy
        /// The requests that are sent again, and the delays between attempts.
        public var retry: RetryPolicy
        /// The time limit of a whole exchange; `nil` for no limit.
        public var wholeTimeout: Duration?
        /// The queue of requests; one queue can serve several sessions.
        public var queue: TransferQueue
        /// The maximum size of a chunk of a response.
        public var chunkSize: ChunkSize
        /// The jar for cookies; `nil` ignores cookies.
        public var cookies: CookieJar?
        /// The meter and limiter of transferred bytes; one can serve several sessions.
        public var bandwidth: Bandwidth
        /// The monitor that is informed about connections; `nil` for none.
        public var monitor: ConnectionMonitor?
        /// Whether credentials and ``fields`` may be sent to another machine over plain HTTP, where they are
        /// readable for intermediaries; by default, `false`. This machine (`localhost`, 127.0.0.0/8, ::1) is
        /// always allowed.
        public var allowsPlainHTTP: Bool
        /// The minimum rate at which a body must arrive; `nil` for no limit.
        public var minimumRate: MinimumRate?
        /// Returns header fields for intermediaries. The closure is called each time a request is sent.
        public var fields: (@Sendable () async throws -> HTTPFields)?

        /// Creates a configuration.
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

    /// The settings of this session.
    public let configuration: Configuration
    private let queued: QueuedTransport

    /// Creates a session. No request is sent yet.
    ///
    /// - Parameters:
    ///   - transport: Sends the requests.
    ///   - serviceRoot: The URL of the service, whose origin may receive credentials.
    /// - Throws: ``TransportError/invalidURL(_:)`` if the root is not an absolute HTTP URL.
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

    /// The queue of requests.
    public var queue: TransferQueue { configuration.queue }

    /// Whether a request is in progress.
    public var isInUse: Bool { configuration.queue.entries.contains(where: \.isRunning) }

    /// Always `true`, because this transport is a session.
    public var keepsSession: Bool { true }

    /// Sends a request as soon as the queue admits it.
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

    /// Returns a request as a sequence of events. The response is not compressed, unless the options request
    /// it.
    public func events(
        of request: HTTPRequest, body: ByteStream? = nil, options: TransferOptions = TransferOptions()
    ) -> RequestEvents {
        RequestEvents(request, body: body, options: options, over: self)
    }

    /// Removes all cookies.
    public func reset() { configuration.cookies?.clear() }
}
