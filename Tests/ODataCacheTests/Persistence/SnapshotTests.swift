import Foundation
import ODataModel
import Secrets
import Testing

@testable import ODataCache

@Suite("Caches between runs")
struct SnapshotTests {
    private let folder = TemporaryFolder()
    private let store: PersistentStore
    private let model: EntityDataModel

    init() throws {
        store = PersistentStore(folder: folder.path, key: .given(.key(.generate())))
        model = try Shop.model()
    }

    private func filled(_ count: Int64) async throws -> MemoryEntityCache {
        let cache = MemoryEntityCache(model: model)
        try await cache.store(
            (1...count).map { try Shop.customer(model, $0, "Customer \($0)", etag: "W/\"\($0)\"") }, in: "Customers")
        try await cache.store([Shop.article(model, "a", title: "Lamp", note: "red")], in: "Articles")
        await cache.setDocument(CachedDocument([1, 2, 255], contentType: "x/y", etag: "e"), for: "doc")
        await cache.setDeltaLink("Customers?$deltatoken=1", of: "Customers")
        return cache
    }

    private func load(_ name: String, into cache: any EntityCache) async throws -> [String] {
        var steps: [String] = []
        for try await step in store.load(name, into: cache) {
            switch step {
            case .model: steps.append("model")
            case .document(let key): steps.append("document \(key)")
            case .entities(let collection, let count, let total): steps.append("\(collection) \(count)/\(total)")
            case .finished: steps.append("finished")
            }
        }
        return steps
    }

    @Test("A cache is restored with model, documents, links, entities and ETags")
    func roundTrip() async throws {
        let cache = try await filled(3)
        let name = try await store.save(cache)
        let loaded = MemoryEntityCache()
        #expect(
            try await load(name, into: loaded) == [
                "model", "document doc", "Customers 3/3", "Articles 1/1", "finished",
            ])
        #expect(await loaded.entities(of: "Customers") == (await cache.entities(of: "Customers")))
        #expect(await loaded.entity(Shop.key(2), in: "Customers")?.control.etag == "W/\"2\"")
        #expect(await loaded.entities(of: "Articles") == (await cache.entities(of: "Articles")))
        #expect(await loaded.document("doc") == (await cache.document("doc")))
        #expect(await loaded.deltaLink(of: "Customers") == "Customers?$deltatoken=1")
        #expect(await loaded.model?.container == model.container)
    }

    @Test("A property that was not loaded stays so after a restore, and null stays null")
    func notLoaded() async throws {
        let cache = MemoryEntityCache(model: model)
        let shape = try model.requiredShape(ofSet: "Customers")
        try await cache.store([ODataEntity(shape: shape, ["ID": .integer(1), "City": .null])], in: "Customers")
        try await store.save(cache, as: "part")
        let loaded = MemoryEntityCache()
        _ = try await load("part", into: loaded)
        let entity = try #require(await loaded.entity(Shop.key(1), in: "Customers"))
        #expect(entity["City"] == .null)
        #expect(entity["Name"] == nil)
        #expect(entity.changedProperties.isEmpty)
    }

    @Test("Local changes are restored with their base versions")
    func changes() async throws {
        let cache = try await filled(2)
        try await cache.change(Shop.customer(model, 1, "mine"), in: "Customers")
        try await cache.change(Shop.customer(model, 9, "new"), in: "Customers", state: .optimistic)
        try await store.save(cache, as: "changes")
        let loaded = MemoryEntityCache()
        _ = try await load("changes", into: loaded)
        #expect(await loaded.entries(of: "Customers") == (await cache.entries(of: "Customers")))
        await loaded.revert(Shop.key(1), in: "Customers")
        await loaded.revert(Shop.key(9), in: "Customers")
        #expect(await loaded.entities(of: "Customers").map { $0["Name"] } == ["Customer 1", "Customer 2"])
    }

    @Test("Each stored step is in the cache before the next one is read")
    func progressive() async throws {
        let cache = try await filled(250)
        try await store.save(cache, as: "many")
        let loaded = MemoryEntityCache()
        var counts: [Int] = []
        for try await step in store.load("many", into: loaded) {
            if case .entities("Customers", _, let total) = step {
                counts.append(total)
                #expect(await loaded.entities(of: "Customers").count == total)
                if total == 200 { break }
            }
        }
        #expect(counts == [100, 200])
        #expect(await loaded.entities(of: "Customers").count == 200, "nothing is read further than the steps are taken")
        #expect(await loaded.entities(of: "Articles").isEmpty)
    }

    @Test("Several snapshots and values with the same names do not affect each other")
    func several() async throws {
        try await store.save(filled(1), as: "one")
        try await store.save(filled(2), as: "two")
        try await store.put("value", for: "one")
        #expect(try await store.snapshotNames() == ["one", "two"])
        #expect(try await store.containsSnapshot("one"))
        let loaded = MemoryEntityCache()
        _ = try await load("two", into: loaded)
        #expect(await loaded.entities(of: "Customers").count == 2)
        #expect(try await store.removeSnapshot("one"))
        #expect(try await store.removeSnapshot("one") == false)
        #expect(try await store.containsSnapshot("one") == false)
        #expect(try await store.value(String.self, for: "one") == "value")
        #expect(try await load("one", into: MemoryEntityCache()) == ["finished"])
    }

    @Test("An app's own cache is saved and restored like the built-in one")
    func foreign() async throws {
        let foreign = ForeignCache(model: model)
        try await foreign.store([Shop.customer(model, 1, "foreign")], in: "Customers")
        try await store.save(foreign, as: "foreign")
        let ours = MemoryEntityCache()
        _ = try await load("foreign", into: ours)
        #expect(await ours.entities(of: "Customers").map { $0["Name"] } == ["foreign"])
        let again = ForeignCache()
        _ = try await load("foreign", into: again)
        #expect(await again.entities(of: "Customers").map { $0["Name"] } == ["foreign"])
    }

    @Test("A damaged snapshot is an error with its name, and affects nothing else")
    func damaged() async throws {
        try await store.save(filled(300), as: "bad")
        let path = try #require(folder.items.first)
        try await store.save(filled(1), as: "good")
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        bytes[bytes.count - 5] ^= 1
        try bytes.write(to: URL(fileURLWithPath: path))
        let cache = MemoryEntityCache(model: model)
        try await cache.store([Shop.customer(model, 9999, "before")], in: "Customers")
        await #expect(throws: PersistenceError.damaged(name: "bad")) { try await self.load("bad", into: cache) }
        #expect(await cache.entity(Shop.key(9999), in: "Customers") != nil)
        #expect(try await load("good", into: MemoryEntityCache()).last == "finished")
    }

    @Test("A value is no snapshot, and a cache without a model cannot be saved")
    func noSnapshot() async throws {
        await #expect(throws: CacheError.noModel) { try await self.store.save(MemoryEntityCache(), as: "x") }
        #expect(try await store.snapshotNames().isEmpty)
    }

    @Test("When memory is short, the cache is saved and half of it is released")
    func memoryPressure() async throws {
        let cache = try await filled(100)
        let full = await cache.byteCount
        let pressure = MemoryPressureSignal()
        let saving = AutomaticSaving(cache, in: store, as: "auto", on: pressure)
        pressure.send(.warning)
        var deadline = Date(timeIntervalSinceNow: 100)
        while await cache.byteCount > full / 2, Date() < deadline { try await Task.sleep(for: .milliseconds(5)) }
        #expect(saving.report.saved == 1)
        #expect(await cache.byteCount <= full / 2)
        #expect(await cache.byteCount > 0)
        let loaded = MemoryEntityCache()
        _ = try await load("auto", into: loaded)
        #expect(await loaded.entities(of: "Customers").count == 100)
        pressure.send(.critical)
        deadline = Date(timeIntervalSinceNow: 100)
        while await cache.byteCount > 0, Date() < deadline { try await Task.sleep(for: .milliseconds(5)) }
        while saving.report.saved < 2, Date() < deadline { try await Task.sleep(for: .milliseconds(5)) }
        #expect(await cache.byteCount == 0)
        #expect(saving.report.saved == 2)
        saving.stop()
    }

    @Test("When memory is short, entities that cannot be saved stay in memory")
    func failingSave() async throws {
        let cache = try await filled(10)
        let full = await cache.byteCount
        let pressure = MemoryPressureSignal()
        let saving = AutomaticSaving(cache, in: PersistentStore(folder: folder.path), as: "auto", on: pressure)
        pressure.send(.critical)
        let deadline = Date(timeIntervalSinceNow: 20)
        while saving.report.lastFailure == nil, Date() < deadline { try await Task.sleep(for: .milliseconds(5)) }
        #expect(saving.report.lastFailure as? PersistenceError == .keyMissing(folder: folder.path))
        #expect(await cache.byteCount == full)
    }
}
