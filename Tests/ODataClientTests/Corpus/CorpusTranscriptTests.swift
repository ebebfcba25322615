import Foundation
import HTTPTypes
import ODataClient
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import Synchronization
import Testing

/// Replays a recorded foreign V4 service through the whole client. Each response is understood, and each
/// request has the meaning of the recorded one (rule 34).
@Suite struct CorpusTranscriptReplay {
    struct Exchange: Decodable, Sendable {
        struct Message: Decodable, Sendable {
            var method: String?
            var path: String?
            var status: Int?
            var headers: [String: String]
            var bodyEncoding: String?
            var body: String?

            var bytes: [UInt8] {
                guard let body else { return [] }
                if bodyEncoding == "base64" { return Data(base64Encoded: body).map(Array.init) ?? [] }
                return Array(body.utf8)
            }
        }
        var note: String
        var request: Message
        var response: Message

        var line: String { "\(request.method ?? "") \(request.path ?? "")" }
    }

    static let path: String? = {
        let folder =
            ProcessInfo.processInfo.environment["OUTPOST_CORPUS"]
            ?? URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("shared/corpus").path
        let path = folder + "/transcripts/olingo-tecsvc.json"
        guard FileManager.default.fileExists(atPath: path) else {
            print("CorpusTranscriptReplay skipped: \(path) is not there; set OUTPOST_CORPUS.")
            return nil
        }
        return path
    }()

    /// Returns the recorded response of one exchange for any request, and records the request.
    private final class Replay: HTTPTransport {
        let exchanges: [Exchange]
        let current = Mutex<Exchange?>(nil)
        let asked = Mutex<(HTTPRequest, [UInt8])?>(nil)

        init(_ exchanges: [Exchange]) { self.exchanges = exchanges }

        func send(
            _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
        ) async throws -> (HTTPResponse, ByteStream) {
            let bytes = try await body?.collect(limit: 1 << 24) ?? []
            let isMetadata = request.path?.hasSuffix("$metadata") ?? false
            let metadata = exchanges.first { $0.request.path == "/$metadata" && $0.response.status == 200 }
            let exchange = isMetadata ? metadata : current.withLock { $0 }
            if !isMetadata { asked.withLock { $0 = (request, bytes) } }
            guard let exchange else { throw TransportError.cannotConnect(host: "", reason: "nothing is recorded") }
            var response = HTTPResponse(status: .init(code: exchange.response.status ?? 500))
            for (name, value) in exchange.response.headers {
                guard let name = HTTPField.Name(name) else { continue }
                response.headerFields[name] = value
            }
            return (response, ByteStream(exchange.response.bytes))
        }
    }

    private static let root = "http://service.example/odata.svc/"

    private static func replay() throws -> Replay {
        guard let path, let data = FileManager.default.contents(atPath: path) else { return Replay([]) }
        return Replay(try JSONDecoder().decode([Exchange].self, from: data))
    }

    /// Returns the recorded request as an `ODataRequest`, including its body.
    private func request(_ exchange: Exchange, _ model: EntityDataModel) throws -> ODataRequest? {
        guard let path = exchange.request.path?.dropFirst(), let url = try? ODataURL(parsing: String(path)) else {
            return nil
        }
        var request = ODataRequest(ODataRequest.Method(rawValue: exchange.request.method ?? "") ?? .read, url)
        request.ifMatch = exchange.request.headers["If-Match"]
        if let accept = exchange.request.headers["Accept"] { request.headers["Accept"] = accept }
        if let type = exchange.request.headers["Content-Type"], !exchange.request.bytes.isEmpty {
            // The recorded body is sent unchanged, because its content is not tested here.
            request.body = .media(ByteStream(exchange.request.bytes), contentType: type)
        }
        return request
    }

    @Test(.enabled(if: path != nil, "the corpus is not there"))
    func `every recorded answer is understood, and the request that led to it is asked the same`() async throws {
        let replay = try Self.replay()
        let client = try ODataClient(
            serviceRoot: Self.root, transport: replay,
            configuration: .init(csrf: .off, repeatability: .off, capabilities: .ignore))
        let model = try await client.model
        var understood = 0
        var refused = 0
        for exchange in replay.exchanges where exchange.request.path != "/$batch" {
            guard var request = try request(exchange, model) else {
                // The URL is invalid according to the standard: the service has refused it, and so does the
                // parser.
                #expect(exchange.response.status ?? 0 >= 400, "\(exchange.line)")
                refused += 1
                continue
            }
            if exchange.request.path?.hasPrefix("/$metadata") ?? false { continue }
            replay.current.withLock { $0 = exchange }
            if exchange.request.headers["Prefer"]?.contains("respond-async") ?? false {
                request.preferences.respondAsync = true
            }
            do {
                let response = try await client.execute(request)
                #expect(exchange.response.status ?? 0 < 400, "\(exchange.line)")
                if !exchange.response.bytes.isEmpty, exchange.response.status != 202 {
                    if case .none = response.body { Issue.record("\(exchange.line): nothing was read") }
                }
                understood += 1
            } catch let error as ODataError {
                #expect(error.status == exchange.response.status, "\(exchange.line): \(error)")
                #expect(!error.message.isEmpty, "\(exchange.line)")
                #expect(error.headers["OData-Version"] == "4.0", "\(exchange.line)")
                refused += 1
            } catch {
                Issue.record("\(exchange.line): \(error)")
                continue
            }
            let (asked, _) = try #require(replay.asked.withLock { $0 })
            #expect(asked.method.rawValue == exchange.request.method, "\(exchange.line)")
            // Both URLs have the same meaning.
            let recorded = try? ODataURL(parsing: String((exchange.request.path ?? "").dropFirst()))
            let sent = try ODataURL(parsing: String((asked.path ?? "").dropFirst("/odata.svc/".count)))
            #expect(sent == recorded, "\(exchange.line) was asked as \(asked.path ?? "")")
            // A refused read is repeated without the fields that the client adds.
            if exchange.response.status ?? 0 < 400 { #expect(asked.headerFields[.odataMaxVersion] == "4.01") }
        }
        #expect(understood > 50, "\(understood)")
        #expect(refused > 20, "\(refused)")
    }

    @Test(.enabled(if: path != nil, "the corpus is not there"))
    func `recorded pages, changes, media and batches go through a data service`() async throws {
        let replay = try Self.replay()
        let service = DataService(try ODataClient(serviceRoot: Self.root, transport: replay))
        func play(_ method: String, _ path: String, note: String? = nil) throws {
            let exchange = try #require(
                replay.exchanges.first {
                    $0.request.method == method && $0.request.path == path && (note == nil || $0.note == note)
                }, "\(method) \(path)")
            replay.current.withLock { $0 = exchange }
        }
        func asked() throws -> (HTTPRequest, [UInt8]) { try #require(replay.asked.withLock { $0 }) }

        try play("GET", "/ESServerSidePaging")
        var pages = service.pages(ODataURL(set: "ESServerSidePaging")).makeAsyncIterator()
        let first = try #require(try await pages.next())
        #expect(first.entities.count == 10)
        try play("GET", "/ESServerSidePaging?$skiptoken=1%2A10")
        let second = try #require(try await pages.next())
        #expect(second.entities.count == 10 && second.entities[0] != first.entities[0])
        #expect(try asked().0.path?.contains("skiptoken=1%2A10") == true)

        try play("GET", "/ESCompAllPrim(0)")
        var entity = try #require(try await service.entity("ESCompAllPrim", key: 0))
        #expect(entity.control.etag == "W/\"0\"")
        try play("PATCH", "/ESCompAllPrim(0)", note: "any ETag")
        entity["PropertyInt16"] = 0
        try await service.update(entity, in: "ESCompAllPrim", overwriting: true)
        #expect(try asked().0.headerFields[.ifMatch] == "*")
        try play("PATCH", "/ESCompAllPrim(0)", note: "no ETag given")
        let refusal = await #expect(throws: ODataError.self) {
            try await service.update(entity, in: "ESCompAllPrim", overwriting: true)
        }
        #expect(refusal?.status == 428)

        try play("POST", "/ESTwoPrim", note: "create, minimal")
        let shape = try #require(try await service.provider.model.shape(ofSet: "ESTwoPrim"))
        let created = try await service.returningNothing.create(
            ODataEntity(shape: shape, ["PropertyInt16": 2, "PropertyString": "x"]), in: "ESTwoPrim")
        #expect(created.control.id == "http://service.example/odata.svc/ESTwoPrim(2)")

        try play("POST", "/ESMedia")
        let media = try await service.createMedia(
            in: "ESMedia", ByteStream(Array("not a picture".utf8)), contentType: "image/png")
        #expect(media.key != nil)
        #expect(try asked().0.headerFields[.contentType] == "image/png")

        for exchange in replay.exchanges where exchange.note.hasPrefix("batch that") {
            replay.current.withLock { $0 = exchange }
            let goesOn = exchange.note == "batch that goes on"
            let results = try await service.batch(continueOnError: goesOn) {
                for name in ["ESAllPrim", "ESTwoPrim", "ESKeyNav"] { BatchOperation.read(ResourceQuery(name)) }
            }
            #expect(!results.isEmpty)
            #expect((try asked().0.headerFields[.prefer] ?? "").contains("continue-on-error") == goesOn)
        }
    }
}
