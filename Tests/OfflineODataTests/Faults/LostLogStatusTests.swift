import Foundation
import ODataSQL
import ODataService
import OfflineOData
import Secrets
import Testing

@Suite("A saved log")
struct LostLogStatusTests {
    private let protection = StoreProtection.encrypted(.key(.generate()))

    /// Returns the files of a store after a crash, with three changes that are only in the log.
    private func crashedFiles(_ shop: Shop) async throws -> [String: Data] {
        let directory = shop.directory.appendingPathComponent("clone").path
        let made = try await OfflineStore.create(
            at: directory, protection: protection, serviceRoot: Shop.serviceRoot, remote: shop.client(),
            queries: [DefiningQuery("customers", "Customers")])
        try await made.download()
        try made.close()
        let store = try await OfflineStore.open(at: directory, protection: protection)
        #expect(try await store.observe.status().notes == [])
        for number in 2...4 { try await store.update("Customers('C000\(number)')", ["City": "Mine"]) }
        var files: [String: Data] = [:]
        for name in ["store.db", "store.db-wal"] {
            files[name] = try Data(contentsOf: URL(fileURLWithPath: directory + "/" + name))
        }
        try store.close()
        return files
    }

    private func lostLogs(in directory: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory).filter { $0.hasPrefix("store.db-wal-lost-") }
    }

    @Test("is named by the status of its store and removed with the store")
    func status() async throws {
        let shop = try await Shop()
        var files = try await crashedFiles(shop)
        // The first frame is damaged, so recovery loses all later frames.
        files["store.db-wal"]?[32 + 24 + 777] ^= 0x10
        let directory = try shop.folder("flipped", files)
        let found = try await OfflineStore.verify(at: directory, protection: protection)
        #expect(!found.isWhole)
        #expect(try lostLogs(in: directory) == [])
        let store = try await OfflineStore.open(at: directory, protection: protection)
        let kept = try lostLogs(in: directory)
        #expect(kept.count == 1)
        let copy = URL(fileURLWithPath: directory + "/" + (kept.first ?? ""))
        #expect(try Data(contentsOf: copy) == files["store.db-wal"])
        let notes = try await store.observe.status().notes
        #expect(notes.count == 1)
        #expect(notes.first?.contains(kept.first ?? "-") == true)
        try store.close()
        try OfflineStore.remove(at: directory)
        #expect(try lostLogs(in: directory) == [])
    }
}
