import Foundation
import MobileProtocol
import ODataModel
import ServerState
import Testing

@testable import MobileServer

/// Conformance of `Policies`, `Features`, `Confirm`, lock and wipe (`mobile-server.md` 6.2).
@Suite("Policies") struct PolicyTests {
    @Test("Policies of configuration, application, role, user and registration are merged in this order")
    func merging() async throws {
        let lab = try await DeviceLab {
            $0.policies.password.isEnabled = true
            $0.policies.password.minimumLength = 6
            $0.policies.features = ["scan": true]
        }
        try await lab.run { server in
            let device = LabDevice()
            try await device.register(server)
            let first = try await device.send(server, .get, "Policies")
            #expect(first.status == 200)
            let password = first.json["PasswordPolicy"] as? [String: Any] ?? [:]
            #expect(password["MinLength"] as? Int == 6)
            #expect(password["Enabled"] as? Bool == true)
            #expect((first.json["Security"] as? [String: Any])?["AllowPrint"] as? Bool == true)
            let users = try await lab.state.registrations.users(of: lab.application.id, after: 0)
            let user = String(try #require(users.first).id)
            for (scope, target, length) in [
                ("registration", device.id, 9), ("user", user, 8), ("role", "buyer", 7), ("role", "other", 30),
            ] {
                _ = try await lab.state.registrations.setPolicy(
                    PolicyRecord(
                        scope: scope, target: target, name: "PasswordPolicy",
                        body: Array(#"{"MinLength":\#(length)}"#.utf8)), of: lab.application.id)
            }
            let second = try await device.send(server, .get, "Policies/PasswordPolicy")
            #expect(second.json["MinLength"] as? Int == 9)
            #expect(second.json["Enabled"] as? Bool == true)
            #expect(second.field(MobileFieldNames.policies) != first.field(MobileFieldNames.policies))
            try await lab.state.registrations.removePolicy(
                scope: "registration", target: device.id, name: "PasswordPolicy", of: lab.application.id)
            let third = try await device.send(server, .get, "Policies/PasswordPolicy/MinLength")
            #expect(third.json["value"] as? Int == 8)
        }
    }

    @Test("Policies have an ETag, and unchanged policies are not sent again")
    func notModified() async throws {
        let lab = try await DeviceLab()
        try await lab.run { server in
            let device = LabDevice()
            try await device.register(server)
            let first = try await device.send(server, .get, "Policies")
            let etag = try #require(first.field("ETag"))
            #expect(first.json["Version"] as? Int64 != nil || first.json["Version"] as? Int != nil)
            let second = try await device.send(server, .get, "Policies", fields: ["If-None-Match": etag])
            #expect(second.status == 304)
            _ = try await lab.state.registrations.setPolicy(
                PolicyRecord(scope: "application", target: "", name: "Crash", body: Array("true".utf8)),
                of: lab.application.id)
            let third = try await device.send(server, .get, "Policies", fields: ["If-None-Match": etag])
            #expect(third.status == 200)
            #expect(third.json["Crash"] as? Bool == true)
        }
    }

    @Test("Features are switches with parameters, and the most specific setting applies")
    func features() async throws {
        let lab = try await DeviceLab { $0.policies.features = ["scan": true, "print": true] }
        try await lab.run { server in
            let device = LabDevice()
            try await device.register(server)
            _ = try await lab.state.registrations.setPolicy(
                PolicyRecord(
                    scope: "role", target: "buyer", name: "Features",
                    body: Array(
                        """
                        {"All":false,"Switches":[{"Name":"print","IsEnabled":false,\
                        "Parameters":[{"Name":"dpi","Value":"300"}]}]}
                        """
                        .utf8)), of: lab.application.id)
            let answer = try await device.send(server, .get, "Features")
            #expect(answer.status == 200)
            #expect(answer.json["All"] as? Bool == false)
            let switches = answer.json["Switches"] as? [[String: Any]] ?? []
            let enabled = Dictionary(
                switches.map { ($0["Name"] as? String ?? "", $0["IsEnabled"] as? Bool ?? false) },
                uniquingKeysWith: { $1 })
            #expect(enabled == ["scan": true, "print": false])
            #expect(answer.field("ETag") != nil)
        }
    }

    @Test("Review 10: a locked device can only read and confirm its lock")
    func lock() async throws {
        let lab = try await DeviceLab()
        try await lab.run { server in
            let device = LabDevice()
            try await device.register(server)
            _ = try await lab.state.registrations.setLock(
                .locked, confirmation: nil, registration: device.id, of: lab.application.id)
            let refused = try await device.send(server, .get, "Destinations")
            #expect(refused.status == 403)
            #expect(refused.code == "DeviceLocked")
            let order = try await device.send(server, .get, "Policies")
            #expect(order.status == 200)
            #expect(order.field(MobileFieldNames.policies) == refused.field(MobileFieldNames.policies))
            let lock = order.json["Lock"] as? [String: Any] ?? [:]
            #expect(lock["State"] as? String == "lock")
            let version = try #require(lock["Version"] as? NSNumber).int64Value
            let confirm = "Registrations('\(device.id)')/Outpost.Mobile.Confirm"
            let wrong = try await device.send(
                server, .post, confirm, body: #"{"kind":"locked","version":\#(version - 1)}"#)
            #expect(wrong.status == 412)
            let right = try await device.send(server, .post, confirm, body: #"{"kind":"locked","version":\#(version)}"#)
            #expect(right.status == 204)
            let record = try await lab.state.registrations.registration(device.id, of: lab.application.id)
            #expect(record?.isLockConfirmed == true)
            _ = try await lab.state.registrations.setLock(
                .none, confirmation: nil, registration: device.id, of: lab.application.id)
            #expect(try await device.send(server, .get, "Destinations").status == 200)
        }
    }

    @Test("Review 9: a wiped device can only confirm the wipe")
    func wipe() async throws {
        let lab = try await DeviceLab()
        try await lab.run { server in
            let device = LabDevice()
            try await device.register(server)
            let secret = (0..<32).map { UInt8($0) }
            _ = try await lab.state.registrations.setLock(
                .wipe, confirmation: secret, registration: device.id, of: lab.application.id)
            let refused = try await device.send(server, .get, "Destinations")
            #expect(refused.code == "DeviceWiped")
            let lock = try await device.send(server, .get, "Policies").json["Lock"] as? [String: Any] ?? [:]
            #expect(lock["State"] as? String == "wipe")
            let confirmation = try #require(lock["Confirmation"] as? String)
            #expect(confirmation == Base64URL.encode(secret))
            let version = try #require(lock["Version"] as? NSNumber).int64Value
            let path = server.api + "Registrations('\(device.id)')/Outpost.Mobile.Confirm"
            func confirm(_ text: String?) async throws -> LabServer.Answer {
                let extra = text.map { #","confirmation":"\#($0)""# } ?? ""
                return try await server.send(
                    .post, path, body: #"{"kind":"wiped","version":\#(version)\#(extra)}"#)
            }
            #expect(try await confirm(nil).status == 403)
            #expect(try await confirm(Base64URL.encode([UInt8](repeating: 1, count: 32))).status == 403)
            #expect(try await confirm("AAAA").status == 403)
            // The confirmation opens nothing else.
            let other = try await server.send(.get, server.api + "Registrations('\(device.id)')")
            #expect(other.status == 401 || other.status == 403)
            let locked = try await server.send(.post, path, body: #"{"kind":"locked","version":\#(version)}"#)
            #expect(locked.status == 401)
            #expect(try await confirm(confirmation).status == 204)
            #expect(try await confirm(confirmation).status == 404)
            let record = try await lab.state.registrations.registration(device.id, of: lab.application.id)
            #expect(record?.state == .unregistered)
        }
    }

    @Test("A device that was absent for the days of the policy is locked at its next request")
    func inactive() async throws {
        let lab = try await DeviceLab { $0.policies.lock.inactiveDays = 3 }
        try await lab.run { server in
            let device = LabDevice()
            try await device.register(server)
            #expect(try await device.send(server, .get, "Destinations").status == 200)
            lab.advance(by: .seconds(4 * 86_400))
            #expect(try await device.send(server, .get, "Destinations").code == "DeviceLocked")
        }
    }

    @Test(
        "Invalid policy values are refused",
        arguments: [
            ("PasswordPolicy", #"{"MinLength":-1}"#), ("PasswordPolicy", #"{"Length":1}"#), ("Nonsense", "{}"),
            ("Features", #"{"Switches":[{"Name":"a","IsEnabled":true,"Enabled":true}]}"#),
            ("Crash", #""yes""#), ("Log", "null"), ("Log", "{"),
        ])
    func invalid(name: String, body: String) throws {
        let shapes = try DeviceModel()
        #expect(throws: PolicyError.self) { try PolicySections.check(name, Array(body.utf8), shapes: shapes) }
        #expect(throws: Never.self) {
            try PolicySections.check("Log", Array(#"{"Level":"debug"}"#.utf8), shapes: shapes)
            try PolicySections.check(
                "Features", Array(#"{"Switches":[{"Name":"a","IsEnabled":true,"Parameters":[]}]}"#.utf8),
                shapes: shapes)
        }
    }
}
