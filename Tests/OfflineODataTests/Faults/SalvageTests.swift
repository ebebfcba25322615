import Foundation
import ODataModel
import ODataService
import ODataStore
import OfflineOData
import Secrets
import Testing

@Suite("A store with flipped bytes")
struct SalvageTests {
    @Test(
        "is salvaged: what can be read is saved, the queue first, and the next download brings the rest",
        arguments: [1, 5])
    func flipped(pages: Int) async throws {
        let shop = try await Shop()
        let protection = StoreProtection.encrypted(.key(EncryptionKey.generate()))
        let directory = shop.directory.appendingPathComponent("clone").path
        let store = try await OfflineODataProvider.create(
            at: directory, protection: protection, serviceRoot: Shop.serviceRoot, remote: shop.client())
        try await store.download()
        try await store.update("Products(1)", ["Stock": 7])
        try await store.changing(ChangeOptions(tag: "kept")).update("Customers('C0002')", ["City": "Mine"])
        try store.close()
        let path = directory + "/store.db"
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        // The key block stands before page 1; the pages of the queue, which come early, are spared by most.
        let count = (bytes.count - 4096) / 4096
        for number in 0..<pages {
            let page = count - 2 - number * 3
            bytes[4096 + page * 4096 + 1234] ^= 0x10
        }
        try bytes.write(to: URL(fileURLWithPath: path))
        #expect(try await OfflineODataProvider.verify(at: directory, protection: protection).damages.count == pages)
        let report = try await OfflineODataProvider.salvage(at: directory, protection: protection)
        #expect(report.savedChanges == 2)
        #expect(report.savedRows > 0)
        #expect(FileManager.default.fileExists(atPath: report.damagedFile))
        #expect(try await OfflineODataProvider.verify(at: directory, protection: protection).isWhole)
        let client = try shop.client()
        let saved = try await OfflineODataProvider.open(
            at: directory, protection: protection, connect: { _, _ in client })
        #expect(try await saved.status().pending.map(\.options.tag) == [nil, "kept"])
        let synced = try await saved.sync()
        #expect(synced.upload.failed.map(\.description) == [])
        #expect(try await shop.count("SELECT Stock FROM Products WHERE ProductID = 1") == 7)
        try await shop.expectEqual(saved)
    }
}
