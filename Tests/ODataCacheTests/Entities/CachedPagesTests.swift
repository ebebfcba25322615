import Foundation
import ODataModel
import ODataQuery
import ODataService
import Secrets
import Testing

@testable import ODataCache

@Suite("A provider behind a cache keeps all pages of a set")
struct CachedPagesTests {
    private let model: EntityDataModel
    private let base: ScriptedProvider
    private struct Unreachable: Error {}

    init() throws {
        model = try Shop.model()
        base = ScriptedProvider(model)
    }

    private func customers(_ ids: ClosedRange<Int64>) throws -> [ODataEntity] {
        try ids.map { try Shop.customer(model, $0, "C\($0)") }
    }

    /// Makes the service return customers in pages of two.
    private func give(_ customers: [ODataEntity]) {
        base.answer { request in
            guard request.method == .read else { return ODataResponse(status: 204) }
            let start = request.link.flatMap { Int($0.split(separator: "=").last ?? "") } ?? 0
            var page = EntityPage(entities: Array(customers.dropFirst(start).prefix(2)))
            if start + 2 < customers.count { page.nextLink = "Customers?$skiptoken=\(start + 2)" }
            return ODataResponse(body: .page(page))
        }
    }

    private func cutOff() { base.answer { _ in throw Unreachable() } }

    private func ids(_ provider: CachingProvider, _ text: String = "Customers") async throws -> [ODataValue?] {
        try await DataService(provider).entities(ODataURL(parsing: text)).map { $0["ID"] }
    }

    private func numbers(_ ids: Int64...) -> [ODataValue?] { ids.map { .integer($0) } }

    @Test("All pages of a query are answered from the cache, and so are queries over the whole set")
    func allPages() async throws {
        let cache = MemoryEntityCache(model: model)
        let provider = CachingProvider(base, cache: cache, policy: .validateElseCached)
        give(try customers(1...5))
        #expect(try await ids(provider) == numbers(1, 2, 3, 4, 5))
        cutOff()
        #expect(try await ids(provider) == numbers(1, 2, 3, 4, 5))
        #expect(try await ids(provider, "Customers?$filter=ID gt 3&$orderby=ID desc") == numbers(5, 4))
        #expect(try await cache.search("c5", in: "Customers").count == 1)
    }

    @Test("Pages of a query are cached, and do not count as the whole set")
    func pagesOfQuery() async throws {
        let provider = CachingProvider(base, cache: MemoryEntityCache(model: model), policy: .validateElseCached)
        give(try customers(1...3))
        #expect(try await ids(provider, "Customers?$filter=ID lt 9") == numbers(1, 2, 3))
        cutOff()
        #expect(try await ids(provider, "Customers?$filter=ID lt 9") == numbers(1, 2, 3))
        await #expect(throws: Unreachable.self) { try await self.ids(provider, "Customers") }
    }

    @Test("Fresh pages are not requested again, also behind a next link")
    func fresh() async throws {
        let provider = CachingProvider(
            base, cache: MemoryEntityCache(model: model), policy: .cached(for: .seconds(1000)))
        give(try customers(1...5))
        for _ in 0..<2 { _ = try await ids(provider) }
        #expect(base.requests.count == 3)
    }

    @Test("After a restart collections are answered from the saved pages")
    func restart() async throws {
        let folder = TemporaryFolder()
        let store = PersistentStore(folder: folder.path, key: .given(.key(.generate())))
        let first = MemoryEntityCache(model: model)
        give(try customers(1...5))
        let reading = CachingProvider(base, cache: first, policy: .validateElseCached)
        _ = try await ids(reading)
        _ = try await ids(reading, "Customers?$filter=ID lt 9")
        try await store.save(first, as: "shop")
        cutOff()
        for policy in [CachePolicy.onlyCached, .validateElseCached, .cached(for: .seconds(1000))] {
            let cache = MemoryEntityCache()
            for try await _ in store.load("shop", into: cache) {}
            let provider = CachingProvider(base, cache: cache, policy: policy)
            #expect(try await ids(provider) == numbers(1, 2, 3, 4, 5), "\(policy)")
            #expect(try await ids(provider, "Customers?$filter=ID lt 9") == numbers(1, 2, 3, 4, 5), "\(policy)")
            #expect(try await ids(provider, "Customers?$filter=ID eq 4") == numbers(4), "\(policy)")
        }
    }

    @Test("When a set is read again, entities that the service removed leave the cache")
    func shrunk() async throws {
        let cache = MemoryEntityCache(model: model)
        let provider = CachingProvider(base, cache: cache, policy: .validateElseCached)
        give(try customers(1...5))
        _ = try await ids(provider)
        give(try customers(2...4))
        _ = try await ids(provider)
        #expect(await cache.entities(of: "Customers").map { $0["ID"] } == numbers(2, 3, 4))
        cutOff()
        #expect(try await ids(provider, "Customers?$filter=ID ne 3") == numbers(2, 4))
    }

    @Test("A cache without room for all pages gives an error and never a part of the set")
    func tooSmall() async throws {
        let cache = try MemoryEntityCache(model: model, limits: .init(capacity: 3))
        let provider = CachingProvider(base, cache: cache, policy: .validateElseCached)
        give(try customers(1...5))
        _ = try await ids(provider)
        cutOff()
        await #expect(throws: Unreachable.self) { try await self.ids(provider) }
        await #expect(throws: Unreachable.self) { try await self.ids(provider, "Customers?$filter=ID gt 1") }
    }

    @Test("A change removes the cached pages of its set, also from disk")
    func changed() async throws {
        let cache = MemoryEntityCache(model: model)
        let provider = CachingProvider(base, cache: cache, policy: .onlyCached)
        give(try customers(1...3))
        _ = try await ids(CachingProvider(base, cache: cache))
        #expect(try await ids(provider) == numbers(1, 2, 3))
        let url = try ODataURL(parsing: "Customers(1)")
        _ = try await CachingProvider(base, cache: cache).execute(ODataRequest(.delete, url))
        let later = CachingProvider(base, cache: cache, policy: .onlyCached)
        await #expect(throws: ODataError.self) { try await self.ids(later) }
    }

    @Test("A circle of next links does not count as a whole set")
    func circle() async throws {
        let provider = CachingProvider(base, cache: MemoryEntityCache(model: model), policy: .validateElseCached)
        let all = try customers(1...2)
        base.answer { _ in
            var page = EntityPage(entities: all)
            page.nextLink = "Customers?$skiptoken=1"
            return ODataResponse(body: .page(page))
        }
        _ = try await provider.execute(ODataRequest(.read, ODataURL(set: "Customers")))
        for _ in 0..<3 { _ = try await provider.execute(ODataRequest(following: "Customers?$skiptoken=1")) }
        cutOff()
        await #expect(throws: Unreachable.self) {
            try await provider.execute(ODataRequest(.read, try ODataURL(parsing: "Customers?$filter=ID eq 1")))
        }
    }
}
