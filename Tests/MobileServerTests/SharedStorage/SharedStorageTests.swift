import Foundation
import MobileProtocol
import ServerState
import Testing

@testable import MobileServer

/// Conformance of `Shared` (`mobile-server.md` 6.2).
@Suite("Shared JSON storage") struct SharedStorageTests {
    private static func path(_ scope: String, _ key: String = "a") -> String { "Shared(Scope='\(scope)',Key='\(key)')" }

    private static func put(
        _ device: LabDevice, _ server: LabServer, _ resource: String, _ body: String, _ fields: [String: String] = [:]
    ) async throws -> LabServer.Answer {
        try await device.send(server, .put, resource, body: body, fields: fields)
    }

    @Test("A document is written, read, changed under conditions, and removed")
    func conditions() async throws {
        try await DeviceLab().run { server in
            let device = LabDevice()
            try await device.register(server)
            let resource = Self.path("device")
            #expect(try await device.send(server, .get, resource).status == 404)
            let made = try await Self.put(device, server, resource, #"{"x":1.50}"#, ["If-None-Match": "*"])
            #expect(made.status == 201)
            let etag = try #require(made.field("ETag"))
            let read = try await device.send(server, .get, resource)
            #expect(read.text == #"{"x":1.50}"#)
            #expect(read.field("ETag") == etag)
            #expect(try await device.send(server, .get, resource, fields: ["If-None-Match": etag]).status == 304)
            #expect(try await Self.put(device, server, resource, "2", ["If-None-Match": "*"]).status == 412)
            let changed = try await Self.put(device, server, resource, "2", ["If-Match": etag])
            #expect(changed.status == 204)
            #expect(try await Self.put(device, server, resource, "3", ["If-Match": etag]).status == 412)
            #expect(try await device.send(server, .delete, resource, fields: ["If-Match": etag]).status == 412)
            let present = try #require(changed.field("ETag"))
            #expect(try await device.send(server, .delete, resource, fields: ["If-Match": present]).status == 204)
            #expect(try await device.send(server, .delete, resource).status == 404)
        }
    }

    @Test("Documents of a user are on all of the user's devices, and those of a device on it alone")
    func scopes() async throws {
        try await DeviceLab().run { server in
            let (first, second) = (LabDevice(), LabDevice())
            var other = LabDevice()
            other.authorization = LabDevice.basic("bob", "bob's password")
            for device in [first, second, other] { try await device.register(server) }
            #expect(try await Self.put(first, server, Self.path("user"), "1").status == 201)
            #expect(try await Self.put(first, server, Self.path("device"), "2").status == 201)
            #expect(try await second.send(server, .get, Self.path("user")).text == "1")
            #expect(try await second.send(server, .get, Self.path("device")).status == 404)
            #expect(try await other.send(server, .get, Self.path("user")).status == 404)
            let listed = try await first.send(server, .get, "Shared?$orderby=Scope&$select=Scope,Key")
            let scopes = (listed.json["value"] as? [[String: Any]])?.compactMap { $0["Scope"] as? String }
            #expect(scopes == ["device", "user"])
        }
    }

    @Test("Documents of the application are read by all devices and written by none")
    func application() async throws {
        let lab = try await DeviceLab()
        try await lab.run { server in
            let device = LabDevice()
            try await device.register(server)
            let key = SharedDocumentKey(application: lab.application.id, scope: .application, name: "a")
            _ = try await lab.state.sharedDocuments.put(Array("[1]".utf8), key, when: .none)
            #expect(try await device.send(server, .get, Self.path("application")).text == "[1]")
            #expect(try await Self.put(device, server, Self.path("application"), "2").status == 403)
            #expect(try await device.send(server, .delete, Self.path("application")).status == 403)
        }
    }

    @Test("The merged view has the members of all scopes, the device's last")
    func merged() async throws {
        let lab = try await DeviceLab()
        try await lab.run { server in
            let device = LabDevice()
            try await device.register(server)
            let key = SharedDocumentKey(application: lab.application.id, scope: .application, name: "a")
            _ = try await lab.state.sharedDocuments.put(
                Array(#"{"colour":"blue","font":{"size":10,"bold":false},"list":[1,2]}"#.utf8), key, when: .none)
            _ = try await Self.put(device, server, Self.path("user"), #"{"colour":"red","font":{"size":12.0}}"#)
            _ = try await Self.put(device, server, Self.path("device"), #"{"list":[3]}"#)
            _ = try await Self.put(device, server, Self.path("device", "b"), "null")
            let all = #"{"colour":"red","font":{"size":12.0,"bold":false},"list":[3]}"#
            let one = try await device.send(server, .get, Self.path("device") + "?merged=true")
            #expect(one.text == all)
            let view = try await device.send(server, .get, "Shared?merged=true")
            #expect(view.text == #"{"a":\#(all),"b":null}"#)
            let etag = try #require(view.field("ETag"))
            let same = try await device.send(server, .get, "Shared?merged=true", fields: ["If-None-Match": etag])
            #expect(same.status == 304)
            _ = try await Self.put(device, server, Self.path("device", "b"), "1")
            let next = try await device.send(server, .get, "Shared?merged=true", fields: ["If-None-Match": etag])
            #expect(next.status == 200)
        }
    }

    @Test("A document is JSON of at most one mebibyte")
    func limits() async throws {
        try await DeviceLab().run { server in
            let device = LabDevice()
            try await device.register(server)
            for text in ["", "{", "{} {}", "{a:1}", "[1,]", String(repeating: "[", count: 500)] {
                #expect(try await Self.put(device, server, Self.path("user"), text).status == 400, "\(text.prefix(9))")
            }
            let large = "\"" + String(repeating: "x", count: SharedDocumentLimits.size - 2) + "\""
            #expect(try await Self.put(device, server, Self.path("user"), large).status == 201)
            #expect(try await Self.put(device, server, Self.path("user"), large + " ").status == 413)
            #expect(try await Self.put(device, server, Self.path("planet"), "1").status == 400)
            let plain = try await UploadTests.send(
                device, server, .put, Self.path("user"), bytes: [0x31], type: "text/plain")
            #expect(plain.status == 415)
        }
    }
}
