import Foundation
import GRDB
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Secrets
import Testing

@Suite("Maintenance of a store")
struct MaintenanceTests {
    @Test("compacting reduces the files and changes no data")
    func compact() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.create("Categories", ["Name": "New"])
        try await store.queries.remove("Order_Lines")
        let report = try await store.maintenance.compact()
        #expect(report.bytesAfter < report.bytesBefore)
        #expect(try await store.rows("Categories(-1)").count == 1)
        #expect(try await store.rows("Orders").count == 200)
    }

    @Test("compacting does not fail during a long read")
    func compactWhileRead() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.create("Categories", ["Name": "New"])
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let reader = try DatabaseQueue(path: store.directory + "/store.db", configuration: configuration)
        try await reader.writeWithoutTransaction { try $0.execute(sql: "BEGIN; SELECT count(*) FROM Orders") }
        try await store.maintenance.compact()
        #expect(try await store.rows("Categories(-1)").count == 1)
        try await reader.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
        let size = try await store.maintenance.compact().bytesAfter
        #expect(try await store.maintenance.compact().bytesAfter <= size)
        #expect(try await store.rows("Orders").count == 200)
    }

    /// Corrupts an index and adds an orphaned note.
    private func breakIndex(of table: String, in path: String) async throws {
        func write(_ body: @escaping @Sendable (Database) throws -> Void) async throws {
            // Each connection reads the schema anew.
            let queue = try DatabaseQueue(path: path)
            try await queue.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA writable_schema = ON")
                try body(database)
            }
            try queue.close()
        }
        try await write { database in
            let sql = "SELECT * FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL LIMIT 1"
            let row = try #require(try Row.fetchOne(database, sql: sql, arguments: [table]))
            for sql in [
                "CREATE TABLE kept AS SELECT * FROM sqlite_master WHERE name = ?",
                "DELETE FROM sqlite_master WHERE name = ?",
            ] { try database.execute(sql: sql, arguments: [row["name"] as String]) }
        }
        try await write { database in
            try database.execute(
                sql: """
                    DELETE FROM \(table.sqlIdentifier) WHERE ProductID = 9;
                    INSERT INTO outpost_member VALUES ('\(table)', 99999, 1);
                    INSERT INTO sqlite_master SELECT * FROM kept;
                    """)
        }
        try await write { try $0.execute(sql: "DROP TABLE kept") }
    }

    @Test("repairing rebuilds broken indexes and keeps the queue")
    func repair() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        #expect(try await store.maintenance.repair().isEmpty, "nothing was wrong")
        try await store.update("Products(1)", ["Stock": 5])
        try store.close()
        try await breakIndex(of: "Products", in: store.directory + "/store.db")
        let reopened = try await shop.reopen()
        let done = try await reopened.maintenance.repair()
        #expect(done == ["The indexes were made again.", "1 notes about rows that are not there were removed."])
        #expect(try await reopened.maintenance.repair().isEmpty, "nothing is wrong any more")
        #expect(try await reopened.observe.status().pending.count == 1)
        #expect(try await reopened.observe.events(newest: 1).first?.kind == "repaired")
    }

    @Test("a trace shows statements without values, or with them on request", arguments: [false, true])
    func trace(withValues: Bool) async throws {
        let shop = try await Shop()
        let statements = LockedNames()
        var options = OfflineStore.Options()
        options.runtime.trace =
            withValues ? .withValues { statements.append($0) } : .statements { statements.append($0) }
        options.creation.indexes = ["Orders": [["CustomerID", "OrderedAt desc"]]]
        options.sync.downloadPageSize = 20
        let store = try await shop.store([DefiningQuery("Customers", "Customers")], options: options)
        try await store.download(["Customers"])
        _ = try await store.rows("Customers?$filter=City eq 'Bergen-4711'")
        #expect(statements.names.contains { $0.contains("\"Customers\"") })
        #expect(statements.names.contains { $0.contains("Bergen-4711") } == withValues)
        #expect(try await store.indexes.all().count == 1)
        try await store.changes.provider(with: ChangeOptions(headers: ["X-Key": "hush-0815"]))
            .update("Customers('C0001')", ["City": "Bergen"])
        // The service repeats the parameters in its links.
        try await store.queries.add(DefiningQuery("his", "Orders?$filter=Freight ge 0 and @token ne 'other'"))
        try await store.queries.setParameter("token", to: "'hush-0816'")
        try await store.download(["his"])
        #expect(try await store.rows("Orders").isEmpty == false)
        #expect(statements.names.contains { $0.contains("outpost_queue") })
        #expect(!statements.names.contains { $0.contains("hush") })
    }

    @Test("a store is removed with its pending changes only, and can be created again")
    func removal() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.update("Products(1)", ["Stock": 7])
        try store.close()
        let directory = shop.directory.appendingPathComponent("clone").path
        let beside = directory + "/notes.txt"
        try "mine".write(toFile: beside, atomically: true, encoding: .utf8)
        try OfflineStore.remove(at: directory)
        await #expect(throws: OfflineError.self) { try await shop.reopen() }
        #expect(try String(contentsOfFile: beside, encoding: .utf8) == "mine")
        try OfflineStore.remove(at: directory)
        let again = try await shop.clone()
        #expect(try await again.observe.status().pending.isEmpty)
    }

    @Test(
        "a store that is open in this process is not removed", arguments: [true, false])
    func removalWhileOpen(isEncrypted: Bool) async throws {
        let shop = try await Shop()
        let directory = shop.directory.appendingPathComponent("open").path
        let store = try await OfflineStore.create(
            at: directory, protection: isEncrypted ? .encrypted(.passphrase(Secret("correct horse"))) : .unencrypted,
            serviceRoot: Shop.serviceRoot, remote: shop.client())
        try await store.download()
        try await store.update("Products(1)", ["Stock": 7])
        do {
            try OfflineStore.remove(at: directory)
            Issue.record("The open store was removed.")
        } catch {
            guard case .stillOpen(let path) = error else { throw error }
            #expect(path == directory)
            #expect(error.description.contains("Close the store"))
        }
        #expect(try await store.observe.status().pending.count == 1)
        try store.close()
        try OfflineStore.remove(at: directory)
        #expect(!OfflineStore.exists(at: directory))
    }

    @Test("a delegate is called for progress and for each failed request")
    func delegate() async throws {
        final class Listener: OfflineStoreDelegate {
            let names = LockedNames()
            func offlineStore(_ store: OfflineStore, didUpdate progress: SyncProgress) {
                names.append(progress.phase.rawValue)
            }
            func offlineStore(_ store: OfflineStore, requestDidFail request: QueuedRequest) {
                names.append("failed \(request.entityText)")
            }
        }
        let shop = try await Shop()
        let meter = TransferMeter()
        var options = OfflineStore.Options()
        options.runtime.meter = meter
        let store = try await shop.store(
            options: options, through: try shop.client(over: meter.transport(over: shop.wire)))
        let listener = Listener()
        store.observe.setDelegate(listener)
        var reports = store.observe.progress().makeAsyncIterator()
        try await store.download()
        let first = try #require(await reports.next())
        #expect(first.query != nil && first.bytes ?? 0 > 0)
        try await store.update("Products(6)", ["Stock": -4])
        try await store.upload()
        let heard = Set(listener.names.names)
        #expect(heard.isSuperset(of: ["downloading", "uploading", "finished", "failed Products(6)"]))
    }
}
