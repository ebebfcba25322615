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
    /// Address, trust and limits of a server.
    public struct Configuration: Sendable {
        /// The address to listen on; only this machine by default.
        public var host: String
        /// The port; 0 lets the system choose a free one.
        public var port: Int
        /// The path of the service root; requests outside it are answered with 404.
        public var pathPrefix: String
        /// Further paths that the handler answers, such as that of a V2 service beside the V4 one.
        public var furtherPrefixes: [String]
        /// The certificate, when the server speaks TLS; it then speaks HTTP/2 as well.
        public var tls: TLS?
        /// The most bytes of a request body. Bodies are streamed; the limit ends the stream.
        public var maxBodySize: Int64
        /// How much a request may state before its body.
        public var limits: RequestLimits
        /// The names that clients may address the server by, beside addresses, loopback names and the machine's host name.
        /// Requests for other names are refused with 421.
        public var hosts: AcceptedHosts
        /// How much the clients behind one address may ask: 64 requests at once and 600 a minute by default.
        public var addressLimits: AddressLimits
        /// How the guessing of passwords is slowed down.
        public var signInDelays: SignInDelays
        /// Whether the client that `Forwarded` or `X-Forwarded-For` names is the one whose requests are counted; only behind a
        /// proxy that writes these fields itself.
        public var trustsForwarded: Bool
        /// The ways to find out who asks, any of which will do; anybody may use the service when empty. A client
        /// certificate is demanded beside one of the others, unless ``certificateSuffices``.
        public var authentication: [any RequestAuthenticator]
        /// Whether a client certificate or one of the other ways is enough where both are among ``authentication``. Wrong
        /// credentials are refused in either case.
        public var certificateSuffices: Bool
        /// Whether changes need a token, for services that browsers use with cookies or cached passwords.
        public var csrf: CSRFProtection?
        /// Which scripts of other origins may use the service; none when `nil`.
        public var crossOrigin: CrossOriginPolicy?
        /// Whether responses are packed for clients that accept it.
        public var compresses: Bool
        /// Where the server tells how it is; nowhere when `nil`.
        public var health: HealthEndpoint?
        /// Where a line for each request goes; nowhere when `nil`.
        public var accessLog: Logger?
        /// Whether the access log shows query strings, which often hold personal data.
        public var logsQueries: Bool
        /// Where the metrics go; to those of the whole process when `nil`.
        public var metricsFactory: (any MetricsFactory)?
        /// How long a connection may be silent, and how long it may take to send the head of a request.
        public var idleTimeout: Duration
        /// The least that a client has to move while the server waits for it; 1 KB in 30 s by default.
        public var minimumTransfer: MinimumTransfer
        /// The resources of each request; ``ODataService/RequestBudget/Limits/served`` by default.
        public var requestBudget: RequestBudget.Limits
        /// How long requests may go on when the server is told to stop; ``defaultDrainTime`` by default. After seven tenths
        /// of it they are cancelled, and then their connections are closed.
        public var drainTime: Duration
        /// How long a client may take to agree on TLS.
        public var handshakeTimeout: Duration
        /// What the `Server` header says; absent when `nil`.
        public var serverName: String?

        /// Ten seconds.
        public static let defaultDrainTime = Duration.seconds(10)

        /// Makes a configuration.
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
            certificateSuffices = false
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

        /// Whether there is another way to sign in than a client certificate.
        var takesSignIns: Bool { authentication.contains { !($0 is ClientCertificateAuthentication) } }

        /// The prefix with a slash at either end.
        var normalizedPrefix: String { Self.normalized(pathPrefix) }

        /// All prefixes, each with a slash at either end.
        var normalizedPrefixes: [String] { [normalizedPrefix] + furtherPrefixes.map(Self.normalized) }

        private static func normalized(_ prefix: String) -> String {
            let leading = prefix.hasPrefix("/") ? prefix : "/" + prefix
            return leading.hasSuffix("/") ? leading : leading + "/"
        }

        func serverBuilder(_ channels: OpenChannels) throws(ServerStartError) -> HTTPServerBuilder {
            let (seconds, _) = idleTimeout.components
            // Far enough above the limits that what exceeds those is still read and refused in words.
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
            tls.areClientsOptional = certificateSuffices && takesSignIns
            let configuration = try tls.configuration()
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
