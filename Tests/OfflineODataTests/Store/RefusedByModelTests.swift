import Foundation
import ODataClient
import ODataModel
import ODataSQL
import ODataService
import OfflineOData
import Testing

@Suite("Rule 6: changes without a place in a changed model")
struct RefusedByModelTests {
    private static let hints = """
        CREATE TABLE Hints(HintID INTEGER PRIMARY KEY, Text VARCHAR(80), Weight INTEGER);
        INSERT INTO Hints VALUES (1, 'first', 10), (2, 'second', 20);
        """

    /// Returns a store with pending changes after a refresh to an altered model.
    private func refreshed(_ alteration: String) async throws -> (MetadataRefresh, Shop) {
        let shop = try await Shop(with: Self.hints)
        let store = try await shop.clone()
        try await store.update("Hints(1)", ["Text": "mine"])
        try await store.changes.provider(with: ChangeOptions(tag: "mine")).create(
            "Hints", ["Text": "new", "Weight": 5])
        try await store.delete("Hints(2)")
        try await store.update("Products(1)", ["Stock": 7])
        try store.close()
        try await shop.sql(alteration)
        let newer = try await Shop(at: shop.directory)
        let refresh = try await newer.reopen().maintenance.refreshMetadata()
        return (refresh, shop)
    }

    @Test("are archived completely when their entity set is gone")
    func setGone() async throws {
        let (refresh, shop) = try await refreshed("DROP TABLE Hints")
        let store = refresh.store
        #expect(refresh.refused.count == 3)
        let failed = try await store.observe.status().failed
        #expect(failed.map(\.entityText) == ["Hints(1)", "Hints(-1)", "Hints(2)"])
        #expect(failed.allSatisfy { $0.isWithoutPlace && $0.failure?.code == "ModelChanged" })
        #expect(failed.map(\.options.tag) == [nil, "mine", nil])
        let archive = try await store.rows("ErrorArchive?$expand=AffectedEntity,RequestEntity,CustomHeaders")
        try #require(archive.count == 3)
        #expect(archive.map { $0["RequestMethod"] } == ["PATCH", "POST", "DELETE"])
        #expect(archive.map { $0["RequestURL"] } == ["Hints(1)", "Hints", "Hints(2)"])
        #expect(archive[0]["RequestBody"] == .string(#"{"Text":"mine"}"#))
        #expect(archive[1]["RequestBody"] == .string(#"{"Text":"new","Weight":5}"#))
        // The refused changes survive reopening and do not block the queue.
        try store.close()
        let reopened = try await Shop(at: shop.directory).reopen()
        #expect(try await reopened.observe.status().failed.count == 3)
        #expect(try await reopened.upload().accepted.map(\.entityText) == ["Products(1)"])
        #expect(try await reopened.changes.retry() == 0)
        await #expect(throws: OfflineError.self) { try await reopened.changes.retry([failed[0].id]) }
        try await reopened.maintenance.compact()
        #expect(try await reopened.maintenance.repair().isEmpty)
        try await reopened.delete("ErrorArchive(\(failed[0].id))")
        #expect(try await reopened.changes.discard() == 2)
        #expect(try await reopened.observe.status().failed.isEmpty)
    }

    @Test("keep the values of removed properties beside those that can be sent")
    func propertyGone() async throws {
        let (refresh, shop) = try await refreshed("ALTER TABLE Hints DROP COLUMN Text")
        let archive = try await refresh.store.rows("ErrorArchive")
        #expect(
            archive.map { $0["InnerError"] } == [
                .string(#"{"lost":{"Text":"mine"}}"#), .string(#"{"lost":{"Text":"new"}}"#),
            ])
        #expect(try await refresh.store.changes.retry() == 2)
        let pending = try await refresh.store.observe.status().pending
        #expect(pending.map(\.entityText).contains("Hints(-1)"))
        #expect(pending.first { $0.kind == .create }?.changes["Weight"] == 5, "what is left can be sent")
        try refresh.store.close()
        withExtendedLifetime(shop) {}
    }
}
