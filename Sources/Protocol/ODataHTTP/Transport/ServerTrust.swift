/// Whom a client believes to be the server it asked for (RFC 9110, 4.3.4).
///
/// A chain of certificates is checked against authorities, the host's name and the time. One that fails is shown to
/// ``decide`` where that is given, and refused else; pins are asked for in either case. There is no way to accept
/// any certificate without looking at it.
///
/// ```swift
/// var trust = ServerTrust.system
/// trust.authorities = .systemAnd(.file("/etc/company/authority.pem"))
/// trust.pins = [currentKey, nextKey]
/// ```
public struct ServerTrust: Sendable {
    /// Who may vouch for a server.
    public enum Authorities: Sendable, Hashable {
        /// Those of the operating system.
        case system
        /// Those of a PEM text alone, such as one that comes with the app.
        case only(CertificateSource)
        /// Those of the operating system and of a PEM text.
        case systemAnd(CertificateSource)
    }

    /// Those whose word counts.
    public var authorities: Authorities
    /// SHA-256 digests of public keys (their SubjectPublicKeyInfo, as RFC 7469, 2.4 has them), base64; where there
    /// are any, one of the chain's keys must be among them, whoever vouches for it.
    public var pins: Set<String>
    /// Asked about a chain that is not trusted; `nil` refuses it. A chain that is trusted is accepted without a call.
    public var decide: (@Sendable (ServerTrustQuestion) async -> Bool)?

    /// Makes a policy.
    public init(
        authorities: Authorities = .system, pins: Set<String> = [],
        decide: (@Sendable (ServerTrustQuestion) async -> Bool)? = nil
    ) {
        self.authorities = authorities
        self.pins = pins
        self.decide = decide
    }

    /// The authorities of the operating system and nobody else.
    public static let system = ServerTrust()
}

/// Where certificates are written down as PEM (RFC 7468).
public enum CertificateSource: Sendable, Hashable {
    /// In a file; read when the transport is made.
    case file(String)
    /// In memory, such as those that come with an app.
    case pem([UInt8])
}

/// A chain that is not trusted by itself, and why.
public struct ServerTrustQuestion: Sendable, Hashable {
    /// The host that was asked for.
    public let host: String
    /// Its port.
    public let port: Int
    /// What the server showed, its own certificate first.
    public let chain: [ServerCertificate]
    /// Why it is not trusted, for people.
    public let reason: String

    /// Makes a question.
    public init(host: String, port: Int, chain: [ServerCertificate], reason: String) {
        self.host = host
        self.port = port
        self.chain = chain
        self.reason = reason
    }
}

/// What a certificate says (RFC 5280, 4.1).
public struct ServerCertificate: Sendable, Hashable {
    /// Whom it is about, as a distinguished name.
    public let subject: String
    /// The common name within the subject, if there is one.
    public let commonName: String?
    /// Who vouches, as a distinguished name.
    public let issuer: String
    /// The common name of who vouches.
    public let issuerCommonName: String?
    /// The serial number, in hexadecimal digits.
    public let serialNumber: String
    /// The first moment of its validity, in seconds since 1970.
    public let notBefore: Int64
    /// The last moment of its validity, in seconds since 1970.
    public let notAfter: Int64
    /// The host names and addresses that it speaks for.
    public let names: [String]
    /// The SHA-256 digest of the certificate, in hexadecimal digits.
    public let fingerprint: String
    /// The digest of its public key, as ``ServerTrust/pins`` has them.
    public let pin: String
    /// The certificate itself (DER).
    public let bytes: [UInt8]

    /// Makes one of what a transport has read.
    public init(
        subject: String, commonName: String?, issuer: String, issuerCommonName: String?, serialNumber: String,
        notBefore: Int64, notAfter: Int64, names: [String], fingerprint: String, pin: String, bytes: [UInt8]
    ) {
        self.subject = subject
        self.commonName = commonName
        self.issuer = issuer
        self.issuerCommonName = issuerCommonName
        self.serialNumber = serialNumber
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.names = names
        self.fingerprint = fingerprint
        self.pin = pin
        self.bytes = bytes
    }
}
