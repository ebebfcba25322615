import Foundation
import ODataModel
import ODataQuery
import ODataService
import Synchronization
import Testing

@testable import ODataCache

@Suite("A provider behind a cache")
struct CachingProviderTests {
    private let model: EntityDataModel
    private let base: ScriptedProvider
    private struct Unreachable: Error {}

    init() throws {
        model = try Shop.model()
        base = ScriptedProvider(model)
    }

    private func read(_ text: String) throws -> ODataRequest { ODataRequest(.read, try ODataURL(parsing: text)) }

    private func entity(_ response: ODataResponse) -> ODataEntity? {
        if case .entity(let entity) = response.body { entity } else { nil }
    }

    private func ids(_ response: ODataResponse) -> [ODataValue?] {
        if case .page(let page) = response.body { page.entities.map { $0["ID"] } } else { [] }
    }

    private func give(_ entities: [ODataEntity], etag: String? = "W/\"1\"") {
        base.answer { request in
            if case .name(_, .none)? = request.url.path.segments.last {
                return ODataResponse(body: .page(EntityPage(entities: entities)))
            }
            if request.ifNoneMatch != nil, request.ifNoneMatch == etag { return ODataResponse(status: 304, etag: etag) }
            return ODataResponse(body: .entity(entities[0]), etag: etag)
        }
    }

    @Test("An unchanged entity is not transferred again: If-None-Match, 304, answered from the cache")
    func conditional() async throws {
        let provider = CachingProvider(base)
        give([try Shop.customer(model, 1, "Ann")])
        _ = try await provider.execute(read("Customers(1)"))
        let again = try await provider.execute(read("Customers(1)"))
        #expect(base.requests.map(\.ifNoneMatch) == [nil, "W/\"1\""])
        #expect(again.status == 200 && again.etag == "W/\"1\"")
        #expect(entity(again)?["Name"] == .string("Ann"))
        give([try Shop.customer(model, 1, "Bob")], etag: "W/\"2\"")
        #expect(entity(try await provider.execute(read("Customers(1)")))?["Name"] == .string("Bob"))
    }

    @Test("An app can replace the cache with its own")
    func foreignCache() async throws {
        let cache = ForeignCache()
        let provider = CachingProvider(base, cache: cache)
        give([try Shop.customer(model, 1, "Ann")])
        _ = try await provider.execute(read("Customers(1)"))
        #expect(await cache.entities(of: "Customers").map { $0["Name"] } == ["Ann"])
        let again = try await provider.execute(read("Customers(1)"))
        #expect(base.requests.last?.ifNoneMatch == "W/\"1\"")
        #expect(entity(again)?["Name"] == .string("Ann"))
    }

    @Test("A condition that the caller sets is not changed")
    func ownCondition() async throws {
        let provider = CachingProvider(base)
        give([try Shop.customer(model, 1, "Ann")])
        _ = try await provider.execute(read("Customers(1)"))
        var request = try read("Customers(1)")
        request.ifNoneMatch = "W/\"1\""
        #expect(try await provider.execute(request).status == 304)
    }

    @Test("A partly read entity is not returned as a complete one")
    func partial() async throws {
        let cache = MemoryEntityCache(model: model)
        let provider = CachingProvider(base, cache: cache, policy: .onlyCached)
        let shape = try model.requiredShape(ofSet: "Customers")
        try await cache.store([ODataEntity(shape: shape, ["ID": .integer(1)])], in: "Customers")
        await #expect(throws: ODataError.self) { try await provider.execute(self.read("Customers(1)")) }
    }

    @Test("If the service is unreachable and the policy allows it, the cache answers")
    func unreachable() async throws {
        let customers = try (1...3).map { try Shop.customer(model, Int64($0), "C\($0)") }
        for (policy, answers) in [(CachePolicy.validate, false), (.validateElseCached, true)] {
            let provider = CachingProvider(base, policy: policy)
            give(customers)
            _ = try await provider.execute(read("Customers"))
            _ = try await provider.execute(read("Customers?$top=2"))
            for error in [Unreachable(), ODataError(status: 503, code: "", message: "")] as [any Error & Sendable] {
                base.answer { _ in throw error }
                for text in ["Customers(1)", "Customers", "Customers?$filter=ID gt 1", "Customers?$top=2"] {
                    let answer = try? await provider.execute(read(text))
                    #expect((answer != nil) == answers, "\(policy) \(text)")
                }
            }
            base.answer { _ in throw ODataError(status: 403, code: "", message: "") }
            await #expect(throws: ODataError.self) { try await provider.execute(self.read("Customers(1)")) }
        }
    }

    @Test("A completely read set answers queries, but not after it has lost an entity")
    func wholeSet() async throws {
        let cache = try MemoryEntityCache(model: model, limits: .init(capacity: 3))
        let provider = CachingProvider(base, cache: cache, policy: .validateElseCached)
        give(try (1...3).map { try Shop.customer(model, Int64($0), "C\($0)") })
        _ = try await provider.execute(read("Customers"))
        base.answer { _ in throw Unreachable() }
        let answer = try await provider.execute(read("Customers?$filter=ID ne 2&$orderby=ID desc"))
        #expect(ids(answer) == [.integer(3), .integer(1)])
        try await cache.store([Shop.customer(model, 9, "new")], in: "Customers")
        await #expect(throws: Unreachable.self) { try await provider.execute(self.read("Customers?$filter=ID ne 2")) }
    }

    @Test("A fresh response is not requested again")
    func fresh() async throws {
        let clock = Mutex(ContinuousClock().now)
        let provider = CachingProvider(base, cache: MemoryEntityCache(), policy: .cached(for: .seconds(60))) {
            clock.withLock { $0 }
        }
        give([try Shop.customer(model, 1, "Ann")])
        for _ in 0..<3 { _ = try await provider.execute(read("Customers")) }
        _ = try await provider.execute(read("Customers(1)"))
        #expect(base.requests.count == 1)
        clock.withLock { $0 += .seconds(60) }
        _ = try await provider.execute(read("Customers(1)"))
        #expect(base.requests.count == 2)
        _ = try await provider.execute(read("Customers(1)"))
        #expect(base.requests.count == 2)
    }

    @Test("A missing entity is 504 if only the cache may answer")
    func onlyCached() async throws {
        let cache = MemoryEntityCache(model: model)
        try await cache.store([Shop.customer(model, 1, "Ann")], in: "Customers")
        let provider = CachingProvider(base, cache: cache, policy: .onlyCached)
        #expect(entity(try await provider.execute(read("Customers(1)")))?["Name"] == .string("Ann"))
        for request in try [read("Customers(2)"), read("Customers"), read("Customers(1)?$select=Name")] {
            let error = await #expect(throws: ODataError.self) { try await provider.execute(request) }
            #expect(error?.status == 504)
        }
        let change = ODataRequest(.delete, try ODataURL(parsing: "Customers(1)"))
        await #expect(throws: ODataError.self) { try await provider.execute(change) }
        #expect(base.requests.isEmpty)
    }

    @Test("A change stores its response in the cache and removes affected entries")
    func changes() async throws {
        let cache = MemoryEntityCache(model: model)
        let provider = CachingProvider(base, cache: cache, policy: .cached(for: .seconds(1000)))
        let ann = try Shop.customer(model, 1, "Ann")
        give([ann])
        _ = try await provider.execute(read("Customers"))
        base.answer { _ in ODataResponse(status: 204) }
        let url = try ODataURL(parsing: "Customers(1)")
        _ = try await provider.execute(ODataRequest(.update, url, body: .entity(ann)))
        #expect(await cache.entity(Shop.key(1), in: "Customers") == nil)
        let changed = try Shop.customer(model, 1, "Anna")
        give([changed], etag: "W/\"2\"")
        _ = try await provider.execute(ODataRequest(.replace, url, body: .entity(changed)))
        #expect(await cache.entity(Shop.key(1), in: "Customers")?.control.etag == "W/\"2\"")
        _ = try await provider.execute(read("Customers"))
        #expect(base.requests.count == 4, "pages are not fresh after a change")
        let created = try Shop.customer(model, 2, "Bob")
        base.answer { _ in ODataResponse(status: 201, body: .entity(created)) }
        _ = try await provider.execute(
            ODataRequest(.create, try ODataURL(parsing: "Customers"), body: .entity(created)))
        #expect(await cache.entity(Shop.key(2), in: "Customers") != nil)
        base.answer { _ in ODataResponse(status: 204) }
        _ = try await provider.execute(ODataRequest(.delete, url))
        #expect(await cache.entity(Shop.key(1), in: "Customers") == nil)
        _ = try await provider.execute(ODataRequest(.create, try ODataURL(parsing: "$batch"), body: .batch([])))
        #expect(await cache.collections.isEmpty, "a batch may have changed anything")
    }

    @Test("A change is shown at once, and undone if the service refuses it")
    func optimistic() async throws {
        let cache = MemoryEntityCache(model: model)
        let provider = CachingProvider(base, cache: cache, showsChangesAtOnce: true)
        try await cache.store([Shop.customer(model, 1, "Ann")], in: "Customers")
        let shape = try model.requiredShape(ofSet: "Customers")
        let patch = ODataEntity(shape: shape, ["Name": .string("Anna")])
        let request = ODataRequest(.update, try ODataURL(parsing: "Customers(1)"), body: .entity(patch))
        let seen = await cache.changes()
        base.answer { _ in throw ODataError(status: 400, code: "No", message: "") }
        await #expect(throws: ODataError.self) { try await provider.execute(request) }
        #expect(await cache.entry(Shop.key(1), in: "Customers")?.entity["Name"] == .string("Ann"))
        let confirmed = try Shop.customer(model, 1, "Anna!")
        base.answer { _ in ODataResponse(body: .entity(confirmed), etag: "e") }
        _ = try await provider.execute(request)
        let entry = await cache.entry(Shop.key(1), in: "Customers")
        #expect(entry?.state == .server && entry?.entity["Name"] == .string("Anna!") && entry?.entity["City"] != nil)
        await cache.clear()
        var causes: [CacheChange.Cause] = []
        for await change in seen {
            causes.append(change.cause)
            if change.cause == .cleared { break }
        }
        #expect(causes == [.changed, .reverted, .changed, .confirmed, .cleared])
    }

    @Test("A deletion is shown at once, and undone if the service refuses it")
    func optimisticDeletion() async throws {
        let cache = MemoryEntityCache(model: model)
        let provider = CachingProvider(base, cache: cache, showsChangesAtOnce: true)
        let request = ODataRequest(.delete, try ODataURL(parsing: "Customers(1)"))
        let seen = await cache.changes()
        for status in [400, 404] {
            try await cache.store([Shop.customer(model, 1, "Ann")], in: "Customers")
            base.answer { _ in throw ODataError(status: status, code: "No", message: "") }
            await #expect(throws: ODataError.self) { try await provider.execute(request) }
            let entry = await cache.entry(Shop.key(1), in: "Customers")
            #expect((entry != nil) == (status == 400), "what is gone is not shown again")
            #expect(entry == nil || entry?.state == .server && entry?.entity["Name"] == .string("Ann"))
        }
        try await cache.store([Shop.customer(model, 1, "Ann")], in: "Customers")
        base.answer { _ in ODataResponse(status: 204) }
        _ = try await provider.execute(request)
        #expect(await cache.entry(Shop.key(1), in: "Customers") == nil)
        try await cache.store([Shop.customer(model, 1, "Ann")], in: "Customers")
        await cache.clear()
        var causes: [CacheChange.Cause] = []
        for await change in seen {
            causes.append(change.cause)
            if change.cause == .cleared { break }
        }
        #expect(
            causes == [.stored, .removed, .reverted, .stored, .removed, .stored, .removed, .stored, .cleared],
            "it goes at once, and comes back where it is still there")
    }

    @Test("An entity that was deleted or changed by another user is removed from the cache")
    func gone() async throws {
        let cache = MemoryEntityCache(model: model)
        let provider = CachingProvider(base, cache: cache, policy: .validateElseCached)
        for status in [404, 410] {
            try await cache.store([Shop.customer(model, 1, "Ann")], in: "Customers")
            base.answer { _ in throw ODataError(status: status, code: "", message: "") }
            await #expect(throws: ODataError.self) { try await provider.execute(self.read("Customers(1)")) }
            #expect(await cache.entity(Shop.key(1), in: "Customers") == nil)
        }
        try await cache.store([Shop.customer(model, 1, "Ann")], in: "Customers")
        base.answer { _ in throw ODataError.preconditionFailed("Customers(1)") }
        let url = try ODataURL(parsing: "Customers(1)")
        await #expect(throws: ODataError.self) { try await provider.execute(ODataRequest(.delete, url)) }
        #expect(await cache.entity(Shop.key(1), in: "Customers") == nil)
    }

    @Test("Metadata are cached in memory and on disk, and read again if damaged or without a key")
    func metadata() async throws {
        let folder = TemporaryFolder()
        let store = PersistentStore(folder: folder.path, policy: .unprotected)
        let document = CachedMetadata(Array(Shop.xml.utf8), etag: "\"1\"", lastModified: "x")
        for cache in [MemoryMetadataCache(), PersistentMetadataCache(store)] as [any MetadataCache] {
            #expect(await cache.metadata(of: "http://host/") == nil)
            await cache.setMetadata(document, of: "http://host/")
            #expect(await cache.metadata(of: "http://host/") == document)
            #expect(await cache.metadata(of: "http://other/") == nil)
            await cache.setMetadata(nil, of: "http://host/")
            #expect(await cache.metadata(of: "http://host/") == nil)
        }
        await PersistentMetadataCache(store).setMetadata(document, of: "http://host/")
        let again = PersistentMetadataCache(PersistentStore(folder: folder.path, policy: .unprotected))
        #expect(await again.metadata(of: "http://host/") == document)
        try Data("rubbish".utf8).write(to: URL(fileURLWithPath: try #require(folder.items.first)))
        #expect(await again.metadata(of: "http://host/") == nil)
        let locked = PersistentMetadataCache(PersistentStore(folder: folder.path + "-2"))
        await locked.setMetadata(document, of: "http://host/")
        #expect(await locked.metadata(of: "http://host/") == nil)
    }

    @Test("The number of services with cached metadata is limited")
    func metadataCapacity() async {
        let cache = MemoryMetadataCache()
        for number in 0...MemoryMetadataCache.capacity {
            await cache.setMetadata(CachedMetadata([1]), of: "http://host/\(number)")
        }
        #expect(await cache.metadata(of: "http://host/0") == nil)
        #expect(await cache.metadata(of: "http://host/1") != nil)
    }
}
