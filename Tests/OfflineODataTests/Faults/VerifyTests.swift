import EncryptedSQLite
import Foundation
import GRDB
import ODataStore
import OfflineOData
import Secrets
import Testing

@Suite("Verifying a store")
struct VerifyTests {
    private let key = EncryptionKey.generate()
    private var protection: StoreProtection { .encrypted(.key(key)) }

    /// A store with rows and a change that waits; closed.
    private func store(_ shop: Shop) async throws -> String {
        let directory = shop.directory.appendingPathComponent("clone").path
        let store = try await OfflineODataProvider.create(
            at: directory, protection: protection, serviceRoot: Shop.serviceRoot, remote: shop.client())
        try await store.download()
        try await store.update("Customers('C0002')", ["City": "Mine"])
        try store.close()
        return directory
    }

    private func flip(_ path: String, _ place: Int) throws {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        defer { try? file.close() }
        try file.seek(toOffset: UInt64(place))
        let byte = try #require(try file.read(upToCount: 1)?.first)
        try file.seek(toOffset: UInt64(place))
        try file.write(contentsOf: Data([byte ^ 0x20]))
    }

    @Test("A flipped bit in any page is found at its place, typed, and nothing is made worse")
    func flippedBits() async throws {
        let shop = try await Shop()
        let directory = try await store(shop)
        let path = directory + "/store.db"
        #expect(try await OfflineODataProvider.verify(at: directory, protection: protection).isWhole)
        let size = try Data(contentsOf: URL(fileURLWithPath: path)).count
        for place in stride(from: 4096 + 37, to: size, by: 4096) {
            try flip(path, place)
            let before = try Data(contentsOf: URL(fileURLWithPath: path))
            let found = try await OfflineODataProvider.verify(at: directory, protection: protection)
            #expect(found.damages.map(\.offset) == [Int64(place / 4096 * 4096)])
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
            try flip(path, place)
        }
        #expect(try await OfflineODataProvider.verify(at: directory, protection: protection).isWhole)
    }

    @Test("A wrong key, a later format, a file that is none and a missing one are errors of their own")
    func refusals() async throws {
        let shop = try await Shop()
        let directory = try await store(shop)
        let path = directory + "/store.db"
        await #expect(throws: StoreError.wrongKey(path: path)) {
            try await OfflineODataProvider.verify(at: directory, protection: .encrypted(.key(.generate())))
        }
        await #expect(throws: StoreError.newerVersion(path: path, found: 33, supported: 1)) {
            try flip(path, 17)
            defer { try? flip(path, 17) }
            return try await OfflineODataProvider.verify(at: directory, protection: protection)
        }
        await #expect(throws: OfflineError.self) {
            try await OfflineODataProvider.verify(at: directory + "x", protection: protection)
        }
        try Data("nothing of ours".utf8).write(to: URL(fileURLWithPath: path))
        await #expect(throws: StoreError.notAStore(path: path)) {
            try await OfflineODataProvider.verify(at: directory, protection: protection)
        }
    }

    @Test("Pages that are sealed and make no sense are found by SQLite's check, a damaged queue by the engine's")
    func content() async throws {
        let shop = try await Shop()
        let directory = try await store(shop)
        try EncryptedDatabase.unlock(at: directory + "/store.db", with: .key(key))
        let queue = try DatabaseQueue(path: EncryptedDatabase.uri(forPath: directory + "/store.db"))
        try await queue.write { try $0.execute(sql: "UPDATE outpost_queue SET changes = x'00'") }
        try queue.close()
        let found = try await OfflineODataProvider.verify(at: directory, protection: protection)
        #expect(found.damages.isEmpty && found.problems.count == 1)
    }
}
