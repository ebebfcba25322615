import Crypto
import CryptoExtras
import ForeignPrograms
import Foundation
import HTTPTypes
import MobileProtocol
import ODataModel
import ODataServer
import ServerState
import SwiftASN1
import Testing
import X509

@testable import MobileServer

/// Conformance of `…/Outpost.Mobile.Enroll` (`mobile-server.md` 6.2), and device certificates in TLS.
@Suite("Certificates") struct EnrollTests {
    static func request(
        _ key: Certificate.PrivateKey = Certificate.PrivateKey(P256.Signing.PrivateKey()), subject: String = "anyone",
        _ algorithm: Certificate.SignatureAlgorithm = .ecdsaWithSHA256
    ) throws -> [UInt8] {
        let request = try CertificateSigningRequest(
            version: .v1, subject: try DistinguishedName { CommonName(subject) }, privateKey: key,
            attributes: CertificateSigningRequest.Attributes(), signatureAlgorithm: algorithm)
        var serializer = DER.Serializer()
        try serializer.serialize(request)
        return serializer.serializedBytes
    }

    @Test("A device gets a certificate for ninety days, with its own id as the name")
    func enroll() async throws {
        try await DeviceLab().run { server in
            let device = LabDevice()
            try await device.register(server)
            let path = "Registrations('\(device.id)')/Outpost.Mobile.Enroll"
            let request = try Self.request(subject: "somebody else")
            let fields = try await device.fields(server, .post, path)
            let answer = try await server.send(
                .post, server.api + path, fields, bytes: request, type: "application/pkcs10")
            #expect(answer.status == 200)
            #expect(answer.response.headerFields[.contentType] == "application/pkix-cert")
            let certificate = try Certificate(derEncoded: answer.bytes)
            #expect(DeviceCertificate(answer.bytes)?.commonName == device.id)
            let authority = try Certificate(pemEncoded: server.lab.part.authorityPEM)
            #expect(authority.publicKey.isValidSignature(certificate.signature, for: certificate))
            let days = certificate.notValidAfter.timeIntervalSince(certificate.notValidBefore) / 86_400
            #expect((89.9...90.1).contains(days))
            let read = try await device.send(server, .get, "Registrations('\(device.id)')")
            let serial = DeviceDocuments.hexadecimal(Array(certificate.serialNumber.bytes))
            #expect(read.json["CertificateSerial"] as? String == serial)
            // The same as JSON, as any OData client sends it.
            let body = #"{"request":"\#(Base64URL.encode(request))"}"#
            let second = try await device.send(server, .post, path, body: body)
            #expect(second.status == 200)
            #expect(DeviceCertificate(second.bytes)?.serial != DeviceCertificate(answer.bytes)?.serial)
        }
    }

    @Test("Requests with other keys, changed requests and long ones are refused")
    func refusals() throws {
        let request = try Self.request()
        #expect(throws: Never.self) { try CertificateRequest(request) }
        #expect(throws: CertificateRequestError.key) {
            try CertificateRequest(Self.request(Certificate.PrivateKey(P384.Signing.PrivateKey()), .ecdsaWithSHA384))
        }
        #expect(throws: CertificateRequestError.key) {
            try CertificateRequest(
                Self.request(
                    Certificate.PrivateKey(try _RSA.Signing.PrivateKey(keySize: .bits2048)), .sha256WithRSAEncryption))
        }
        #expect(throws: Never.self) {
            try CertificateRequest(
                Self.request(
                    Certificate.PrivateKey(try _RSA.Signing.PrivateKey(keySize: .bits3072)), .sha256WithRSAEncryption))
        }
        #expect(throws: CertificateRequestError.tooLong(bytes: 8193)) {
            try CertificateRequest([UInt8](repeating: 0, count: CertificateRequest.maxLength + 1))
        }
        #expect(throws: CertificateRequestError.malformed) { try CertificateRequest(Array("nonsense".utf8)) }
        for position in request.indices {
            var changed = request
            changed[position] ^= 1
            // The number of unused bits in front of the signature may be one if the last bit is zero.
            let isUnusedBits = position > 1 && request[position - 2] == 3 && request[position] == 0
            if isUnusedBits, (try? CertificateRequest(changed)) != nil { continue }
            #expect(throws: CertificateRequestError.self, "byte \(position)") { try CertificateRequest(changed) }
        }
    }

    @Test("A certificate is renewed after sixty days, or at once if the device has lost it")
    func renewal() async throws {
        let lab = try await DeviceLab()
        try await lab.run { server in
            let device = LabDevice()
            try await device.register(server)
            let path = "Registrations('\(device.id)')/Outpost.Mobile.Enroll"
            let body = #"{"request":"\#(Base64URL.encode(try Self.request()))"}"#
            let first = try await device.send(server, .post, path, body: body)
            #expect(first.status == 200)
            func enroll(showing certificate: [UInt8]?) async throws -> LabServer.Answer {
                try await LabServer.answer(
                    of: lab.part, .post, server.api + path, try await device.fields(server, .post, path), body: body,
                    authority: "127.0.0.1:\(server.server.port)",
                    context: MountContext(certificate: certificate))
            }
            let early = try await enroll(showing: first.bytes)
            #expect(early.status == 422)
            #expect(early.code == "PolicyViolated")
            lab.advance(by: .seconds(61 * 86_400))
            let renewed = try await enroll(showing: first.bytes)
            #expect(renewed.status == 200)
            #expect(try await enroll(showing: nil).status == 200)
        }
    }

    @Test("A policy for certificates refuses a device without one, and a replaced certificate at once")
    func required() async throws {
        let lab = try await DeviceLab { $0.registration.deviceProof = .certificate }
        try await lab.run { server in
            let device = LabDevice()
            try await device.register(server)
            #expect(try await device.send(server, .get, "Destinations").status == 401)
            let path = "Registrations('\(device.id)')/Outpost.Mobile.Enroll"
            let body = #"{"request":"\#(Base64URL.encode(try Self.request()))"}"#
            let first = try await device.send(server, .post, path, body: body)
            #expect(first.status == 200)
            func read(showing certificate: [UInt8]) async throws -> Int {
                try await LabServer.answer(
                    of: lab.part, .get, server.api + "Destinations",
                    try await device.fields(server, .get, "Destinations"),
                    body: "", authority: "127.0.0.1:\(server.server.port)",
                    context: MountContext(certificate: certificate)
                ).status
            }
            #expect(try await read(showing: first.bytes) == 200)
            let second = try await device.send(server, .post, path, body: body)
            #expect(try await read(showing: first.bytes) == 401)
            #expect(try await read(showing: second.bytes) == 200)
            lab.advance(by: .seconds(91 * 86_400))
            #expect(try await read(showing: second.bytes) == 401)
        }
    }

    @Test("A certificate signs its user in if the configured authority issued it; that of a device or another does not")
    func overTLS() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func path(_ name: String) -> String { folder.appendingPathComponent(name).path }
        let made = try await Command.run(
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
            "1", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", path("server.key"),
            "-out", path("server.pem"))
        try #require(made.status == 0, "\(made.output)")
        var settings = ListenerSettings()
        settings.clientCA = path("clients.pem")
        let lab = try await DeviceLab(server: settings) {
            $0.security = ["cards": SecurityConfiguration(kind: .certificate)]
            $0.security["cards"]?.ca = path("cards.pem")
        }
        func authority(_ name: String) throws -> DeviceAuthority {
            try DeviceAuthority(
                privateKey: DeviceAuthority.makePrivateKey(), name: name, since: Date(timeIntervalSinceNow: -86_400))
        }
        let (cards, others) = (try authority("Cards"), try authority("Others"))
        try cards.pem.write(toFile: path("cards.pem"), atomically: true, encoding: .utf8)
        // TLS accepts the authorities of all applications, and that of devices.
        try "\(cards.pem)\n\(others.pem)\n".write(toFile: path("clients.pem"), atomically: true, encoding: .utf8)
        let accepted = try ClientAuthoritiesFile.write(
            in: folder.path, configured: "clients.pem", devices: lab.part.authorityPEM)
        // The card of a person, and certificates that are no cards.
        for (name, issuer) in [("ann", cards), ("other", others), ("device", try DeviceAuthority(keys: lab.keys))] {
            let key = P256.Signing.PrivateKey()
            let request = try CertificateRequest(Self.request(Certificate.PrivateKey(key)))
            let issued = try issuer.issue(request, for: "ann", application: "shop", at: .now)
            try PEMDocument(type: "CERTIFICATE", derBytes: issued.bytes).pemString
                .write(toFile: path("\(name).pem"), atomically: true, encoding: .utf8)
            try key.pemRepresentation.write(toFile: path("\(name).key"), atomically: true, encoding: .utf8)
        }
        var configuration = ODataServer.Configuration()
        configuration.tls = ODataServer.TLS(
            certificateChainFile: path("server.pem"), privateKeyFile: path("server.key"),
            clientAuthorities: accepted)
        configuration.tls?.areClientsOptional = true
        try await lab.run(configuration) { server in
            var device = LabDevice()
            device.authorization = nil
            let url = "https://localhost:\(server.server.port)\(server.api)Registrations"
            let nonce = ProofNonces(key: lab.keys.key(.nonces).symmetricKey).make(at: lab.now)
            let proof = try device.proof("POST", url, nonce: nonce, now: lab.now)
            let body = #"{"ID":"\#(device.id)"}"#
            let common = [
                "-s", "--cacert", path("server.pem"), "-H", "Content-Type: application/json", "-d", body, "-w",
                "\n%{http_code}",
            ]
            let without = try await Command.curl(common + ["-H", "DPoP: \(proof)", url])
            #expect(without.hasSuffix("401"))
            for name in ["other", "device"] {
                let proof = try device.proof("POST", url, nonce: nonce, now: lab.now)
                let refused = try await Command.curl(
                    common
                        + ["-H", "DPoP: \(proof)", "--cert", path("\(name).pem"), "--key", path("\(name).key"), url])
                #expect(refused.hasSuffix("401"), "\(name): \(refused)")
            }
            let fresh = try device.proof("POST", url, nonce: nonce, now: lab.now)
            let answer = try await Command.curl(
                common + ["-H", "DPoP: \(fresh)", "--cert", path("ann.pem"), "--key", path("ann.key"), url])
            #expect(answer.hasSuffix("201"), "\(answer)")
            #expect(answer.contains(#""UserName":"ann""#))
        }
    }
}
