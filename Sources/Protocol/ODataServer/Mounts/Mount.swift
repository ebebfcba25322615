import HTTPTypes
import ODataService

/// A part of a server: a path with its own authentication, admission and limits.
///
/// The mount with the longest matching path answers a request. Health and metrics come before all mounts.
///
/// ```swift
/// let mounts = [
///     Mount(path: "/operator/v1/", authentication: .any(of: [sessions]), handler: operators.handle),
///     Mount(path: "/m/v1/", authentication: .byHandler, handler: devices.handle),
/// ]
/// let server = ODataServer(configuration: configuration, mounts: mounts)
/// ```
public struct Mount: Sendable {
    /// A closure that answers a request of the mount.
    public typealias Handler =
        @Sendable (HTTPRequest, ByteStream, MountContext) async -> (HTTPResponse, ByteStream)

    /// The way in which a mount identifies callers.
    public enum Authentication: Sendable {
        /// Everyone is served; ``MountContext/principal`` is `nil`.
        case open
        /// The authentication of the server's configuration.
        case ofServer
        /// Each of these methods is sufficient; without success the answer is 401 with their challenges.
        case any(of: [any RequestAuthenticator])
        /// The handler identifies the caller, for example by an application in the path. It refuses and delays failed
        /// sign-ins itself.
        case byHandler
    }

    /// The path, with a slash at the beginning and at the end.
    public let path: String
    /// The way in which callers are identified.
    public var authentication: Authentication
    /// The class whose permits bound the running requests of the mount; `nil` for no bound.
    public var admission: AdmissionClass?
    /// The maximum number of bytes of a request body; `nil` for that of the server.
    public var maxBodySize: Int64?
    /// The time after which ``MountContext/deadline`` of a request lies.
    public var timeLimit: Duration
    let handler: Handler

    /// Creates a mount.
    ///
    /// - Parameters:
    ///   - path: The path below which all requests are answered. Missing slashes at both ends are added.
    ///   - authentication: The way in which callers are identified.
    ///   - admission: The class whose permits bound the running requests; `nil` for no bound.
    ///   - maxBodySize: The maximum number of bytes of a request body; `nil` for that of the server.
    ///   - timeLimit: The time after which the deadline of a request lies.
    ///   - handler: A closure that answers a request. The path of the request is the whole one.
    public init(
        path: String, authentication: Authentication, admission: AdmissionClass? = nil, maxBodySize: Int64? = nil,
        timeLimit: Duration = .seconds(60), handler: @escaping Handler
    ) {
        let leading = path.hasPrefix("/") ? path : "/" + path
        self.path = leading.hasSuffix("/") ? leading : leading + "/"
        self.authentication = authentication
        self.admission = admission
        self.maxBodySize = maxBodySize
        self.timeLimit = timeLimit
        self.handler = handler
    }
}

/// The circumstances of a request to a mount.
public struct MountContext: Sendable {
    /// The caller; `nil` if the mount is open or its handler identifies callers.
    public var principal: Principal?
    /// The client certificate in DER, already verified by TLS.
    public var certificate: [UInt8]?
    /// The address of the client, after trusted proxies, as text.
    public var address: String
    /// The address by which requests are counted: that of the client, or the first 64 bits of one of IPv6.
    public var countedAddress: String
    /// Whether the connection comes from this machine.
    public var isLoopback: Bool
    /// Whether the request arrived over TLS, here or at a trusted proxy.
    public var isSecure: Bool
    /// The moment until which the answer should begin.
    public var deadline: ContinuousClock.Instant

    /// Creates circumstances, for tests and for handlers that call each other.
    public init(
        principal: Principal? = nil, certificate: [UInt8]? = nil, address: String = "127.0.0.1",
        countedAddress: String? = nil, isLoopback: Bool = true, isSecure: Bool = false,
        deadline: ContinuousClock.Instant = .now + .seconds(60)
    ) {
        self.principal = principal
        self.certificate = certificate
        self.address = address
        self.countedAddress = countedAddress ?? address
        self.isLoopback = isLoopback
        self.isSecure = isSecure
        self.deadline = deadline
    }
}
