import Foundation
import HTTPTypes
import ODataModel
import ODataQuery
import ODataService
import TestCorpus
import Testing

@testable import ODataHTTP

/// Recorded responses of an independent V4 service, all of which must be readable (rule 34).
@Suite struct CorpusTranscriptsOlingo {
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
    }

    static func exchanges() throws -> [Exchange] {
        try JSONDecoder().decode([Exchange].self, from: Data(Corpus.bytes("transcripts/olingo-tecsvc.json")))
    }

    static func model(_ exchanges: [Exchange]) throws -> EntityDataModel {
        let metadata = try #require(exchanges.first { $0.request.path == "/$metadata" && $0.response.status == 200 })
        return try CSDLReader.read(xml: metadata.response.bytes)
    }

    static let root = "http://service.example/odata.svc/"

    @Test(.enabled(if: Corpus.isPresent, "the corpus is not there"))
    func `every recorded JSON answer is read`() async throws {
        let exchanges = try Self.exchanges()
        let model = try Self.model(exchanges)
        let decoder = ResponseDecoder(serviceRoot: try ServiceRoot(Self.root), model: model)
        var read = 0
        var refused = 0
        for exchange in exchanges {
            guard let method = exchange.request.method, let path = exchange.request.path,
                let status = exchange.response.status
            else { continue }
            let type = exchange.response.headers["Content-Type"] ?? ""
            guard type.isEmpty || type.hasPrefix("application/json") || type == "text/plain" else { continue }
            if path.hasPrefix("/$metadata") { continue }
            let request = try self.request(method, String(path.dropFirst()), exchange.request)
            var message = HTTPResponse(status: .init(code: status))
            for (name, value) in exchange.response.headers {
                guard let name = HTTPField.Name(name) else { continue }
                message.headerFields[name] = value
            }
            do {
                let response = try await decoder.decode(message, body: ByteStream(exchange.response.bytes), to: request)
                #expect(status < 400, "\(method) \(path)")
                if type.hasPrefix("application/json"), case .none = response.body {
                    Issue.record("\(method) \(path): nothing was read of \(exchange.response.bytes.count) bytes")
                }
                read += 1
            } catch let error as ODataError {
                #expect(error.status == status, "\(method) \(path): \(error)")
                #expect(!error.message.isEmpty)
                refused += 1
            } catch {
                Issue.record("\(method) \(path): \(error)")
            }
        }
        #expect(read > 45)
        #expect(refused > 20)
    }

    /// Returns a request for the recorded URL, or for a link with the same URL if the parser does not support it.
    private func request(_ method: String, _ path: String, _ message: Exchange.Message) throws -> ODataRequest {
        let semantic = ODataRequest.Method(rawValue: method) ?? .read
        guard let url = try? ODataURL(parsing: path) else {
            var request = ODataRequest(following: path)
            request.method = semantic
            return request
        }
        return ODataRequest(semantic, url)
    }

    @Test(.enabled(if: Corpus.isPresent, "the corpus is not there"))
    func `recorded batches are read in both directions`() async throws {
        let exchanges = try Self.exchanges()
        let model = try Self.model(exchanges)
        let requests = RequestDecoder(serviceRoot: try ServiceRoot(Self.root), model: model)
        let responses = ResponseDecoder(serviceRoot: try ServiceRoot(Self.root), model: model)
        for exchange in exchanges where exchange.request.path == "/$batch" && exchange.response.status == 200 {
            var message = HTTPRequest(
                method: .post, scheme: "http", authority: "service.example", path: "/odata.svc/$batch")
            message.headerFields[.contentType] = exchange.request.headers["Content-Type"]
            let incoming = try await requests.decode(message, body: ByteStream(exchange.request.bytes))
            #expect(incoming.parts.count > 1)
            let items = incoming.parts.map { part in
                part.item ?? BatchItem(id: part.id, request: ODataRequest(.read, ODataURL()))
            }
            var answer = HTTPResponse(status: .ok)
            answer.headerFields[.contentType] = exchange.response.headers["Content-Type"]
            let response = try await responses.decode(
                answer, body: ByteStream(exchange.response.bytes),
                to: ODataRequest(.create, ODataURL(path: ResourcePath([.batch])), body: .batch(items)))
            guard case .batch(let results) = response.body else {
                Issue.record("no batch")
                continue
            }
            #expect(!results.isEmpty)
            for result in results {
                if case .failure(let error) = result.result { #expect(error.code != "InvalidResponse", "\(error)") }
            }
        }
    }
}
