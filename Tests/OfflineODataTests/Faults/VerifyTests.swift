import EncryptedSQLite
import Foundation
import GRDB
import ODataModel
import ODataSQL
import ODataService
import OfflineOData
import Secrets
import Testing

@Suite("Verifying a store")
struct VerifyTests {
    private let key = EncryptionKey.generate()
    private var protection: StoreProtection { .encrypted(.key(key)) }

    // MARK: Stores

    /// Returns the directory of a closed store with rows and a pending change.
    private func store(_ shop: Shop, options: OfflineStore.Options = .init()) async throws -> String {
        let directory = shop.directory.appendingPathComponent("clone").path
        let store = try await OfflineStore.create(
            at: directory, protection: protection, serviceRoot: Shop.serviceRoot, remote: shop.client(),
            queries: [DefiningQuery("customers", "Customers")], options: options)
        try await store.download()
        try await store.update("Customers('C0002')", ["City": "Mine"])
        try store.close()
        return directory
    }

    /// Returns the files of such a store after a crash, with two more changes that are only in the log.
    private func crashedFiles(_ shop: Shop) async throws -> [String: Data] {
        let directory = try await store(shop)
        let store = try await OfflineStore.open(at: directory, protection: protection)
        for number in 3...4 { try await store.update("Customers('C000\(number)')", ["City": "Mine"]) }
        let files = try Self.files(in: directory)
        try store.close()
        return files
    }

    private static func files(
        in directory: String, named names: [String] = ["store.db", "store.db-wal"]
    ) throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in names { files[name] = try Data(contentsOf: URL(fileURLWithPath: directory + "/" + name)) }
        return files
    }

    // MARK: Flipped bits

    private static let flip: UInt8 = 0x20

    /// Returns positions in every region of a file, which alternate between the parts of a page or frame.
    private static func places(_ name: String, count: Int) -> [Int] {
        if name == "store.db-wal" {
            // Page number, commit mark, salts and checksum, then the page.
            let parts = [0, 3, 4, 7, 8, 12, 16, 23, 24, 35, 36, 2000, 4103, 4119]
            let frames = stride(from: 32, to: count, by: 4120).enumerated().map { $1 + parts[$0 % parts.count] }
            return Array(0..<32) + frames
        }
        // Header, first slot, second slot, and the space between them.
        let block = [0, 15, 16, 17, 18, 24, 39, 511, 512, 1023, 1024, 1100, 1535, 1536, 3071, 3072, 3583, 3584, 4095]
        // Nonce, content and tag.
        let parts = [0, 11, 12, 1234, 4067, 4079, 4080, 4095]
        let pages = stride(from: 4096, to: count, by: 4096).enumerated().map { $1 + parts[$0 % parts.count] }
        return block + pages
    }

    /// Returns the expected result of verification after a bit flip: the damaged region, or the error of the
    /// key block.
    private static func expected(_ name: String, _ place: Int, at path: String) -> Result<[String], StoreError> {
        if name == "store.db-wal" {
            let frame = 32 + (place - 32) / 4120 * 4120
            return .success([place < 32 ? "\(name) 0 header of the log" : "\(name) \(frame) frame of the log"])
        }
        switch place {
        // The file identity, the sequence number and the envelope cannot be derived from the format.
        case 24..<40, 1024..<1032, 1040..<1132:
            return .failure(.corrupt(message: "the key block of \(path) is damaged"))
        case ..<4096: return .success(["\(name) 0 key block"])
        default: return .success(["\(name) \(place / 4096 * 4096) page"])
        }
    }

    private func found(in directory: String) async throws -> Result<[String], StoreError> {
        do {
            let found = try await OfflineStore.verify(at: directory, protection: protection)
            #expect(found.problems == [])
            return .success(
                found.damages.map {
                    "\(URL(fileURLWithPath: $0.path).lastPathComponent) \($0.offset) \($0.expected.rawValue)"
                })
        } catch let error as StoreError {
            return .failure(error)
        }
    }

    @Test("A flipped bit in any file is found with its place and type")
    func flippedBits() async throws {
        let shop = try await Shop()
        let files = try await crashedFiles(shop)
        let directory = try shop.folder("flipped", files)
        #expect(try await found(in: directory) == .success([]))
        #expect(try Self.files(in: directory) == files)
        for (name, content) in files {
            let places = Self.places(name, count: content.count)
            #expect(places.count > 40)
            for place in places {
                var flipped = files
                flipped[name]?[place] ^= Self.flip
                _ = try shop.folder("flipped", flipped)
                let expected = Self.expected(name, place, at: directory + "/store.db")
                #expect(try await found(in: directory) == expected, "\(name), byte \(place)")
                #expect(try Self.files(in: directory) == flipped, "\(name), byte \(place)")
            }
        }
        _ = try shop.folder("flipped", files)
        #expect(try await found(in: directory) == .success([]))
    }

    @Test("A store with a flipped bit shows an earlier state or refuses with a typed error")
    func flippedBitsInUse() async throws {
        let shop = try await Shop()
        let files = try await crashedFiles(shop)
        let cities = try await shop.database.rows("Customers?$orderby=CustomerID").map { $0["City"] }
        var (refused, shown) = (0, [0, 0, 0, 0])
        for (name, content) in files {
            // Opening a store takes much longer than verifying it, so every third position is tested.
            for (number, place) in Self.places(name, count: content.count).enumerated() where number % 3 == 0 {
                var flipped = files
                flipped[name]?[place] ^= Self.flip
                let directory = try shop.folder("\(name)-\(place)", flipped)
                do {
                    let store = try await OfflineStore.open(at: directory, protection: protection)
                    defer { try? store.close() }
                    let waiting = try await store.observe.status().pending.map(\.entityText)
                    let rows = try await store.rows("Customers?$orderby=CustomerID")
                    var expected = cities
                    for index in waiting.indices { expected[index + 1] = "Mine" }
                    #expect(rows.map { $0["City"] } == expected, "\(name), byte \(place)")
                    #expect(waiting == waiting.indices.map { "Customers('C000\($0 + 2)')" }, "\(name), byte \(place)")
                    // The first change is in the database, which is either intact or refused.
                    #expect(name == "store.db" ? waiting.count == 3 : (1...3).contains(waiting.count))
                    shown[min(waiting.count, 3)] += 1
                } catch {
                    #expect(
                        error is StoreError || error is OfflineError || error is ODataError,
                        "\(name), byte \(place): \(error)")
                    // A log ends at a damaged frame; earlier frames are used.
                    #expect(name == "store.db" || place < 32, "byte \(place) of the log: \(error)")
                    refused += 1
                }
            }
        }
        #expect(refused > 5)
        #expect(shown.dropFirst().allSatisfy { $0 > 0 }, "\(shown)")
    }

    // MARK: Refusals

    @Test("A wrong key, a newer format, a foreign file and a missing file have different errors")
    func refusals() async throws {
        let shop = try await Shop()
        let directory = try await store(shop)
        let path = directory + "/store.db"
        let whole = try Self.files(in: directory, named: ["store.db"])
        for wrong: KeySource in [.key(.generate()), .passphrase(Secret("correct horse"))] {
            await #expect(throws: StoreError.wrongKey(path: path)) {
                try await OfflineStore.verify(at: directory, protection: .encrypted(wrong))
            }
            await #expect(throws: StoreError.wrongKey(path: path)) {
                try await OfflineStore.open(at: directory, protection: .encrypted(wrong))
            }
        }
        await #expect(throws: StoreError.protectionMismatch(path: path, isEncrypted: true)) {
            try await OfflineStore.verify(at: directory, protection: .unencrypted)
        }
        #expect(try Self.files(in: directory, named: ["store.db"]) == whole)
        var later = whole
        later["store.db"]?[17] = 33
        // A newer version may protect its key differently.
        later["store.db"]?[1100] ^= 1
        _ = try shop.folder("clone", later)
        await #expect(throws: StoreError.newerVersion(path: path, found: 33, supported: 2)) {
            try await OfflineStore.verify(at: directory, protection: protection)
        }
        await #expect(throws: StoreError.newerVersion(path: path, found: 33, supported: 2)) {
            try await OfflineStore.open(at: directory, protection: protection)
        }
        #expect(try Self.files(in: directory, named: ["store.db"]) == later)
        await #expect {
            try await OfflineStore.verify(at: directory + "x", protection: protection)
        } throws: {
            guard case OfflineError.noStore(directory + "x")? = $0 as? OfflineError else { return false }
            return true
        }
        try Data("nothing of ours".utf8).write(to: URL(fileURLWithPath: path))
        await #expect(throws: StoreError.notAStore(path: path)) {
            try await OfflineStore.verify(at: directory, protection: protection)
        }
    }

    // MARK: Content

    private func open(_ directory: String, _ key: KeySource) throws -> DatabaseQueue {
        try EncryptedDatabase.unlock(at: directory + "/store.db", with: key)
        return try DatabaseQueue(path: EncryptedDatabase.uri(forPath: directory + "/store.db"))
    }

    @Test("Validly encrypted nonsense pages are found by SQLite's check, and a damaged queue by the engine")
    func content() async throws {
        let shop = try await Shop()
        let directory = try await store(shop)
        let queue = try open(directory, .key(key))
        try await queue.write { try $0.execute(sql: "UPDATE outpost_queue SET changes = x'00'") }
        // The change is only in the log, which is read but not modified.
        let crashed = try shop.folder("crashed", Self.files(in: directory))
        try queue.close()
        for place in [directory, crashed] {
            let names = place == crashed ? ["store.db", "store.db-wal"] : ["store.db"]
            let before = try Self.files(in: place, named: names)
            let found = try await OfflineStore.verify(at: place, protection: protection)
            #expect(found.damages.isEmpty && found.problems.count == 1, "\(found)")
            #expect(try Self.files(in: place, named: names) == before)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory).contains("store.db-wal") == false)
    }

    @Test("A check reports an empty database file beside its log and does not open it")
    func cutToNothing() async throws {
        let shop = try await Shop()
        var files = try await crashedFiles(shop)
        files["store.db"] = files["store.db"]?.prefix(4096)
        let directory = try shop.folder("cut", files)
        let found = try await OfflineStore.verify(at: directory, protection: protection)
        #expect(found.damages.map(\.expected) == [.rest])
        #expect(found.damages.map(\.offset) == [4096])
        #expect(try Self.files(in: directory) == files)
        let damage = StoreError.corrupt(message: "the file was cut to nothing; its log is there")
        await #expect(throws: damage) {
            _ = try await OfflineStore.open(at: directory, protection: protection)
        }
        await #expect {
            _ = try await OfflineStore.salvage(at: directory, protection: protection)
        } throws: {
            // The log alone does not identify the tables or the service of the store.
            if case StoreError.corrupt? = $0 as? StoreError { return true }
            guard case .originLost? = $0 as? OfflineError else { return false }
            return true
        }
        #expect(try Self.files(in: directory) == files)
    }

    @Test(
        "A store of an earlier version is checked without an upgrade",
        arguments: UpgradeTests.kept)
    func earlierVersions(fixture: String) async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("outpost-\(UUID().uuidString)")
        try FileManager.default.copyItem(at: UpgradeTests.fixtures.appendingPathComponent(fixture), to: directory)
        defer { try? FileManager.default.removeItem(at: directory) }
        let key = try KeySource(keyFile: directory.appendingPathComponent("key").path, allowsExposed: true)
        func files() throws -> [String: Data] {
            let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
            return try Self.files(in: directory.path, named: names)
        }
        func problems() async throws -> [String] {
            let before = try files()
            let found = try await OfflineStore.verify(at: directory.path, protection: .encrypted(key))
            #expect(found.damages == [])
            #expect(try files() == before, "nothing changes, and nothing is left beside the store")
            return found.problems
        }
        #expect(try await problems() == [])
        let database = try open(directory.path, key)
        try await database.write { try $0.execute(sql: "UPDATE outpost_queue SET changes = x'00' WHERE id = 1") }
        try database.close()
        #expect(try await problems().count == 1)
    }

    @Test("A store with the app's own sets is complete for a caller that does not name them")
    func ownSets() async throws {
        let shop = try await Shop()
        var options = OfflineStore.Options()
        options.creation.localDrafts = ["Drafts": "Customers"]
        let directory = try await store(shop, options: options)
        #expect(try await OfflineStore.verify(at: directory, protection: protection).isWhole)
        let again = try await OfflineStore.open(at: directory, protection: protection, options: options)
        #expect(again.model.entitySet("Drafts") != nil)
        #expect(try await again.observe.status().pending.count == 1)
        try again.close()
    }
}
