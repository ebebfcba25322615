import Crypto
import Foundation
import HTTPTypes
import MobileProtocol
import ODataHTTP
import ODataService
import ServerState
import Testing

@testable import MobileServer

/// Conformance of `Uploads` (`mobile-server.md` 0.8, 6.2).
@Suite("Uploads of devices") struct UploadTests {
    static func lab(_ limits: ServerLimits = LabLimits.high) async throws -> DeviceLab {
        try await DeviceLab(limits: limits) {
            $0.policies.log.isUploaded = true
            $0.policies.uploadsCrashes = true
            $0.policies.usage.isCollected = true
            $0.policies.storeUpload.isEnabled = true
        }
    }

    private static let consent = "consent=2026-01-31T08:00:00Z"

    /// Sends a body that is no JSON.
    static func send(
        _ device: LabDevice, _ server: LabServer, _ method: HTTPRequest.Method, _ resource: String, bytes: [UInt8],
        fields: [String: String] = [:], type: String = "application/octet-stream"
    ) async throws -> LabServer.Answer {
        let all = try await device.fields(server, method, resource).merging(fields) { $1 }
        return try await server.send(method, server.api + resource, all, bytes: bytes, type: type)
    }

    private static func resource(_ answer: LabServer.Answer, _ server: LabServer) throws -> String {
        let location = try #require(answer.field("Location"))
        let root = server.root + server.api
        #expect(location.hasPrefix(root))
        return String(location.dropFirst(root.count))
    }

    private static func bytes(of answer: LabServer.Answer, _ lab: DeviceLab) async throws -> [UInt8] {
        let id = try #require(answer.json["ID"] as? String)
        var (all, part): ([UInt8], [UInt8]) = ([], [])
        repeat {
            part = try await lab.state.uploads.bytes(of: id, from: Int64(all.count))
            all += part
        } while !part.isEmpty
        return all
    }

    @Test("A body in one request is complete, and its device lists it")
    func whole() async throws {
        let lab = try await Self.lab()
        try await lab.run { server in
            let device = LabDevice()
            try await device.register(server)
            let text = Array("2026-11-30 error: \u{1B}[31mred".utf8)
            let digest = Data(SHA256.hash(data: text)).base64EncodedString()
            let sent = try await Self.send(
                device, server, .post, "Uploads?kind=log&note=hello%20%3Cb%3E", bytes: text,
                fields: ["Repr-Digest": "sha-256=:\(digest):"], type: "text/plain")
            #expect(sent.status == 202)
            #expect(sent.field("Upload-Complete") == "?1")
            #expect(sent.field("Upload-Offset") == String(text.count))
            #expect(try await Self.bytes(of: sent, lab) == text)
            let listed = try await device.send(
                server, .get, "Uploads?$filter=Kind%20eq%20'log'&$select=Note,State,Kind")
            let member = (listed.json["value"] as? [[String: Any]])?.first
            #expect(member?["Note"] as? String == "hello <b>")
            #expect(member?["State"] as? String == "complete")
            let one = try await device.send(server, .get, Self.resource(sent, server))
            #expect(one.json["ReceivedSize"] as? Int == text.count)
        }
    }

    @Test("An upload that was cut is resumed at its offset")
    func resumed() async throws {
        let lab = try await Self.lab()
        try await lab.run { server in
            let device = LabDevice()
            try await device.register(server)
            let begun = try await Self.send(
                device, server, .post, "Uploads?kind=trace", bytes: [],
                fields: ["Upload-Complete": "?0", "Upload-Length": "7"])
            #expect(begun.status == 201)
            #expect(begun.field("Upload-Limit") == "max-size=\(32 << 20)")
            let resource = try Self.resource(begun, server)
            let first = try await Self.send(
                device, server, .patch, resource, bytes: [1, 2, 3],
                fields: ["Upload-Offset": "0", "Upload-Complete": "?0"], type: UploadFields.partialType)
            #expect(first.status == 204)
            #expect(first.field("Upload-Offset") == "3")
            // The answer was lost: the device asks for the offset.
            let state = try await device.send(server, .head, resource)
            #expect(state.status == 204)
            #expect(state.field("Upload-Offset") == "3" && state.field("Upload-Complete") == "?0")
            let wrong = try await Self.send(
                device, server, .patch, resource, bytes: [9],
                fields: ["Upload-Offset": "2", "Upload-Complete": "?1"], type: UploadFields.partialType)
            #expect(wrong.status == 409)
            #expect(wrong.field("Upload-Offset") == "3")
            let last = try await Self.send(
                device, server, .patch, resource, bytes: [4, 5, 6, 7],
                fields: ["Upload-Offset": "3", "Upload-Complete": "?1"], type: UploadFields.partialType)
            #expect(last.status == 202)
            #expect(try await Self.bytes(of: last, lab) == [1, 2, 3, 4, 5, 6, 7])
            // The answer to the last request was lost, too.
            let again = try await Self.send(
                device, server, .patch, resource, bytes: [],
                fields: ["Upload-Offset": "7", "Upload-Complete": "?1"], type: UploadFields.partialType)
            #expect(again.status == 202)
        }
    }

    @Test("Fields of draft 01, which URLSession sends, are understood")
    func olderDraft() async throws {
        let lab = try await Self.lab()
        try await lab.run { server in
            let device = LabDevice()
            try await device.register(server)
            let begun = try await Self.send(
                device, server, .post, "Uploads?kind=log", bytes: [1, 2], fields: ["Upload-Incomplete": "?1"])
            #expect(begun.status == 201)
            #expect(begun.field("Upload-Incomplete") == "?1")
            let last = try await Self.send(
                device, server, .patch, try Self.resource(begun, server), bytes: [3],
                fields: ["Upload-Offset": "2", "Upload-Incomplete": "?0"])
            #expect(last.status == 202)
            #expect(try await Self.bytes(of: last, lab) == [1, 2, 3])
        }
    }

    @Test("Policies decide about each kind", arguments: DeviceUploadKind.allCases)
    func policies(kind: DeviceUploadKind) async throws {
        try await DeviceLab { _ in }.run { server in
            let device = LabDevice()
            try await device.register(server)
            let refused = try await Self.send(
                device, server, .post, "Uploads?kind=\(kind)&\(Self.consent)", bytes: [1])
            #expect(refused.status == 403)
            #expect(refused.code == "UploadsDisabled")
        }
        try await Self.lab().run { server in
            let device = LabDevice()
            try await device.register(server)
            let plain = try await Self.send(device, server, .post, "Uploads?kind=\(kind)", bytes: [1])
            #expect(plain.status == (UploadPolicy.needsConsent(kind) ? 422 : 202))
            let agreed = try await Self.send(device, server, .post, "Uploads?kind=\(kind)&\(Self.consent)", bytes: [1])
            #expect(agreed.status == 202)
            let future = try await Self.send(
                device, server, .post, "Uploads?kind=\(kind)&consent=2999-01-01T00:00:00Z", bytes: [1])
            #expect(future.status == 400)
        }
    }

    @Test("A body over the limit, with another digest or another length is refused")
    func limits() async throws {
        var limits = LabLimits.high
        limits.upload = 100
        let lab = try await Self.lab(limits)
        try await lab.run { server in
            let device = LabDevice()
            try await device.register(server)
            let over = [UInt8](repeating: 65, count: 101)
            let large = try await Self.send(device, server, .post, "Uploads?kind=log", bytes: over)
            #expect(large.status == 413)
            let fits = try await Self.send(device, server, .post, "Uploads?kind=log", bytes: Array(over.dropLast()))
            #expect(fits.status == 202)
            let zeros = Data(repeating: 0, count: 32).base64EncodedString()
            let other = try await Self.send(
                device, server, .post, "Uploads?kind=log", bytes: [1], fields: ["Repr-Digest": "sha-256=:\(zeros):"])
            #expect(other.status == 422)
            let begun = try await Self.send(
                device, server, .post, "Uploads?kind=log", bytes: [1],
                fields: ["Upload-Complete": "?0", "Upload-Length": "3"])
            let short = try await Self.send(
                device, server, .patch, try Self.resource(begun, server), bytes: [2],
                fields: ["Upload-Offset": "1", "Upload-Complete": "?1"])
            #expect(short.status == 400)
            for field in ["?2", "1", "?1, ?1"] {
                let odd = try await Self.send(
                    device, server, .post, "Uploads?kind=log", bytes: [1], fields: ["Upload-Complete": field])
                #expect(odd.status == 400, "\(field)")
            }
            for unknown in ["Uploads", "Uploads?kind=film", "Uploads?kind=log&kind=log"] {
                #expect(try await Self.send(device, server, .post, unknown, bytes: [1]).status == 400, "\(unknown)")
            }
            let kept = try await lab.state.uploads.uploads(DeviceUploadFilter()).filter { $0.state == .complete }
            #expect(kept.count == 1)
        }
    }

    @Test("A device neither sees nor changes uploads of another device, and removes its own")
    func foreign() async throws {
        let lab = try await Self.lab()
        try await lab.run { server in
            let (device, other) = (LabDevice(), LabDevice())
            try await device.register(server)
            try await other.register(server)
            let sent = try await Self.send(device, server, .post, "Uploads?kind=log", bytes: [1])
            let resource = try Self.resource(sent, server)
            #expect(try await other.send(server, .head, resource).status == 404)
            #expect(try await other.send(server, .get, resource).status == 404)
            #expect(try await other.send(server, .delete, resource).status == 404)
            let appended = try await Self.send(
                other, server, .patch, resource, bytes: [2], fields: ["Upload-Offset": "1", "Upload-Complete": "?1"])
            #expect(appended.status == 404)
            #expect((try await other.send(server, .get, "Uploads").json["value"] as? [Any])?.isEmpty == true)
            #expect(try await device.send(server, .delete, resource).status == 204)
            #expect(try await device.send(server, .head, resource).status == 404)
        }
    }

    @Test("Uploads go after their time")
    func expiry() async throws {
        let lab = try await Self.lab()
        try await lab.run { server in
            let device = LabDevice()
            try await device.register(server)
            _ = try await Self.send(device, server, .post, "Uploads?kind=log", bytes: [1])
            _ = try await Self.send(
                device, server, .post, "Uploads?kind=log", bytes: [1], fields: ["Upload-Complete": "?0"])
            func states() async throws -> [DeviceUploadState] {
                while try await lab.state.expire(RetentionAges()) {}
                return try await lab.state.uploads.uploads(DeviceUploadFilter()).map(\.state)
            }
            #expect(try await states().count == 2)
            lab.advance(by: .seconds(2 * 86_400))
            #expect(try await states() == [.complete])
            lab.advance(by: .seconds(6 * 86_400))
            #expect(try await states() == [])
        }
    }

    @Test("A body that breaks off is kept as far as it came")
    func cut() async throws {
        let lab = try await Self.lab()
        try await lab.run { server in
            let device = LabDevice()
            try await device.register(server)
            let begun = try await Self.send(
                device, server, .post, "Uploads?kind=log", bytes: [], fields: ["Upload-Complete": "?0"])
            let id = try #require(begun.json["ID"] as? String)
            struct Broken: Error {}
            let chunks = ChunkSource([[1, 2, 3], [4]])
            let body = ByteStream {
                guard let chunk = await chunks.next() else { throw Broken() }
                return chunk
            }
            await #expect(throws: Broken.self) {
                _ = try await UploadBodies(store: lab.state.uploads).receive(body, id, at: 0, limit: 100)
            }
            let state = try await device.send(server, .head, try Self.resource(begun, server))
            #expect(state.field("Upload-Offset") == "4")
        }
    }

    private actor ChunkSource {
        private var chunks: [[UInt8]]
        init(_ chunks: [[UInt8]]) { self.chunks = chunks }
        func next() -> [UInt8]? { chunks.isEmpty ? nil : chunks.removeFirst() }
    }
}

/// The parsers of uploads and of the names of resources.
@Suite("Fields and names of device resources") struct DeviceResourceNameTests {
    @Test("Names are read with their keys")
    func names() {
        #expect(DeviceResourceName("Uploads")?.key == nil)
        #expect(DeviceResourceName("Uploads('a')")?.id == "a")
        #expect(DeviceResourceName("Uploads(ID='a''b')/$value")?.id == "a'b")
        #expect(DeviceResourceName("Shared(Scope='user',Key='a/b,c)')")?.key == ["Scope": "user", "Key": "a/b,c)"])
        for text in [
            "", "Uploads(", "Uploads('a'", "Uploads('a)", "Uploads('a','b')", "Uploads('a',ID='b')", "Uploads(ID=)",
            "Uploads('a')/x", "Uploads/$value", "Shared(Key='a',Key='b')", "Uploads('a') ",
            String(repeating: "A", count: 3000),
        ] {
            #expect(DeviceResourceName(text) == nil, "\(text.prefix(40))")
        }
    }

    @Test("Fields of uploads are structured fields")
    func fields() throws {
        var fields = HTTPFields()
        func set(_ name: String, _ value: String) throws { fields[try #require(HTTPField.Name(name))] = value }
        try set("Upload-Offset", " 12 ")
        try set("Upload-Length", "12")
        try set("Upload-Complete", "?1")
        let read = try UploadFields(fields)
        #expect(read.offset == 12 && read.length == 12 && read.isComplete == true)
        for (name, value) in [
            ("Upload-Offset", "13"), ("Upload-Offset", "-1"), ("Upload-Offset", "1e3"), ("Upload-Offset", ""),
            ("Upload-Offset", "9999999999999999"), ("Upload-Complete", "true"), ("Upload-Incomplete", "?1"),
            ("Repr-Digest", "sha-256=abc"), ("Repr-Digest", "sha-256=:abc:"),
        ] {
            var odd = fields
            odd[try #require(HTTPField.Name(name))] = value
            #expect(throws: UploadFieldError.self, "\(name): \(value)") { try UploadFields(odd) }
        }
    }
}
