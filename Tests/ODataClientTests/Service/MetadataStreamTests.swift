import Foundation
import HTTPTypes
import ODataCache
import ODataClient
import ODataHTTP
import ODataModel
import ODataService
import Synchronization
import Testing

/// A service whose metadata arrives in chunks, which counts the chunks that were read.
private final class ChunkedMetadata: HTTPTransport {
    private let response: HTTPResponse
    private let chunks: [[UInt8]]
    private let length: Int64?
    private let taken = Mutex(0)

    init(_ text: String, chunkSize: Int, status: Int = 200, length: Int64? = nil) {
        var response = HTTPResponse(status: .init(code: status))
        response.headerFields[.contentType] = "application/xml"
        response.headerFields[.eTag] = "\"1\""
        self.response = response
        self.length = length
        let bytes = Array(text.utf8)
        chunks = stride(from: 0, to: bytes.count, by: chunkSize).map {
            Array(bytes[$0..<min($0 + chunkSize, bytes.count)])
        }
    }

    var count: Int { chunks.count }
    var takenCount: Int { taken.withLock { $0 } }

    func send(
        _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
    ) async throws -> (HTTPResponse, ByteStream) {
        let stream = ByteStream(length: length) {
            self.taken.withLock { taken in
                guard taken < self.chunks.count else { return nil }
                taken += 1
                return self.chunks[taken - 1]
            }
        }
        return (response, stream)
    }

    func client(cache: (any MetadataCache)? = nil) throws -> ODataClient {
        try ODataClient(
            serviceRoot: "https://service.test/shop/", transport: self, configuration: .init(metadataCache: cache))
    }
}

@Suite("Metadata that arrives in chunks")
struct MetadataStreamTests {
    @Test("The model is the same for any size of the chunks", arguments: [1, 7, 100, 100_000])
    func model(chunkSize: Int) async throws {
        let transport = ChunkedMetadata(MemoryService.metadata, chunkSize: chunkSize)
        let model = try await transport.client().model
        #expect(try model.schemas == CSDLReader.read(Array(MemoryService.metadata.utf8)).schemas)
    }

    @Test("A cache gets the whole document with its ETag")
    func cache() async throws {
        let cache = MemoryMetadataCache()
        let transport = ChunkedMetadata(MemoryService.metadata, chunkSize: 10)
        _ = try await transport.client(cache: cache).model
        let known = try #require(await cache.metadata(of: "https://service.test/shop/"))
        #expect(known.bytes == Array(MemoryService.metadata.utf8))
        #expect(known.etag == "\"1\"")
    }

    @Test("An error in the document ends the download")
    func errorStops() async throws {
        let text = MemoryService.metadata.replacing("<EntityType", with: "<EntityType></Oops><EntityType")
        let transport = ChunkedMetadata(text + String(repeating: " ", count: 10_000), chunkSize: 50)
        let client = try transport.client()
        let error = await #expect(throws: MetadataError.self) { _ = try await client.model }
        guard case .invalid(_, let reason)? = error, case .malformed = reason.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.line == 3)
        #expect(transport.takenCount < transport.count / 2)
    }

    @Test("The error for a web page contains the title, even if the title arrives after the first chunk")
    func webPage() async throws {
        let page =
            "<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body>" + String(repeating: "x", count: 100_000)
        let transport = ChunkedMetadata(page, chunkSize: 20)
        let client = try transport.client()
        let url = "https://service.test/shop/$metadata"
        await #expect(throws: MetadataError.webPage(url: url, title: "Sign in")) { _ = try await client.model }
        #expect(transport.takenCount < transport.count / 2)
    }

    @Test("A document above the size limit is not read, by its announced size")
    func announcedSize() async throws {
        let transport = ChunkedMetadata(
            MemoryService.metadata, chunkSize: 10, length: Int64(CSDLReader.maxBytes) + 1)
        let client = try transport.client()
        let error = await #expect(throws: MetadataError.self) { _ = try await client.model }
        guard case .invalid(_, let reason)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.reason == .tooLarge(limit: CSDLReader.maxBytes))
        #expect(transport.takenCount == 0)
    }

    @Test("A file is read in chunks")
    func file() async throws {
        let path = NSTemporaryDirectory() + "outpost-metadata-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(MemoryService.metadata.utf8).write(to: URL(fileURLWithPath: path))
        let model = try await CSDLReader.read(chunks: try ByteStream.file(path))
        #expect(try model.schemas == CSDLReader.read(Array(MemoryService.metadata.utf8)).schemas)
        let size = MemoryService.metadata.utf8.count
        await #expect(throws: CSDLError.self) {
            try await CSDLReader.read(chunks: try ByteStream.file(path), maxBytes: size - 1)
        }
    }
}
