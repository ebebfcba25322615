import Hummingbird
import HummingbirdCore
import HummingbirdHTTP2
import Logging
import Metrics
import NIOCore
import NIOSSL
import ODataHTTP
import ODataService

extension ODataServer {
    /// The settings of a server: address, authentication and limits.
    public struct Configuration: Sendable {
        /// The address to listen on; by default, only this machine.
        public var host: String
        /// The port; 0 selects a free one.
        public var port: Int
        /// The path of the service root; requests outside of it are answered with 404.
        public var pathPrefix: String
        /// Further paths that the handler serves, such as that of a V2 service beside the V4 one.
        public var furtherPrefixes: [String]
        /// The certificate and key for TLS; `nil` disables TLS. With TLS, the server supports HTTP/2 as well.
        public var tls: TLS?
        /// The maximum number of bytes of a request body. Bodies are streamed; the limit ends the stream.
        public var maxBodySize: Int64
        /// The size limits of a request's head.
        public var limits: RequestLimits
        /// The accepted host names, in addition to IP addresses, loopback names and the host name of the
        /// machine. Requests for other names are refused with 421.
        public var hosts: AcceptedHosts
        /// The request limits of one client address; by default, 64 concurrent requests and 600 per minute.
        public var addressLimits: AddressLimits
        /// The delays after failed sign-ins.
        public var signInDelays: SignInDelays
        /// Whether requests count for the client in `Forwarded` or `X-Forwarded-For`. Set it only behind a
        /// proxy that writes these fields itself.
        public var trustsForwarded: Bool
        /// The number of trusted proxies in a row, each of which adds an entry to these fields. The entry of the
        /// first of them names the client. It counts only with ``trustsForwarded``.
        public var trustedHops: Int
        /// The accepted methods of authentication, each of which is sufficient; if empty, the service is open
        /// to everyone. A client certificate is required in addition to another method, unless
        /// ``certificateSuffices`` is set.
        public var authentication: [any RequestAuthenticator]
        /// Whether either a client certificate or another method is sufficient, if ``authentication`` contains
        /// both. Invalid credentials are refused in any case.
        public var certificateSuffices: Bool
        /// The protection of changes by a token, for services that browsers use with cookies or saved
        /// passwords.
        public var csrf: CSRFProtection?
        /// The policy for scripts of other origins; `nil` allows none.
        public var crossOrigin: CrossOriginPolicy?
        /// Whether responses are compressed for clients that accept it.
        public var compresses: Bool
        /// The health endpoint; `nil` for none.
        public var health: HealthEndpoint?
        /// The endpoint of the metrics; `nil` for none.
        public var metrics: MetricsEndpoint?
        /// The logger for a line for each request; `nil` for none.
        public var accessLog: Logger?
        /// Whether the access log contains query strings, which often contain personal data.
        public var logsQueries: Bool
        /// The factory of metrics; `nil` for the one that the process has bootstrapped.
        public var metricsFactory: (any MetricsFactory)?
        /// The maximum time for which a connection may be idle, and for which a client may send the head of a
        /// request.
        public var idleTimeout: Duration
        /// The minimum rate of transfers; by default, 1 KB in 30 s.
        public var minimumTransfer: MinimumTransfer
        /// The resource limits of each request; by default, ``ODataService/RequestBudget/Limits/served``.
        public var requestBudget: RequestBudget.Limits
        /// The maximum time for which requests may run after the server was told to stop; by default,
        /// ``defaultDrainTime``. After 70 % of it they are cancelled, and then their connections are closed.
        public var drainTime: Duration
        /// The maximum duration of a TLS handshake.
        public var handshakeTimeout: Duration
        /// The value of the field `Server`; `nil` omits it.
        public var serverName: String?

        /// The default of ten seconds.
        public static let defaultDrainTime = Duration.seconds(10)

        /// Creates a configuration.
        public init(
            host: String = "127.0.0.1", port: Int = 0, pathPrefix: String = "/", tls: TLS? = nil,
            maxBodySize: Int64 = 1 << 30, limits: RequestLimits = RequestLimits(),
            authentication: [any RequestAuthenticator] = [], csrf: CSRFProtection? = nil,
            crossOrigin: CrossOriginPolicy? = nil, compresses: Bool = true, health: HealthEndpoint? = nil,
            accessLog: Logger? = nil, logsQueries: Bool = false, idleTimeout: Duration = .seconds(60),
            handshakeTimeout: Duration = .seconds(10), serverName: String? = nil
        ) {
            self.host = host
            self.port = port
            self.pathPrefix = pathPrefix
            furtherPrefixes = []
            hosts = AcceptedHosts()
            addressLimits = AddressLimits()
            signInDelays = SignInDelays()
            trustsForwarded = false
            trustedHops = 1
            certificateSuffices = false
            metrics = nil
            metricsFactory = nil
            self.tls = tls
            self.maxBodySize = maxBodySize
            self.limits = limits
            self.authentication = authentication
            self.csrf = csrf
            self.crossOrigin = crossOrigin
            self.compresses = compresses
            self.health = health
            self.accessLog = accessLog
            self.logsQueries = logsQueries
            self.idleTimeout = idleTimeout
            minimumTransfer = MinimumTransfer()
            requestBudget = .served
            drainTime = Self.defaultDrainTime
            self.handshakeTimeout = handshakeTimeout
            self.serverName = serverName
        }

        /// Whether there is a method of authentication other than client certificates.
        var takesSignIns: Bool { authentication.contains { !($0 is ClientCertificateAuthentication) } }

        /// The prefix with a leading and a trailing slash.
        var normalizedPrefix: String { Self.normalized(pathPrefix) }

        var normalizedPrefixes: [String] { [normalizedPrefix] + furtherPrefixes.map(Self.normalized) }

        private static func normalized(_ prefix: String) -> String {
            let leading = prefix.hasPrefix("/") ? prefix : "/" + prefix
            return leading.hasSuffix("/") ? leading : leading + "/"
        }

        func serverBuilder(
            _ channels: OpenChannels, _ certificate: CurrentCertificate
        ) throws(ServerStartError) -> HTTPServerBuilder {
            let (seconds, _) = idleTimeout.components
            // The parser's limits are higher, so that requests beyond the configured limits are still read and
            // refused with a message.
            let size = 2 * (limits.maxFieldsSize + limits.maxURLLength)
            let minimumTransfer = minimumTransfer
            let isSecure = tls != nil
            let http1 = HTTP1Channel.Configuration(
                additionalChannelHandlers: CallerWatch.handlers(channels, minimumTransfer)
                    + [MalformedMessages(), RequestTargetsPlace(isSecure: isSecure)],
                idleTimeout: .seconds(min(seconds, 86_400 * 365)),
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: size, maxHeaderListSize: size, maxHeaderFieldCount: 4 * limits.maxFieldCount))
            let census = ConnectionCensus()
            guard var tls else {
                return HTTPServerBuilder { responder in
                    WatchedChannel(
                        base: HTTP1Channel(responder: responder, configuration: http1), handshakeTimeout: nil,
                        census: census)
                }
            }
            if certificateSuffices, takesSignIns { tls.areClientsOptional = true }
            let configuration = certificate.following(try tls.configuration())
            let (handshake, _) = handshakeTimeout.components
            return HTTPServerBuilder { [idleTimeout] responder in
                WatchedChannel(
                    base: try HTTP2UpgradeChannel(
                        tlsConfiguration: configuration,
                        configuration: .init(idleTimeout: idleTimeout, streamConfiguration: http1),
                        responder: responder),
                    handshakeTimeout: .seconds(min(handshake, 86_400)), census: census)
            }
        }
    }
}
