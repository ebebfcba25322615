import HTTPTypes
import NIOSSL
import ODataService
import X509

/// Client certificates (RFC 8446, 4.4.2) that an authority in ``ODataServer/TLS/clientAuthorities`` has signed.
///
/// The principal has the common name of the subject; without one, the mail address, URI or DNS name (RFC 5280,
/// 4.2.1.6). A certificate with several common names is refused, because it could identify several people. The
/// claims of the principal contain `subject` and `issuer`, since a name is unique only for its issuer.
public struct ClientCertificateAuthentication: RequestAuthenticator {
    /// Creates an authentication by client certificates.
    public init() {}

    /// There is no challenge, because TLS itself requests the certificate.
    public var challenge: String? { nil }
    /// The required credentials in words.
    public var explanation: String { "A client certificate is needed." }

    /// Returns the subject of the client certificate.
    public func principal(of request: HTTPRequest, certificate: NIOSSLCertificate?) async -> Principal? {
        guard let certificate, let bytes = try? certificate.toDERBytes(),
            let parsed = try? X509.Certificate(derEncoded: bytes)
        else { return nil }
        let subject = parsed.subject.description
        guard let name = Self.name(of: parsed) else { return nil }
        return Principal(
            name: name, claims: ["subject": subject, "issuer": parsed.issuer.description])
    }

    private static func name(of certificate: X509.Certificate) -> String? {
        let names = certificate.subject.flatMap { relative in
            relative.filter { $0.type == .RDNAttributeType.commonName }.map(\.value.description)
        }
        guard names.isEmpty else { return names.count == 1 && names[0] != "" ? names[0] : nil }
        let others = (try? certificate.extensions.subjectAlternativeNames).map(Array.init) ?? []
        let mail = others.compactMap { if case .rfc822Name(let text) = $0 { text } else { nil } }
        let uris = others.compactMap { if case .uniformResourceIdentifier(let text) = $0 { text } else { nil } }
        let hosts = others.compactMap { if case .dnsName(let text) = $0 { text } else { nil } }
        return mail.first ?? uris.first ?? hosts.first
    }
}
