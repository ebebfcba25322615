import AsyncHTTPClient
import NIOCore
import NIOSSL
import ODataService

extension NIOTransport {
    /// Timeouts, trust and limits of a transport.
    public struct Configuration: Sendable {
        /// How long making a connection may take, TLS included.
        public var connectTimeout: Duration
        /// How long the service may be silent while an answer is due or under way.
        public var readTimeout: Duration
        /// How long the head of the response may take in all; `nil` for no limit besides ``readTimeout``.
        public var headTimeout: Duration?
        /// Who is believed to say which server is which.
        public var trustRoots: TrustRoots
        /// The most connections to one host at a time; further requests wait.
        public var maxConnectionsPerHost: Int
        /// How long an unused connection is kept.
        public var idleTimeout: Duration
        /// Whether compressed answers are asked for and unpacked on the way.
        public var acceptsCompression: Bool
        /// The most bytes that a compressed answer may unpack to, as a multiple of its packed size: a
        /// guard against bombs.
        public var maxDecompressionRatio: Int
        /// The most redirects followed for one request, all within its origin; 0 follows none.
        public var maxRedirects: Int

        /// Makes a configuration.
        public init(
            connectTimeout: Duration = .seconds(10), readTimeout: Duration = .seconds(60),
            headTimeout: Duration? = nil, trustRoots: TrustRoots = .system, maxConnectionsPerHost: Int = 8,
            idleTimeout: Duration = .seconds(30), acceptsCompression: Bool = true,
            maxDecompressionRatio: Int = 200, maxRedirects: Int = 5
        ) {
            self.connectTimeout = connectTimeout
            self.readTimeout = readTimeout
            self.headTimeout = headTimeout
            self.trustRoots = trustRoots
            self.maxConnectionsPerHost = maxConnectionsPerHost
            self.idleTimeout = idleTimeout
            self.acceptsCompression = acceptsCompression
            self.maxDecompressionRatio = maxDecompressionRatio
            self.maxRedirects = maxRedirects
        }

        func clientConfiguration() throws(CertificateFileError) -> HTTPClient.Configuration {
            var tls = TLSConfiguration.makeClientConfiguration()
            // The library's default, stated because everything rests on it.
            tls.certificateVerification = .fullVerification
            switch trustRoots {
            case .system: break
            case .file(let path): tls.trustRoots = .certificates(try CertificateFileError.certificates(path))
            case .systemAndFile(let path):
                tls.additionalTrustRoots = [.certificates(try CertificateFileError.certificates(path))]
            }
            var pool = HTTPClient.Configuration.ConnectionPool(
                idleTimeout: TimeAmount(idleTimeout),
                concurrentHTTP1ConnectionsPerHostSoftLimit: max(1, maxConnectionsPerHost))
            // A refused connection is the caller's to retry: it knows how long to wait, the pool does not.
            pool.retryConnectionEstablishment = false
            return HTTPClient.Configuration(
                tlsConfiguration: tls, redirectConfiguration: .disallow,
                timeout: .init(connect: TimeAmount(connectTimeout), read: TimeAmount(readTimeout)),
                connectionPool: pool, proxy: nil,
                decompression: acceptsCompression ? .enabled(limit: .ratio(maxDecompressionRatio)) : .disabled)
        }
    }

    /// The certificates that end a chain of trust.
    public enum TrustRoots: Sendable, Hashable {
        /// Those of the operating system.
        case system
        /// Only those of a PEM file.
        case file(String)
        /// Those of the operating system and of a PEM file.
        case systemAndFile(String)
    }
}

/// A file of certificates that cannot be used.
public struct CertificateFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The path of the file.
    public let path: String
    /// What is wrong with it.
    public let reason: String

    /// The file and what is wrong with it.
    public var description: String { "\(path) is not a PEM file of certificates: \(reason)" }

    static func certificates(_ path: String) throws(CertificateFileError) -> [NIOSSLCertificate] {
        let certificates: [NIOSSLCertificate]
        do {
            certificates = try NIOSSLCertificate.fromPEMFile(path)
        } catch {
            throw CertificateFileError(path: path, reason: "\(error)")
        }
        guard !certificates.isEmpty else {
            throw CertificateFileError(path: path, reason: "it holds no certificate")
        }
        return certificates
    }
}

extension TimeAmount {
    init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let (nanoseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        self = overflow ? .hours(24 * 365) : .nanoseconds(nanoseconds + attoseconds / 1_000_000_000)
    }
}
