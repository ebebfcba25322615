import GRDB
import ODataModel
import ODataService
import OfflineOData
import Synchronization
import Testing

@Suite("The progress of a synchronisation")
struct ProgressTests {
    private final class Listener: OfflineODataProviderDelegate {
        private let note: @Sendable (SyncProgress) -> Void

        init(_ note: @escaping @Sendable (SyncProgress) -> Void) { self.note = note }

        func offlineODataProvider(_ provider: OfflineODataProvider, didUpdate progress: SyncProgress) { note(progress) }
    }

    /// What was reported, and what the file of the store had at that moment.
    private struct Report: Sendable {
        var progress: SyncProgress
        var stock: Int?
    }

    private static func text(_ progress: SyncProgress) -> String {
        let total = progress.total.map { "\($0)" } ?? "?"
        return "\(progress.phase.rawValue) \(progress.query ?? "all") \(progress.done)/\(total)"
    }

    @Test("tells of a query before the service is asked for it, and counts its rows")
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
        store.setDelegate(listener)
        try await store.download()
        #expect(Array(names.names.prefix(2)) == ["downloading Orders 0/?", "asks"])
        #expect(Array(names.names.suffix(2)) == ["downloading Orders 200/200", "finished all 0/?"])
        withExtendedLifetime(listener) {}
    }

    @Test(
        "goes from receiving to applying, which is told before it is done, with counts, query and bytes",
        arguments: [true, false])
    func laterDownload(hasDeltaLinks: Bool) async throws {
        let shop = try await Shop()
        let meter = TransferMeter()
        var options = OfflineODataProvider.Options()
        options.meter = meter
        let client = try shop.client(over: meter.transport(over: shop.wire))
        let service: any ODataProvider
        if hasDeltaLinks { service = client } else { service = PlainService(base: client) }
        let store = try await shop.store(
            [DefiningQuery(entitySet: "Products")], options: options, through: service)
        try await store.download()
        let path = store.directory + "/store.db"
        let heard = Mutex<[Report]>([])
        let listener = Listener { progress in
            let stock = try? DatabaseQueue(path: path).read { database in
                try Int.fetchOne(database, sql: "SELECT Stock FROM Products WHERE ProductID = 1")
            }
            heard.withLock { $0.append(Report(progress: progress, stock: stock)) }
        }
        store.setDelegate(listener)
        try await shop.sql("UPDATE Products SET Stock = 4711 WHERE ProductID = 1")
        try await store.download()
        withExtendedLifetime(listener) {}
        let reports = heard.withLock { $0 }
        let begun = reports.filter { $0.progress.done == 0 }.map(\.progress.phase)
        #expect(begun == [.downloading, .applying, .finished])
        #expect(reports.dropLast().allSatisfy { $0.progress.query == "Products" })
        let applying = reports.filter { $0.progress.phase == .applying }
        #expect(applying.map(\.progress.done) == [0, 1])
        #expect(applying.map(\.progress.total) == [1, 1])
        #expect(applying.map(\.stock) == [19, 4711])
        let bytes = reports.compactMap(\.progress.bytes)
        #expect(bytes.count == reports.count && bytes == bytes.sorted())
        #expect(bytes.first ?? 0 < bytes.last ?? 0)
    }

    @Test("counts an upload from nothing to all, and is finished once, at the end of all that was asked for")
    func synchronisation() async throws {
        let shop = try await Shop()
        let store = try await shop.clone([DefiningQuery(entitySet: "Products")])
        try await store.update("Products(1)", ["Stock": 501])
        try await store.update("Products(2)", ["Stock": 502])
        let names = LockedNames()
        let listener = Listener { names.append(Self.text($0)) }
        store.setDelegate(listener)
        try await store.sync()
        withExtendedLifetime(listener) {}
        #expect(Array(names.names.prefix(3)) == ["uploading all 0/2", "uploading all 1/2", "uploading all 2/2"])
        #expect(names.names.firstIndex { $0.hasPrefix("finished") } == names.names.count - 1)
    }
}
