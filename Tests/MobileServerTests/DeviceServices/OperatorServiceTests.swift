import Foundation
import ServerState
import Testing

@testable import MobileServer

/// The device services in the operators' API (`mobile-server.md` 6.6).
@Suite("Operators and the device services") struct OperatorServiceTests {
    private static func upload(_ lab: OperatorLab, _ id: String, _ bytes: [UInt8]) async throws {
        _ = try await lab.state.uploads.begin(
            NewDeviceUpload(
                id: id, application: lab.application.id, registration: "A", user: 1, kind: .log,
                contentType: "text/html", note: "<script>", expiresAt: lab.state.now() + .seconds(1000)))
        let size = try await lab.state.uploads.append(bytes, to: id, at: 0)
        _ = try await lab.state.uploads.finish(
            id, size: size, digest: [1], expiresAt: lab.state.now() + .seconds(1000))
    }

    @Test("Uploads are listed, downloaded as plain bytes, and removed, with entries in the audit")
    func uploads() async throws {
        let lab = try await OperatorLab()
        let secret = try await lab.add("sue", .support)
        try await Self.upload(lab, "u1", Array("<script>alert(1)</script>".utf8))
        try await lab.run { server in
            let session = try await server.signIn("sue", secret)
            let listed = try await session.send(.get, "Uploads?$filter=Kind%20eq%20'log'&$count=true")
            let member = (listed.json["value"] as? [[String: Any]])?.first
            #expect(member?["ID"] as? String == "u1" && member?["Note"] as? String == "<script>")
            let file = try await session.send(.get, "Uploads('u1')/$value")
            #expect(file.text == "<script>alert(1)</script>")
            #expect(file.field("Content-Type") == "application/octet-stream")
            #expect(file.field("X-Content-Type-Options") == "nosniff")
            #expect(file.field("Content-Disposition") == "attachment; filename=\"log-u1\"")
            #expect(try await session.send(.get, "Uploads('u2')/$value").status == 404)
            #expect(try await session.send(.delete, "Uploads('u1')").status == 204)
            #expect(try await session.send(.delete, "Uploads('u1')").status == 404)
        }
        let actions = try await lab.state.operators.audit(before: nil, limit: 100).map(\.note.action)
        #expect(actions.contains("upload.read") && actions.contains("upload.remove"))
    }

    @Test("A viewer sees no uploads")
    func viewer() async throws {
        let lab = try await OperatorLab()
        let secret = try await lab.add("vic", .viewer)
        try await Self.upload(lab, "u1", [1])
        try await lab.run { server in
            let session = try await server.signIn("vic", secret)
            #expect(try await session.send(.get, "Uploads").status == 403)
            #expect(try await session.send(.get, "Uploads('u1')/$value").status == 403)
            #expect(try await session.send(.delete, "Uploads('u1')").status == 403)
        }
    }

    @Test("Documents of the application are written by managers, with ETags")
    func documents() async throws {
        let lab = try await OperatorLab()
        let (manager, support) = (try await lab.add("max", .manager), try await lab.add("sue", .support))
        try await lab.run { server in
            let session = try await server.signIn("max", manager)
            let body = #"{"Application":"shop","Scope":"application","Owner":"","Key":"a","Body":"{\"x\":1}"}"#
            let made = try await session.send(.post, "SharedDocuments", body: body)
            #expect(made.status == 201, "\(made.text)")
            #expect(try await session.send(.post, "SharedDocuments", body: body).status == 412)
            let resource = "SharedDocuments(Application='shop',Scope='application',Owner='',Key='a')"
            #expect(try await session.send(.get, resource + "/$value").text == #"{"x":1}"#)
            let etag = try #require(try await session.send(.get, resource).field("ETag"))
            #expect(try await session.send(.patch, resource, body: #"{"Body":"2"}"#).status == 428)
            let changed = try await session.send(.patch, resource, body: #"{"Body":"2"}"#, ["If-Match": etag])
            #expect(changed.status == 200, "\(changed.text)")
            let old = try await session.send(.patch, resource, body: #"{"Body":"3"}"#, ["If-Match": etag])
            #expect(old.status == 412)
            #expect(try await session.send(.patch, resource, body: #"{"Body":"{"}"#, ["If-Match": "*"]).status == 400)
            let lesser = try await server.signIn("sue", support)
            #expect(try await lesser.send(.delete, resource, ["If-Match": "*"]).status == 403)
            #expect(try await session.send(.delete, resource, ["If-Match": "*"]).status == 204)
            #expect(try await session.send(.get, resource + "/$value").status == 404)
        }
    }

    @Test("A message of an operator waits for its device")
    func messages() async throws {
        let lab = try await OperatorLab()
        let secret = try await lab.add("sue", .support)
        try await lab.addDevices(["A"])
        try await lab.run { server in
            let session = try await server.signIn("sue", secret)
            let action = "Registrations(Application='shop',ID='A')/Outpost.Operators.SendMessage"
            let sent = try await session.send(
                .post, action, body: #"{"kind":"Notification","body":"{\"alert\":\"x\"}"}"#)
            #expect(sent.status == 204, "\(sent.text)")
            let waiting = try await lab.state.messages.messages(of: "A", of: lab.application.id, after: 0, limit: 9)
            #expect(waiting.map(\.kind) == [.notification])
            #expect(try await session.send(.post, action, body: #"{"kind":"Sync"}"#).status == 400)
            let unknown = "Registrations(Application='shop',ID='B')/Outpost.Operators.SendMessage"
            #expect(try await session.send(.post, unknown, body: #"{"kind":"Custom"}"#).status == 404)
        }
    }
}
