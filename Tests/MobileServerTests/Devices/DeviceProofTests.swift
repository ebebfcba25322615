import Crypto
import Foundation
import MobileProtocol
import ODataModel
import Testing

@testable import MobileServer

/// Proofs of possession of the device key (RFC 9449; `design-review.md` 23).
@Suite("Device proofs") struct DeviceProofTests {
    private static let url = "https://mobile.example/m/v1/shop/Policies"

    private static func proof(_ change: LabDevice.ProofChange = .init(), nonce: String? = "n") throws -> String {
        try LabDevice(authorization: "Bearer abc").proof("GET", url, nonce: nonce, now: 1000, change)
    }

    @Test("The claims of a proof are parsed")
    func parsing() throws {
        let proof = try DeviceProof(Self.proof(.init(id: "one")))
        #expect(proof.id == "one")
        #expect(proof.method == "GET")
        #expect(proof.url == Self.url)
        #expect(proof.issuedAt == 1000)
        #expect(proof.nonce == "n")
        // RFC 9449, 4.2: SHA-256 of the token alone.
        #expect(proof.credentialsHash == Base64URL.encode(Array(SHA256.hash(data: Array("abc".utf8)))))
    }

    @Test("The example of RFC 9449, 4.1, is accepted as a proof")
    func example() throws {
        let text = """
            eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZ\
            OXpDa0RscEJoRjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIs\
            ImNydiI6IlAtMjU2In19.eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmV\
            yLmV4YW1wbGUuY29tL3Rva2VuIiwiaWF0IjoxNTYyMjYyNjE2fQ.2-GxA6T8lP4vfrg8v-FdWP0A0zdrj8igiMLvqRMUvwnQg4Pt\
            FLbdLXiOSsX0x7NVY-FNyJK70nfbV37xRZT3Lg
            """
        let proof = try DeviceProof(text)
        #expect(proof.id == "-BwC3ESc6acc2lTc")
        #expect(proof.url == "https://server.example.com/token")
        #expect(proof.issuedAt == 1_562_262_616)
    }

    @Test("The thumbprint of a key is that of RFC 7638")
    func thumbprint() throws {
        // RFC 9449, 6.1: the key of the examples and its thumbprint.
        let key = DeviceKey(
            x: "l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs", y: "9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA")
        #expect(try #require(key).thumbprint == "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I")
    }

    @Test("A proof with any flipped bit is refused")
    func bits() throws {
        let proof = try Self.proof()
        let bytes = Array(proof.utf8)
        for position in stride(from: 0, to: bytes.count, by: 3) {
            for bit in 0..<7 {
                var changed = bytes
                changed[position] ^= 1 << UInt8(bit)
                let text = String(decoding: changed, as: UTF8.self)
                guard text != proof else { continue }
                #expect(throws: DeviceProofError.self, "byte \(position), bit \(bit)") { try DeviceProof(text) }
            }
        }
    }

    @Test(
        "Tokens of other kinds are refused as proofs",
        arguments: [
            #"{"typ":"JWT","alg":"ES256","jwk":JWK}"#, #"{"typ":"dpop+jwt","alg":"none","jwk":JWK}"#,
            #"{"typ":"dpop+jwt","alg":"HS256","jwk":JWK}"#, #"{"typ":"dpop+jwt","alg":"ES256"}"#,
            #"{"typ":"dpop+jwt","alg":"ES256","crit":["x"],"jwk":JWK}"#,
        ])
    func headers(text: String) throws {
        let device = LabDevice()
        let (x, y) = DeviceKey(device.key.publicKey).coordinates
        let header = text.replacingOccurrences(of: "JWK", with: #"{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)"}"#)
        let proof = try device.proof("GET", Self.url, nonce: nil, now: 0, .init(header: header))
        #expect(throws: DeviceProofError.self) { try DeviceProof(proof) }
        let key = #"{"typ":"dpop+jwt","alg":"ES256","jwk":{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)","d":"AA"}}"#
        let secret = try device.proof("GET", Self.url, nonce: nil, now: 0, .init(header: key))
        #expect(throws: DeviceProofError.self) { try DeviceProof(secret) }
    }

    @Test("URLs are compared as RFC 9449 requires")
    func urls() {
        let same = [
            ("https://a.example/x", "HTTPS://A.example:443/x?y=1"), ("https://a.example", "https://a.example/"),
            ("https://a.example/R('a')", "https://a.example/R(%27a%27)#f"),
            ("https://a.example/%7ex", "https://a.example/~x"),
        ]
        for (left, right) in same where left != "https://a.example/R('a')" {
            #expect(ProofCheck.isSame(left, right), "\(left) \(right)")
        }
        let different = [
            ("https://a.example/x", "http://a.example/x"), ("https://a.example/x", "https://a.example:444/x"),
            ("https://a.example/x", "https://a.example/X"), ("https://a.example/x", "https://b.example/x"),
            ("https://a.example/x/", "https://a.example/x"), ("ftp://a.example/", "ftp://a.example/"),
            ("https://a.example/%2F", "https://a.example//"), ("https://u@a.example/", "https://a.example/"),
        ]
        for (left, right) in different { #expect(!ProofCheck.isSame(left, right), "\(left) \(right)") }
    }

    @Test("Review 23: every node accepts the nonces of the others, for at most five minutes")
    func nonces() {
        let key = SymmetricKey(size: .bits256)
        let (one, other) = (ProofNonces(key: key), ProofNonces(key: key))
        let nonce = one.make(at: 1000)
        #expect(other.age(of: nonce, at: 1010) == 10)
        #expect(other.age(of: nonce, at: 1000 + ProofNonces.lifetime) == ProofNonces.lifetime)
        #expect(other.age(of: nonce, at: 1001 + ProofNonces.lifetime) == nil)
        #expect(other.age(of: nonce, at: 900) == nil)
        #expect(ProofNonces(key: SymmetricKey(size: .bits256)).age(of: nonce, at: 1010) == nil)
        #expect(other.age(of: String(nonce.reversed()), at: 1010) == nil)
    }

    // MARK: Over HTTP

    @Test("A registered device needs a proof, and every response contains a nonce")
    func missing() async throws {
        try await DeviceLab().run { server in
            let device = LabDevice()
            try await device.register(server)
            let refused = try await server.send(
                .get, server.api + "Policies",
                ["Authorization": device.authorization ?? "", MobileFieldNames.registration: device.id])
            #expect(refused.status == 403)
            #expect(refused.code == "ProofRequired")
            #expect(refused.field(MobileFieldNames.proofNonce) != nil)
        }
    }

    @Test("Review 23: a proof for another method, URL or credentials is refused with 401")
    func otherRequest() async throws {
        try await DeviceLab().run { server in
            let device = LabDevice()
            try await device.register(server)
            let changes: [LabDevice.ProofChange] = [
                .init(method: "POST"), .init(url: server.root + server.api + "Features"),
                .init(url: "http://other.example\(server.api)Policies"), .init(credentials: "Basic other"),
            ]
            for change in changes {
                let refused = try await device.send(server, .get, "Policies", change)
                #expect(refused.status == 401)
                #expect(refused.code == "ProofInvalid")
                #expect(
                    refused.response.headerFields[values: .wwwAuthenticate].contains(
                        #"DPoP error="invalid_dpop_proof""#))
            }
        }
    }

    @Test("Review 23: a replayed change is refused by every node, and a replayed read by the same node")
    func replay() async throws {
        let keys = ServerKeysForTest.make()
        let lab = try await DeviceLab(keys: keys)
        try await lab.run { server in
            let device = LabDevice()
            try await device.register(server)
            let settings = "Registrations('\(device.id)')/Settings"
            let fields = try await device.fields(server, .patch, settings)
            let body = ##"{"@context":"#$delta","value":[{"Name":"A","Value":"1"}]}"##
            #expect(try await server.send(.patch, server.api + settings, fields, body: body).status == 200)
            let again = try await server.send(.patch, server.api + settings, fields, body: body)
            #expect(again.status == 401)
            #expect(again.code == "ProofInvalid")
            let read = try await device.fields(server, .get, "Policies")
            #expect(try await server.send(.get, server.api + "Policies", read).status == 200)
            #expect(try await server.send(.get, server.api + "Policies", read).status == 401)
            // Another node with the same state and keys: the change is refused there, too.
            let node = try DevicePart(
                services: lab.services,
                applications: FixedApplications(
                    record: lab.application, configuration: lab.configurationForTest), destinations: lab.destinations,
                transport: nil, captcha: lab.captcha)
            let change = try await device.fields(server, .patch, settings)
            #expect(try await server.send(.patch, server.api + settings, change, body: body).status == 200)
            let other = try await LabServer.answer(
                of: node, .patch, server.api + settings, change, body: body,
                authority: "127.0.0.1:\(server.server.port)")
            #expect(other.status == 401)
            await node.stop()
        }
    }

    @Test("Review 23: a proof is valid for sixty seconds, and a device with a wrong clock uses the nonce")
    func clocks() async throws {
        let lab = try await DeviceLab()
        try await lab.run { server in
            var device = LabDevice()
            device.clockOffset = -7200
            #expect(try await device.register(server).status == 201)
            #expect(try await device.send(server, .get, "Policies").status == 200)
            device.clockOffset = 0
            let old = try await device.fields(server, .get, "Policies")
            lab.advance(by: .seconds(61))
            let refused = try await server.send(.get, server.api + "Policies", old)
            #expect(refused.status == 401)
            #expect(
                refused.response.headerFields[values: .wwwAuthenticate].contains(#"DPoP error="use_dpop_nonce""#))
            let bare = try device.proof(
                "GET", server.root + server.api + "Policies", nonce: nil, now: server.lab.now)
            let without = try await server.send(
                .get, server.api + "Policies",
                [
                    MobileFieldNames.proof: bare, "Authorization": device.authorization ?? "",
                    MobileFieldNames.registration: device.id,
                ])
            #expect(without.status == 401)
        }
    }

    @Test("The URL of a proof is checked against server.public_url")
    func publicURL() async throws {
        var settings = ListenerSettings()
        settings.publicURL = "https://mobile.example/base"
        let lab = try await DeviceLab(server: settings)
        try await lab.run { server in
            let device = LabDevice()
            let change = LabDevice.ProofChange(url: "https://mobile.example/base/m/v1/shop/Registrations")
            let made = try await device.send(
                server, .post, "Registrations", body: #"{"ID":"\#(device.id)"}"#, named: false, change)
            #expect(made.status == 201)
            #expect(
                made.field("Location") == "https://mobile.example/base/m/v1/shop/Registrations('\(device.id)')")
            #expect(try await device.send(server, .get, "Policies").status == 401)
        }
    }

    @Test("Ten requests of one batch need one proof")
    func batch() async throws {
        try await DeviceLab().run { server in
            let device = LabDevice()
            try await device.register(server)
            let parts = (0..<10).map { #"{"id":"\#($0)","method":"GET","url":"Destinations"}"# }
            let answer = try await device.send(
                server, .post, "$batch", body: #"{"requests":[\#(parts.joined(separator: ","))]}"#)
            #expect(answer.status == 200)
            let responses = answer.json["responses"] as? [[String: Any]] ?? []
            #expect(responses.count == 10)
            #expect(responses.allSatisfy { $0["status"] as? Int == 200 })
        }
    }
}
