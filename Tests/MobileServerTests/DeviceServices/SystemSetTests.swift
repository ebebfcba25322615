import Foundation
import HTTPTypes
import MobileProtocol
import ODataServer
import ODataService
import ServerState
import Testing

@testable import MobileServer

/// Conformance of `LogRecords` and `PersonalizationValues`, the sets of the group `system`.
@Suite("Log records and personalization") struct SystemSetTests {
    @Test("A refused replay leaves a log record with both codes, which its device reads and deletes")
    func refusals() async throws {
        let lab = try await DeviceLab()
        try await lab.run { server in
            let device = LabDevice()
            try await device.register(server)
            let registration = try #require(
                try await lab.state.registrations.registration(device.id, of: lab.application.id))
            let user = try #require(try await lab.state.registrations.user(registration.user))
            let caller = DeviceCaller(
                application: ActiveApplication(record: lab.application, configuration: lab.configurationForTest),
                user: user, registration: registration, security: "users", principal: Principal(name: "ann"),
                credentials: nil, context: MountContext())
            let body = Array(#"{"error":{"code":"SY/530","message":"secret text"}}"#.utf8)
            func note(_ status: Int, _ method: HTTPRequest.Method, id: String?) async throws -> [UInt8] {
                var request = HTTPRequest(
                    method: method, scheme: "http", authority: "a", path: "/m/v1/shop/d/erp/Orders(1)?x=secret")
                if let id, let name = HTTPField.Name("Repeatability-Request-ID") { request.headerFields[name] = id }
                let answer = (HTTPResponse(status: .init(code: status)), ByteStream(body))
                let noted = try await RefusalLog(services: lab.services).note(
                    answer, to: request, destination: "erp", root: "/m/v1/shop/d/erp/", caller: caller)
                #expect(noted.0.status.code == status)
                return try await noted.1.collect(limit: 1000)
            }
            #expect(try await note(409, .patch, id: "r-1") == body)
            let others: [(Int, HTTPRequest.Method, String)] = [
                (200, .patch, "r-2"), (503, .patch, "r-3"), (401, .patch, "r-4"), (404, .get, "r-5"),
            ]
            for (status, method, id) in others {
                #expect(try await note(status, method, id: id) == body)
            }
            #expect(try await note(409, .patch, id: nil) == body)
            let read = try await device.send(server, .get, "LogRecords?$filter=RequestId%20eq%20'r-1'")
            let all = try await device.send(server, .get, "LogRecords/$count")
            #expect(all.text == "1")
            let member = try #require((read.json["value"] as? [[String: Any]])?.first)
            #expect(member["Code"] as? Int == 409 && member["EisCode"] as? String == "SY/530")
            #expect(member["EntityKey"] as? String == "Orders(1)" && member["Component"] as? String == "erp")
            #expect(!read.text.contains("secret"))
            let number = try #require(member["MessageId"] as? Int)
            let other = LabDevice()
            try await other.register(server)
            #expect(try await other.send(server, .delete, "LogRecords(\(number))").status == 404)
            #expect(try await device.send(server, .delete, "LogRecords(\(number))").status == 204)
            #expect(try await device.send(server, .get, "LogRecords/$count").text == "0")
        }
    }

    @Test("A device sends log records of its own")
    func sent() async throws {
        let lab = try await DeviceLab()
        try await lab.run { server in
            let device = LabDevice()
            try await device.register(server)
            let made = try await device.send(
                server, .post, "LogRecords",
                body: #"{"Level":"warn","Message":"hello","Timestamp":"2999-01-01T00:00:00Z","RequestId":"q"}"#)
            #expect(made.status == 201, "\(made.text)")
            #expect((made.json["MessageId"] as? Int ?? 0) > 0)
            let records = try await lab.state.records.logs(of: device.id, of: lab.application.id)
            #expect(records.map(\.message) == ["hello"])
            // A clock that is ahead does not put a record before all others.
            #expect(records.first.map { $0.at <= lab.services.clock() } == true)
        }
    }

    @Test("Personalization values are those of the user on all devices")
    func personalization() async throws {
        let lab = try await DeviceLab()
        try await lab.run { server in
            let (first, second) = (LabDevice(), LabDevice())
            var other = LabDevice()
            other.authorization = LabDevice.basic("bob", "bob's password")
            for device in [first, second, other] { try await device.register(server) }
            let key = "PersonalizationValues('Territory')"
            let made = try await first.send(
                server, .post, "PersonalizationValues", body: #"{"Key":"Territory","Value":"north"}"#)
            #expect(made.status == 201, "\(made.text)")
            let read = try await second.send(server, .get, key)
            #expect(read.json["Value"] as? String == "north")
            #expect(try await other.send(server, .get, key).status == 404)
            let etag = try #require(read.field("ETag"))
            let changed = try await second.send(
                server, .patch, key, body: #"{"Value":"south"}"#, fields: ["If-Match": etag])
            #expect(changed.status == 204, "\(changed.text)")
            let old = try await first.send(
                server, .patch, key, body: #"{"Value":"east"}"#, fields: ["If-Match": etag])
            #expect(old.status == 412)
            #expect(try await first.send(server, .get, key).json["Value"] as? String == "south")
            #expect(try await first.send(server, .put, key, body: #"{"Value":"west"}"#).status == 204)
            #expect(try await first.send(server, .delete, key).status == 204)
            #expect(try await first.send(server, .delete, key).status == 404)
            let long = String(repeating: "x", count: DeviceRecordLimits.value + 1)
            let refused = try await first.send(
                server, .post, "PersonalizationValues", body: #"{"Key":"a","Value":"\#(long)"}"#)
            #expect(refused.status == 400)
        }
    }
}
