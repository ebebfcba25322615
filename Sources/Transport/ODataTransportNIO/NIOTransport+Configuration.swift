import AsyncHTTPClient
import ErrorCodes
import NIOCore
import ODataHTTP

extension NIOTransport {
    /// Timeouts, trust and limits of a transport.
    public struct Configuration: Sendable {
        /// How long making a connection may take, TLS included.
        public var connectTimeout: Duration
        /// How long nothing may move: the service is silent while an answer is due or the next part of it is asked for,
        /// or takes nothing of what is sent. Time in which nobody reads does not count.
        public var readTimeout: Duration
        /// How long the head of the response may take in all; `nil` for no limit besides ``readTimeout``.
        public var headTimeout: Duration?
        /// Who is believed to say which server is which.
        public var trust: ServerTrust
        /// By which certificate the client shows who it is, where a server asks for one.
        public var clientIdentity: ClientIdentity?
        /// The way out, where connections go through a proxy.
        public var proxy: Proxy?
        /// The most connections to one host at a time; further requests wait.
        public var maxConnectionsPerHost: Int
        /// How long an unused connection is kept.
        public var idleTimeout: Duration
        /// Whether compressed answers are asked for.
        public var acceptsCompression: Bool
        /// The most bytes that a compressed answer of more than 64 MB may unpack to, as a multiple of what came of it: a
        /// guard against bombs. Smaller ones have no limit, since a long value of one character packs a thousandfold.
        public var maxDecompressionRatio: Int
        /// Whether HTTP/2 is offered within TLS. It shares one connection among requests, but is slower for few of
        /// them, tells the moments of a transfer less exactly, says less about why a certificate is not trusted, and
        /// cannot be joined with pins or with a closure that decides about trust.
        public var allowsHTTP2: Bool

        /// Makes a configuration.
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

    /// A server on the way that passes connections on.
    public struct Proxy: Sendable, Hashable, CustomStringConvertible {
        /// How it is spoken to.
        public enum Kind: Sendable, Hashable {
            /// By `CONNECT` (RFC 9110, 9.3.6).
            case http
            /// By SOCKS 5 (RFC 1928), without credentials.
            case socks
        }

        /// How it is spoken to.
        public var kind: Kind
        /// Its name or address.
        public var host: String
        /// Its port.
        public var port: Int

        /// A proxy that is spoken to by `CONNECT`; its credentials come from the steps of an `Authentication`. They go to it
        /// unencrypted, and so to another machine only with ``TransferOptions/allowsPlainHTTP``.
        public static func http(host: String, port: Int) -> Proxy { Proxy(kind: .http, host: host, port: port) }
        /// A proxy that speaks SOCKS 5.
        public static func socks(host: String, port: Int = 1080) -> Proxy {
            Proxy(kind: .socks, host: host, port: port)
        }

        /// Whether what is said to the proxy itself, its credentials among it, can be read on the way.
        var isPlain: Bool { kind == .http && !Origin.isLoopback(host) }

        /// Host and port.
        public var description: String { "\(host):\(port)" }
    }
}

/// A configuration that cannot be used.
public enum TransportConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A file or text that should hold certificates.
    case unusableCertificates(path: String?, reason: String)
    /// The client's certificate or its key.
    case unusableIdentity(ClientIdentityError)
    /// HTTP/2 together with pins or a closure that decides about trust.
    case http2WithOwnTrust

    /// What is wrong.
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
    /// `configuration.…`.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .unusableCertificates: "unusable-certificates"
            case .unusableIdentity: "unusable-identity"
            case .http2WithOwnTrust: "http2-with-own-trust"
            }
        return ErrorCode(rawValue: "configuration.\(name)")
    }

    /// What the transport was made with.
    public var failureKind: FailureKind { .request }
}
