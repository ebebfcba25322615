import Foundation
import MobileProtocol
import ServerState
import Testing

@testable import MobileServer

/// Conformance of `…/Settings` (`mobile-server.md` 6.2).
@Suite("Settings") struct SettingsTests {
    private static func lab() async throws -> DeviceLab {
        try await DeviceLab {
            $0.security["users"]?.defaults = [
                "Colour": DefaultSetting(value: "blue"), "Server": DefaultSetting(value: "north", isReadOnly: true),
            ]
        }
    }

    private static func values(_ answer: LabServer.Answer) -> [String: String] {
        let members = answer.json["value"] as? [[String: Any]] ?? []
        return Dictionary(
            members.compactMap { member in
                guard let name = member["Name"] as? String else { return nil }
                return (name, member["Value"] as? String ?? "null")
            }, uniquingKeysWith: { $1 })
    }

    @Test("A registration begins with the settings of its security configuration")
    func defaults() async throws {
        try await Self.lab().run { server in
            let device = LabDevice()
            try await device.register(server)
            let settings = "Registrations('\(device.id)')/Settings"
            let read = try await device.send(server, .get, settings)
            #expect(read.status == 200)
            #expect(Self.values(read) == ["Colour": "blue", "Server": "north"])
            let one = try await device.send(server, .get, settings + "('Server')")
            #expect(one.json["IsReadOnly"] as? Bool == true)
            let some = try await device.send(server, .get, settings + "?$filter=IsReadOnly%20eq%20false&$select=Name")
            #expect(Self.values(some) == ["Colour": "null"])
        }
    }

    @Test("A delta payload changes, adds and removes settings")
    func delta() async throws {
        try await Self.lab().run { server in
            let device = LabDevice()
            let made = try await device.register(server)
            #expect(made.status == 201)
            let settings = "Registrations('\(device.id)')/Settings"
            let before = try await device.send(server, .get, "Policies").field(MobileFieldNames.settings)
            let body = """
                {"@context":"#$delta","value":[{"Name":"Colour","Value":"red"},{"Name":"Size","Value":"9"}]}
                """
            let changed = try await device.send(server, .patch, settings, body: body)
            #expect(changed.status == 200)
            #expect(Self.values(changed) == ["Colour": "red", "Size": "9"])
            let version = changed.field(MobileFieldNames.settings)
            #expect(version != nil && version != before)
            #expect(try await device.send(server, .get, "Policies").field(MobileFieldNames.settings) == version)
            let removal = ##"{"@context":"#$delta","value":[{"@removed":{"reason":"deleted"},"Name":"Size"}]}"##
            #expect(try await device.send(server, .patch, settings, body: removal).status == 200)
            let one = try await device.send(server, .patch, settings + "('Colour')", body: #"{"Value":null}"#)
            #expect(one.status == 200)
            #expect(
                Self.values(try await device.send(server, .get, settings)) == ["Colour": "null", "Server": "north"])
        }
    }

    @Test("A call with one read-only setting is refused completely")
    func readOnly() async throws {
        try await Self.lab().run { server in
            let device = LabDevice()
            try await device.register(server)
            let settings = "Registrations('\(device.id)')/Settings"
            let body = """
                {"@context":"#$delta","value":[{"Name":"Colour","Value":"red"},{"Name":"Server","Value":"south"}]}
                """
            let refused = try await device.send(server, .patch, settings, body: body)
            #expect(refused.status == 403)
            #expect(refused.code == "SettingNotEditable")
            #expect(MobileErrorName(rawValue: refused.code)?.legacyNumber == 70005)
            #expect(
                Self.values(try await device.send(server, .get, settings)) == ["Colour": "blue", "Server": "north"])
        }
    }

    @Test("Settings are limited in number and size")
    func limits() async throws {
        try await Self.lab().run { server in
            let device = LabDevice()
            try await device.register(server)
            let settings = "Registrations('\(device.id)')/Settings"
            let long = String(repeating: "x", count: RegistrationLimits.settingValueBytes + 1)
            let refused = try await device.send(server, .patch, settings + "('Colour')", body: #"{"Value":"\#(long)"}"#)
            #expect(refused.status == 400)
        }
    }

    @Test("A device cannot read the settings of another device")
    func foreign() async throws {
        try await Self.lab().run { server in
            let (device, other) = (LabDevice(), LabDevice())
            try await device.register(server)
            try await other.register(server)
            let refused = try await device.send(server, .get, "Registrations('\(other.id)')/Settings")
            #expect(refused.status == 404)
            #expect(refused.code == "RegistrationUnknown")
        }
    }
}
