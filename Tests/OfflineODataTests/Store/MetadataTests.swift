import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataService
import ODataStore
import OfflineOData
import Testing

@Suite("A changed model")
struct MetadataTests {
    /// The service with its database altered, as its operator would.
    private func altered(_ shop: Shop, _ sql: String) async throws -> Shop {
        try await shop.sql(sql)
        return try await Shop(at: shop.directory)
    }

    private func refresh(_ store: OfflineODataProvider, to shop: Shop) async throws -> MetadataRefresh {
        try store.close()
        let reopened = try await shop.reopen()
        return try await reopened.refreshMetadata { _, _ in try shop.client() }
    }

    @Test("that is the same changes nothing")
    func same() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        let refresh = try await store.refreshMetadata()
        #expect(refresh.differences.isEmpty)
        #expect(refresh.store === store)
    }

    @Test("that is compatible is migrated in place: rows and queue stay, new properties are not loaded yet")
    func compatible() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.update("Customers('C0001')", ["City": "Mine"])
        try await store.create(
            "Orders", ["CustomerID": "C0001", "OrderedAt": .dateTimeOffset(.init(seconds: 1_790_000_000))])
        let newer = try await altered(shop, "ALTER TABLE Customers ADD COLUMN Phone VARCHAR(20)")
        let refresh = try await refresh(store, to: newer)
        #expect(!refresh.isRebuilt)
        #expect(refresh.differences.contains { $0.path.hasSuffix("Customer/Phone") && $0.kind == .added })
        let migrated = refresh.store
        #expect(try await migrated.rows("Customers").count == 40)
        let customer = try #require(try await migrated.rows("Customers('C0001')").first)
        #expect(customer["City"] == "Mine")
        #expect(customer["Phone"] == nil, "not loaded is not null (rule 12)")
        try await migrated.update("Customers('C0002')", ["Phone": "123"])
        // The versions of a served database are digests of its rows, so that a new column changes all.
        let report = try await migrated.upload(options: UploadOptions(conflictPolicy: .clientWins))
        #expect(report.failed.map(\.description) == [])
        try await migrated.download()
        try await newer.expectEqual(migrated)
    }

    @Test("that is not compatible is built anew, with the queue kept and what it refuses in the archive (rule 6)")
    func incompatible() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.update("Customers('C0001')", ["City": "Mine"])
        try await store.update("Products(1)", ["Stock": 7])
        let newer = try await altered(shop, "ALTER TABLE Customers DROP COLUMN City")
        let refresh = try await refresh(store, to: newer)
        #expect(refresh.isRebuilt)
        #expect(refresh.refused.count == 1)
        let rebuilt = refresh.store
        #expect(try await rebuilt.rows("ErrorArchive").map { $0["Code"] } == ["ModelChanged"])
        #expect(try await rebuilt.rows("Products(1)").first?["Stock"] == 7, "what waits keeps its row")
        try await rebuilt.discard()
        try await rebuilt.sync()
        #expect(try await rebuilt.status().pending.isEmpty)
        try await newer.expectEqual(rebuilt)
    }
}

@Suite("Parameters of defining queries")
struct ParameterTests {
    private static func mine() throws -> DefiningQuery {
        try DefiningQuery("mine", "Orders?$filter=EmployeeID eq @employee")
    }

    @Test("personalise what is kept: another value brings other rows, and the old ones go")
    func personalised() async throws {
        let shop = try await Shop()
        let store = try await shop.store([try Self.mine()])
        await #expect(throws: OfflineError.self) { try await store.download() }
        for employee in [1, 2] {
            try await store.setParameter("employee", to: "\(employee)")
            try await store.download()
            let wanted = try await shop.count("SELECT COUNT(*) FROM Orders WHERE EmployeeID = \(employee)")
            #expect(wanted > 0)
            #expect(try await store.rows("Orders").count == wanted)
            #expect(try await store.rows("Orders?$filter=EmployeeID ne \(employee)").isEmpty)
        }
        try store.close()
        let reopened = try await shop.reopen()
        #expect(try await reopened.download().removed == 0, "the value is kept with the store")
    }

    @Test("of a session are never written to disk")
    func session() async throws {
        let shop = try await Shop()
        let store = try await shop.store([try DefiningQuery("c", "Customers?$filter=City ne @city")])
        try await store.setParameter("city", to: "'Xanadu-4711'", keeping: .session)
        try await store.download()
        #expect(try await store.rows("Customers").count == 40)
        try store.close()
        for file in try FileManager.default.contentsOfDirectory(atPath: store.directory) {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: store.directory + "/" + file))
            #expect(bytes.range(of: Data("Xanadu-4711".utf8)) == nil, "\(file)")
        }
    }

    @Test("must be literals")
    func literals() async throws {
        let shop = try await Shop()
        let store = try await shop.store([try Self.mine()])
        await #expect(throws: (any Error).self) { try await store.setParameter("employee", to: "') or (1 eq 1") }
    }
}
