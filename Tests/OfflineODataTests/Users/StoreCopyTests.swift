import EncryptedSQLite
import Foundation
import GRDB
import ODataModel
import OfflineOData
import Secrets
import Testing

@Suite("A copy of a store for support")
struct StoreCopyTests {
    private func store(_ shop: Shop, _ key: EncryptionKey) async throws -> OfflineStore {
        try await shop.sql("UPDATE Customers SET CompanyName = 'MARKER' WHERE CustomerID = 'C0001'")
        let store = try await OfflineStore.create(
            at: shop.directory.appendingPathComponent("clone").path, protection: .encrypted(.key(key)),
            serviceRoot: Shop.serviceRoot, remote: shop.client())
        try await store.download()
        try await store.update("Orders(1001)", ["Freight": .decimal(ODataDecimal(9))])
        return store
    }

    private func open(_ path: String, _ key: EncryptionKey) throws -> DatabaseQueue {
        try EncryptedDatabase.unlock(at: path, with: .key(key))
        return try DatabaseQueue(path: EncryptedDatabase.uri(forPath: path))
    }

    @Test("opens with its own key only, and is one file")
    func otherKey() async throws {
        let shop = try await Shop()
        let (key, copyKey) = (EncryptionKey.generate(), EncryptionKey.generate())
        let store = try await store(shop, key)
        let folder = shop.directory.appendingPathComponent("support")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        let path = folder.appendingPathComponent("copy.db").path
        try await store.maintenance.copy(to: path, key: .key(copyKey), values: .shown)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["copy.db"])
        #expect(throws: EncryptedDatabaseError.wrongKey(path: path)) {
            try EncryptedDatabase.unlock(at: path, with: .key(key))
        }
        let copy = try open(path, copyKey)
        let found = try await copy.read { database in
            (
                try Int.fetchOne(database, sql: "SELECT count(*) FROM outpost_queue"),
                try Int.fetchOne(database, sql: "SELECT count(*) FROM Customers WHERE CompanyName = 'MARKER'")
            )
        }
        #expect(found == (1, 1))
        await #expect(throws: EncryptedDatabaseError.alreadyExists(path: path)) {
            try await store.maintenance.copy(to: path, key: .key(copyKey))
        }
        // The original store still works.
        #expect(try await store.upload().accepted.count == 1)
    }

    @Test("with masked values has every row and request, and no property values")
    func masked() async throws {
        let shop = try await Shop()
        let (key, copyKey) = (EncryptionKey.generate(), EncryptionKey.generate())
        let store = try await store(shop, key)
        try await store.indexes.createSearch(on: "Customers")
        try await store.users.switch(to: "ada-of-support")
        let path = shop.directory.appendingPathComponent("copy.db").path
        try await store.maintenance.copy(to: path, key: .key(copyKey), values: .masked)
        let status = try await store.observe.status()
        let copy = try open(path, copyKey)
        try await copy.read { database in
            for query in status.queries {
                let count = try Int.fetchOne(
                    database, sql: "SELECT count(*) FROM \(query.entitySet.sqlIdentifier)")
                #expect(count == query.rows)
            }
            let settings = try String.fetchAll(database, sql: "SELECT CAST(value AS TEXT) FROM outpost_setting")
            #expect(!settings.contains { $0.contains("ada-of-support") })
            let request = try #require(try Row.fetchOne(database, sql: "SELECT * FROM outpost_queue"))
            #expect(request["kind"] == "update")
            #expect((request["changes"] as Data).allSatisfy { $0 == 0 })
            #expect(
                try Int.fetchOne(
                    database, sql: "SELECT count(DISTINCT CompanyName) FROM Customers WHERE CompanyName GLOB '*[^x]*'")
                    == 0)
            #expect(try String.fetchOne(database, sql: "PRAGMA integrity_check") == "ok")
        }
        // There are no unused pages that could contain a value.
        #expect(try await copy.read { try Int.fetchOne($0, sql: "PRAGMA freelist_count") } == 0)
    }

    @Test("of an unencrypted store is encrypted, with shown and with masked values", arguments: [true, false])
    func ofUnencrypted(isShown: Bool) async throws {
        let shop = try await Shop()
        try await shop.sql("UPDATE Customers SET CompanyName = 'MARKER' WHERE CustomerID = 'C0001'")
        let store = try await shop.clone()
        try await store.indexes.createSearch(on: "Customers")
        try await store.update("Orders(1001)", ["Freight": .decimal(ODataDecimal(9))])
        let path = shop.directory.appendingPathComponent("copy.db").path
        let key = EncryptionKey.generate()
        try await store.maintenance.copy(to: path, key: .key(key), values: isShown ? .shown : .masked)
        #expect(try EncryptedDatabase.isEncrypted(at: path))
        let copy = try open(path, key)
        for query in try await store.observe.status().queries {
            let count = try await copy.read {
                try Int.fetchOne($0, sql: "SELECT count(*) FROM \(query.entitySet.sqlIdentifier)")
            }
            #expect(count == query.rows)
        }
        #expect(try await copy.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM outpost_queue") } == 1)
        let marked = try await copy.read {
            try Int.fetchOne($0, sql: "SELECT count(*) FROM Customers WHERE CompanyName = 'MARKER'")
        }
        #expect(marked == (isShown ? 1 : 0))
        #expect(try await copy.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") } == "ok")
    }
}
