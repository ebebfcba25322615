import Foundation
import HTTPTypes
import JWTKit
import MobileProtocol
import ODataHTTP
import ODataServer
import ODataService
import Secrets
import ServerState
import Testing

@testable import MobileServer

/// CAPTCHA, activation codes, tokens, discovery and sign-in delays.
@Suite("Onboarding") struct OnboardingTests {
    // MARK: CAPTCHA

    @Test("Review 26: a CAPTCHA is valid once, for three rounds and five minutes")
    func captcha() async throws {
        let lab = try await DeviceLab {
            $0.security = ["guests": SecurityConfiguration(kind: .anonymous)]
            $0.registration.captcha = .anonymous
        }
        try await lab.run { server in
            var device = LabDevice()
            device.authorization = nil
            let first = try await device.register(server)
            #expect(first.status == 403)
            #expect(first.code == "CaptchaRequired")
            let challenge = first.error["innererror"] as? [String: Any] ?? [:]
            #expect(challenge["roundsLeft"] as? Int == 3)
            let image = try #require(Data(base64Encoded: challenge["image"] as? String ?? ""))
            #expect(image.starts(with: [0x89, 0x50, 0x4E, 0x47]))
            #expect(image.count <= Captchas.maxImageLength)
            let id = try #require(challenge["id"] as? String)
            func answer(_ id: String, _ text: String) async throws -> LabServer.Answer {
                try await device.register(server, fields: [MobileFieldNames.captcha: "\(id);\(text)"])
            }
            let right = lab.captcha.last
            let second = try await answer(id, "WRONG")
            #expect(second.code == "CaptchaRequired")
            #expect((second.error["innererror"] as? [String: Any])?["roundsLeft"] as? Int == 2)
            #expect(try await answer(id, right.lowercased()).status == 201)
            // The same challenge for another device.
            device = LabDevice()
            device.authorization = nil
            #expect(try await answer(id, right).code == "CaptchaRequired")
            let late = LabDevice(authorization: nil)
            let newest = try await late.register(server).error["innererror"] as? [String: Any] ?? [:]
            let text = lab.captcha.last
            lab.advance(by: .seconds(301))
            let expired = try await late.register(
                server, fields: [MobileFieldNames.captcha: "\(newest["id"] as? String ?? "");\(text)"])
            #expect(expired.status == 403)
            #expect(expired.code == "CaptchaRequired")
        }
    }

    @Test("After three wrong answers the device has to wait")
    func rounds() async throws {
        let lab = try await DeviceLab { $0.registration.captcha = .always }
        try await lab.run { server in
            let device = LabDevice()
            var answer = try await device.register(server)
            for round in [2, 1] {
                let id = (answer.error["innererror"] as? [String: Any])?["id"] as? String ?? ""
                answer = try await device.register(server, fields: [MobileFieldNames.captcha: "\(id);00000"])
                #expect((answer.error["innererror"] as? [String: Any])?["roundsLeft"] as? Int == round)
            }
            let id = (answer.error["innererror"] as? [String: Any])?["id"] as? String ?? ""
            let refused = try await device.register(server, fields: [MobileFieldNames.captcha: "\(id);00000"])
            #expect(refused.status == 429)
            #expect(refused.field("Retry-After") != nil)
        }
    }

    @Test("A challenge of another application, or a changed one, is refused")
    func foreignChallenge() throws {
        let captchas = Captchas(key: .generate())
        let reader = ReadableCaptcha()
        let key = DeviceLabKeys.key
        let own = Captchas(key: key, issuer: reader)
        let challenge = try own.make(for: "shop", at: 1000)
        #expect(own.check("\(challenge.id);\(reader.last)", for: "other", at: 1000) == .wrong(roundsLeft: 2))
        #expect(captchas.check("\(challenge.id);\(reader.last)", for: "shop", at: 1000) == .wrong(roundsLeft: 2))
        #expect(own.check("nonsense", for: "shop", at: 1000) == .wrong(roundsLeft: 2))
        guard case .solved = own.check("\(challenge.id);\(reader.last)", for: "shop", at: 1300) else {
            Issue.record("the right answer was refused")
            return
        }
        #expect(own.check("\(challenge.id);\(reader.last)", for: "shop", at: 1301) == .wrong(roundsLeft: 2))
    }

    // MARK: Activation codes

    @Test("Review 39: a code registers one device, is kept as a MAC, and lasts for its time")
    func activation() async throws {
        let lab = try await DeviceLab { $0.security = ["invited": SecurityConfiguration(kind: .activation)] }
        try await lab.run { server in
            let code = ActivationCode()
            let hash = code.digest(key: lab.keys.key(.codes).symmetricKey)
            try await lab.state.registrations.addActivation(
                ActivationRecord(
                    hash: hash, application: lab.application.id, userName: "carol",
                    expiresAt: lab.services.clock() + .seconds(3600)))
            var device = LabDevice()
            device.authorization = nil
            let without = try await device.register(server)
            #expect(without.code == "AutomaticRegistrationDisabled")
            let wrong = try await device.register(
                server, fields: [MobileFieldNames.activation: ActivationCode().text])
            #expect(wrong.code == "ActivationCodeInvalid")
            let typed = code.text.lowercased().replacingOccurrences(of: "-", with: " ")
            let made = try await device.register(server, fields: [MobileFieldNames.activation: typed])
            #expect(made.status == 201)
            #expect(made.json["UserName"] as? String == "carol")
            // The lost response is repeated.
            let again = try await device.register(server, fields: [MobileFieldNames.activation: typed])
            #expect(again.status == 200)
            let other = LabDevice(authorization: nil)
            let refused = try await other.register(server, fields: [MobileFieldNames.activation: typed])
            #expect(refused.status == 403)
            #expect(["ActivationCodeOfAnotherDevice", "ActivationCodeInvalid"].contains(refused.code))
            // Afterwards the device key is enough.
            #expect(try await device.send(server, .get, "Policies").status == 200)
            let stranger = LabDevice(id: device.id, authorization: nil)
            #expect(try await stranger.send(server, .get, "Policies").status == 401)
        }
    }

    @Test("An application can require a code in addition to credentials")
    func activationBesides() async throws {
        let lab = try await DeviceLab { $0.registration.needsActivation = true }
        try await lab.run { server in
            let device = LabDevice()
            #expect(try await device.register(server).code == "AutomaticRegistrationDisabled")
            for (user, expected) in [("bob", 403), ("ann", 201)] {
                let code = ActivationCode()
                try await lab.state.registrations.addActivation(
                    ActivationRecord(
                        hash: code.digest(key: lab.keys.key(.codes).symmetricKey), application: lab.application.id,
                        userName: user, expiresAt: lab.services.clock() + .seconds(60)))
                let answer = try await device.register(server, fields: [MobileFieldNames.activation: code.text])
                #expect(answer.status == expected)
                if expected == 403 { #expect(answer.code == "WrongUserForRegistration") }
            }
            let old = ActivationCode()
            try await lab.state.registrations.addActivation(
                ActivationRecord(
                    hash: old.digest(key: lab.keys.key(.codes).symmetricKey), application: lab.application.id,
                    userName: "ann", expiresAt: lab.services.clock() + .seconds(60)))
            lab.advance(by: .seconds(61))
            let late = try await LabDevice().register(server, fields: [MobileFieldNames.activation: old.text])
            #expect(late.code == "ActivationCodeInvalid")
        }
    }

    @Test("Codes are accepted in the forms in which people type them")
    func codes() {
        let code = ActivationCode()
        #expect(ActivationCode(code.text) == code)
        #expect(ActivationCode("O0o0-IlL1-2345") == ActivationCode("0000-1111-2345"))
        #expect(ActivationCode("K7Q2-M9XV-3HT") == nil)
        #expect(ActivationCode("K7Q2-M9XV-3HTU") == nil)
        #expect(ActivationCode("K7Q2-M9XV-3HT?") == nil)
    }

    // MARK: Tokens

    private struct Claims: JWTPayload {
        var iss: String
        var sub: String
        var aud: String
        var exp: Double
        var roles: [String]

        func verify(using algorithm: some JWTAlgorithm) throws {}
    }

    @Test("Tokens of an issuer sign in, and discovery finds its keys")
    func tokens() async throws {
        let key = ES256PrivateKey()
        let signer = await JWTKeyCollection().add(ecdsa: key, kid: "k1")
        let parameters = try #require(key.publicKey.parameters)
        let set = """
            {"keys":[{"kty":"EC","crv":"P-256","kid":"k1","alg":"ES256","use":"sig","x":"\(parameters.x)",\
            "y":"\(parameters.y)"}]}
            """
        let issuer = try await ODataServer(handler: { head, _ in
            let root = "http://\(head.authority ?? "")"
            let text =
                (head.path ?? "").hasSuffix("openid-configuration")
                ? #"{"issuer":"\#(root)","jwks_uri":"\#(root)/keys"}"# : set
            return (HTTPResponse(status: .ok), ByteStream(Array(text.utf8)))
        }).start()
        let name = "http://127.0.0.1:\(issuer.port)"
        let lab = try await DeviceLab {
            var security = SecurityConfiguration(kind: .bearer)
            security.issuer = name
            security.audience = "shop"
            $0.security = ["login": security]
        }
        func token(_ issuer: String, audience: String = "shop", lifetime: Double = 600) async throws -> String {
            try await signer.sign(
                Claims(
                    iss: issuer, sub: "s-1", aud: audience, exp: Date().timeIntervalSince1970 + lifetime,
                    roles: ["buyer"]))
        }
        try await lab.run { server in
            var device = LabDevice()
            device.authorization = "Bearer \(try await token(name))"
            let made = try await device.register(server)
            #expect(made.status == 201)
            let users = try await lab.state.registrations.users(of: lab.application.id, after: 0)
            #expect(users.map(\.issuer) == ["oidc:\(name)"])
            #expect(try await device.send(server, .get, "Policies").status == 200)
            for bad in [
                try await token("https://other.example"), try await token(name, audience: "other"),
                try await token(name, lifetime: -1), "nonsense",
            ] {
                device.authorization = "Bearer \(bad)"
                let refused = try await device.send(server, .get, "Policies")
                #expect(refused.status == 401)
                #expect(refused.response.headerFields[values: .wwwAuthenticate].contains("Bearer"))
            }
        }
        await issuer.stop()
    }

    @Test("A discovery document with another issuer, or without https, is refused")
    func foreignIssuer() async throws {
        let lab = try await DeviceLab {
            var security = SecurityConfiguration(kind: .bearer)
            security.issuer = "http://issuer.example"
            security.audience = "shop"
            $0.security = ["login": security]
        }
        try await lab.run { server in
            let device = LabDevice(authorization: "Bearer abc")
            let refused = try await device.register(server)
            #expect(refused.status == 503)
            #expect(refused.field("Retry-After") != nil)
        }
    }

    // MARK: Discovery

    @Test("The discovery document names applications and sign-in methods, and contains no secret")
    func discovery() async throws {
        let lab = try await DeviceLab {
            $0.registration.minimumAppVersion = "2.0"
            var security = SecurityConfiguration(kind: .bearer)
            security.issuer = "https://login.example/"
            security.clientID = "shop-app"
            $0.security["login"] = security
        }
        try await lab.run { server in
            let answer = try await server.send(.get, discoveryPath)
            #expect(answer.status == 200)
            #expect(answer.response.headerFields[.contentType] == "application/json")
            let application = try #require((answer.json["applications"] as? [[String: Any]])?.first)
            #expect(application["application"] as? String == "shop")
            #expect(application["deviceAPI"] as? String == "\(server.root)/m/v1/shop/")
            #expect(application["minimumAppVersion"] as? String == "2.0")
            let ways = application["securityConfigurations"] as? [[String: Any]] ?? []
            #expect(ways.map { $0["kind"] as? String } == ["bearer", "basic"])
            #expect(ways.first?["issuer"] as? String == "https://login.example/")
            let one = try await server.send(.get, discoveryPath + "?application=shop")
            #expect(one.json["application"] as? String == "shop")
            #expect(try await server.send(.get, discoveryPath + "?application=other").status == 404)
            #expect(try await server.send(.post, discoveryPath).status == 405)
            #expect(!answer.text.contains("password"))
        }
    }

    // MARK: Guessing

    @Test("Review 25: wrong passwords delay the address that sends them, and a known user continues")
    func guessing() async throws {
        try await DeviceLab().run { server in
            let device = LabDevice()
            #expect(try await device.register(server).status == 201)
            var statuses: [Int] = []
            for number in 0..<20 {
                var guesser = LabDevice()
                guesser.authorization = LabDevice.basic("bob", "guess \(number)")
                statuses.append(try await guesser.register(server).status)
            }
            #expect(statuses.prefix(SignInLimits.freeOfUser).allSatisfy { $0 == 401 }, "\(statuses)")
            #expect(statuses.contains(429))
            // ann has signed in from the same address before.
            #expect(try await device.send(server, .get, "Policies").status == 200)
        }
    }

    @Test("Delays grow from one second to a minute, and expire")
    func delays() {
        let now = ServerInstant(rawValue: 1_000_000_000)
        func left(_ failures: Int, _ ago: Int64) -> Int64 {
            SignInLimits.left(
                SignInRecord(failures: failures, failedAt: now - .seconds(ago)), free: 4, now)
        }
        #expect([3, 4, 5, 6, 7].map { left($0, 0) } == [0, 1, 2, 4, 8])
        #expect(left(1000, 0) == SignInLimits.longest)
        #expect(left(1000, 59) == 1)
        #expect(left(1000, 60) == 0)
    }

    @Test("Credentials over plain HTTP from another machine are refused before they are read")
    func downgrade() async throws {
        let lab = try await DeviceLab()
        let answer = try await LabServer.answer(
            of: lab.part, .get, "/m/v1/shop/Policies", ["Authorization": LabDevice.basic("ann", "ann's password")],
            body: "", authority: "mobile.example",
            context: MountContext(address: "192.0.2.7", isLoopback: false, isSecure: false))
        #expect(answer.status == 403)
        #expect(answer.code == "PlainHTTP")
        let record = try await lab.state.operators.signIns(of: "shop/ann", from: "192.0.2.7")
        #expect(record.failures == 0 && !record.isKnown)
        await lab.part.stop()
    }
}

enum DeviceLabKeys {
    static let key = EncryptionKey.generate()
}
