import GRDB
import ODataHTTP
import ODataModel
import ODataService
import OfflineOData
import Synchronization
import Testing

@Suite("The progress of a synchronisation")
struct ProgressTests {
    private final class Listener: OfflineStoreDelegate {
        private let note: @Sendable (SyncProgress) -> Void

        init(_ note: @escaping @Sendable (SyncProgress) -> Void) { self.note = note }

        func offlineStore(_ store: OfflineStore, didUpdate progress: SyncProgress) { note(progress) }
    }

    /// A progress report, and the result of a statement in the file of the store at that time.
    private struct Report: Sendable {
        var progress: SyncProgress
        var found: Int?
    }

    /// Returns the progress reports of a download.
    private func reports(of store: OfflineStore, finding sql: String) async throws -> [Report] {
        let path = store.directory + "/store.db"
        let heard = Mutex<[Report]>([])
        let listener = Listener { progress in
            let found = try? DatabaseQueue(path: path).read { try Int.fetchOne($0, sql: sql) }
            heard.withLock { $0.append(Report(progress: progress, found: found)) }
        }
        store.observe.setDelegate(listener)
        try await store.download()
        withExtendedLifetime(listener) {}
        return heard.withLock { $0 }
    }

    private static func text(_ progress: SyncProgress) -> String {
        let total = progress.total.map { "\($0)" } ?? "?"
        return "\(progress.phase.rawValue) \(progress.query ?? "all") \(progress.done)/\(total)"
    }

    @Test("names a query before it is requested, and counts its rows")
    func firstDownload() async throws {
        let shop = try await Shop(pageSize: 50)
        let names = LockedNames()
        let service = Gateway(
            base: try shop.client(),
            before: { _ in
                names.append("asks")
                return nil
            })
        let store = try await shop.store([DefiningQuery(entitySet: "Orders")], through: service)
        let listener = Listener { names.append(Self.text($0)) }
        store.observe.setDelegate(listener)
        try await store.download()
        #expect(Array(names.names.prefix(2)) == ["downloading Orders 0/?", "asks"])
        #expect(Array(names.names.suffix(2)) == ["downloading Orders 200/200", "finished all 0/?"])
        withExtendedLifetime(listener) {}
    }

    @Test(
        "goes from receiving to applying, with counts, query and bytes",
        arguments: [true, false])
    func laterDownload(hasDeltaLinks: Bool) async throws {
        let shop = try await Shop()
        let meter = TransferMeter()
        var options = OfflineStore.Options()
        options.runtime.meter = meter
        let client = try shop.client(over: meter.transport(over: shop.wire))
        let service: any ODataProvider
        if hasDeltaLinks { service = client } else { service = PlainService(base: client) }
        let store = try await shop.store(
            [DefiningQuery(entitySet: "Products")], options: options, through: service)
        try await store.download()
        try await shop.sql("UPDATE Products SET Stock = 4711 WHERE ProductID = 1")
        let reports = try await reports(of: store, finding: "SELECT Stock FROM Products WHERE ProductID = 1")
        let begun = reports.filter { $0.progress.done == 0 }.map(\.progress.phase)
        #expect(begun == [.downloading, .applying, .finished])
        #expect(reports.dropLast().allSatisfy { $0.progress.query == "Products" })
        let applying = reports.filter { $0.progress.phase == .applying }
        #expect(applying.map(\.progress.done) == [0, 1])
        #expect(applying.map(\.progress.total) == [1, 1])
        #expect(applying.map(\.found) == [19, 4711])
        let bytes = reports.compactMap(\.progress.bytes)
        #expect(bytes.count == reports.count && bytes == bytes.sorted())
        #expect(bytes.first ?? 0 < bytes.last ?? 0)
    }

    @Test("counts rows that arrive in pages and are applied in steps", arguments: [true, false])
    func largeDownload(hasDeltaLinks: Bool) async throws {
        let shop = try await Shop(
            pageSize: 500,
            with: """
                CREATE TABLE Readings(ReadingID INTEGER PRIMARY KEY, Value INTEGER);
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
                INSERT INTO Readings SELECT i, i FROM n;
                """)
        let client = try shop.client()
        let service: any ODataProvider
        if hasDeltaLinks { service = client } else { service = PlainService(base: client) }
        let store = try await shop.clone([DefiningQuery(entitySet: "Readings")], through: service)
        try await shop.sql("UPDATE Readings SET Value = -Value")
        let reports = try await reports(of: store, finding: "SELECT COUNT(*) FROM Readings WHERE Value < 0")
        let downloading = reports.filter { $0.progress.phase == .downloading }.map(\.progress.done)
        #expect(downloading.count > 2 && downloading == downloading.sorted() && downloading.last == 1200)
        let applying = reports.filter { $0.progress.phase == .applying }
        #expect(applying.map(\.progress.done) == [0, 500, 1000, 1200])
        #expect(applying.allSatisfy { $0.progress.total == 1200 && $0.progress.query == "Readings" })
        #expect(applying.map(\.found) == [0, 500, 1000, 1200])
    }

    @Test("counts an upload from nothing to all, and finishes once")
    func synchronisation() async throws {
        let shop = try await Shop()
        let store = try await shop.clone([DefiningQuery(entitySet: "Products")])
        try await store.update("Products(1)", ["Stock": 501])
        try await store.update("Products(2)", ["Stock": 502])
        let names = LockedNames()
        let listener = Listener { names.append(Self.text($0)) }
        store.observe.setDelegate(listener)
        try await store.sync()
        withExtendedLifetime(listener) {}
        #expect(Array(names.names.prefix(3)) == ["uploading all 0/2", "uploading all 1/2", "uploading all 2/2"])
        #expect(names.names.firstIndex { $0.hasPrefix("finished") } == names.names.count - 1)
    }
}
