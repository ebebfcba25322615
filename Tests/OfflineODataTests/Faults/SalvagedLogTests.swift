import Foundation
import ODataSQL
import ODataService
import OfflineOData
import Secrets
import Testing

@Suite("Unreadable files are repaired from a copy")
struct SalvagedLogTests {
    private let key = EncryptionKey.generate()
    private var protection: StoreProtection { .encrypted(.key(key)) }

    /// Returns the files of a store after a crash. The change of C0002 is in the database; those of C0003 to
    /// C0006 are only in the log, one transaction each.
    private func crashedFiles(_ shop: Shop) async throws -> (files: [String: Data], transactions: [Int]) {
        let directory = shop.directory.appendingPathComponent("clone").path
        let made = try await OfflineStore.create(
            at: directory, protection: protection, serviceRoot: Shop.serviceRoot, remote: shop.client(),
            queries: [DefiningQuery("customers", "Customers")])
        try await made.download()
        try await made.update("Customers('C0002')", ["City": "Mine"])
        try made.close()
        let store = try await OfflineStore.open(at: directory, protection: protection)
        var transactions: [Int] = []
        for number in 3...6 {
            let log = try? FileManager.default.attributesOfItem(atPath: directory + "/store.db-wal")[.size] as? Int
            transactions.append(max(32, log ?? 0))
            try await store.update("Customers('C000\(number)')", ["City": "Mine"])
        }
        let files = try Self.files(in: directory)
        try store.close()
        return (files, transactions)
    }

    private static func files(in directory: String) throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
            guard name.hasPrefix("store.db"), !name.hasSuffix("-shm") else { continue }
            files[name] = try Data(contentsOf: URL(fileURLWithPath: directory + "/" + name))
        }
        return files
    }

    private func waiting(in directory: String) async throws -> [String] {
        let store = try await OfflineStore.open(at: directory, protection: protection)
        defer { try? store.close() }
        return try await store.observe.status().pending.map(\.entityText)
    }

    @Test("loses only the frame of a flipped bit in the log, reports it, and keeps the damaged files")
    func flippedLog() async throws {
        let shop = try await Shop()
        let (whole, transactions) = try await crashedFiles(shop)
        let all = (2...6).map { "Customers('C000\($0)')" }
        for (number, start) in transactions.dropLast().enumerated() {
            var files = whole
            files["store.db-wal"]?[start + 24 + 777] ^= 0x10
            let directory = try shop.folder("flipped\(number)", files)
            let report = try await OfflineStore.salvage(at: directory, protection: protection)
            #expect(report.savedChanges == 5, "\(number)")
            #expect(report.losses["store.db-wal"] == 1, "\(number): \(report.losses)")
            let kept = URL(fileURLWithPath: report.damagedFile).lastPathComponent
            let after = try Self.files(in: directory)
            #expect(Set(after.keys) == ["store.db", kept, kept + "-wal"])
            #expect(after[kept] == files["store.db"])
            #expect(after[kept + "-wal"] == files["store.db-wal"])
            #expect(try await waiting(in: directory) == all, "\(number)")
            #expect(try await OfflineStore.verify(at: directory, protection: protection).isWhole)
        }
    }

    @Test("loses nothing with a flipped bit in the log header")
    func flippedLogHeader() async throws {
        let shop = try await Shop()
        var files = try await crashedFiles(shop).files
        files["store.db-wal"]?[18] ^= 0x10
        let directory = try shop.folder("flipped", files)
        let report = try await OfflineStore.salvage(at: directory, protection: protection)
        #expect(report.savedChanges == 5)
        #expect(report.losses == [:])
    }

    @Test("A flipped bit in a derivable field of the key block does not prevent a repair")
    func flippedKeyBlock() async throws {
        let shop = try await Shop()
        let whole = try await crashedFiles(shop).files
        for place in [3, 17, 300, 1300, 1530] {
            var files = whole
            files["store.db"]?[place] ^= 0x20
            let directory = try shop.folder("block\(place)", files)
            let found = try await OfflineStore.verify(at: directory, protection: protection)
            #expect(found.damages.map(\.expected) == [.keyBlock], "byte \(place)")
            let report = try await OfflineStore.salvage(at: directory, protection: protection)
            #expect(report.savedChanges == 5 && report.losses == [:], "byte \(place): \(report)")
            #expect(try await waiting(in: directory).count == 5)
        }
    }

    @Test(
        "A truncated database gives back the pending changes",
        arguments: [true, false])
    func cut(isEncrypted: Bool) async throws {
        let shop = try await Shop()
        let protection = isEncrypted ? protection : .unencrypted
        let directory = shop.directory.appendingPathComponent("clone").path
        let store = try await OfflineStore.create(
            at: directory, protection: protection, serviceRoot: Shop.serviceRoot, remote: shop.client())
        try await store.download()
        for number in 2...4 { try await store.update("Customers('C000\(number)')", ["City": "Mine"]) }
        try store.close()
        let whole = try #require(try Self.files(in: directory)["store.db"])
        for count in [4096, 3 * 4096, 2 * 4096 + 100] {
            let directory = try shop.folder("cut\(count)", ["store.db": whole.dropLast(count)])
            if isEncrypted {
                let found = try await OfflineStore.verify(at: directory, protection: protection)
                #expect(found.damages.contains { $0.expected == .rest }, "\(count)")
            }
            let report = try await OfflineStore.salvage(at: directory, protection: protection)
            #expect(report.savedChanges == 3, "\(count): \(report)")
            #expect(report.savedRows > 0)
            #expect(try Data(contentsOf: URL(fileURLWithPath: report.damagedFile)) == whole.dropLast(count))
            let client = try shop.client()
            let saved = try await OfflineStore.open(
                at: directory, protection: protection, connect: { _, _ in client })
            #expect(try await saved.observe.status().pending.count == 3)
            try await saved.download()
            #expect(try await saved.rows("Customers('C0002')").first?["City"] == "Mine")
            try saved.close()
        }
    }

    @Test("A truncated database beside its log is not opened, stays unchanged, and gives back the pending changes")
    func cutBesideLog() async throws {
        let shop = try await Shop()
        let whole = try await crashedFiles(shop).files
        for (number, bytes) in [3 * 4096, 3 * 4096 - 1].enumerated() {
            var files = whole
            files["store.db"]?.removeLast(bytes)
            let directory = try shop.folder("cut\(number)", files)
            await #expect {
                _ = try await OfflineStore.open(at: directory, protection: protection)
            } throws: {
                guard case StoreError.corrupt? = $0 as? StoreError else { return false }
                return true
            }
            #expect(try Self.files(in: directory) == files)
            let found = try await OfflineStore.verify(at: directory, protection: protection)
            #expect(found.damages.contains { $0.expected == .rest })
            let report = try await OfflineStore.salvage(at: directory, protection: protection)
            #expect(report.savedChanges == 5, "\(report)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: report.damagedFile)) == files["store.db"])
            #expect(try await waiting(in: directory).count == 5)
        }
    }

    @Test("An open store is not replaced")
    func open() async throws {
        let shop = try await Shop()
        let files = try await crashedFiles(shop).files
        let directory = try shop.folder("open", files)
        let store = try await OfflineStore.open(at: directory, protection: protection)
        let before = try Self.files(in: directory)
        await #expect(throws: StoreError.locked) {
            _ = try await OfflineStore.salvage(at: directory, protection: protection)
        }
        #expect(try Self.files(in: directory) == before)
        try await store.update("Customers('C0007')", ["City": "Mine"])
        try store.close()
        let report = try await OfflineStore.salvage(at: directory, protection: protection)
        #expect(report.savedChanges == 6)
    }

    @Test(
        "Without a first page, the rows of the other pages are saved and the damaged file is kept",
        arguments: [true, false])
    func firstPage(isEncrypted: Bool) async throws {
        let shop = try await Shop()
        let protection = isEncrypted ? protection : .unencrypted
        let directory = shop.directory.appendingPathComponent("clone").path
        let store = try await OfflineStore.create(
            at: directory, protection: protection, serviceRoot: Shop.serviceRoot, remote: shop.client())
        try await store.download()
        try await store.update("Customers('C0002')", ["City": "Mine"])
        try store.close()
        var files = try Self.files(in: directory)
        let start = isEncrypted ? 4096 : 0
        for place in 100..<400 { files["store.db"]?[start + place] ^= 0x55 }
        _ = try shop.folder("clone", files)
        let report = try await OfflineStore.salvage(at: directory, protection: protection)
        #expect(report.savedChanges == 1 && report.savedRows > 100, "\(report)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: report.damagedFile)) == files["store.db"])
        let saved = try await OfflineStore.open(at: directory, protection: protection)
        #expect(try await saved.observe.status().pending.count == 1)
        #expect(try await saved.rows("Customers('C0002')").first?["City"] == "Mine")
        try saved.close()
    }
}
