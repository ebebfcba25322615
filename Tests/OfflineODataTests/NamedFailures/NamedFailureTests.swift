import Foundation
import GRDB
import ODataModel
import OfflineOData
import Testing

/// Failures that users of other sync products reported, with a test for each. This file covers paging and
/// tokens; the other files cover the queue, the rows and the clock.
@Suite("The named failures of other sync products do not happen")
struct NamedFailureTests {
    /// Returns the SQL of a table with a given number of rows and without relations.
    static func readings(_ count: Int) -> String {
        """
        CREATE TABLE Readings(ID INTEGER PRIMARY KEY, Value INTEGER NOT NULL);
        INSERT INTO Readings WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
            SELECT i, i FROM n;
        """
    }

    /// Installs a trigger that counts the writes of download positions.
    private static func tokenWrites(in store: OfflineStore) throws -> DatabaseQueue {
        let database = try DatabaseQueue(path: store.directory + "/store.db")
        try database.write {
            try $0.execute(
                sql: """
                    CREATE TABLE token_writes(query INTEGER);
                    CREATE TRIGGER token_written AFTER UPDATE OF next_link, delta_link ON outpost_query
                    BEGIN INSERT INTO token_writes VALUES (NEW.id); END
                    """)
        }
        return database
    }

    @Test("Token written per row: the position of a download is written once for each page, with the page")
    func tokenPerRow() async throws {
        let shop = try await Shop(pageSize: 1000, with: Self.readings(4500))
        let store = try await shop.store([DefiningQuery("readings", "Readings")])
        let writes = try Self.tokenWrites(in: store)
        func count() async throws -> Int? {
            try await writes.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM token_writes") }
        }
        #expect(try await store.download().inserted == 4500)
        #expect(try await count() == 5)
        try await shop.sql("UPDATE Readings SET Value = Value + 1")
        #expect(try await store.download().updated == 4500)
        #expect(try await count() == 6, "pages of a delta are applied as one")
        try writes.close()
    }

    @Test(
        "Many rows with one timestamp over a page border: each row comes once, and the reading ends",
        arguments: [true, false])
    func oneTimestamp(hasDeltaLinks: Bool) async throws {
        let shop = try await Shop(pageSize: 10)
        try await shop.sql("UPDATE Orders SET OrderedAt = '2026-01-01 08:00:00'")
        let service = PlainService(base: try shop.client(), hasDeltaLinks: hasDeltaLinks, isRepeatable: true)
        let store = try await shop.store([DefiningQuery("orders", "Orders?$orderby=OrderedAt")], through: service)
        await shop.wire.mend()
        let first = try await store.download()
        #expect(first.received == 200 && first.inserted == 200)
        // All orders change at the same time and have the same new timestamp.
        try await shop.sql("UPDATE Orders SET Freight = Freight + 1, OrderedAt = '2026-01-02 08:00:00'")
        let later = try await store.download()
        #expect(later.received == 200 && later.updated == 200 && later.removed == 0)
        #expect(later.queries.map(\.method) == [hasDeltaLinks ? .delta : .refresh])
        #expect(try await store.rows("Orders?$orderby=OrderID") == shop.database.rows("Orders?$orderby=OrderID"))
        #expect(await shop.wire.requests.count <= 2 * 22, "20 pages each time, and a count")
    }
}
