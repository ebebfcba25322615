import EncryptedSQLite
import FaultInjection
import Foundation
import ODataModel
import ODataSQL
import ODataService
import OfflineOData
import Secrets
import Testing

@Suite("A store on a full disk")
struct FullDiskTests {
    private let key = EncryptionKey.generate()
    private var protection: StoreProtection { .encrypted(.key(key)) }

    /// Returns a store with rows and a pending change, in a folder on a simulated disk.
    private func store(_ shop: Shop) async throws -> (directory: String, disk: FaultDisk) {
        FaultDisk.register()
        try EncryptedDatabase.stack(over: FaultDisk.vfsName)
        let directory = shop.directory.appendingPathComponent("clone").path
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let disk = try FaultDisk(folder: directory)
        let store = try await OfflineStore.create(
            at: directory, protection: protection, serviceRoot: Shop.serviceRoot, remote: shop.client(),
            queries: [DefiningQuery("customers", "Customers")])
        try await store.download()
        try await store.update("Customers('C0002')", ["City": "Mine"])
        try store.close()
        return (directory, disk)
    }

    @Test("can be read, checked and asked for its pending changes, without writing")
    func closed() async throws {
        let shop = try await Shop()
        let (directory, disk) = try await store(shop)
        let before = try Data(contentsOf: URL(fileURLWithPath: directory + "/store.db"))
        disk.break(.diskFull(from: 1))
        let store = try await OfflineStore.open(at: directory, protection: protection)
        let status = try await store.observe.status()
        #expect(status.pending.count == 1 && status.queries.first?.rows ?? 0 > 0)
        #expect(try await store.rows("Customers('C0002')").first?["City"] == .string("Mine"))
        let refusal = await #expect(throws: ODataError.self) {
            try await store.update("Customers('C0003')", ["City": "Mine"])
        }
        #expect(refusal?.status == 507)
        // Free space alone does not help, because SQLite could not open its file for writing.
        disk.mend()
        let still = await #expect(throws: ODataError.self) {
            try await store.update("Customers('C0003')", ["City": "Mine"])
        }
        #expect(still?.message.contains("opened again") == true)
        disk.break(.diskFull(from: disk.operations + 1))
        try store.close()
        let found = try await OfflineStore.verify(at: directory, protection: protection)
        #expect(found.isWhole, "\(found.damages) \(found.problems)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: directory + "/store.db")) == before)
        disk.mend()
        let again = try await OfflineStore.open(at: directory, protection: protection)
        try await again.update("Customers('C0003')", ["City": "Mine"])
        try again.close()
    }

    @Test("shows changes that are only in its log, as after a crash")
    func crashed() async throws {
        let shop = try await Shop()
        let (directory, _) = try await store(shop)
        let open = try await OfflineStore.open(at: directory, protection: protection)
        try await open.update("Customers('C0003')", ["City": "In the log"])
        let copy = shop.directory.appendingPathComponent("copy").path
        try FileManager.default.createDirectory(
            atPath: copy, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        for name in ["store.db", "store.db-wal"] {
            try FileManager.default.copyItem(atPath: directory + "/" + name, toPath: copy + "/" + name)
        }
        try open.close()
        let log = try Data(contentsOf: URL(fileURLWithPath: copy + "/store.db-wal"))
        let disk = try FaultDisk(folder: copy)
        disk.break(.diskFull(from: 1))
        let store = try await OfflineStore.open(at: copy, protection: protection)
        let waiting = try await store.observe.status().pending.count
        #expect(waiting == 2)
        #expect(try await store.rows("Customers('C0003')").first?["City"] == .string("In the log"))
        try store.close()
        #expect(try Data(contentsOf: URL(fileURLWithPath: copy + "/store.db-wal")) == log)
    }

    @Test("is locked while it is read")
    func locked() async throws {
        let shop = try await Shop()
        let (directory, disk) = try await store(shop)
        disk.break(.diskFull(from: 1))
        let store = try await OfflineStore.open(at: directory, protection: protection)
        disk.mend()
        var options = OfflineStore.Options()
        options.runtime.database.busyTimeout = 0.1
        await #expect(throws: (any Error).self) {
            try await OfflineStore.open(at: directory, protection: protection, options: options).close()
        }
        try store.close()
        try await OfflineStore.open(at: directory, protection: protection).close()
    }
}
