import NIOSSL

extension ODataServer {
    /// The files with which a server shows who it is.
    public struct TLS: Sendable, Hashable {
        /// The path of the PEM file with the certificate, then those that lead to its root.
        public var certificateChainFile: String
        /// The path of the PEM file with the private key.
        public var privateKeyFile: String
        /// The path of the PEM file with the authorities of which one must have signed each client's certificate; clients
        /// are not asked for one when `nil`.
        public var clientAuthorities: String?

        /// Names the files.
        public init(certificateChainFile: String, privateKeyFile: String, clientAuthorities: String? = nil) {
            self.certificateChainFile = certificateChainFile
            self.privateKeyFile = privateKeyFile
            self.clientAuthorities = clientAuthorities
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
            if let clientAuthorities {
                let authorities: [NIOSSLCertificate]
                do {
                    authorities = try NIOSSLCertificate.fromPEMFile(clientAuthorities)
                } catch {
                    throw .unusableCertificate(path: clientAuthorities, reason: "\(error)")
                }
                configuration.trustRoots = .certificates(authorities)
                configuration.certificateVerification = .noHostnameVerification
            }
            return configuration
        }
    }
}
