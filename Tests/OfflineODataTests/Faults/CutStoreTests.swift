import Foundation
import GRDB
import ODataSQL
import ODataService
import OfflineOData
import Secrets
import Testing

/// A store that was opened several times has parts of its schema at the end of the file. Readable content is
/// recovered after any cut or damage.
@Suite("A store that is truncated or damaged anywhere")
struct CutStoreTests {
    private let protection = StoreProtection.encrypted(.key(EncryptionKey.generate()))

    /// The state of a store before the damage.
    private struct Used {
        let file: Data
        /// The pages of the queue.
        let queue: [Int]
        let settings: [Int]
        let count: Int
    }

    /// Creates a store with two pending changes that was opened three times.
    private func used(_ shop: Shop) async throws -> Used {
        let directory = shop.directory.appendingPathComponent("clone").path
        let client = try shop.client()
        var store = try await OfflineStore.create(
            at: directory, protection: protection, serviceRoot: Shop.serviceRoot, remote: client)
        try await store.download()
        try store.close()
        for number in 0..<3 {
            store = try await OfflineStore.open(
                at: directory, protection: protection, connect: { _, _ in client })
            if number == 1 { try await store.update("Products(1)", ["Stock": 7]) }
            if number == 2 { try await store.create("Categories", ["Name": "Mine"]) }
            try store.close()
        }
        let path = directory + "/store.db"
        return Used(
            file: try Data(contentsOf: URL(fileURLWithPath: path)),
            queue: try await pages("name = 'outpost_queue'", path),
            settings: try await pages("name = 'outpost_setting'", path),
            count: try await pageCount(path))
    }

    private func pageCount(_ path: String) async throws -> Int {
        let database = try StoreDatabase.open(path: path, protection: protection)
        defer { try? database.close() }
        return try await database.read { try Int.fetchOne($0, sql: "PRAGMA page_count") ?? 0 }
    }

    private func pages(_ condition: String, _ path: String) async throws -> [Int] {
        let database = try StoreDatabase.open(path: path, protection: protection)
        defer { try? database.close() }
        return try await database.read {
            try Int.fetchAll($0, sql: "SELECT pageno FROM dbstat WHERE \(condition)")
        }
    }

    private func salvage(_ file: Data, _ name: String, _ shop: Shop) async throws -> SalvageReport {
        let directory = try shop.folder(name, ["store.db": file])
        let origin = StoreOrigin(serviceRoot: Shop.serviceRoot, model: try await shop.client().model)
        return try await OfflineStore.salvage(at: directory, protection: protection, origin: origin)
    }

    @Test("A store that is cut at any page gives back the remaining pending changes and opens")
    func cut() async throws {
        let shop = try await Shop()
        let used = try await used(shop)
        #expect(used.file.count == 4096 * (used.count + 1))
        var (saved, opened) = (0, 0)
        for page in stride(from: used.count, to: 1, by: -1) {
            // The file ends after the page; every second time, half of the page is missing.
            let end = 4096 * page + (page % 2 == 0 ? 2048 : 0)
            let file = used.file.prefix(end)
            let isThere = used.queue.allSatisfy { $0 < page }
            do {
                let report = try await salvage(file, "cut-\(page)", shop)
                #expect(report.savedChanges == (isThere ? 2 : 0), "cut at \(page) of \(used.count): \(report)")
                saved += 1
                let store = try await OfflineStore.open(
                    at: shop.directory.appendingPathComponent("cut-\(page)").path, protection: protection)
                #expect(try await store.observe.status().pending.count == (isThere ? 2 : 0))
                opened += 1
                try store.close()
            } catch {
                if isThere {
                    Issue.record("cut at \(page) of \(used.count), with the queue in \(used.queue): \(error)")
                }
            }
        }
        #expect(saved > used.count / 2 && opened == saved)
    }

    @Test("A store with a damaged page gives back the pending changes outside of that page")
    func damaged() async throws {
        let shop = try await Shop()
        let used = try await used(shop)
        for page in 1...used.count {
            var file = used.file
            file[4096 * page + 77] ^= 1
            do {
                let report = try await salvage(file, "flip-\(page)", shop)
                let expected = used.queue.contains(page) ? 0 : 2
                #expect(report.savedChanges >= expected, "damaged in \(page): \(report)")
                #expect(report.savedRows > 0)
                let store = try await OfflineStore.open(
                    at: shop.directory.appendingPathComponent("flip-\(page)").path, protection: protection)
                #expect(try await store.observe.status().pending.count >= expected)
                try store.close()
            } catch {
                Issue.record("damaged in \(page) of \(used.count): \(error)")
            }
        }
    }

    @Test(
        "A store without its first page gives back changes and rows, and is synchronised again",
        arguments: [true, false])
    func firstPage(isNoted: Bool) async throws {
        let shop = try await Shop()
        let used = try await used(shop)
        var file = used.file
        file[4096 + 77] ^= 1
        let directory = shop.directory.appendingPathComponent("clone").path
        let path = directory + "/store.db"
        if isNoted {
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
            try handle.write(contentsOf: file)
            try handle.close()
        } else {
            try file.write(to: URL(fileURLWithPath: path), options: .atomic)
        }
        let report = try await OfflineStore.salvage(
            at: directory, protection: protection,
            origin: StoreOrigin(serviceRoot: Shop.serviceRoot, model: try await shop.client().model))
        #expect(report.savedChanges == 2 && report.savedRows > 100, "\(report)")
        let client = try shop.client()
        let store = try await OfflineStore.open(
            at: directory, protection: protection, connect: { _, _ in client })
        var options = UploadOptions()
        // The missing first page could have contained earlier changes, so the store counts as a copy.
        options.fromCopy = true
        let uploaded = try await store.upload(options: options)
        #expect(uploaded.failed.map(\.description) == [])
        #expect(uploaded.accepted.count == 2)
        try await store.download()
        try await shop.expectEqual(store)
    }
}
