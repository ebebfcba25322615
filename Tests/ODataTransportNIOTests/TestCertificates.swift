import Crypto
import Foundation
import NIOSSL
import SwiftASN1
import X509

/// An authority and the certificates it makes for one test; files are deleted after it.
final class TestCertificates {
    /// A certificate with its key.
    struct Pair {
        let certificate: Certificate
        let key: Certificate.PrivateKey

        var pem: String {
            get throws { try certificate.serializeAsPEM().pemString + "\n" }
        }
        var keyPEM: String {
            get throws { try key.serializeAsPEM().pemString + "\n" }
        }
        /// The pin of its key.
        var pin: String {
            Data(SHA256.hash(data: Data(certificate.publicKey.subjectPublicKeyInfoBytes))).base64EncodedString()
        }
        var serial: Certificate.SerialNumber { certificate.serialNumber }
    }

    private static let day: TimeInterval = 86_400
    let folder: String
    let root: Pair
    var authority: String { folder + "/ca.pem" }
    var chain: String { folder + "/server.pem" }
    var key: String { folder + "/server.key" }

    /// Makes an authority and, in files, a certificate for this machine's names.
    init(names: [String] = ["localhost", "127.0.0.1"]) throws {
        folder = NSTemporaryDirectory() + "outpost-tls-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let key = Certificate.PrivateKey(P256.Signing.PrivateKey())
        let name = try DistinguishedName { CommonName("Test CA \(UUID().uuidString)") }
        let root = Pair(
            certificate: try Certificate(
                version: .v3, serialNumber: .init(), publicKey: key.publicKey,
                notValidBefore: Date() - 10 * Self.day, notValidAfter: Date() + 10 * Self.day, issuer: name,
                subject: name, signatureAlgorithm: .ecdsaWithSHA256,
                extensions: Certificate.Extensions {
                    Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                    Critical(KeyUsage(keyCertSign: true, cRLSign: true))
                },
                issuerPrivateKey: key),
            key: key)
        self.root = root
        try root.pem.write(toFile: authority, atomically: true, encoding: .utf8)
        let server = try certificate(names: names)
        try server.pem.write(toFile: chain, atomically: true, encoding: .utf8)
        try server.keyPEM.write(toFile: self.key, atomically: true, encoding: .utf8)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// A certificate that the authority makes.
    func certificate(
        _ commonName: String = "test", names: [String] = [], from: TimeInterval = -1, until: TimeInterval = 2,
        uses: [ExtendedKeyUsage.Usage] = []
    ) throws -> Pair {
        let key = Certificate.PrivateKey(P256.Signing.PrivateKey())
        let alternatives = names.map { name -> GeneralName in
            let bytes = name.split(separator: ".").compactMap { UInt8($0) }
            return bytes.count == 4 ? .ipAddress(ASN1OctetString(contentBytes: bytes[...])) : .dnsName(name)
        }
        var extensions = Certificate.Extensions()
        try extensions.append(Certificate.Extension(BasicConstraints.notCertificateAuthority, critical: true))
        if !alternatives.isEmpty {
            try extensions.append(Certificate.Extension(SubjectAlternativeNames(alternatives), critical: false))
        }
        if !uses.isEmpty { try extensions.append(Certificate.Extension(ExtendedKeyUsage(uses), critical: false)) }
        let certificate = try Certificate(
            version: .v3, serialNumber: .init(), publicKey: key.publicKey, notValidBefore: Date() + from * Self.day,
            notValidAfter: Date() + until * Self.day, issuer: root.certificate.subject,
            subject: try DistinguishedName { CommonName(commonName) }, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: extensions, issuerPrivateKey: root.key)
        return Pair(certificate: certificate, key: key)
    }

    /// The context of a server that shows a certificate, and may ask clients for theirs.
    func context(_ pair: Pair, asksClients: Bool = false) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(try pair.pem.utf8)).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(try pair.keyPEM.utf8), format: .pem)))
        if asksClients {
            configuration.certificateVerification = .noHostnameVerification
            configuration.trustRoots = .file(authority)
        }
        return try NIOSSLContext(configuration: configuration)
    }

    /// A certificate and its key in an archive, made by another tool.
    func archive(_ pair: Pair, passphrase: String) throws -> [UInt8] {
        let path = folder + "/\(UUID().uuidString)"
        try (pair.pem + pair.keyPEM).write(toFile: path + ".pem", atomically: true, encoding: .utf8)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "openssl", "pkcs12", "-export", "-in", path + ".pem", "-out", path + ".p12", "-passout",
            "pass:\(passphrase)",
        ]
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CocoaError(.executableLoad) }
        return Array(try Data(contentsOf: URL(fileURLWithPath: path + ".p12")))
    }
}
