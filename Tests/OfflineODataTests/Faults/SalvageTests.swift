import Foundation
import GRDB
import ODataModel
import ODataSQL
import ODataService
import OfflineOData
import Secrets
import Testing

@Suite("A store with flipped bytes")
struct SalvageTests {
    @Test(
        "is repaired: readable content is saved, the queue first, and the next download brings the rest",
        arguments: [1, 5])
    func flipped(pages: Int) async throws {
        let shop = try await Shop()
        let protection = StoreProtection.encrypted(.key(EncryptionKey.generate()))
        let directory = shop.directory.appendingPathComponent("clone").path
        let store = try await OfflineStore.create(
            at: directory, protection: protection, serviceRoot: Shop.serviceRoot, remote: shop.client())
        try await store.download()
        try await store.update("Products(1)", ["Stock": 7])
        try await store.changes.provider(with: ChangeOptions(tag: "kept")).update(
            "Customers('C0002')", ["City": "Mine"])
        try store.close()
        let path = directory + "/store.db"
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        // The key block precedes page 1. Most damage spares the pages of the queue, which are at the beginning.
        let count = (bytes.count - 4096) / 4096
        for number in 0..<pages {
            let page = count - 2 - number * 3
            bytes[4096 + page * 4096 + 1234] ^= 0x10
        }
        try bytes.write(to: URL(fileURLWithPath: path))
        #expect(try await OfflineStore.verify(at: directory, protection: protection).damages.count == pages)
        let report = try await OfflineStore.salvage(at: directory, protection: protection)
        #expect(report.savedChanges == 2)
        #expect(report.savedRows > 0)
        #expect(FileManager.default.fileExists(atPath: report.damagedFile))
        #expect(try await OfflineStore.verify(at: directory, protection: protection).isWhole)
        let client = try shop.client()
        let saved = try await OfflineStore.open(
            at: directory, protection: protection, connect: { _, _ in client })
        #expect(try await saved.observe.status().pending.map(\.options.tag) == [nil, "kept"])
        let synced = try await saved.sync()
        #expect(synced.upload.failed.map(\.description) == [])
        #expect(try await shop.count("SELECT Stock FROM Products WHERE ProductID = 1") == 7)
        try await shop.expectEqual(saved)
    }

    @Test("keeps the dependencies between its changes")
    func dependencies() async throws {
        let shop = try await Shop()
        let directory = shop.directory.appendingPathComponent("clone").path
        let store = try await OfflineStore.create(
            at: directory, protection: .unencrypted, serviceRoot: Shop.serviceRoot, remote: shop.client())
        try await store.download()
        try await store.update("Products(1)", ["Stock": 7])
        let category = try await store.create("Categories", ["Name": "Mine"])
        try await store.update("Products(2)", ["CategoryID": try #require(category?["CategoryID"])])
        let waiting = try await store.observe.status().pending.map(\.dependsOn)
        #expect(waiting == [[], [], [2]])
        try store.close()
        let path = directory + "/store.db"
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        bytes[4096 * (bytes.count / 4096 - 2) + 1234] ^= 0x10
        try bytes.write(to: URL(fileURLWithPath: path))
        _ = try await OfflineStore.salvage(at: directory, protection: .unencrypted)
        let saved = try await OfflineStore.open(at: directory, protection: .unencrypted)
        #expect(try await saved.observe.status().pending.map(\.dependsOn) == waiting)
        try saved.close()
    }

    @Test("gives back its changes without its settings if the caller names the service")
    func settings() async throws {
        let shop = try await Shop()
        let protection = StoreProtection.encrypted(.key(EncryptionKey.generate()))
        let directory = shop.directory.appendingPathComponent("clone").path
        var options = OfflineStore.Options()
        (options.creation.isCaseSensitive, options.creation.indexes) = (false, ["Customers": [["City"]]])
        let store = try await OfflineStore.create(
            at: directory, protection: protection, serviceRoot: Shop.serviceRoot, remote: shop.client(),
            options: options)
        try await store.download()
        try await store.create("Categories", ["Name": "Taken"])
        #expect(try await store.upload().accepted.count == 1)
        try await store.update("Products(1)", ["Stock": 7])
        try await store.changes.provider(with: ChangeOptions(tag: "kept")).update(
            "Customers('C0002')", ["City": "Mine"])
        try store.close()
        let path = directory + "/store.db"
        let pages = try await Self.pages(of: "outpost_setting", at: path, protection)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        for page in pages { bytes[4096 + (page - 1) * 4096 + 1234] ^= 0x10 }
        try bytes.write(to: URL(fileURLWithPath: path))
        #expect(
            try await OfflineStore.verify(at: directory, protection: protection).damages.count == pages.count)
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        do {
            _ = try await OfflineStore.salvage(at: directory, protection: protection)
            Issue.record("saved")
        } catch OfflineError.originLost {
        }
        let files = try FileManager.default.contentsOfDirectory(atPath: directory)
        #expect(!files.contains { $0.contains("damaged") || $0.contains("saved") }, "the files stay: \(files)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before, "byte by byte")
        #expect(
            try await OfflineStore.verify(at: directory, protection: protection).damages.count == pages.count)
        let client = try shop.client()
        let other = StoreOrigin(serviceRoot: Shop.serviceRoot, model: try await Studio().service.model)
        await #expect(throws: OfflineError.self) {
            _ = try await OfflineStore.salvage(at: directory, protection: protection, origin: other)
        }
        let origin = StoreOrigin(serviceRoot: Shop.serviceRoot, model: try await client.model)
        let report = try await OfflineStore.salvage(at: directory, protection: protection, origin: origin)
        #expect(report.savedChanges == 2)
        let saved = try await OfflineStore.open(
            at: directory, protection: protection, connect: { _, _ in client })
        #expect(try await saved.observe.status().pending.map(\.options.tag) == [nil, "kept"])
        #expect(try await saved.rows("Customers?$filter=City eq 'MINE'").count == 1, "its indexes tell how it compares")
        let made = try await saved.create("Categories", ["Name": "Next"])
        #expect(made?["CategoryID"] != -1, "a temporary key is never given twice")
        let synced = try await saved.sync()
        #expect(synced.upload.failed.map(\.description) == [])
        #expect(try await shop.count("SELECT Stock FROM Products WHERE ProductID = 1") == 7)
        try await shop.expectEqual(saved)
    }

    @Test("ignores statements hidden behind a table definition")
    func forged() async throws {
        let shop = try await Shop()
        let directory = shop.directory.appendingPathComponent("clone").path
        let store = try await OfflineStore.create(
            at: directory, protection: .unencrypted, serviceRoot: Shop.serviceRoot, remote: shop.client())
        try await store.download()
        try store.close()
        let file = try DatabaseQueue(path: directory + "/store.db")
        try await file.writeWithoutTransaction { database in
            try database.execute(
                sql: """
                    PRAGMA writable_schema = ON;
                    UPDATE sqlite_master SET sql = sql || '; CREATE TABLE forged (x)' WHERE name = 'outpost_setting';
                    """)
        }
        try file.close()
        await #expect(throws: StoreError.self) {
            _ = try await OfflineStore.salvage(at: directory, protection: .unencrypted)
        }
        let files = try FileManager.default.contentsOfDirectory(atPath: directory)
        #expect(!files.contains { $0.contains("damaged") || $0.contains("saved") }, "the files stay: \(files)")
    }

    /// Returns the pages of a table.
    private static func pages(of table: String, at path: String, _ protection: StoreProtection) async throws -> [Int] {
        let database = try StoreDatabase.open(path: path, protection: protection)
        defer { try? database.close() }
        return try await database.read { database in
            try Int.fetchAll(
                database, sql: "SELECT pageno FROM dbstat WHERE name = ? OR name = 'sqlite_autoindex_' || ?",
                arguments: [table, table])
        }
    }
}
