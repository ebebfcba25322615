import EncryptedSQLite
import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService
import OfflineOData
import Secrets
import Testing

@Suite("A store of an earlier version")
struct UpgradeTests {
    static let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Fixtures")

    /// The stored fixtures, named `store-` and the version of the engine's tables.
    static let kept: [String] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: fixtures.path)) ?? []
        return names.filter { $0.hasPrefix("store-") }.sorted()
    }()

    /// Returns the version of the engine's tables; the first version did not store it.
    private static func version(in database: Database) throws -> Int {
        let text = try String.fetchOne(
            database, sql: "SELECT CAST(value AS TEXT) FROM outpost_setting WHERE name = 'engine.version'")
        return text.flatMap { Int($0) } ?? 1
    }

    /// Copies a stored fixture.
    private static func copy(_ fixture: String) throws -> (directory: URL, key: KeySource) {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("outpost-\(UUID().uuidString)")
        try FileManager.default.copyItem(at: fixtures.appendingPathComponent(fixture), to: directory)
        return (directory, try KeySource(keyFile: directory.appendingPathComponent("key").path, allowsExposed: true))
    }

    @Test("undoes a pending deletion and sends the rest", arguments: kept)
    func syncs(fixture: String) async throws {
        let (directory, key) = try Self.copy(fixture)
        defer { try? FileManager.default.removeItem(at: directory) }
        let sent = LockedNames()
        let store = try await OfflineStore.open(
            at: directory.path, protection: .encrypted(key), connect: { AcceptingService(model: $1, sent: sent) })
        #expect(try await store.changes.undo([ODataURL(parsing: "Products(2)")]) == 1)
        #expect(try await store.rows("Products").count == 5)
        let here = try await store.rows("Categories(-1)").map { $0["Name"] }
        // Stores from version 7 on detect that they were copied.
        var options = UploadOptions()
        options.fromCopy = true
        let report = try await store.upload(options: options)
        // Some fixtures were used by a later version and have more changes.
        #expect(report.accepted.prefix(2).map(\.kind) == [.update, .create])
        #expect(report.failed.isEmpty)
        #expect(sent.names.prefix(2) == ["update Products(1)", "create Categories"])
        #expect(!sent.names.contains { $0.hasPrefix("delete") })
        #expect(try await store.observe.status().pending.isEmpty)
        #expect(here.count == 1)
        let made = try await store.rows("Categories(4711)").map { $0["Name"] }
        #expect(made == here, "under the key that the service gave")
        #expect(try await store.rows("Categories").count == 6)
    }

    @Test("rebuilds its full-text indexes if words are split differently now")
    func searchIndexes() async throws {
        let (directory, key) = try Self.copy(try #require(Self.kept.last))
        defer { try? FileManager.default.removeItem(at: directory) }
        let earlier = try await OfflineStore.open(at: directory.path, protection: .encrypted(key))
        try await earlier.indexes.createSearch(on: "Products")
        let name = try #require(try await earlier.rows("Products").compactMap { $0["Name"]?.lexicalText }.first)
        let search = try ODataURL(parsing: "Products?$search=\"\(name)\"")
        try earlier.close()
        let file = directory.appendingPathComponent("store.db").path
        let database = try StoreDatabase.open(path: file, protection: .encrypted(key))
        try await database.write { database in
            let sql = try #require(
                try String.fetchOne(database, sql: "SELECT sql FROM sqlite_master WHERE name = 'search$Products'"))
            try database.execute(sql: "DROP TABLE \"search$Products\"")
            try database.execute(
                sql: sql.replacing("tokenize='ascii'", with: "tokenize='unicode61 remove_diacritics 0'"))
        }
        try database.close()
        let store = try await OfflineStore.open(at: directory.path, protection: .encrypted(key))
        #expect(try await store.indexes.explain(search).statements[0].sql.contains("MATCH"))
        #expect(try await store.rows("\(search.urlEncoded())").contains { $0["Name"]?.lexicalText == name })
        try store.close()
    }

    @Test("is upgraded once if several processes open it at the same time", arguments: kept)
    func atOnce(fixture: String) async throws {
        let (directory, key) = try Self.copy(fixture)
        defer { try? FileManager.default.removeItem(at: directory) }
        var options = OfflineStore.Options()
        // Each connection waits for the one that upgrades, even on a busy machine.
        options.runtime.database.busyTimeout = 120
        try await withThrowingTaskGroup(of: Int.self) { [options] group in
            for _ in 1...4 {
                group.addTask {
                    let store = try await OfflineStore.open(
                        at: directory.path, protection: .encrypted(key), options: options)
                    defer { try? store.close() }
                    return try await store.rows("Products").count
                }
            }
            for try await count in group { #expect(count == 4) }
        }
    }

    @Test("opens with its rows and queue, and works", arguments: kept)
    func opens(fixture: String) async throws {
        let (directory, key) = try Self.copy(fixture)
        defer { try? FileManager.default.removeItem(at: directory) }
        let path = directory.appendingPathComponent("store.db").path
        try EncryptedDatabase.unlock(at: path, with: key)
        let database = try DatabaseQueue(path: EncryptedDatabase.uri(forPath: path))
        let version = try await database.read { try Self.version(in: $0) }
        try database.close()
        #expect(fixture == "store-\(version)")
        for _ in 1...2 {
            let store = try await OfflineStore.open(at: directory.path, protection: .encrypted(key))
            #expect(try await store.rows("Categories").count == 6)
            #expect(try await store.rows("Products").count == 4)
            let pending = try await store.observe.status().pending
            #expect(
                pending.prefix(3).map(\.description) == [
                    "#1 update Products(1) (pending)", "#2 create Categories(-1) (pending)",
                    "#3 delete Products(2) (pending)",
                ])
            try await store.changes.provider(with: ChangeOptions(tag: "new")).update(
                "Products(3)", ["Name": .string("\(UUID())")])
            #expect(try await store.observe.status().pending.last?.options.tag == "new")
            try await store.delete("Products(4)")
            #expect(try await store.rows("Products").count == 3)
            #expect(try await store.changes.undo([ODataURL(parsing: "Products(4)")]) == 1)
            #expect(try await store.rows("Products").count == 4)
            try store.close()
        }
    }

    @Test("is available for every version up to the current one")
    func everyVersion() async throws {
        let shop = try await Shop()
        let store = try await shop.store([DefiningQuery("categories", "Categories")])
        try store.close()
        let present = try await DatabaseQueue(path: store.directory + "/store.db").read { try Self.version(in: $0) }
        let missing = (1...present).map { "store-\($0)" }.filter { !Self.kept.contains($0) }
        #expect(missing == [], "OUTPOST_FIXTURE=make scripts/test.sh --filter UpgradeTests/makes makes the present one")
    }

    /// Creates the fixture that ``opens(fixture:)`` reads, once for each version; existing fixtures are never
    /// replaced. This is a tool in the form of a test, which only runs on request.
    @Test(
        "is created by the current version for later tests",
        .enabled(if: ProcessInfo.processInfo.environment["OUTPOST_FIXTURE"] == "make", "OUTPOST_FIXTURE=make"))
    func makes() async throws {
        let shop = try await Shop()
        let keyFile = shop.directory.appendingPathComponent("key")
        let digits = (0..<64).map { _ in String(Int.random(in: 0..<16), radix: 16) }.joined()
        try Data((digits + "\n").utf8).write(to: keyFile)
        let key = try KeySource(keyFile: keyFile.path, allowsExposed: true)
        let path = shop.directory.appendingPathComponent("clone").path
        let store = try await OfflineStore.create(
            at: path, protection: .encrypted(key), serviceRoot: Shop.serviceRoot, remote: shop.client(),
            queries: [
                DefiningQuery("categories", "Categories"), DefiningQuery("products", "Products?$filter=ProductID le 5"),
            ])
        try await store.download()
        try await store.update("Products(1)", ["Stock": 7])
        try await store.create("Categories", ["Name": "Made here"])
        try await store.delete("Products(2)")
        try store.close()
        try EncryptedDatabase.unlock(at: path + "/store.db", with: key)
        let database = try DatabaseQueue(path: EncryptedDatabase.uri(forPath: path + "/store.db"))
        let version = try await database.read { try Self.version(in: $0) }
        try database.close()
        let target = Self.fixtures.appendingPathComponent("store-\(version)")
        try FileManager.default.createDirectory(at: target, withIntermediateDirectories: false)
        try FileManager.default.copyItem(at: keyFile, to: target.appendingPathComponent("key"))
        try FileManager.default.copyItem(
            at: URL(fileURLWithPath: path + "/store.db"), to: target.appendingPathComponent("store.db"))
    }
}

/// A service of any model that accepts every change and assigns the key 4711 to new entities.
private struct AcceptingService: ODataProvider {
    let model: EntityDataModel
    let sent: LockedNames

    var traits: ProviderTraits { .standard }

    func execute(_ request: ODataRequest) async throws -> ODataResponse {
        guard request.method != .read else { throw ODataError.notFound(request.url.description) }
        sent.append("\(request.method) \(request.url)")
        guard request.method == .create, case .entity(var entity) = request.body else {
            return ODataResponse(status: 204)
        }
        for property in entity.shape.key { entity[property.path] = 4711 }
        return ODataResponse(status: 201, body: .entity(entity))
    }
}
