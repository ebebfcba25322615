import EncryptedSQLite
import Foundation
import ODataModel
import ODataService
import OfflineOData
import Secrets
import Synchronization
import Testing

@Suite("A store in the foreground and background of an app")
struct StoreSessionTests {
    private struct Setting {
        let shop: Shop
        let key: EncryptionKey
        let session: StoreSession
        let path: String

        init(through remote: (any ODataProvider)? = nil) async throws {
            let shop = try await Shop()
            let key = EncryptionKey.generate()
            let directory = shop.directory.appendingPathComponent("clone").path
            let service: any ODataProvider
            if let remote { service = remote } else { service = try shop.client() }
            try await OfflineStore.create(
                at: directory, protection: .encrypted(.key(key)), serviceRoot: Shop.serviceRoot, remote: service
            ).close()
            try EncryptedDatabase.lock(at: directory + "/store.db")
            self.shop = shop
            self.key = key
            path = directory + "/store.db"
            session = StoreSession { protection in
                try await OfflineStore.open(at: directory, protection: protection, connect: { _, _ in service })
            }
        }
    }

    @Test("In the foreground it works and synchronises; in the background it is closed without a key in memory")
    func story() async throws {
        let setting = try await Setting()
        let session = setting.session
        #expect(await session.store == nil)
        await #expect(throws: OfflineError.self) { try await session.sync() }
        try await session.enterForeground(.encrypted(.key(setting.key)))
        try await session.sync()
        let store = try #require(await session.store)
        try await setting.shop.expectEqual(store)
        await session.enterBackground()
        await session.enterBackground()
        #expect(await session.store == nil)
        #expect(!EncryptedDatabase.isUnlocked(at: setting.path))
        try await session.enterForeground(.encrypted(.key(setting.key)))
        try await setting.shop.expectEqual(try #require(await session.store))
    }

    @Test("An app that leaves during the opening has nothing open")
    func leavingWhileOpening() async throws {
        let setting = try await Setting()
        let (path, directory) = (setting.path, setting.shop.directory.appendingPathComponent("clone").path)
        let (begun, begin) = AsyncStream<Void>.makeStream()
        let session = StoreSession { protection in
            begin.yield()
            try await Task.sleep(for: .milliseconds(200))
            return try await OfflineStore.open(at: directory, protection: protection)
        }
        let entering = Task { try await session.enterForeground(.encrypted(.key(setting.key))) }
        for await _ in begun { break }
        await session.enterBackground()
        #expect(!EncryptedDatabase.isUnlocked(at: path))
        try await entering.value
        #expect(await session.store == nil)
        #expect(!EncryptedDatabase.isUnlocked(at: path))
    }

    @Test("A wrong key leaves it in the background")
    func wrongKey() async throws {
        let setting = try await Setting()
        await #expect(throws: (any Error).self) {
            try await setting.session.enterForeground(.encrypted(.key(.generate())))
        }
        #expect(await setting.session.store == nil)
        try await setting.session.enterForeground(.encrypted(.key(setting.key)))
        #expect(await setting.session.store != nil)
    }

    @Test("Leaving during a synchronisation ends it, and returning continues it")
    func interrupted() async throws {
        let setting = try await Setting()
        let session = setting.session
        try await session.enterForeground(.encrypted(.key(setting.key)))
        let count = Mutex(0)
        await setting.shop.wire.cut { number, _ in
            count.withLock { $0 = number }
            return nil
        }
        let syncing = Task { try await session.sync() }
        while count.withLock({ $0 }) == 0 { try await Task.sleep(for: .milliseconds(1)) }
        await session.enterBackground()
        _ = await syncing.result
        #expect(await session.store == nil)
        #expect(!EncryptedDatabase.isUnlocked(at: setting.path))
        try await session.enterForeground(.encrypted(.key(setting.key)))
        try await session.sync()
        try await setting.shop.expectEqual(try #require(await session.store))
    }

    @Test("Rapid switching ends in the state of the last call")
    func manyTimes() async throws {
        let setting = try await Setting()
        let session = setting.session
        await withTaskGroup { group in
            for index in 0..<20 {
                group.addTask {
                    if index % 2 == 0 {
                        try? await session.enterForeground(.encrypted(.key(setting.key)))
                    } else {
                        await session.enterBackground()
                    }
                }
            }
        }
        await session.enterBackground()
        #expect(await session.store == nil)
        #expect(!EncryptedDatabase.isUnlocked(at: setting.path))
        try await session.enterForeground(.encrypted(.key(setting.key)))
        try await session.sync()
    }
}
