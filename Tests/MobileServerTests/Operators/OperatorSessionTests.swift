import Foundation
import ODataModel
import ServerState
import Testing

@testable import MobileServer

/// Sessions of operators: sign-in, link, CSRF, roles and service keys (`mobile-server.md` 6.6, 10 and 0.11).
@Suite("Operator sessions") struct OperatorSessionTests {
    @Test("The first operator signs in with the printed link and then sets password and one-time password")
    func firstOperator() async throws {
        let lab = try await OperatorLab()
        try await lab.run { server in
            let code = try await OperatorsPart.makeLink(state: lab.state, keys: lab.keys, operator: "admin")
            let opened = try await server.send(.get, "/sign-in/first?code=\(code)")
            #expect(opened.status == 303)
            #expect(opened.response.headerFields[.location] == "/")
            let cookie = try #require(opened.response.headerFields[.setCookie])
            #expect(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"))
            #expect(try await server.send(.get, "/sign-in/first?code=\(code)").status == 401)
            let bare = ["Cookie": String(cookie.prefix { $0 != ";" })]
            let shown = try await server.send(.get, "/operator/v1/session", bare)
            #expect(shown.json["role"] as? String == "security")
            #expect(shown.json["credentials"] as? String == "missing")
            let fields = bare.merging(["X-CSRF-Token": shown.json["csrf"] as? String ?? ""]) { $1 }
            let totp = try await server.send(.post, "/operator/v1/session/totp", fields)
            let secret = try #require((totp.json["secret"] as? String).flatMap(Base64URL.decode))
            let now = OneTimePassword(secret: secret).password(step: lab.now / 30)
            func set(_ password: String, _ code: String) async throws -> Int {
                try await server.send(
                    .post, "/operator/v1/session/credentials", fields,
                    body: #"{"password":"\#(password)","secret":"\#(Base64URL.encode(secret))","code":"\#(code)"}"#
                ).status
            }
            #expect(try await set("short", now) == 422)
            #expect(try await set(OperatorLab.password, "000000") == 400)
            #expect(try await set(OperatorLab.password, now) == 204)
            // All sessions have ended, and the same one-time password does not work twice.
            #expect(try await server.send(.get, "/operator/v1/session", bare).status == 401)
            #expect(try await server.signIn("admin", secret).status == 401)
            lab.advance(by: .seconds(30))
            #expect(try await server.signIn("admin", secret).status == 200)
        }
    }

    @Test("A sign-in link expires after fifteen minutes and exists only for known operators")
    func linkAge() async throws {
        let lab = try await OperatorLab()
        try await lab.run { server in
            let code = try await OperatorsPart.makeLink(state: lab.state, keys: lab.keys, operator: "admin")
            lab.advance(by: .seconds(901))
            #expect(try await server.send(.get, "/sign-in/first?code=\(code)").status == 401)
            await #expect(throws: ServerStateError.self) {
                try await OperatorsPart.makeLink(state: lab.state, keys: lab.keys, operator: "nobody")
            }
        }
    }

    @Test("Wrong names, passwords and one-time passwords get the same response, and repeated ones a delay")
    func refusals() async throws {
        let lab = try await OperatorLab()
        let secret = try await lab.add("eve", .viewer)
        try await lab.run { server in
            let right = OneTimePassword(secret: secret).password(step: lab.now / 30)
            var texts: Set<String> = []
            for (name, password, code) in [
                ("eve", "wrong password", right), ("eve", OperatorLab.password, "000000"), ("nobody", "x", "1"),
            ] {
                let answer = try await server.send(
                    .post, "/operator/v1/session",
                    body: #"{"name":"\#(name)","password":"\#(password)","code":"\#(code)"}"#)
                #expect(answer.status == 401)
                texts.insert(answer.text)
            }
            #expect(texts.count == 1)
            var statuses: [Int] = []
            for _ in 0..<6 {
                statuses.append(
                    try await server.send(
                        .post, "/operator/v1/session", body: #"{"name":"eve","password":"x","code":"1"}"#
                    ).status)
            }
            #expect(statuses.contains(429))
        }
    }

    @Test("A change without the form token, or from another site, is refused")
    func csrf() async throws {
        let lab = try await OperatorLab()
        let secret = try await lab.add("max", .manager)
        try await lab.run { server in
            let session = try await server.signIn("max", secret)
            #expect(session.status == 200)
            let body = #"{"Name":"crm"}"#
            let without = try await server.send(
                .post, "/operator/v1/Applications", ["Cookie": session.cookie], body: body)
            #expect(without.status == 403)
            #expect(without.code == "CSRFTokenRequired")
            let foreign = try await session.send(
                .post, "Applications", body: body, ["Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"])
            #expect(foreign.status == 403)
            let other = try await session.send(.post, "Applications", body: body, ["X-CSRF-Token": "AAAA"])
            #expect(other.status == 403)
            #expect(try await session.send(.post, "Applications", body: body).status == 201)
        }
    }

    @Test("Each role includes the roles before it: viewer, support, manager, security")
    func roles() async throws {
        let lab = try await OperatorLab()
        try await lab.addDevices(["d1"])
        var secrets: [OperatorRole: [UInt8]] = [:]
        for role in OperatorRole.allCases { secrets[role] = try await lab.add(role.rawValue, role) }
        try await lab.run { server in
            let attempts: [(String, OperatorRole, @Sendable (OperatorSessionFields) async throws -> Int)] = [
                ("read", .viewer, { try await $0.send(.get, "Registrations").status }),
                (
                    "lock", .support,
                    {
                        try await $0.send(
                            .post, "Registrations(Application='shop',ID='d1')/Outpost.Operators.Lock", body: "{}"
                        ).status
                    }
                ),
                (
                    "policy", .manager,
                    {
                        try await $0.send(
                            .post, "Policies",
                            body:
                                """
                                {"Application":"shop","Scope":"application","Target":"","Name":"Crash",\
                                "Body":"true"}
                                """
                        ).status
                    }
                ), ("audit", .security, { try await $0.send(.get, "Audit").status }),
                ("operators", .security, { try await $0.send(.get, "Operators").status }),
            ]
            for role in OperatorRole.allCases {
                let session = try await server.signIn(role.rawValue, try #require(secrets[role]))
                for (name, least, attempt) in attempts {
                    let status = try await attempt(session)
                    #expect((status < 300) == (role >= least), "\(role) \(name): \(status)")
                    if role < least { #expect(status == 403) }
                }
            }
        }
    }

    @Test("A session ends when it is idle or too old, or when its operator is locked")
    func ends() async throws {
        let lab = try await OperatorLab()
        let secret = try await lab.add("max", .manager)
        try await lab.run { server in
            let first = try await server.signIn("max", secret)
            #expect(try await first.send(.get, "Nodes").status == 200)
            lab.advance(by: .seconds(31 * 60))
            #expect(try await first.send(.get, "Nodes").status == 401)
            let second = try await server.signIn("max", secret)
            for _ in 0..<25 {
                lab.advance(by: .seconds(29 * 60))
                _ = try await second.send(.get, "Nodes")
            }
            #expect(try await second.send(.get, "Nodes").status == 401)
            let third = try await server.signIn("max", secret)
            #expect(try await third.send(.delete, "session").status == 204)
            #expect(try await third.send(.get, "Nodes").status == 401)
            lab.advance(by: .seconds(60))
            let fourth = try await server.signIn("max", secret)
            _ = try await lab.state.operators.update("max", ifMatch: nil, OperatorChange(isLocked: true))
            #expect(try await fourth.send(.get, "Nodes").status == 401)
        }
    }

    @Test("Wipes, keys and changes of operators require password and one-time password again")
    func confirmation() async throws {
        let lab = try await OperatorLab()
        try await lab.addDevices(["d1"])
        let secret = try await lab.add("sec", .security)
        try await lab.run { server in
            let session = try await server.signIn("sec", secret)
            lab.advance(by: .seconds(11 * 60))
            let wipe = "Registrations(Application='shop',ID='d1')/Outpost.Operators.Wipe"
            let refused = try await session.send(.post, wipe, body: "{}")
            #expect(refused.status == 403)
            #expect(refused.code == "ConfirmationRequired")
            let code = OneTimePassword(secret: secret).password(step: lab.now / 30)
            let confirmed = try await session.send(
                .post, "session/confirm", body: #"{"password":"\#(OperatorLab.password)","code":"\#(code)"}"#)
            #expect(confirmed.status == 200)
            #expect(try await session.send(.post, wipe, body: "{}").status == 204)
            let record = try await lab.state.registrations.registration("d1", of: lab.application.id)
            #expect(record?.lock == .wipe)
            #expect(record?.lockConfirmation?.count == 32)
        }
    }

    @Test("A service key reads only its application until it expires or is removed")
    func serviceKeys() async throws {
        let lab = try await OperatorLab()
        try await lab.addDevices(["d1"])
        let crm = try await lab.state.applications.add(named: "crm", title: "", domain: "", state: .active)
        _ = try await lab.state.registrations.user(of: crm.id, issuer: "i", subject: "s", makingWith: "carol")
        let secret = try await lab.add("sec", .security)
        try await lab.run { server in
            let session = try await server.signIn("sec", secret)
            let until = ODataDateTimeOffset(seconds: lab.now + 3600)
            let made = try await session.send(
                .post, "ServiceKeys",
                body: #"{"ID":"k1","Application":"shop","Roles":["support"],"ExpiresAt":"\#(until)"}"#)
            #expect(made.status == 201)
            let token = try #require(made.json["Secret"] as? String)
            #expect(try await session.send(.get, "ServiceKeys('k1')").json["Secret"] is NSNull)
            let fields = ["Authorization": "Bearer \(token)"]
            let users = try await server.send(.get, "/operator/v1/Users", fields)
            #expect(users.status == 200)
            #expect((users.json["value"] as? [[String: Any]])?.map { $0["Name"] as? String } == ["ann"])
            let applications = try await server.send(.get, "/operator/v1/Applications", fields)
            #expect((applications.json["value"] as? [[String: Any]])?.count == 1)
            #expect(try await server.send(.get, "/operator/v1/Audit", fields).status == 403)
            let lock = "/operator/v1/Registrations(Application='shop',ID='d1')/Outpost.Operators.Lock"
            #expect(try await server.send(.post, lock, fields, body: "{}").status == 204)
            let wipe = "/operator/v1/Registrations(Application='shop',ID='d1')/Outpost.Operators.Wipe"
            #expect(try await server.send(.post, wipe, fields, body: "{}").status == 403)
            #expect(
                try await server.send(.get, "/operator/v1/Users", ["Authorization": "Bearer k1.AAAA"]).status == 401)
            lab.advance(by: .seconds(3601))
            #expect(try await server.send(.get, "/operator/v1/Users", fields).status == 401)
        }
    }

    @Test("Operators sign in only from the configured networks, and over plain HTTP only from this machine")
    func networks() async throws {
        let lab = try await OperatorLab { $0.operators.networks = ["192.0.2.0/24"] }
        let secret = try await lab.add("max", .manager)
        try await lab.run { server in
            let refused = try await server.signIn("max", secret)
            #expect(refused.status == 403)
        }
        #expect(throws: (any Error).self) {
            var configuration = ServerConfiguration()
            configuration.operators.networks = ["office"]
            _ = try OperatorsPart(
                services: NodeServices(
                    state: lab.state, keys: lab.keys, configuration: configuration, dataFolder: ""))
        }
    }
}
