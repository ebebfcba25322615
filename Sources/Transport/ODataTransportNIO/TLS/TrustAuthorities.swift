import Foundation
import NIOSSL
import ODataHTTP
import X509

/// The authorities of a ``ServerTrust``, read once, for the library's checks and for our own.
struct TrustAuthorities: Sendable {
    private let usesSystem: Bool
    private let certificates: [NIOSSLCertificate]
    private let parsed: [X509.Certificate]

    init(_ authorities: ServerTrust.Authorities) throws(TransportConfigurationError) {
        switch authorities {
        case .system: (usesSystem, certificates) = (true, [])
        case .only(let source): (usesSystem, certificates) = (false, try Self.certificates(source))
        case .systemAnd(let source): (usesSystem, certificates) = (true, try Self.certificates(source))
        }
        do {
            parsed = try certificates.map { try X509.Certificate(derEncoded: try $0.toDERBytes()) }
        } catch {
            throw .unusableCertificates(path: nil, reason: "\(error)")
        }
    }

    func apply(to tls: inout TLSConfiguration) {
        if usesSystem {
            if !certificates.isEmpty { tls.additionalTrustRoots = [.certificates(certificates)] }
        } else {
            tls.trustRoots = .certificates(certificates)
        }
    }

    /// The authorities as roots of certificate chains.
    var store: CertificateStore {
        guard usesSystem else { return CertificateStore(parsed) }
        var store = CertificateStore.systemTrustRoots
        store.append(contentsOf: parsed)
        return store
    }

    private static func certificates(
        _ source: CertificateSource
    ) throws(TransportConfigurationError) -> [NIOSSLCertificate] {
        let certificates: [NIOSSLCertificate]
        var path: String?
        do {
            switch source {
            case .file(let file):
                path = file
                certificates = try NIOSSLCertificate.fromPEMFile(file)
            case .pem(let bytes): certificates = try NIOSSLCertificate.fromPEMBytes(bytes)
            }
        } catch {
            let code = path.map(Self.readingError) ?? 0
            throw .unusableCertificates(
                path: path, reason: code == 0 ? "it holds no certificate in PEM" : String(cString: strerror(code)))
        }
        guard !certificates.isEmpty else { throw .unusableCertificates(path: path, reason: "it holds no certificate") }
        return certificates
    }

    /// Returns the `errno` of reading a file, or 0 if it is readable. The TLS library itself reports no reason.
    private static func readingError(_ path: String) -> Int32 {
        guard let file = fopen(path, "rb") else { return errno }
        defer { fclose(file) }
        return fgetc(file) == EOF && ferror(file) != 0 ? errno : 0
    }
}
