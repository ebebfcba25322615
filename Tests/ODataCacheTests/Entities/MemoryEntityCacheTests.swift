import Foundation
import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataCache

@Suite("Entities in memory")
struct MemoryEntityCacheTests {
    private let model: EntityDataModel

    init() throws { model = try Shop.model() }

    private func customers(_ ids: ClosedRange<Int64>) throws -> [ODataEntity] {
        try ids.map { try Shop.customer(model, $0, "Customer \($0)") }
    }

    private func ids(_ cache: some EntityCache) async -> [Int64] {
        await cache.entities(of: "Customers").compactMap { if case .integer(let id)? = $0["ID"] { id } else { nil } }
    }

    @Test("Entities are stored, found by key, listed in order, replaced and removed")
    func basics() async throws {
        let cache = MemoryEntityCache(model: model)
        try await cache.store(customers(1...3), in: "Customers")
        try await cache.store([Shop.customer(model, 2, "Second")], in: "Customers")
        #expect(await ids(cache) == [1, 2, 3])
        #expect(await cache.entity(Shop.key(2), in: "Customers")?["Name"] == .string("Second"))
        #expect(await cache.entity(Shop.key(9), in: "Customers") == nil)
        #expect(await cache.collections == ["Customers"])
        #expect(await cache.remove([Shop.key(1), Shop.key(9)], from: "Customers") == 1)
        try await cache.replace(customers(3...4), in: "Customers")
        #expect(await ids(cache) == [3, 4])
        #expect(await cache.removeAll(from: "Customers"))
        #expect(await cache.removeAll(from: "Customers") == false)
        #expect(await cache.collections.isEmpty)
    }

    @Test("A collection never exceeds its capacity", arguments: [2, 3, 4])
    func capacity(_ count: Int64) async throws {
        let cache = try MemoryEntityCache(model: model, limits: .init(capacity: 3))
        try await cache.store(customers(1...count), in: "Customers")
        #expect(await ids(cache) == Array(max(1, count - 2)...count))
    }

    @Test("The least recently used entity is evicted")
    func leastRecentlyUsed() async throws {
        let cache = try MemoryEntityCache(model: model, limits: .init(capacity: 3))
        try await cache.store(customers(1...3), in: "Customers")
        _ = await cache.entry(Shop.key(1), in: "Customers")
        try await cache.store([Shop.customer(model, 2, "written")], in: "Customers")
        try await cache.store(customers(4...4), in: "Customers")
        #expect(await ids(cache) == [1, 2, 4])
    }

    @Test("Each collection has its own capacity; 0 stores nothing, and a smaller one applies at once")
    func perCollection() async throws {
        let cache = try MemoryEntityCache(model: model, limits: .init(capacity: 0))
        try await cache.setCapacity(5, of: "Customers")
        try await cache.store(customers(1...5), in: "Customers")
        try await cache.store([Shop.article(model, "a", title: "t", note: "n")], in: "Articles")
        #expect(await ids(cache).count == 5)
        #expect(await cache.entities(of: "Articles").isEmpty)
        try await cache.setCapacity(2, of: "Customers")
        #expect(await ids(cache) == [4, 5])
        #expect(await cache.capacity(of: "Customers") == 2)
    }

    @Test("Capacities range from 0 to 65,535", arguments: [(-1, false), (0, true), (65_535, true), (65_536, false)])
    func capacityRange(_ capacity: Int, _ isLegal: Bool) {
        #expect(((try? MemoryEntityCache(limits: .init(capacity: capacity))) != nil) == isLegal)
    }

    @Test("The bytes of all collections and documents together stay under their limit")
    func bytes() async throws {
        let one = try Shop.customer(model, 1, String(repeating: "x", count: 10_000)).estimatedByteCount
        for (room, kept) in [(3 * one - 1, 2), (3 * one, 3), (3 * one + 1, 3)] {
            let cache = try MemoryEntityCache(model: model, limits: .init(bytes: room))
            for id in 1...3 {
                try await cache.store(
                    [Shop.customer(model, Int64(id), String(repeating: "x", count: 10_000))], in: "Customers")
            }
            #expect(await ids(cache).count == kept)
            #expect(await cache.byteCount <= room)
        }
        let cache = try MemoryEntityCache(model: model, limits: .init(bytes: 1000))
        await cache.setDocument(CachedDocument([UInt8](repeating: 0, count: 1001), contentType: "a/b"), for: "big")
        #expect(await cache.documentKeys.isEmpty)
        await cache.setDocument(CachedDocument([UInt8](repeating: 0, count: 900), contentType: "a/b"), for: "fits")
        #expect(await cache.documentKeys == ["fits"])
    }

    @Test("The order of use is correct for many more uses than entities")
    func manyUses() {
        var used = LeastRecentlyUsed<Int, Int>()
        for number in 0..<1000 { used.set(number, cost: 1, for: number % 10) }
        for key in [3, 1, 4, 1, 5, 9, 2, 6] { _ = used.use(key) }
        var order: [Int] = []
        while let oldest = used.oldest() {
            order.append(oldest)
            used.remove(oldest)
        }
        #expect(order == [0, 7, 8, 3, 4, 1, 5, 9, 2, 6])
        #expect(used.cost == 0)
    }

    @Test("A full collection evicts the least recently used value and keeps the order of insertion")
    func fullCollection() {
        var used = LeastRecentlyUsed<String, Int>(capacity: 3)
        for (number, key) in ["a", "b", "c"].enumerated() { used.set(number, for: key) }
        #expect(used.use("a") == 0)
        used.set(3, for: "d")
        #expect(used.inOrder.map(\.key) == ["a", "c", "d"])
        #expect(used.use("b") == nil && used.peek("c") == 2)
        used.set(7, cost: 5, for: "c")
        #expect(used.count == 3 && used.cost == 7)
        #expect(used.oldest(where: { $0 > 3 }) == "c" && used.oldest() == "a")
        #expect(used.remove("d") == 3 && used.remove("d") == nil)
        #expect(used.inOrder.map(\.value) == [0, 7] && used.oldest() == "a")
        used.removeAll()
        for number in 0..<9 { used.set(number, for: "\(number)") }
        #expect(used.inOrder.map(\.value) == [6, 7, 8])
    }

    @Test("An entity that does not fit the model is refused, and nothing of its call is stored")
    func foreign() async throws {
        let cache = MemoryEntityCache()
        await #expect(throws: CacheError.noModel) { try await cache.store(self.customers(1...1), in: "Customers") }
        try await cache.adopt(model)
        await #expect(throws: CacheError.unknownCollection("Nowhere")) {
            try await cache.store(self.customers(1...1), in: "Nowhere")
        }
        let article = try Shop.article(model, "a", title: "t", note: "n")
        await #expect(throws: CacheError.foreignType(article.shape.name, collection: "Customers")) {
            try await cache.store(self.customers(1...1) + [article], in: "Customers")
        }
        await #expect(throws: CacheError.keyMissing(collection: "Customers")) {
            try await cache.store(
                [ODataEntity(shape: try self.model.requiredShape(ofSet: "Customers"))], in: "Customers")
        }
        #expect(await cache.collections.isEmpty)
    }

    @Test("A cache is for one model, and accepts the same model again")
    func oneModel() async throws {
        let cache = MemoryEntityCache(model: model)
        try await cache.store(customers(1...1), in: "Customers")
        try await cache.adopt(Shop.model())
        let other = try Shop.model(Shop.xml.replacing("Credit", with: "Debt"))
        await #expect(throws: CacheError.otherModel) { try await cache.adopt(other) }
        await #expect(throws: CacheError.self) {
            try await cache.store(
                [ODataEntity(shape: try other.requiredShape(ofSet: "Customers"), ["ID": 1])], in: "Customers")
        }
        await cache.clear()
        try await cache.adopt(other)
    }

    @Test("Documents are stored under keys, listed, found and removed")
    func documents() async {
        let cache = MemoryEntityCache()
        let document = CachedDocument(Array("<service/>".utf8), contentType: "application/atomsvc+xml", etag: "\"1\"")
        await cache.setDocument(document, for: "service")
        await cache.setDocument(document, for: "other")
        #expect(await cache.documentKeys == ["other", "service"])
        #expect(await cache.document("service") == document)
        await cache.setDocument(nil, for: "service")
        #expect(await cache.document("service") == nil)
        await cache.clear()
        #expect(await cache.documentKeys.isEmpty)
    }

    @Test("A local change is shown, survives updates and eviction, and can be undone")
    func localChanges() async throws {
        let cache = try MemoryEntityCache(model: model, limits: .init(capacity: 2))
        try await cache.store(customers(1...2), in: "Customers")
        try await cache.change(Shop.customer(model, 1, "mine"), in: "Customers")
        try await cache.store(customers(3...5), in: "Customers")
        #expect(await cache.entity(Shop.key(1), in: "Customers")?["Name"] == .string("mine"))
        try await cache.store([Shop.customer(model, 1, "theirs")], in: "Customers")
        #expect(await cache.entity(Shop.key(1), in: "Customers")?["Name"] == .string("mine"))
        #expect(await cache.changedEntries(of: "Customers").map(\.state) == [.local])
        #expect(await cache.revert(Shop.key(1), in: "Customers"))
        #expect(await cache.entity(Shop.key(1), in: "Customers")?["Name"] == .string("theirs"))
        #expect(await cache.revert(Shop.key(1), in: "Customers") == false)
    }

    @Test("An optimistic creation gets its key when it is confirmed, and disappears when it is refused")
    func optimistic() async throws {
        let cache = MemoryEntityCache(model: model)
        try await cache.change(Shop.customer(model, -1, "new"), in: "Customers", state: .optimistic)
        try await cache.confirm(Shop.key(-1), in: "Customers", as: Shop.customer(model, 7, "new"))
        #expect(await ids(cache) == [7])
        #expect(await cache.changedEntries(of: "Customers").isEmpty)
        try await cache.change(Shop.customer(model, -2, "refused"), in: "Customers", state: .optimistic)
        #expect(await cache.revert(Shop.key(-2), in: "Customers"))
        #expect(await ids(cache) == [7])
    }

    @Test("Local changes beyond the capacity are refused, and none is lost")
    func fullOfChanges() async throws {
        let cache = try MemoryEntityCache(model: model, limits: .init(capacity: 2))
        for id in 1...2 { try await cache.change(Shop.customer(model, Int64(id), "mine"), in: "Customers") }
        await #expect(throws: CacheError.full(collection: "Customers")) {
            try await cache.change(Shop.customer(self.model, 3, "one over"), in: "Customers")
        }
        try await cache.store(customers(4...4), in: "Customers")
        #expect(await ids(cache) == [1, 2])
        await cache.trim(toBytes: 0)
        #expect(await ids(cache) == [1, 2])
    }

    @Test("Subscribers receive stored, merged, changed, confirmed, removed, evicted and cleared entities")
    func changes() async throws {
        let cache = try MemoryEntityCache(model: model, limits: .init(capacity: 2))
        let changes = await cache.changes()
        try await cache.store(customers(1...2), in: "Customers")
        try await cache.store(customers(3...3), in: "Customers")
        try await cache.change(Shop.customer(model, 3, "mine"), in: "Customers")
        try await cache.confirm(Shop.key(3), in: "Customers")
        await cache.remove([Shop.key(2)], from: "Customers")
        await cache.clear()
        var told: [CacheChange] = []
        for await change in changes {
            told.append(change)
            if change.cause == .cleared { break }
        }
        let keys = [Shop.key(1), Shop.key(2), Shop.key(3)]
        #expect(
            told == [
                CacheChange(collection: "Customers", stored: [keys[0], keys[1]], cause: .stored),
                CacheChange(collection: "Customers", stored: [keys[2]], cause: .stored),
                CacheChange(collection: "Customers", removed: [keys[0]], cause: .evicted),
                CacheChange(collection: "Customers", stored: [keys[2]], cause: .changed),
                CacheChange(collection: "Customers", stored: [keys[2]], cause: .confirmed),
                CacheChange(collection: "Customers", removed: [keys[1]], cause: .removed),
                CacheChange(collection: "Customers", cause: .cleared),
            ])
    }

    @Test("A page of changes updates properties, removes entities by key and id, and stores the delta link")
    func delta() async throws {
        let cache = MemoryEntityCache(model: model)
        var third = try Shop.customer(model, 3, "third")
        third.control.id = "Customers(3)"
        try await cache.store(customers(1...2) + [third], in: "Customers")
        let shape = try model.requiredShape(ofSet: "Customers")
        let part = ODataEntity(shape: shape, ["ID": .integer(1), "City": .string("Bonn")])
        let page = EntityPage(
            entities: [part, try Shop.customer(model, 4, "new")],
            removed: [
                RemovedEntity(id: "", key: Shop.key(2), reason: .deleted),
                RemovedEntity(id: "Customers(3)", reason: .changed),
            ], deltaLink: "Customers?$deltatoken=2")
        try await cache.merge(page, into: "Customers")
        #expect(await ids(cache) == [1, 4])
        let first = await cache.entity(Shop.key(1), in: "Customers")
        #expect(first?["City"] == .string("Bonn"))
        #expect(first?["Name"] == .string("Customer 1"))
        #expect(await cache.deltaLink(of: "Customers") == "Customers?$deltatoken=2")
    }

    @Test("A refresh reads everything first, then only changes, and everything again without a valid delta link")
    func refresh() async throws {
        let provider = ScriptedProvider(model)
        let all = try customers(1...3)
        provider.answer { request in
            switch request.link {
            case "delta-1":
                ODataResponse(
                    body: .page(
                        EntityPage(
                            removed: [RemovedEntity(id: "", key: Shop.key(1), reason: .deleted)], deltaLink: "delta-2"))
                )
            case "delta-2": throw ODataError(status: 410, code: "Gone", message: "")
            default: ODataResponse(body: .page(EntityPage(entities: all, deltaLink: "delta-1")))
            }
        }
        let cache = MemoryEntityCache()
        #expect(try await cache.refresh("Customers", from: provider) == 3)
        #expect(try await cache.refresh("Customers", from: provider) == 1)
        #expect(await ids(cache) == [2, 3])
        try await cache.store(customers(9...9), in: "Customers")
        #expect(try await cache.refresh("Customers", from: provider) == 4)
        #expect(await ids(cache) == [2, 3, 1])
        #expect(provider.requests.map(\.link) == [nil, "delta-1", "delta-2", nil])
        #expect(provider.requests[0].preferences.trackChanges)
    }

    @Test("Queries over one set are answered from the cache, and the others are refused by name")
    func queries() async throws {
        for cache in [MemoryEntityCache(model: model), ForeignCache(model: model)] as [any EntityCache] {
            try await cache.store(customers(1...5), in: "Customers")
            let url = try ODataURL(
                parsing: "Customers?$filter=Credit gt 1&$orderby=Name desc&$skip=1&$top=2&$count=true")
            let answer = try await cache.entities(matching: url)
            #expect(answer.entities.map { $0["ID"] } == [.integer(4), .integer(3)])
            #expect(answer.count == 4)
            await #expect(throws: ODataError.self) {
                try await cache.entities(matching: ODataURL(parsing: "Customers?$select=Name"))
            }
            await #expect(throws: QueryError.self) {
                try await cache.entities(matching: ODataURL(parsing: "Customers?$filter=Nme eq 'x'"))
            }
        }
    }

    @Test("Collections of the service are found by name and by title")
    func navigation() async throws {
        #expect(await MemoryEntityCache().listedCollections().isEmpty)
        let xml = Shop.xml.replacing(
            "<EntitySet Name=\"Articles\"",
            with:
                "<EntitySet xmlns:sap=\"http://www.sap.com/Protocols/SAPData\" sap:semantics=\"catalog\" Name=\"Articles\""
        )
        let cache = MemoryEntityCache(model: try Shop.model(xml))
        #expect(await cache.listedCollections().map(\.name) == ["Customers", "Articles"])
        #expect(await cache.listedCollections(withSemantics: "catalog").map(\.name) == ["Articles"])
        #expect(await cache.listedCollections(withSemantics: "nothing").isEmpty)
        #expect(await cache.collection(named: "Customers")?.type == QualifiedName("Shop", "Customer"))
        #expect(await cache.collection(named: "Nowhere") == nil)
        #expect(await cache.workspace == QualifiedName("Shop", "Container"))
    }
}
