import HTTPTypes
import NIOSSL
import ODataService
import X509

/// Client certificates (RFC 8446, 4.4.2): who shows one that an authority of ``ODataServer/TLS/clientAuthorities``
/// signed is known by the common name of its subject.
public struct ClientCertificateAuthentication: Authentication {
    /// Makes it.
    public init() {}

    /// Nothing asks for a certificate but TLS itself.
    public var challenge: String? { nil }
    /// What is needed.
    public var explanation: String { "A client certificate is needed." }

    /// The subject of the client's certificate.
    public func principal(of request: HTTPRequest, certificate: NIOSSLCertificate?) async -> Principal? {
        guard let certificate, let bytes = try? certificate.toDERBytes(),
            let parsed = try? X509.Certificate(derEncoded: bytes)
        else { return nil }
        let subject = parsed.subject.description
        guard let name = Self.commonName(parsed.subject) else { return nil }
        return Principal(
            name: name, claims: ["subject": subject, "issuer": parsed.issuer.description])
    }

    private static func commonName(_ name: DistinguishedName) -> String? {
        for relative in name {
            for attribute in relative where attribute.type == .RDNAttributeType.commonName {
                return attribute.value.description
            }
        }
        return nil
    }
}
