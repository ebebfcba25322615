import AsyncHTTPClient
import ErrorCodes
import NIOCore
import ODataHTTP

extension NIOTransport {
    /// The timeouts, trust and limits of a transport.
    public struct Configuration: Sendable {
        /// The maximum duration of connecting, including TLS.
        public var connectTimeout: Duration
        /// The maximum time without progress while a response or its next part is awaited, or while a request
        /// is sent. The time in which nobody reads does not count.
        public var readTimeout: Duration
        /// The maximum time until the head of the response has arrived; `nil` for no limit besides
        /// ``readTimeout``.
        public var headTimeout: Duration?
        /// The trust in server certificates.
        public var trust: ServerTrust
        /// The client certificate for servers that request one.
        public var clientIdentity: ClientIdentity?
        /// The proxy for all connections; `nil` for none.
        public var proxy: Proxy?
        /// The maximum number of connections to one host; further requests wait.
        public var maxConnectionsPerHost: Int
        /// The time for which an unused connection is kept open.
        public var idleTimeout: Duration
        /// Whether compressed responses are requested.
        public var acceptsCompression: Bool
        /// The maximum ratio between the decompressed and the compressed size of a response, as a protection
        /// against decompression bombs. Up to 64 MB there is no limit, since long runs of one character are
        /// compressed a thousandfold.
        public var maxDecompressionRatio: Int
        /// Whether HTTP/2 is offered with TLS. HTTP/2 shares one connection between requests, but is slower for
        /// a few of them. Timings are less exact, and errors about certificates contain less detail. HTTP/2
        /// cannot be combined with pins or a closure that decides about trust.
        public var allowsHTTP2: Bool

        /// Creates a configuration.
        public init(
            connectTimeout: Duration = .seconds(10), readTimeout: Duration = .seconds(60),
            headTimeout: Duration? = nil, trust: ServerTrust = .system, clientIdentity: ClientIdentity? = nil,
            proxy: Proxy? = nil, maxConnectionsPerHost: Int = 8, idleTimeout: Duration = .seconds(30),
            acceptsCompression: Bool = true, maxDecompressionRatio: Int = 200, allowsHTTP2: Bool = false
        ) {
            self.connectTimeout = connectTimeout
            self.readTimeout = readTimeout
            self.headTimeout = headTimeout
            self.trust = trust
            self.clientIdentity = clientIdentity
            self.proxy = proxy
            self.maxConnectionsPerHost = maxConnectionsPerHost
            self.idleTimeout = idleTimeout
            self.acceptsCompression = acceptsCompression
            self.maxDecompressionRatio = maxDecompressionRatio
            self.allowsHTTP2 = allowsHTTP2
        }
    }

    /// A proxy that forwards connections.
    public struct Proxy: Sendable, Hashable, CustomStringConvertible {
        /// The protocols of proxies.
        public enum Kind: Sendable, Hashable {
            /// The method `CONNECT` (RFC 9110, 9.3.6).
            case http
            /// SOCKS 5 (RFC 1928) without credentials.
            case socks
        }

        /// The protocol of the proxy.
        public var kind: Kind
        /// The name or address of the proxy.
        public var host: String
        /// The port of the proxy.
        public var port: Int

        /// Creates a proxy for `CONNECT`. The credentials come from the steps of an `Authentication`, and are
        /// sent to the proxy unencrypted. To another machine they are sent only with
        /// ``TransferOptions/allowsPlainHTTP``.
        public static func http(host: String, port: Int) -> Proxy { Proxy(kind: .http, host: host, port: port) }
        /// Creates a proxy for SOCKS 5.
        public static func socks(host: String, port: Int = 1080) -> Proxy {
            Proxy(kind: .socks, host: host, port: port)
        }

        /// Whether the credentials for the proxy are readable on the network.
        var isPlain: Bool { kind == .http && !Origin.isLoopback(host) }

        /// The host and the port.
        public var description: String { "\(host):\(port)" }
    }
}

/// The reason why a configuration cannot be used.
public enum TransportConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A file or text does not contain valid certificates.
    case unusableCertificates(path: String?, reason: String)
    /// The client certificate or its key is invalid.
    case unusableIdentity(ClientIdentityError)
    /// HTTP/2 is combined with pins or a closure that decides about trust.
    case http2WithOwnTrust

    /// An explanation of the error.
    public var description: String {
        switch self {
        case .unusableCertificates(let path?, let reason): "\(path) is not a PEM file of certificates: \(reason)"
        case .unusableCertificates(nil, let reason): "The text is not PEM of certificates: \(reason)"
        case .unusableIdentity(let error): error.description
        case .http2WithOwnTrust: "HTTP/2 cannot be joined with pins or a closure that decides about trust."
        }
    }
}

extension TimeAmount {
    init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let (nanoseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        self = overflow ? .hours(24 * 365) : .nanoseconds(nanoseconds + attoseconds / 1_000_000_000)
    }
}

extension TransportConfigurationError: CodedError {
    /// The code `configuration.` with the name of the error, such as `configuration.unusable-identity`.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .unusableCertificates: "unusable-certificates"
            case .unusableIdentity: "unusable-identity"
            case .http2WithOwnTrust: "http2-with-own-trust"
            }
        return ErrorCode(rawValue: "configuration.\(name)")
    }

    /// Always `FailureKind.request`: the configuration must be changed.
    public var failureKind: FailureKind { .request }
}
