import Foundation
import GRDB
import HTTPTypes
import ODataClient
import ODataDatabases
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

/// A served database as seen by V2 clients: repeated requests, deltas and views.
@Suite("A served database over OData 2.0")
struct V2EndpointTests {
    private static let sql = """
        CREATE TABLE maker (id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, maker INTEGER REFERENCES maker(id));
        INSERT INTO maker VALUES (1, 'Ann'), (2, 'Bob');
        INSERT INTO item VALUES (1, 'Pen', 1), (2, 'Ink', 2), (3, 'Cap', 1);
        CREATE VIEW names AS SELECT name, id FROM item;
        """

    private struct Site {
        let folder: URL
        let database: ServedDatabase
        let handler: ODataV2Handler
        let root = "http://v2.test/v2/"

        init() async throws {
            folder = FileManager.default.temporaryDirectory.appendingPathComponent("outpost-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let path = folder.appendingPathComponent("items.db").path
            let queue = try DatabaseQueue(path: path)
            try await queue.write { try $0.execute(sql: V2EndpointTests.sql) }
            try queue.close()
            database = try await ServedDatabase.open(path: path)
            handler = try ODataV2Handler(provider: database, serviceRoot: "/v2/")
        }

        func elsewhere(_ sql: String) async throws {
            let queue = try DatabaseQueue(path: folder.appendingPathComponent("items.db").path)
            try await queue.write { try $0.execute(sql: sql) }
            try queue.close()
        }

        func send(
            _ method: HTTPRequest.Method, _ path: String, _ fields: [String: String] = [:], _ body: String = ""
        ) async throws -> (response: HTTPResponse, text: String) {
            var message = HTTPRequest(method: method, scheme: "http", authority: "v2.test", path: "/v2/\(path)")
            for (name, value) in fields { if let name = HTTPField.Name(name) { message.headerFields[name] = value } }
            let (response, stream) = await handler.handle(message, ByteStream(Array(body.utf8)))
            return (response, String(decoding: try await stream.collect(limit: 1 << 20), as: UTF8.self))
        }

        func close() async throws {
            try await database.close()
            try? FileManager.default.removeItem(at: folder)
        }
    }

    private static let json = ["Content-Type": "application/json", "Accept": "application/json"]

    private static func identified(_ id: String) -> [String: String] {
        let sent = HTTPDate.text(seconds: Int64(Date().timeIntervalSince1970))
        return json.merging(["Repeatability-Request-ID": id, "Repeatability-First-Sent": sent]) { $1 }
    }

    @Test("A repeated creation is recognised, alone and in a change set")
    func repeatable() async throws {
        let site = try await Site()
        for _ in 0..<2 {
            let answer = try await site.send(.post, "item", Self.identified("r-1"), #"{"id": "10", "name": "New"}"#)
            #expect(answer.response.status == 201, "\(answer.text)")
            #expect(answer.response.headerFields[.repeatabilityResult] == "accepted")
        }
        for _ in 0..<2 {
            let answer = try await site.send(.post, "item", Self.identified("r-2"), #"{"name": "Newer"}"#)
            #expect(answer.response.status == 201)
        }
        let other = try await site.send(.post, "item", Self.identified("r-1"), #"{"id": "12", "name": "Other"}"#)
        #expect(other.response.status.code >= 400)
        let fields = Self.identified("r-3")
        let part = """
            --b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-Type: application/http\r
            Content-Transfer-Encoding: binary\r\n\r\nPOST item HTTP/1.1\r\nContent-Type: application/json\r
            Accept: application/json\r
            Repeatability-Request-ID: r-3\r\nRepeatability-First-Sent: \(fields["Repeatability-First-Sent"] ?? "")\r\n\r
            {"name": "Set"}\r\n--c--\r\n--b--\r\n
            """
        for _ in 0..<2 {
            let answer = try await site.send(.post, "$batch", ["Content-Type": "multipart/mixed; boundary=b"], part)
            #expect(
                answer.text.contains("201") && answer.text.lowercased().contains("repeatability-result: accepted"),
                "\(answer.text)")
        }
        let count = try await site.send(.get, "item/$count")
        #expect(count.text == "6")
        try await site.close()
    }

    @Test("An incomplete identification is refused, and the refusal says so")
    func incomplete() async throws {
        let site = try await Site()
        let answer = try await site.send(
            .post, "item", Self.json.merging(["Repeatability-Request-ID": "x"]) { $1 }, #"{"name": "New"}"#)
        #expect(answer.response.status == 400 && answer.response.headerFields[.repeatabilityResult] == "rejected")
        try await site.close()
    }

    @Test(
        "A change with an empty response is not refused for its Accept",
        arguments: ["text/csv", "application/pdf;q=0.5"])
    func accept(_ accept: String) async throws {
        let site = try await Site()
        let fields = ["Content-Type": "application/json", "Accept": accept, "If-Match": "*"]
        let changed = try await site.send(.put, "item(1)", fields, #"{"name": "Pencil"}"#)
        #expect(changed.response.status == 204, "\(changed.text)")
        #expect(try await site.send(.delete, "item(2)", fields).response.status == 204)
        #expect(try await site.send(.get, "item(1)", ["Accept": accept]).response.status == 406)
        let v4 = ODataHandler(provider: site.database)
        for (method, path, body) in [("PATCH", "/item(1)", #"{"name": "Quill"}"#), ("DELETE", "/item(3)", "")] {
            var message = HTTPRequest(
                method: .init(rawValue: method) ?? .get, scheme: "http", authority: "v4.test", path: path)
            for (name, value) in fields { if let name = HTTPField.Name(name) { message.headerFields[name] = value } }
            #expect(await v4.handle(message, ByteStream(Array(body.utf8))).0.status == 204)
        }
        try await site.close()
    }

    @Test("Views accept $format, custom options and query options")
    func views() async throws {
        let site = try await Site()
        for options in ["$format=json", "$format=json&sap-client=100", "$format=json&$top=1&$orderby=name"] {
            let answer = try await site.send(.get, "names?\(options)")
            #expect(answer.response.status == 200 && answer.text.contains("Cap"), "\(options): \(answer.text)")
        }
        let counted = try await site.send(.get, "names?$format=json&$inlinecount=allpages&$filter=startswith(name,'C')")
        #expect(counted.text.contains(#""__count":"1""#), "\(counted.text)")
        let filtered = try await site.send(.get, "names?$format=json&$filter=id gt 1L")
        #expect(filtered.response.status == 200 && !filtered.text.contains("Pen"), "\(filtered.text)")
        try await site.close()
    }

    @Test("A clone gets only changes")
    func deltas() async throws {
        let site = try await Site()
        let (handler, root) = (site.handler, site.root)
        let wire = Wire(LoopbackTransport { await handler.handle($0, $1) })
        let session = try HTTPSession(wire, serviceRoot: root, configuration: .init(retry: .none))
        let client = try ODataClient(serviceRoot: root, transport: session)
        let clone = try await OfflineStore.create(
            at: site.folder.appendingPathComponent("clone").path, protection: .unencrypted, serviceRoot: root,
            remote: client,
            queries: [
                try DefiningQuery("items", "item"), try DefiningQuery("ann", "item?$filter=maker_2/name eq 'Ann'"),
            ])
        try await clone.download()
        await wire.mend()
        try await site.elsewhere(
            "UPDATE item SET name = 'Quill' WHERE id = 1; DELETE FROM item WHERE id = 2; INSERT INTO item VALUES (4, 'Nib', 1)"
        )
        try await clone.download()
        let links = await wire.requests.compactMap(\.path)
        #expect(!links.isEmpty && links.allSatisfy { $0.contains("deltatoken") }, "\(links)")
        let names = try await clone.execute(ODataRequest(.read, try ODataURL(parsing: "item?$orderby=id")))
        guard case .page(let page) = names.body else {
            Issue.record("no page")
            return
        }
        #expect(page.entities.map { $0["name"] } == ["Quill", "Cap", "Nib"])
        try clone.close()
        try await site.close()
    }
}
