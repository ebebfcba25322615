/// The policy by which a client trusts a server (RFC 9110, 4.3.4).
///
/// A certificate chain is checked against authorities, the host name and the time. A chain that fails is passed to
/// ``decide``, or rejected if there is no such function. Pins are checked in either case. No setting accepts every
/// certificate without a check.
///
/// ```swift
/// var trust = ServerTrust.system
/// trust.authorities = .systemAnd(.file("/etc/company/authority.pem"))
/// trust.pins = ["47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="]
/// ```
public struct ServerTrust: Sendable {
    /// The certificate authorities that a client trusts.
    public enum Authorities: Sendable, Hashable {
        /// The authorities of the operating system.
        case system
        /// Only the authorities in a PEM text, such as one that is part of the app.
        case only(CertificateSource)
        /// The authorities of the operating system and those in a PEM text.
        case systemAnd(CertificateSource)
    }

    /// The trusted authorities.
    public var authorities: Authorities
    /// SHA-256 digests of public keys (their SubjectPublicKeyInfo, as in RFC 7469, 2.4) in base64.
    ///
    /// If there are any, one key of the chain must be among them, even if an authority vouches for it.
    public var pins: Set<String>
    /// Decides about a chain that is not trusted; `nil` rejects it. It is not called for a trusted chain.
    public var decide: (@Sendable (ServerTrustQuestion) async -> Bool)?

    /// Creates a policy.
    public init(
        authorities: Authorities = .system, pins: Set<String> = [],
        decide: (@Sendable (ServerTrustQuestion) async -> Bool)? = nil
    ) {
        self.authorities = authorities
        self.pins = pins
        self.decide = decide
    }

    /// The policy that trusts the authorities of the operating system.
    public static let system = ServerTrust()
}

/// The source of PEM certificates (RFC 7468).
public enum CertificateSource: Sendable, Hashable {
    /// A file, which is read when the transport is created.
    case file(String)
    /// Bytes in memory, such as certificates that are part of an app.
    case pem([UInt8])
}

/// A certificate chain that is not trusted, and the reason.
///
/// ```swift
/// var trust = ServerTrust.system
/// trust.decide = { question in
///     show("Trust \(question.host)? \(question.reason)")
///     return false
/// }
/// ```
public struct ServerTrustQuestion: Sendable, Hashable {
    /// The requested host.
    public let host: String
    /// The requested port.
    public let port: Int
    /// The certificates of the server, its own first.
    public let chain: [ServerCertificate]
    /// The reason for the distrust, for people.
    public let reason: String

    /// Creates a question.
    public init(host: String, port: Int, chain: [ServerCertificate], reason: String) {
        self.host = host
        self.port = port
        self.chain = chain
        self.reason = reason
    }
}

/// The contents of a certificate (RFC 5280, 4.1).
public struct ServerCertificate: Sendable, Hashable {
    /// The subject, as a distinguished name.
    public let subject: String
    /// The common name of the subject; `nil` if it has none.
    public let commonName: String?
    /// The issuer, as a distinguished name.
    public let issuer: String
    /// The common name of the issuer; `nil` if it has none.
    public let issuerCommonName: String?
    /// The serial number, in hexadecimal digits.
    public let serialNumber: String
    /// The start of the validity, in seconds since 1970.
    public let notBefore: Int64
    /// The end of the validity, in seconds since 1970.
    public let notAfter: Int64
    /// The host names and addresses for which the certificate is valid.
    public let names: [String]
    /// The SHA-256 digest of the certificate, in hexadecimal digits.
    public let fingerprint: String
    /// The digest of the public key, in the notation of ``ServerTrust/pins``.
    public let pin: String
    /// The certificate itself (DER).
    public let bytes: [UInt8]

    /// Creates a certificate from the values that a transport has read.
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
