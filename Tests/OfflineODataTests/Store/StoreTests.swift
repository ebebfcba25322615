import Foundation
import ODataModel
import ODataSQL
import ODataService
import OfflineOData
import Secrets
import Testing

@Suite("A store on disk")
struct StoreTests {
    @Test("is opened again with its rows, queue and keys")
    func reopened() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.update("Products(5)", ["Stock": 77])
        try store.close()
        let again = try await shop.reopen()
        #expect(try await again.rows("Products(5)").first?["Stock"] == 77)
        #expect(try await again.observe.status().pending.count == 1)
        #expect(again.serviceRoot == Shop.serviceRoot)
        try await again.sync()
        try await shop.expectEqual(again)
    }

    @Test("contains no plain text in any file, and refuses a wrong key")
    func encrypted() async throws {
        let shop = try await Shop()
        try await shop.sql("UPDATE Customers SET City = 'PLAINTEXTMARKER'")
        let path = shop.directory.appendingPathComponent("sealed").path
        let key = EncryptionKey.generate()
        let store = try await OfflineStore.create(
            at: path, protection: .encrypted(.key(key)), serviceRoot: Shop.serviceRoot, remote: shop.client())
        try await store.download()
        try await store.update("Customers('C0001')", ["City": "PLAINTEXTMARKER2"])
        try Self.expectSealed(path)
        #expect(try await store.rows("Customers('C0001')").first?["City"] == "PLAINTEXTMARKER2")
        try store.close()
        try Self.expectSealed(path)
        let before = try Data(contentsOf: URL(fileURLWithPath: path + "/store.db"))
        await #expect(throws: StoreError.self) {
            _ = try await OfflineStore.open(at: path, protection: .encrypted(.key(.generate())))
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path + "/store.db")) == before)
    }

    private static func expectSealed(_ directory: String) throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: directory)
        #expect(names.contains("store.db"))
        for name in names {
            let data = try Data(contentsOf: URL(fileURLWithPath: directory + "/" + name))
            for marker in ["PLAINTEXTMARKER", "Customers", "CREATE TABLE", "SQLite format 3", "shop.test"] {
                #expect(data.range(of: Data(marker.utf8)) == nil, "\(marker) in \(name)")
            }
        }
    }

    @Test("synchronises in one process at a time, and the second one is told the process id (rule 10)")
    func busy() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        let lock = try FileLock(path: store.directory + "/sync.lock")
        await #expect {
            try await store.download()
        } throws: { error in
            guard case OfflineError.busy = error else { return false }
            return true
        }
        lock.release()
        try await store.download()
    }

    @Test("names a missing file or query")
    func missing() async throws {
        await #expect(throws: OfflineError.self) {
            _ = try await OfflineStore.open(at: "/nonexistent/store", protection: .unencrypted)
        }
    }

    @Test("without a connection works and refuses to synchronise")
    func disconnected() async throws {
        let shop = try await Shop()
        let path = try await shop.clone().directory
        let store = try await OfflineStore.open(at: path, protection: .unencrypted)
        #expect(try await store.rows("Orders").count == 200)
        await #expect(throws: OfflineError.self) { try await store.download() }
    }

    @Test("reports its progress")
    func progress() async throws {
        let shop = try await Shop(pageSize: 50)
        let store = try await shop.store()
        let reports = store.observe.progress()
        try await store.download()
        try store.close()
        var seen: [SyncProgress] = []
        for await report in reports { seen.append(report) }
        #expect(seen.last?.phase == .finished)
        #expect(seen.contains { $0.query == "Orders" && $0.total == 200 })
    }
}

/// A lock as another process would hold it.
final class FileLock {
    private let handle: FileHandle

    init(path: String) throws {
        if !FileManager.default.fileExists(atPath: path) {
            _ = FileManager.default.createFile(atPath: path, contents: nil)
        }
        handle = try #require(FileHandle(forUpdatingAtPath: path))
        #expect(flock(handle.fileDescriptor, LOCK_EX | LOCK_NB) == 0)
    }

    func release() { try? handle.close() }
}
