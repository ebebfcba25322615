import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import Logging
import NIOCore
import NIOSSL

extension ODataServer {
    /// Address, trust and limits of a server.
    public struct Configuration: Sendable {
        /// The address to listen on; only this machine by default.
        public var host: String
        /// The port; 0 lets the system choose a free one.
        public var port: Int
        /// The path of the service root; requests outside it are answered with 404.
        public var pathPrefix: String
        /// The certificate, when the server speaks TLS.
        public var tls: TLS?
        /// The most bytes of a request body. Bodies are streamed; the limit ends the stream.
        public var maxBodySize: Int64
        /// Who may use the service; anybody when `nil`.
        public var authentication: BasicAuthentication?
        /// Where a line for each request goes; nowhere when `nil`.
        public var accessLog: Logger?
        /// Whether the access log shows query strings, which often hold personal data.
        public var logsQueries: Bool
        /// How long a connection may be silent.
        public var idleTimeout: Duration
        /// What the `Server` header says; absent when `nil`.
        public var serverName: String?

        /// Makes a configuration.
        public init(
            host: String = "127.0.0.1", port: Int = 0, pathPrefix: String = "/", tls: TLS? = nil,
            maxBodySize: Int64 = 1 << 30, authentication: BasicAuthentication? = nil, accessLog: Logger? = nil,
            logsQueries: Bool = false, idleTimeout: Duration = .seconds(60), serverName: String? = nil
        ) {
            self.host = host
            self.port = port
            self.pathPrefix = pathPrefix
            self.tls = tls
            self.maxBodySize = maxBodySize
            self.authentication = authentication
            self.accessLog = accessLog
            self.logsQueries = logsQueries
            self.idleTimeout = idleTimeout
            self.serverName = serverName
        }

        /// The prefix with a slash at either end.
        var normalizedPrefix: String {
            let leading = pathPrefix.hasPrefix("/") ? pathPrefix : "/" + pathPrefix
            return leading.hasSuffix("/") ? leading : leading + "/"
        }

        func serverBuilder() throws(ServerStartError) -> HTTPServerBuilder {
            let (seconds, _) = idleTimeout.components
            let base = HTTPServerBuilder.http1(
                configuration: .init(idleTimeout: .seconds(min(seconds, 86_400 * 365))))
            guard let tls else { return base }
            let configuration = try tls.configuration()
            do {
                return try .tls(base, tlsConfiguration: configuration)
            } catch {
                throw .unusableCertificate(path: tls.certificateChainFile, reason: "\(error)")
            }
        }
    }

    /// The files with which a server shows who it is.
    public struct TLS: Sendable, Hashable {
        /// The path of the PEM file with the certificate, then those that lead to its root.
        public var certificateChainFile: String
        /// The path of the PEM file with the private key.
        public var privateKeyFile: String

        /// Names the files.
        public init(certificateChainFile: String, privateKeyFile: String) {
            self.certificateChainFile = certificateChainFile
            self.privateKeyFile = privateKeyFile
        }

        func configuration() throws(ServerStartError) -> TLSConfiguration {
            let chain: [NIOSSLCertificate]
            do {
                chain = try NIOSSLCertificate.fromPEMFile(certificateChainFile)
            } catch {
                throw .unusableCertificate(path: certificateChainFile, reason: "\(error)")
            }
            guard !chain.isEmpty else {
                throw .unusableCertificate(path: certificateChainFile, reason: "it holds no certificate")
            }
            let key: NIOSSLPrivateKey
            do {
                key = try NIOSSLPrivateKey(file: privateKeyFile, format: .pem)
            } catch {
                throw .unusableCertificate(path: privateKeyFile, reason: "\(error)")
            }
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
            configuration.minimumTLSVersion = .tlsv12
            return configuration
        }
    }
}
