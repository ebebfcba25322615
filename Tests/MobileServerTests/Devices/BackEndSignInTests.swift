import Foundation
import HTTPTypes
import MobileProtocol
import ODataServer
import ODataService
import Testing

@testable import MobileServer

/// Basic credentials and cookies that a back end checks (`mobile-server.md` 6.2).
@Suite("Sign-in at a back end") struct BackEndSignInTests {
    private typealias Answer = ScriptedBackEnd.Answer

    /// A back end that knows ann by her password or her cookie, and answers like OpenID Connect UserInfo.
    private static func backEnd() async throws -> ScriptedBackEnd {
        try await ScriptedBackEnd { seen, _ in
            switch seen.path {
            case "/login": return Answer(status: 302, fields: ["Location": "/form"])
            case "/broken": return Answer(status: 500)
            case "/nameless": return Answer(status: 200, fields: [:])
            default: break
            }
            let isAnn =
                seen.field("Authorization") == LabDevice.basic("ann", "s3cret")
                || seen.field("Cookie") == "MYSAPSSO2=ticket"
            return isAnn ? Answer(body: #"{"sub":"u-1","name":"Ann","roles":["buyer"]}"#) : Answer(status: 401)
        }
    }

    private static func run(
        _ path: String, _ kind: SecurityConfiguration.Kind, _ body: (LabServer, ScriptedBackEnd) async throws -> Void
    ) async throws {
        let backEnd = try await backEnd()
        do {
            var security = SecurityConfiguration(kind: kind)
            security.checkURL = backEnd.url + path
            security.cookie = "MYSAPSSO2"
            let lab = try await DeviceLab { $0.security = ["staff": security] }
            try await lab.run { try await body($0, backEnd) }
        } catch {
            await backEnd.stop()
            throw error
        }
        await backEnd.stop()
    }

    @Test("A password is checked by the back end, which names the user")
    func password() async throws {
        try await Self.run("/check", .basic) { server, backEnd async throws in
            let device = LabDevice(authorization: LabDevice.basic("ann", "s3cret"))
            let made = try await device.register(server)
            #expect(made.status == 201, "\(made.text)")
            #expect(made.json["UserName"] as? String == "Ann")
            #expect(try await device.send(server, .get, "Policies").status == 200)
            // The password was asked for once.
            #expect(backEnd.seen.count == 1)
            let users = try await server.lab.state.registrations.users(of: server.lab.application.id, after: 0)
            #expect(users.map(\.subject) == ["u-1"])
            var thief = device
            thief.authorization = LabDevice.basic("ann", "guess")
            #expect(try await thief.send(server, .get, "Policies").status == 401)
            // The server's own directory is not asked.
            thief.authorization = LabDevice.basic("ann", "ann's password")
            #expect(try await thief.send(server, .get, "Policies").status == 401)
        }
    }

    @Test("Guesses at a back end are slowed down as those at the directory are")
    func guesses() async throws {
        try await Self.run("/check", .basic) { server, backEnd async throws in
            var statuses: [Int] = []
            for number in 0..<8 {
                let device = LabDevice(authorization: LabDevice.basic("ann", "guess \(number)"))
                statuses.append(try await device.register(server).status)
            }
            #expect(statuses.contains(429) && statuses.first == 401, "\(statuses)")
            #expect(backEnd.seen.count < 8)
        }
    }

    @Test("A cookie is checked by the back end, and only the named one is sent there")
    func cookie() async throws {
        try await Self.run("/check", .cookie) { server, backEnd async throws in
            let device = LabDevice(authorization: nil)
            let cookies = ["Cookie": "other=1; MYSAPSSO2=ticket; more=2"]
            let made = try await device.register(server, fields: cookies)
            #expect(made.status == 201, "\(made.text)")
            #expect(made.json["UserName"] as? String == "Ann")
            #expect(try await device.send(server, .get, "Policies", fields: cookies).status == 200)
            #expect(backEnd.seen.map { $0.field("Cookie") } == ["MYSAPSSO2=ticket"])
            #expect(try await device.send(server, .get, "Policies").status == 401)
            let wrong = ["Cookie": "MYSAPSSO2=forged"]
            #expect(try await device.send(server, .get, "Policies", fields: wrong).status == 401)
        }
    }

    @Test(
        "A login page refuses a cookie, and a back end that fails or names nobody is told as 503",
        arguments: [("/login", 401), ("/broken", 503), ("/nameless", 503)])
    func failures(path: String, status: Int) async throws {
        try await Self.run(path, .cookie) { server, _ async throws in
            let device = LabDevice(authorization: nil)
            let answer = try await device.register(server, fields: ["Cookie": "MYSAPSSO2=ticket"])
            #expect(answer.status == status, "\(answer.text)")
        }
    }

    @Test("Credentials are not sent to another machine without TLS, and the check says so")
    func plainURL() async throws {
        var security = SecurityConfiguration(kind: .basic)
        security.checkURL = "http://sso.example/check"
        let lab = try await DeviceLab { [security] in $0.security = ["staff": security] }
        try await lab.run { server async throws in
            let device = LabDevice(authorization: LabDevice.basic("ann", "s3cret"))
            #expect(try await device.register(server).status == 503)
            let findings = await lab.part.check()
            #expect(findings.contains { $0.severity == .error && $0.message.contains("check_url") })
        }
    }
}
