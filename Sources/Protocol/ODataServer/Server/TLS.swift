import Foundation
import NIOSSL

extension ODataServer {
    /// The files for TLS.
    public struct TLS: Sendable, Hashable {
        /// The path of the PEM file with the certificate, followed by its intermediate certificates.
        public var certificateChainFile: String
        /// The path of the PEM file with the private key.
        public var privateKeyFile: String
        /// The path of the PEM file with the authorities of client certificates. `nil` does not request client
        /// certificates.
        public var clientAuthorities: String?
        /// The path of the file with the certificate revocation lists of ``clientAuthorities``: several in PEM
        /// format or one in DER format. The file is read again when it changes. A client whose authority has no
        /// valid list is refused.
        public var revocationLists: String?
        /// Whether clients without a certificate may use another method of authentication, such as that of a mount.
        public var areClientsOptional = false

        /// Creates settings from the paths of the files.
        public init(
            certificateChainFile: String, privateKeyFile: String, clientAuthorities: String? = nil,
            revocationLists: String? = nil
        ) {
            self.revocationLists = revocationLists
            self.certificateChainFile = certificateChainFile
            self.privateKeyFile = privateKeyFile
            self.clientAuthorities = clientAuthorities
        }

        /// Returns the certificate chain and its private key.
        func certificateAndKey() throws(ServerStartError) -> ([NIOSSLCertificate], NIOSSLPrivateKey) {
            let chain = try Self.certificates(in: certificateChainFile)
            try Self.requireReadable(privateKeyFile)
            let key: NIOSSLPrivateKey
            do {
                key = try NIOSSLPrivateKey(file: privateKeyFile, format: .pem)
            } catch {
                throw .unusableCertificate(
                    path: privateKeyFile, reason: "it holds no private key in PEM that needs no passphrase")
            }
            do {
                _ = try NIOSSLContext(configuration: Self.configuration(chain, key))
            } catch {
                throw .unusableCertificate(
                    path: privateKeyFile,
                    reason: "the key does not belong to the certificate in \(certificateChainFile)")
            }
            return (chain, key)
        }

        private static func configuration(_ chain: [NIOSSLCertificate], _ key: NIOSSLPrivateKey) -> TLSConfiguration {
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
            configuration.minimumTLSVersion = .tlsv12
            return configuration
        }

        /// Checks that all files can be read and fit each other.
        ///
        /// - Throws: ``ServerStartError/unusableCertificate(path:reason:)``.
        public func check() throws(ServerStartError) {
            _ = try configuration()
            _ = try revocations()
        }

        func configuration() throws(ServerStartError) -> TLSConfiguration {
            let (chain, key) = try certificateAndKey()
            var configuration = Self.configuration(chain, key)
            if let clientAuthorities {
                configuration.trustRoots = .certificates(try Self.certificates(in: clientAuthorities))
                configuration.certificateVerification =
                    areClientsOptional ? .optionalVerification : .noHostnameVerification
            }
            return configuration
        }

        func revocations() throws(ServerStartError) -> RevocationLists? {
            guard let revocationLists, let clientAuthorities else { return nil }
            return try RevocationLists(path: revocationLists, authorities: Self.certificates(in: clientAuthorities))
        }

        private static func certificates(in path: String) throws(ServerStartError) -> [NIOSSLCertificate] {
            try requireReadable(path)
            guard let certificates = try? NIOSSLCertificate.fromPEMFile(path), !certificates.isEmpty else {
                throw .unusableCertificate(path: path, reason: "it holds no certificate in PEM")
            }
            return certificates
        }

        /// Throws an error if a file cannot be read. The TLS library itself reports no reason.
        private static func requireReadable(_ path: String) throws(ServerStartError) {
            do {
                _ = try FileHandle(forReadingFrom: URL(fileURLWithPath: path)).read(upToCount: 1)
            } catch {
                let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError ?? error as NSError
                throw .unusableCertificate(
                    path: path,
                    reason: cause.domain == NSPOSIXErrorDomain
                        ? String(cString: strerror(Int32(truncatingIfNeeded: cause.code))) : "it cannot be read")
            }
        }
    }
}
