import Foundation
import HTTPTypes
import ODataCache
import ODataClient
import ODataHTTP
import ODataModel
import ODataService
import Synchronization
import Testing

@Suite("A client with caches")
struct CachingTests {
    private static let root = "http://service.test/shop/"

    /// A transport that counts requests and can lose the connection.
    private final class Way: HTTPTransport {
        private let base: LoopbackTransport
        private let state = Mutex((requests: [HTTPRequest](), statuses: [Int](), isCut: false))

        init(_ service: MemoryService) throws {
            base = LoopbackTransport(try ODataHandler(provider: service, serviceRoot: "/shop/"))
        }

        var requests: [HTTPRequest] { state.withLock { $0.requests } }
        var statuses: [Int] { state.withLock { $0.statuses } }
        var isCut: Bool {
            get { state.withLock { $0.isCut } }
            set { state.withLock { $0.isCut = newValue } }
        }

        func send(
            _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
        ) async throws -> (HTTPResponse, ByteStream) {
            if isCut { throw TransportError.cannotConnect(host: "service.test", reason: "cut") }
            state.withLock { $0.requests.append(request) }
            let answer = try await base.send(request, body: body, options: options)
            state.withLock { $0.statuses.append(answer.0.status.code) }
            return answer
        }
    }

    private func client(
        _ way: any HTTPTransport, metadata: (any MetadataCache)? = nil, options: [String: String] = [:]
    ) throws -> ODataClient {
        try ODataClient(
            serviceRoot: Self.root, transport: way,
            configuration: ODataClient.Configuration(options: options, metadataCache: metadata))
    }

    @Test("11.1.2 Unchanged metadata are not transferred again: ETag, If-None-Match, 304")
    func metadata() async throws {
        let way = try Way(MemoryService())
        let cache = MemoryMetadataCache()
        let first = try await client(way, metadata: cache).model
        let second = try await client(way, metadata: cache).model
        #expect(way.statuses == [200, 304])
        #expect(way.requests[1].headerFields[.ifNoneMatch]?.isEmpty == false)
        #expect(second.container == first.container)
    }

    @Test("Metadata are cached separately for different client options")
    func metadataOfOthers() async throws {
        let way = try Way(MemoryService())
        let cache = MemoryMetadataCache()
        for number in ["100", "200", "100"] {
            _ = try await client(way, metadata: cache, options: ["sap-client": number]).model
        }
        #expect(way.statuses == [200, 200, 304])
        way.isCut = true
        await #expect(throws: TransportError.self) {
            try await self.client(way, metadata: cache, options: ["sap-client": "300"]).model
        }
    }

    @Test("If the service is unreachable, stored metadata are used; without them the request fails")
    func offline() async throws {
        let way = try Way(MemoryService())
        let cache = MemoryMetadataCache()
        _ = try await client(way, metadata: cache).model
        way.isCut = true
        #expect(try await client(way, metadata: cache).model.entitySet("Orders") != nil)
        await #expect(throws: TransportError.self) { try await self.client(way).model }
    }

    @Test("Stored metadata that cannot be read are requested again")
    func damaged() async throws {
        let way = try Way(MemoryService())
        let cache = MemoryMetadataCache()
        _ = try await client(way, metadata: cache).model
        let kept = try #require(await cache.metadata(of: Self.root))
        await cache.setMetadata(CachedMetadata(Array("<damaged".utf8), etag: kept.etag), of: Self.root)
        #expect(try await client(way, metadata: cache).model.entitySet("Orders") != nil)
        #expect(way.statuses == [200, 304, 200])
        #expect(await cache.metadata(of: Self.root) == kept)
    }

    @Test("A client over a cached transport validates its reads and sees changes at once")
    func transport() async throws {
        let service = try MemoryService()
        let way = try Way(service)
        let cache = ResponseCache(configuration: .init(serviceRoot: Self.root))
        let data = DataService(try client(CachingTransport(way, cache: cache)))
        let shape = try #require(service.fixedModel.shape(ofSet: "Orders"))
        try await data.create(ODataEntity(shape: shape, ["ID": .integer(1), "City": "Graz"]), in: "Orders")
        for _ in 0..<2 { #expect(try await data.entity("Orders", key: 1)?["City"] == "Graz") }
        #expect(way.statuses == [200, 201, 200, 304])
        var order = try #require(try await data.entity("Orders", key: 1))
        order["City"] = "Linz"
        try await data.update(order)
        #expect(try await data.entity("Orders", key: 1)?["City"] == "Linz")
    }

    @Test("A cached provider sends the ETag of its copy and answers without the service")
    func provider() async throws {
        let service = try MemoryService()
        let way = try Way(service)
        let provider = CachingProvider(try client(way), policy: .validateElseCached)
        let data = DataService(provider)
        let shape = try #require(service.fixedModel.shape(ofSet: "Orders"))
        try await data.create(
            ODataEntity(shape: shape, ["ID": .integer(1), "City": "Graz", "Freight": .null]), in: "Orders")
        for _ in 0..<2 { #expect(try await data.entity("Orders", key: 1)?["City"] == "Graz") }
        #expect(way.statuses.last == 304)
        way.isCut = true
        #expect(try await data.entity("Orders", key: 1)?["City"] == "Graz")
    }
}
