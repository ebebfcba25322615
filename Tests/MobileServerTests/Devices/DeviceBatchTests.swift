import Foundation
import MobileProtocol
import ODataService
import ServerState
import Testing

@testable import MobileServer

/// Conformance of `$batch` and of the checks before the device API (`mobile-server.md` 6.2).
@Suite("Batches of the device API") struct DeviceBatchTests {
    private static func batch(_ device: LabDevice, _ server: LabServer, _ requests: String) async throws -> [Int] {
        let answer = try await device.send(server, .post, "$batch", body: #"{"requests":[\#(requests)]}"#)
        #expect(answer.status == 200, "\(answer.text)")
        return (answer.json["responses"] as? [[String: Any]] ?? []).compactMap { $0["status"] as? Int }
    }

    private static func change(_ id: String, _ url: String, _ method: String = "patch", body: String) -> String {
        """
        {"id":"\(id)","atomicityGroup":"g","method":"\(method)","url":"\(url)",\
        "headers":{"content-type":"application/json"},"body":\(body)}
        """
    }

    @Test("A change set changes settings together, or none of them")
    func changeSets() async throws {
        let lab = try await DeviceLab {
            $0.security["users"]?.defaults = [
                "Colour": DefaultSetting(value: "blue"), "Server": DefaultSetting(value: "north", isReadOnly: true),
            ]
        }
        try await lab.run { server async throws in
            let device = LabDevice()
            try await device.register(server)
            let path = "Registrations('\(device.id)')/Settings"
            func value(_ name: String) async throws -> String? {
                try await device.send(server, .get, path + "('\(name)')").json["Value"] as? String
            }
            let both =
                Self.change("1", path + "('Colour')", body: #"{"Value":"red"}"#) + ","
                + Self.change("2", path, "post", body: #"{"Name":"Size","Value":"9"}"#)
            #expect(try await Self.batch(device, server, both) == [200, 201])
            #expect(try await value("Colour") == "red")
            #expect(try await value("Size") == "9")
            let refused =
                Self.change("1", path + "('Colour')", body: #"{"Value":"green"}"#) + ","
                + Self.change("2", path + "('Server')", body: #"{"Value":"south"}"#)
            #expect(try await Self.batch(device, server, refused) == [403, 403])
            #expect(try await value("Colour") == "red")
        }
    }

    @Test("A change set with one request is that request, and one of different kinds is refused whole")
    func singleChange() async throws {
        try await DeviceLab().run { server async throws in
            let device = LabDevice()
            try await device.register(server)
            let own = "Registrations('\(device.id)')"
            let one =
                #"{"id":"1","atomicityGroup":"g","method":"patch","url":"\#(own)","#
                + #""headers":{"content-type":"application/json","if-match":"*"},"body":{"Locale":"de"}}"#
            #expect(try await Self.batch(device, server, one) == [200])
            #expect(try await device.send(server, .get, own).json["Locale"] as? String == "de")
            let mixed =
                one.replacing(#""de""#, with: #""fr""#) + ","
                + Self.change("2", own + "/Settings", "post", body: #"{"Name":"A","Value":"1"}"#)
            #expect(try await Self.batch(device, server, mixed) == [501, 501])
            #expect(try await device.send(server, .get, own).json["Locale"] as? String == "de")
            let other = Self.change("1", "Registrations('x')/Settings", "post", body: #"{"Name":"A","Value":"1"}"#)
            #expect(
                try await Self.batch(device, server, other + "," + other.replacing("\"1\",\"a", with: "\"2\",\"a"))
                    .contains { $0 >= 400 })
        }
    }

    @Test("A device that changes its properties without ETag keeps the change of an operator")
    func unguardedChange() async throws {
        try await DeviceLab().run { server async throws in
            let device = LabDevice()
            try await device.register(server)
            let state = server.lab.state
            let application = server.lab.application.id
            // Changes of device and operator at the same time.
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for level in 1...6 {
                        while true {
                            let record = try #require(
                                try await state.registrations.registration(device.id, of: application))
                            var properties = record.device
                            properties.traceLevel = level
                            do {
                                _ = try await state.registrations.update(
                                    device.id, of: application, ifMatch: record.etag,
                                    RegistrationChange(device: properties))
                                break
                            } catch ServerStateError.changed { continue }
                        }
                    }
                }
                group.addTask {
                    for number in 1...6 {
                        let answer = try await device.send(
                            server, .patch, "Registrations('\(device.id)')", body: #"{"OSVersion":"\#(number)"}"#,
                            fields: ["If-Match": "*"])
                        #expect([200, 412].contains(answer.status), "\(answer.text)")
                    }
                }
                try await group.waitForAll()
            }
            let record = try #require(try await state.registrations.registration(device.id, of: application))
            #expect(record.device.traceLevel == 6)
            #expect(record.device.osVersion == "6")
        }
    }

    @Test("Wrong credentials do not become an anonymous user")
    func wrongCredentials() async throws {
        let lab = try await DeviceLab {
            $0.security = [
                "anybody": SecurityConfiguration(kind: .anonymous), "users": SecurityConfiguration(kind: .basic),
            ]
            $0.registration.isRequired = false
        }
        try await lab.run { server async throws in
            func read(_ authorization: String?) async throws -> LabServer.Answer {
                let fields = authorization.map { ["Authorization": $0] } ?? [:]
                return try await server.send(.get, server.api + "d/northwind/Orders", fields)
            }
            #expect(try await read(LabDevice.basic("ann", "ann's password")).text.contains(" ann "))
            #expect(try await read(LabDevice.basic("ann", "wrong")).status == 401)
            #expect(try await read(nil).text.contains(" * "))
        }
    }

    @Test("Review 25: the option of next links does not end the limit of the API itself")
    func nextLinks() async throws {
        var limits = ServerLimits()
        limits.devicePerMinute = 3
        limits.registrationsPerHour = 1000
        try await DeviceLab(limits: limits).run { server async throws in
            let device = LabDevice()
            try await device.register(server)
            var statuses: [Int] = []
            for _ in 0..<6 { statuses.append(try await device.send(server, .get, "Policies?$skiptoken=1").status) }
            #expect(statuses.suffix(2) == [429, 429])
        }
    }
}
