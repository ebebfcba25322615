import EncryptedSQLite
import FaultInjection
import Foundation
import ODataModel
import OfflineOData
import Secrets
import Testing

@Suite("A reopened store") struct ReopenedStoreTests {
    @Test("is complete after a power failure", arguments: Remains.allCases)
    func powerFails(remains: Remains) async throws {
        FaultDisk.register()
        try EncryptedDatabase.stack(over: FaultDisk.vfsName)
        let shop = try await Shop()
        let key = EncryptionKey.generate()
        let folder = shop.directory.appendingPathComponent("before").path
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let disk = try FaultDisk(folder: folder)
        let client = try shop.client()
        try await OfflineStore.create(
            at: folder, protection: .encrypted(.key(key)), serviceRoot: Shop.serviceRoot, remote: client
        ).close()
        let store = try await OfflineStore.open(
            at: folder, protection: .encrypted(.key(key)), connect: { _, _ in client })
        try await store.create(
            "Customers", ["CustomerID": "NEW", "CompanyName": "New", "Country": "Norway"])
        let after = shop.directory.appendingPathComponent("after").path
        try disk.restart(into: after, with: remains)
        let again = try await OfflineStore.open(at: after, protection: .encrypted(.key(key)))
        #expect(try await again.observe.status().pending.map(\.entityText) == ["Customers('NEW')"])
        try again.close()
        try store.close()
    }
}
