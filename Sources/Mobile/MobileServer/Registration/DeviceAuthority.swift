import Crypto
import Foundation
import Secrets
import ServerState
import SwiftASN1
import X509

/// The authority that signs device certificates.
///
/// Its key is a secret of the server, from which the same authority is made on every node. The certificate of the
/// authority is put into the file of accepted client authorities.
///
/// ```swift
/// let authority = try DeviceAuthority(privateKey: key, name: "outpost devices", since: created)
/// let issued = try authority.issue(request, for: "R1", application: "shop", at: .now)
/// ```
public struct DeviceAuthority: Sendable {
    /// A signed certificate.
    public struct Issued: Sendable {
        /// The certificate in DER.
        public var bytes: [UInt8]
        /// The serial number, by which the certificate is recognized and revoked.
        public var serial: [UInt8]
        /// The end of the validity.
        public var until: Date
    }

    /// The validity of a device certificate in days.
    public static let validityDays = 90
    /// The age in days after which a certificate can be renewed.
    public static let renewalDays = 60
    private static let authorityYears = 20

    private let key: Certificate.PrivateKey
    private let name: DistinguishedName
    /// The certificate of the authority in DER.
    public let certificate: [UInt8]

    /// Creates the authority of a key.
    ///
    /// - Parameters:
    ///   - privateKey: The private key on P-256, 32 bytes.
    ///   - name: The common name of the authority.
    ///   - since: The beginning of the validity of the authority.
    /// - Throws: An error of swift-crypto or swift-certificates for bytes that are no key.
    public init(privateKey: [UInt8], name: String, since: Date) throws {
        key = Certificate.PrivateKey(try P256.Signing.PrivateKey(rawRepresentation: privateKey))
        self.name = try DistinguishedName { CommonName(name) }
        let certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(1), publicKey: key.publicKey,
            notValidBefore: since, notValidAfter: since.addingTimeInterval(Double(Self.authorityYears) * 365 * 86_400),
            issuer: self.name, subject: self.name,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true, cRLSign: true))
            }, issuerPrivateKey: key)
        var serializer = DER.Serializer()
        try certificate.serialize(into: &serializer)
        self.certificate = serializer.serializedBytes
    }

    /// Creates the authority of a server from its key for certificates, equal on all nodes.
    init(keys: ServerKeys) throws {
        // The numbers from 1 to the order of the curve are keys: the first derivation of that kind is taken.
        let candidates = (0..<16).map { counter in
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: keys.key(.certificates).symmetricKey,
                info: Array("device authority".utf8) + [UInt8(counter)], outputByteCount: 32
            ).withUnsafeBytes { Array($0) }
        }
        let bytes = candidates.first { (try? P256.Signing.PrivateKey(rawRepresentation: $0)) != nil }
        guard let bytes else { throw SecretError.derivationFailed }
        try self.init(privateKey: bytes, name: "Outpost devices", since: Date(timeIntervalSince1970: Self.beginning))
    }

    /// The first day of 2026, from which every authority is valid.
    private static let beginning: TimeInterval = 1_767_225_600

    /// The name of the authority, which its certificates have as issuer.
    public var subject: String { name.description }

    /// The certificate of the authority in PEM.
    public var pem: String { PEMDocument(type: Certificate.defaultPEMDiscriminator, derBytes: certificate).pemString }

    /// Returns a new private key for an authority.
    public static func makePrivateKey() -> [UInt8] { Array(P256.Signing.PrivateKey().rawRepresentation) }

    /// Signs a certificate for a registration, valid for ``validityDays``.
    ///
    /// - Parameters:
    ///   - request: The request, of which only the key counts.
    ///   - registration: The id of the registration, which becomes the common name.
    ///   - application: The name of the application, which becomes the organizational unit.
    ///   - time: The beginning of the validity.
    public func issue(
        _ request: CertificateRequest, for registration: String, application: String, at time: Date
    ) throws -> Issued {
        let serial = Certificate.SerialNumber()
        let until = time.addingTimeInterval(Double(Self.validityDays) * 86_400)
        let certificate = try Certificate(
            version: .v3, serialNumber: serial, publicKey: request.publicKey,
            // Devices with a slow clock must accept the certificate, too.
            notValidBefore: time.addingTimeInterval(-300), notValidAfter: until, issuer: name,
            subject: try DistinguishedName {
                OrganizationalUnitName(application)
                CommonName(registration)
            },
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.clientAuth])
            }, issuerPrivateKey: key)
        var serializer = DER.Serializer()
        try certificate.serialize(into: &serializer)
        return Issued(bytes: serializer.serializedBytes, serial: Array(serial.bytes), until: until)
    }
}

/// A client certificate as TLS has verified it.
public struct DeviceCertificate: Hashable, Sendable {
    /// The serial number.
    public let serial: [UInt8]
    /// The common name of the subject.
    public let commonName: String?
    /// The subject as text.
    public let subject: String
    /// The issuer as text.
    public let issuer: String

    /// Reads a certificate in DER.
    ///
    /// - Returns: `nil` if the bytes are no certificate.
    public init?(_ bytes: [UInt8]) {
        guard let certificate = try? Certificate(derEncoded: bytes) else { return nil }
        serial = Array(certificate.serialNumber.bytes)
        let names = certificate.subject.flatMap { relative in
            relative.filter { $0.type == .RDNAttributeType.commonName }.map(\.value.description)
        }
        commonName = names.count == 1 ? names[0] : nil
        subject = certificate.subject.description
        issuer = certificate.issuer.description
    }
}
