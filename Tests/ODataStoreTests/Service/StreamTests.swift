import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataStore

@Suite("A service on its own model: streams")
struct StreamTests {
    /// Returns bytes that depend on their positions.
    private static func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 / 7) } }

    private static func stream(_ bytes: [UInt8], piece: Int = 10_000) -> ByteStream {
        let position = Position()
        return ByteStream {
            let start = await position.take(piece)
            guard start < bytes.count else { return nil }
            return Array(bytes[start..<min(start + piece, bytes.count)])
        }
    }

    private actor Position {
        private var value = 0
        func take(_ count: Int) -> Int {
            defer { value += count }
            return value
        }
    }

    private func upload(
        _ bazaar: Bazaar, _ method: ODataRequest.Method, _ url: String, _ bytes: [UInt8],
        contentType: String = "image/png", ifMatch: String? = nil, headers: [String: String] = [:]
    ) async throws -> ODataResponse {
        var request = try bazaar.request(method, url, ifMatch: ifMatch)
        request.body = .media(Self.stream(bytes), contentType: contentType)
        request.headers = headers
        return try await bazaar.service.execute(request)
    }

    private func download(
        _ bazaar: Bazaar, _ url: String, _ range: Range<Int64>? = nil
    ) async throws -> (bytes: [UInt8], contentType: String, etag: String?) {
        let response = try await bazaar.send(.read, url)
        guard case .raw(var stream, let contentType) = response.body else { return ([], "", response.etag) }
        if let range { stream = try #require(stream.slice(range)) }
        return (try await stream.collect(limit: 1 << 30), contentType, response.etag)
    }

    @Test("11.4.7.1 Create a Media Entity: POST of the stream, with known values")
    func create() async throws {
        let bazaar = try await Bazaar()
        let bytes = Self.bytes(700_000)
        let response = try await upload(bazaar, .create, "Pictures", bytes, headers: ["Slug": "A%20cat"])
        #expect(response.status == 201)
        guard case .entity(let picture) = response.body else { throw ODataError.notFound("entity") }
        #expect(picture["Name"] == "A cat")
        #expect(picture["ContentType"] == "image/png")
        #expect(picture["Size"] == .integer(700_000))
        #expect(picture.control.mediaContentType == "image/png")
        let id = try #require(picture.control.id)
        #expect(picture.control.mediaReadLink == "\(id)/$value")
        let read = try await download(bazaar, "\(id)/$value")
        #expect(read.bytes == bytes)
        #expect(read.contentType == "image/png")
        #expect(read.etag == picture.control.mediaEtag)
    }

    @Test("11.2.6 a stream is read from any position, for Range")
    func ranges() async throws {
        let bazaar = try await Bazaar()
        let bytes = Self.bytes(600_000)
        let id = try #require(try await upload(bazaar, .create, "Pictures", bytes).location)
        for range in [0..<1, 262_143..<262_145, 262_144..<524_288, 599_999..<600_000, 5..<600_000] as [Range<Int64>] {
            let read = try await download(bazaar, "\(id)/$value", range)
            #expect(read.bytes == Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)]), "\(range)")
        }
        #expect(try await download(bazaar, "\(id)/$value", 599_990..<700_000).bytes.count == 10)
    }

    @Test("11.4.7.2 Update a Media Entity Stream: PUT of $value with its ETag, while others read")
    func replace() async throws {
        let bazaar = try await Bazaar()
        let old = Self.bytes(600_000)
        let id = try #require(try await upload(bazaar, .create, "Pictures", old).location)
        let before = try await bazaar.send(.read, "\(id)/$value")
        guard case .raw(let reading, _) = before.body else { throw ODataError.notFound("stream") }
        var seen = try #require(try await reading.next())
        bazaar.clock.advance(by: 5)
        await #expect(throws: ODataError.self) {
            try await upload(bazaar, .replace, "\(id)/$value", [1], ifMatch: "\"other\"")
        }
        let response = try await upload(
            bazaar, .replace, "\(id)/$value", [1, 2, 3], contentType: "image/gif", ifMatch: before.etag)
        #expect(response.status == 204)
        #expect(response.etag != before.etag)
        let read = try await download(bazaar, "\(id)/$value")
        #expect(read.bytes == [1, 2, 3])
        #expect(read.contentType == "image/gif")
        let picture = try #require(try await bazaar.entity(id))
        #expect(picture["Size"] == 3)
        #expect(picture["ModifiedAt"] == .dateTimeOffset(bazaar.clock.now))
        while let chunk = try await reading.next() { seen += chunk }
        #expect(seen == old)
    }

    @Test("11.4.8 Managing Stream Properties: PUT, read, DELETE, and their control information in the entity")
    func properties() async throws {
        let bazaar = try await Bazaar()
        let id = try #require(try await bazaar.create("Products", #"{"Name":"Mug"}"#).control.id)
        #expect(try await bazaar.send(.read, "\(id)/Photo").status == 204)
        let put = try await upload(bazaar, .replace, "\(id)/Photo", [1, 2, 3])
        #expect(put.status == 204)
        #expect(try await download(bazaar, "\(id)/Photo").bytes == [1, 2, 3])
        let product = try #require(try await bazaar.entity(id))
        #expect(product["Version"] == 2)
        #expect(product.control.annotations["Photo@odata.mediaContentType"] == "image/png")
        #expect(product.control.annotations["Photo@odata.mediaEtag"] == put.etag.map { .string($0) })
        let page = try await bazaar.page("Products")
        #expect(page.entities.first?.control.annotations["Photo@odata.mediaReadLink"] == .string("\(id)/Photo"))
        #expect(try await bazaar.send(.delete, "\(id)/Photo").status == 204)
        #expect(try await bazaar.send(.read, "\(id)/Photo").status == 204)
        #expect(try await bazaar.refusal(.create, "\(id)/Photo")?.status == 405)
    }

    @Test("An interrupted stream stores nothing, and a long one is refused with 413")
    func failures() async throws {
        var options = StoreService.Options()
        options.streamSizeLimit = 1_000_000
        let bazaar = try await Bazaar(options: options)
        struct Broken: Error {}
        let position = Position()
        var request = try bazaar.request(.create, "Pictures")
        request.body = .media(
            ByteStream {
                if await position.take(1) > 30 { throw Broken() }
                return [UInt8](repeating: 0, count: 20_000)
            }, contentType: "image/png")
        let broken = request
        await #expect(throws: ODataError.self) { try await bazaar.service.execute(broken) }
        do {
            _ = try await upload(bazaar, .create, "Pictures", Self.bytes(1_000_001))
            Issue.record("too long a stream was taken")
        } catch let error as ODataError {
            #expect(error.status == 413)
        }
        #expect(try await bazaar.page("Pictures").entities.isEmpty)
        let left = try await bazaar.service.database.read {
            try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM outpost_stream_chunk")
        }
        #expect(left == 0)
    }

    @Test("11.4.4 an update does not create a media entity")
    func upsert() async throws {
        let bazaar = try await Bazaar()
        for method in [ODataRequest.Method.update, .replace] {
            let refusal = try await bazaar.refusal(
                method, "Pictures(10000000-0000-0000-0000-000000000001)", #"{"Name":"n","ContentType":"image/png"}"#)
            #expect(refusal?.status == 404)
        }
        #expect(try await bazaar.page("Pictures").entities.isEmpty)
    }

    @Test(
        "11.4.7.3 deleting a media entity deletes its stream, and deleting its stream the entity",
        arguments: [false, true])
    func delete(isByStream: Bool) async throws {
        let bazaar = try await Bazaar()
        let created = try await upload(bazaar, .create, "Pictures", Self.bytes(10))
        let id = try #require(created.location)
        let url = isByStream ? "\(id)/$value" : id
        if isByStream { #expect(try await bazaar.refusal(.delete, url, ifMatch: "\"other\"")?.status == 412) }
        try await bazaar.send(.delete, url)
        #expect(try await bazaar.refusal(.read, id)?.status == 404)
        #expect(try await bazaar.refusal(.read, "\(id)/$value")?.status == 404)
        try await bazaar.service.streams.removeLeftovers()
        let left = try await bazaar.service.database.read {
            try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM outpost_stream_chunk")
        }
        #expect(left == 0)
    }
}
