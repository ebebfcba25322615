import Foundation
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
        /// The path of the file with the certificate revocation lists of ``clientAuthorities``, in PEM or one in DER. It is
        /// read again when it changes. A client whose authority has no valid list in it is refused.
        public var revocationLists: String?
        /// Whether clients without a certificate are let through to the other ways to sign in.
        var areClientsOptional = false

        /// Names the files.
        public init(
            certificateChainFile: String, privateKeyFile: String, clientAuthorities: String? = nil,
            revocationLists: String? = nil
        ) {
            self.revocationLists = revocationLists
            self.certificateChainFile = certificateChainFile
            self.privateKeyFile = privateKeyFile
            self.clientAuthorities = clientAuthorities
        }

        func configuration() throws(ServerStartError) -> TLSConfiguration {
            let chain = try Self.certificates(in: certificateChainFile)
            try Self.requireReadable(privateKeyFile)
            let key: NIOSSLPrivateKey
            do {
                key = try NIOSSLPrivateKey(file: privateKeyFile, format: .pem)
            } catch {
                throw .unusableCertificate(
                    path: privateKeyFile, reason: "it holds no private key in PEM that needs no passphrase")
            }
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
            configuration.minimumTLSVersion = .tlsv12
            if let clientAuthorities {
                configuration.trustRoots = .certificates(try Self.certificates(in: clientAuthorities))
                configuration.certificateVerification =
                    areClientsOptional ? .optionalVerification : .noHostnameVerification
            }
            do {
                _ = try NIOSSLContext(configuration: configuration)
            } catch {
                throw .unusableCertificate(
                    path: privateKeyFile,
                    reason: "the key does not belong to the certificate in \(certificateChainFile)")
            }
            return configuration
        }

        /// The revocation lists, if a file of them is named.
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

        /// The library that reads the files says of none why it cannot be read.
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
