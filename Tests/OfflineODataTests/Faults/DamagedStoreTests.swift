import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService
import OfflineOData
import Secrets
import Testing

@Suite("A store that is truncated, too new or forged")
struct DamagedStoreTests {
    private let key = EncryptionKey.generate()
    private var protection: StoreProtection { .encrypted(.key(key)) }

    /// Returns the files of a store with rows and pending changes: after a crash, with a log, or after closing.
    private func files(_ shop: Shop, closed: Bool) async throws -> [String: Data] {
        let directory = shop.directory.appendingPathComponent("clone").path
        let store = try await OfflineStore.create(
            at: directory, protection: protection, serviceRoot: Shop.serviceRoot, remote: shop.client(),
            queries: [DefiningQuery("customers", "Customers")])
        try await store.download()
        for number in 2...6 { try await store.update("Customers('C000\(number)')", ["City": "Mine"]) }
        if closed { try store.close() }
        var files: [String: Data] = [:]
        for name in ["store.db", "store.db-wal"] {
            files[name] = try? Data(contentsOf: URL(fileURLWithPath: directory + "/" + name))
        }
        if !closed { try store.close() }
        return files
    }

    private func write(_ files: [String: Data], in shop: Shop, _ name: String) throws -> String {
        let directory = shop.directory.appendingPathComponent(name)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        for (name, data) in files { try data.write(to: directory.appendingPathComponent(name)) }
        return directory.path
    }

    @Test("A truncated database gives a typed error or reported damage, and the file stays unchanged")
    func truncatedDatabase() async throws {
        let shop = try await Shop()
        let files = try await files(shop, closed: true)
        let whole = try #require(files["store.db"])
        #expect(files["store.db-wal"]?.isEmpty ?? true)
        let lengths = [0, 1, 50, 100, 4095, 4096, 4097, 5000, 8192] + stride(from: 12_288, to: whole.count, by: 28_672)
        for (number, length) in (lengths + [whole.count - 1]).enumerated() where length < whole.count {
            let directory = try write(["store.db": whole.prefix(length)], in: shop, "cut\(number)")
            do {
                let found = try await OfflineStore.verify(at: directory, protection: protection)
                #expect(!found.isWhole, "cut at \(length) of \(whole.count)")
            } catch {
                #expect(error is StoreError || error is OfflineError, "cut at \(length): \(error)")
            }
            let left = try Data(contentsOf: URL(fileURLWithPath: directory + "/store.db"))
            #expect(left == whole.prefix(length), "cut at \(length)")
        }
    }

    @Test("A truncated log opens with the first of its changes or reports damage")
    func truncatedLog() async throws {
        let shop = try await Shop()
        let files = try await files(shop, closed: false)
        let log = try #require(files["store.db-wal"])
        #expect(log.count > 50_000)
        var counts: Set<Int> = []
        for (number, place) in (0...12).enumerated() {
            // Most cuts are near the end of the log, which contains the changes.
            let length = place < 4 ? log.count / 4 * place + 77 : log.count - (12 - place) * 5000
            var cut = files
            cut["store.db-wal"] = log.prefix(length)
            let directory = try write(cut, in: shop, "log\(number)")
            do {
                let store = try await OfflineStore.open(at: directory, protection: protection)
                let changes = try await store.observe.status().pending.map(\.entityText)
                #expect(changes == (2..<2 + changes.count).map { "Customers('C000\($0)')" }, "cut at \(length)")
                for number in 2..<2 + changes.count {
                    #expect(try await store.rows("Customers('C000\(number)')").first?["City"] == "Mine")
                }
                try store.close()
                #expect(try await OfflineStore.verify(at: directory, protection: protection).isWhole)
                counts.insert(changes.count)
            } catch {
                #expect(error is StoreError || error is OfflineError, "cut at \(length): \(error)")
            }
        }
        #expect(counts.contains(5) && counts.contains { $0 < 5 })
    }

    @Test(
        "A store of a newer version is refused and stays unchanged",
        arguments: [
            "PRAGMA user_version = 77",
            "UPDATE outpost_setting SET value = CAST('77' AS BLOB) WHERE name = 'engine.version'",
        ])
    func newerVersion(change: String) async throws {
        let shop = try await Shop()
        let store = try await shop.clone([DefiningQuery("customers", "Customers")])
        try await store.update("Customers('C0002')", ["City": "Mine"])
        try store.close()
        let path = store.directory + "/store.db"
        let database = try DatabaseQueue(path: path)
        try await database.write { try $0.execute(sql: change) }
        try database.close()
        let before = try await Self.content(path)
        func isRefusal(_ error: any Error) -> Bool {
            guard case StoreError.newerVersion(path, 77, let supported)? = error as? StoreError else { return false }
            return supported < 77
        }
        await #expect { _ = try await shop.reopen() } throws: { isRefusal($0) }
        await #expect {
            try await OfflineStore.verify(at: store.directory, protection: .unencrypted)
        } throws: {
            isRefusal($0)
        }
        #expect(try await Self.content(path) == before)
    }

    /// Returns the content of an unencrypted store. The file itself changes whenever it is opened, because the
    /// first page counts connections.
    private static func content(_ path: String) async throws -> [String] {
        try await DatabaseQueue(path: path).read { database in
            try ["outpost_setting", "outpost_queue", "outpost_query", "Customers"].flatMap { table in
                try Row.fetchAll(database, sql: "SELECT * FROM \(table)").map(\.description)
            } + [String(try Int.fetchOne(database, sql: "PRAGMA user_version") ?? -1)]
        }
    }

    @Test("Any bytes in the queue are read or reported as damage, without a crash")
    func strangeQueue() async throws {
        let shop = try await Shop()
        let store = try await shop.clone([DefiningQuery("customers", "Customers")])
        try await store.changes.provider(with: ChangeOptions(tag: "tag")).update("Customers('C0002')", ["City": "Mine"])
        try store.close()
        let database = try DatabaseQueue(path: store.directory + "/store.db")
        let columns = try await database.read {
            try Row.fetchAll($0, sql: "SELECT name, type FROM pragma_table_info('outpost_queue') WHERE pk = 0")
                .map { (name: $0["name"] as String, type: $0["type"] as String) }
        }
        let texts = ["", "x", "{}", "[", "\u{0}", "-1,,9223372036854775808", "update", "[null,{\"CustomerID\":1}]"]
        let numbers = [Int64.min, -1, 0, Int64.max].map { $0.databaseValue }
        try await database.write { try $0.execute(sql: "CREATE TABLE saved AS SELECT * FROM outpost_queue") }
        var damaged = 0
        for (name, type) in columns {
            let values: [DatabaseValue] =
                switch type {
                case "INTEGER": numbers
                case "BLOB": texts.map { Data($0.utf8).databaseValue } + [Data([0xFF, 0xC0, 0x22]).databaseValue]
                default: texts.map(\.databaseValue)
                }
            for value in values {
                try await database.write { database in
                    try database.execute(
                        sql: "DELETE FROM outpost_queue; INSERT INTO outpost_queue SELECT * FROM saved")
                    try database.execute(sql: "UPDATE outpost_queue SET \(name) = ?", arguments: [value])
                }
                // Verification itself does not throw an error.
                let found = try await OfflineStore.verify(at: store.directory, protection: .unencrypted)
                if !found.isWhole { damaged += 1 }
            }
            let again = try await shop.reopen()
            do {
                _ = try await again.rows("Customers('C0002')")
                _ = try await again.sync()
            } catch {
                #expect(error is OfflineError || error is ODataError || error is StoreError, "\(name): \(error)")
            }
            try again.close()
        }
        #expect(damaged > 10)
        try database.close()
    }

    @Test(
        "Any text in the details of a change is harmless or refused",
        arguments: [
            "{\"parentRow\":\"x\"}", "{\"parentRow\":1.5}", "{\"parentRow\":1e300}", "{\"parentRow\":[1]}",
            "{\"parentRow\":-1}", "[]", "{", "null",
        ])
    func strangeDetail(detail: String) async throws {
        let studio = try await Studio()
        let store = try await studio.clone([DefiningQuery("albums", "Albums?$expand=Pages")])
        let page = ODataEntity(
            shape: try #require(store.model.shape(QualifiedName("Studio", "Page"))), ["Title": "Mine"])
        _ = try await store.execute(
            ODataRequest(.update, try ODataURL(parsing: "Albums(1)/Pages(1)"), body: .entity(page)))
        try store.close()
        let database = try DatabaseQueue(path: store.directory + "/store.db")
        try await database.write { try $0.execute(sql: "UPDATE outpost_queue SET detail = ?", arguments: [detail]) }
        try database.close()
        let client = try studio.client()
        for uploads in [false, true] {
            let again = try await OfflineStore.open(
                at: store.directory, protection: .unencrypted, connect: { _, _ in client })
            do {
                if uploads { try await again.upload() }
                try await again.download()
            } catch {
                #expect(error is OfflineError || error is ODataError || error is StoreError, "\(error)")
            }
            try again.close()
        }
    }
}
