import Foundation
import MobileProtocol
import ServerState
import Testing

@testable import MobileServer

/// Conformance of `Registrations` (`mobile-server.md` 6.2).
@Suite("Registrations") struct RegistrationTests {
    @Test("A device registers, reads its registration, changes it and removes it")
    func life() async throws {
        try await DeviceLab().run { server in
            let device = LabDevice()
            let made = try await device.register(server, more: #","DeviceModel":"Pad 3","PushKind":"apns""#)
            #expect(made.status == 201)
            #expect(made.field("Location") == "\(server.root)/m/v1/shop/Registrations('\(device.id)')")
            #expect(made.json["UserName"] as? String == "ann")
            #expect(made.json["State"] as? Int == 203)
            #expect(made.json["KeyThumbprint"] as? String == DeviceKey(device.key.publicKey).thumbprint)
            let own = "Registrations('\(device.id)')"
            let read = try await device.send(server, .get, own)
            #expect(read.status == 200)
            #expect(read.json["DeviceModel"] as? String == "Pad 3")
            let etag = try #require(read.field("ETag"))
            let bare = try await device.send(server, .patch, own, body: #"{"Locale":"de_AT"}"#)
            #expect(bare.status == 428)
            #expect(bare.code == "PreconditionRequired")
            let changed = try await device.send(
                server, .patch, own, body: #"{"Locale":"de_AT"}"#, fields: ["If-Match": etag])
            #expect(changed.status == 200)
            #expect(changed.json["Locale"] as? String == "de_AT")
            #expect(changed.json["DeviceModel"] as? String == "Pad 3")
            let outdated = try await device.send(
                server, .patch, own, body: #"{"Locale":"fr"}"#, fields: ["If-Match": etag])
            #expect(outdated.status == 412)
            let removed = try await device.send(server, .delete, own)
            #expect(removed.status == 204)
            let gone = try await device.send(server, .get, own)
            #expect(gone.status == 404)
            #expect(gone.code == "RegistrationUnknown")
        }
    }

    @Test("Review 27: a repeated registration with the same id and key returns 200 and the entity")
    func repeated() async throws {
        try await DeviceLab().run { server in
            let device = LabDevice()
            #expect(try await device.register(server).status == 201)
            let again = try await device.register(server)
            #expect(again.status == 200)
            #expect(again.json["ID"] as? String == device.id)
        }
    }

    @Test(
        "Review 27: another user's registration id is refused, and a new key of the same user locks the old device")
    func otherOwner() async throws {
        try await DeviceLab().run { server in
            let device = LabDevice()
            try await device.register(server)
            var stranger = LabDevice(id: device.id)
            stranger.authorization = LabDevice.basic("bob", "bob's password")
            let refused = try await stranger.register(server)
            #expect(refused.status == 409)
            #expect(refused.code == "AlreadyRegistered")
            let restored = LabDevice(id: device.id)
            #expect(try await restored.register(server).status == 200)
            #expect(try await restored.send(server, .get, "Policies").status == 200)
            let old = try await device.send(server, .get, "Policies")
            #expect(old.status == 401)
            #expect(old.code == "ProofInvalid")
        }
    }

    @Test(
        "A registration id has only plain characters",
        arguments: ["", "a b", "a/b", "ä", String(repeating: "x", count: 129)])
    func ids(id: String) async throws {
        try await DeviceLab().run { server in
            let refused = try await LabDevice(id: id).register(server)
            #expect(refused.status == 400)
            #expect(refused.code == "InvalidProperty")
            #expect(refused.error["target"] as? String == "ID")
        }
    }

    @Test("A second user on the same registration is refused")
    func wrongUser() async throws {
        try await DeviceLab().run { server in
            var device = LabDevice()
            try await device.register(server)
            device.authorization = LabDevice.basic("bob", "bob's password")
            let refused = try await device.send(server, .get, "Policies")
            #expect(refused.status == 403)
            #expect(refused.code == "WrongUserForRegistration")
        }
    }

    @Test("The number of devices of a user is limited")
    func devicesPerUser() async throws {
        let lab = try await DeviceLab { $0.registration.devicesPerUser = 2 }
        try await lab.run { server in
            for _ in 0..<2 { #expect(try await LabDevice().register(server).status == 201) }
            let third = try await LabDevice().register(server)
            #expect(third.status == 422)
            #expect(third.code == "PolicyViolated")
        }
    }

    @Test("An application with several security configurations requires a name")
    func severalConfigurations() async throws {
        let lab = try await DeviceLab { $0.security["guests"] = SecurityConfiguration(kind: .anonymous) }
        try await lab.run { server in
            let refused = try await LabDevice().register(server)
            #expect(refused.status == 404)
            #expect(refused.code == "SecurityConfigurationUnknown")
            #expect(try await LabDevice().register(server, security: "users").status == 201)
            var guest = LabDevice()
            guest.authorization = nil
            let made = try await guest.register(server, security: "guests")
            #expect(made.status == 201)
            #expect(made.json["UserName"] as? String == "anonymous")
            #expect(try await guest.send(server, .get, "Features").status == 200)
        }
    }

    @Test("Without credentials the answer is 401 with a challenge")
    func unauthorized() async throws {
        try await DeviceLab().run { server in
            var device = LabDevice()
            device.authorization = nil
            let refused = try await device.register(server)
            #expect(refused.status == 401)
            #expect(refused.response.headerFields[values: .wwwAuthenticate].contains { $0.hasPrefix("Basic ") })
        }
    }

    @Test("An unknown application is answered with 404")
    func unknownApplication() async throws {
        try await DeviceLab().run { server in
            let answer = try await server.send(.get, "/m/v1/other/$metadata")
            #expect(answer.status == 404)
            #expect(answer.code == "ApplicationUnknown")
        }
    }

    @Test("Review 25: registrations without sign-in are limited by address")
    func registrationRate() async throws {
        var limits = LabLimits.high
        limits.registrationsPerHour = 2
        let lab = try await DeviceLab(limits: limits) {
            $0.security["guests"] = SecurityConfiguration(kind: .anonymous)
        }
        try await lab.run { server in
            for number in 0..<4 {
                var guest = LabDevice()
                guest.authorization = nil
                let answer = try await guest.register(server, security: "guests")
                #expect(answer.status == (number < 2 ? 201 : 429))
                if number >= 2 { #expect(answer.field("Retry-After") != nil) }
            }
            for _ in 0..<4 { #expect(try await LabDevice().register(server, security: "users").status == 201) }
        }
    }

    @Test("Review 25: the request rate of a device counts first pages and not next links")
    func deviceRate() async throws {
        var limits = LabLimits.high
        limits.devicePerMinute = 5
        try await DeviceLab(limits: limits).run { server in
            let device = LabDevice()
            try await device.register(server)
            for _ in 0..<8 {
                #expect(try await device.send(server, .get, "d/northwind/Orders?$skiptoken=v~1").status == 200)
            }
            var answers: [Int] = []
            for _ in 0..<8 { answers.append(try await device.send(server, .get, "Destinations").status) }
            #expect(answers.prefix(5).allSatisfy { $0 == 200 })
            #expect(answers.suffix(2).allSatisfy { $0 == 429 })
        }
    }

    @Test("Review 1: users with the same name from two issuers are different users")
    func issuers() async throws {
        let lab = try await DeviceLab { $0.security["staff"] = SecurityConfiguration(kind: .basic) }
        try await lab.run { server in
            let (one, other) = (LabDevice(), LabDevice())
            try await one.register(server, security: "users")
            try await other.register(server, security: "staff")
            let users = try await server.lab.state.registrations.users(of: server.lab.application.id, after: 0)
            #expect(users.map(\.issuer).sorted() == ["basic:staff", "basic:users"])
            #expect(Set(users.map(\.subject)) == ["ann"])
        }
    }

    @Test("A locked user is refused at once")
    func lockedUser() async throws {
        try await DeviceLab().run { server in
            let device = LabDevice()
            try await device.register(server)
            let users = try await server.lab.state.registrations.users(of: server.lab.application.id, after: 0)
            _ = try await server.lab.state.registrations.setLocked(true, user: try #require(users.first).id)
            let refused = try await device.send(server, .get, "Policies")
            #expect(refused.status == 403)
            #expect(refused.code == "DeviceLocked")
        }
    }
}
