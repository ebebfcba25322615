import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService
import OfflineOData
import Secrets
import Testing

@Suite("Verifying a clone on the command line")
struct VerifyCommandTests {
    private static let fixtures = Site.root.appendingPathComponent("Tests/OfflineODataTests/Fixtures")

    /// The stores of every version that are kept, oldest first.
    static let kept: [String] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: fixtures.path)) ?? []
        return names.filter { $0.hasPrefix("store-") }.sorted { $0.compare($1, options: .numeric) == .orderedAscending }
    }()

    /// A copy of a store, with the file that holds its key outside of it.
    private struct Copy {
        let site: Site
        let directory: String
        let key: String
        var database: String { directory + "/store.db" }

        /// - Parameter name: the store; the newest one unless given.
        init(_ name: String? = nil) throws {
            let site = try Site()
            let kept = try #require(name ?? VerifyCommandTests.kept.last)
            let source = VerifyCommandTests.fixtures.appendingPathComponent(kept)
            self.site = site
            directory = site.path("clone")
            key = site.path("key")
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            try FileManager.default.copyItem(atPath: source.path + "/store.db", toPath: directory + "/store.db")
            try Data(contentsOf: source.appendingPathComponent("key")).write(to: URL(fileURLWithPath: key))
        }

        var protection: StoreProtection { get throws { .encrypted(try KeySource(keyFile: key)) } }

        /// The files in the directory, except the index of a log.
        func files() throws -> [String: Data] {
            var files: [String: Data] = [:]
            for name in try FileManager.default.contentsOfDirectory(atPath: directory) where !name.hasSuffix("-shm") {
                files[name] = try Data(contentsOf: URL(fileURLWithPath: directory + "/" + name))
            }
            return files
        }

        func change(_ name: String, _ change: (inout Data) throws -> Void) throws {
            let url = URL(fileURLWithPath: directory + "/" + name)
            var data = try Data(contentsOf: url)
            try change(&data)
            try data.write(to: url)
        }

        /// Verifies it; nothing of it may change.
        func verify(key: String? = nil, _ arguments: String...) async throws -> Tool.Result {
            let before = try files()
            let result = try await site.tool.run(["verify", directory, "--key-file", key ?? self.key] + arguments)
            #expect(try files() == before)
            return result
        }
    }

    @Test("verify accepts a clone of an earlier version and does not change it", arguments: kept)
    func earlierVersions(name: String) async throws {
        let copy = try Copy(name)
        let result = try await copy.verify()
        #expect(result.code == 0, "\(result.errors)")
        #expect(result.output.contains("is whole."))
        #expect(try FileManager.default.contentsOfDirectory(atPath: copy.directory) == ["store.db"])
    }

    @Test("verify reports a wrong key and changes nothing")
    func wrongKey() async throws {
        let copy = try Copy()
        let wrong = copy.site.path("wrong")
        for content in [String(repeating: "0f", count: 32), "a passphrase"] {
            try content.write(toFile: wrong, atomically: true, encoding: .utf8)
            let result = try await copy.verify(key: wrong)
            #expect(result.code == 1)
            #expect(result.errors.contains("The key does not open \(copy.database)."), "\(result.errors)")
            #expect(result.errors.contains("--key-file"))
        }
    }

    @Test(
        "verify names the versions of a newer clone and changes nothing",
        arguments: [
            "PRAGMA user_version = 77",
            "UPDATE outpost_setting SET value = CAST('77' AS BLOB) WHERE name = 'engine.version'",
        ])
    func newerVersion(change: String) async throws {
        let copy = try Copy()
        let database = try StoreDatabase.open(path: copy.database, protection: try copy.protection)
        try await database.write { try $0.execute(sql: change) }
        try database.close()
        let result = try await copy.verify()
        #expect(result.code == 1)
        #expect(result.errors.contains("layout version 77"), "\(result.errors)")
        #expect(result.errors.contains("Install the newer version"))
    }

    @Test(
        "verify reports a database that is truncated at any place",
        arguments: [0, 100, 4095, 4096, 5000, 16_384, -1])
    func cutDatabase(length: Int) async throws {
        let copy = try Copy()
        try copy.change("store.db") { $0 = $0.prefix(length < 0 ? $0.count + length : length) }
        let result = try await copy.verify()
        #expect(result.code == 1, "\(result.output)")
        #expect(!result.errors.isEmpty)
        #expect(!result.output.contains("is whole"))
    }

    @Test("A database that was cut between two pages is reported with the place and repaired")
    func repairedCut() async throws {
        let copy = try Copy()
        try copy.change("store.db") { $0.removeLast(4096) }
        let length = try #require(try copy.files()["store.db"]).count
        let verified = try await copy.verify()
        #expect(verified.output.contains("byte \(length): the file ends here, and 1 page is missing"), "\(verified)")
        #expect(verified.errors.contains("outpost repair"))
        let used = try await copy.site.tool.run("status", copy.directory, "--key-file", copy.key)
        #expect(used.code == 1 && used.errors.contains("outpost verify \(copy.directory)"), "\(used.errors)")
        #expect(used.errors.contains("outpost repair \(copy.directory)"), "\(used.errors)")
        let repaired = try await copy.site.tool.run("repair", copy.directory, "--key-file", copy.key)
        #expect(repaired.code == 0, "\(repaired.errors)")
        #expect(repaired.output.contains("were saved into new files"), "\(repaired.output)")
        #expect(try await copy.verify().code == 0)
    }

    @Test("a database with a damaged first page is repaired from the others")
    func firstPage() async throws {
        let copy = try Copy()
        try copy.change("store.db") { $0[4096 + 500] ^= 0x20 }
        let result = try await copy.site.tool.run("repair", copy.directory, "--key-file", copy.key)
        #expect(result.code == 0, "\(result.errors)")
        #expect(result.output.contains("were saved into new files"), "\(result.output)")
        #expect(try await copy.verify().code == 0)
    }

    /// Makes a change that is in the log alone, and leaves the log as a crash does.
    private func crash(_ copy: Copy) async throws {
        let store = try await OfflineStore.open(at: copy.directory, protection: try copy.protection)
        let product = ODataEntity(shape: try #require(store.model.shape(ofSet: "Products")), ["Stock": 78])
        _ = try await store.execute(
            ODataRequest(.update, try ODataURL(parsing: "Products(3)"), body: .entity(product)))
        let files = try copy.files()
        try store.close()
        for (name, data) in files { try data.write(to: URL(fileURLWithPath: copy.directory + "/" + name)) }
    }

    @Test("verify names the file and place of a flipped bit, also as JSON")
    func flippedBits() async throws {
        let copy = try Copy()
        try await crash(copy)
        let whole = try await copy.verify()
        #expect(whole.code == 0, "\(whole.errors)")
        let places = [
            ("store.db", 700, "store.db, byte 0: not a key block"),
            ("store.db", 4096 * 5 + 99, "store.db, byte 20480: not a page"),
            ("store.db-wal", 5, "store.db-wal, byte 0: not a header of the log"),
            ("store.db-wal", 32 + 4120 + 8, "store.db-wal, byte 4152: not a frame of the log"),
            ("store.db-wal", 32 + 4120 + 999, "store.db-wal, byte 4152: not a frame of the log"),
        ]
        for (name, place, words) in places {
            try copy.change(name) { $0[place] ^= 0x20 }
            let result = try await copy.verify()
            #expect(result.code == 1)
            #expect(result.output.contains(words), "\(result.output) \(result.errors)")
            #expect(result.errors.contains("is damaged in 1 place."))
            let report = try await copy.verify("--json")
            #expect(report.code == 1)
            #expect(report.output.contains("\"isWhole\" : false"))
            #expect(report.output.contains("not a"), "\(report.output)")
            try copy.change(name) { $0[place] ^= 0x20 }
        }
        #expect(try await copy.verify().code == 0)
    }

    @Test("verify reports an unreadable queue with the next step")
    func damagedQueue() async throws {
        let copy = try Copy()
        let database = try StoreDatabase.open(path: copy.database, protection: try copy.protection)
        try await database.write { try $0.execute(sql: "UPDATE outpost_queue SET changes = x'00' WHERE id = 1") }
        try database.close()
        let result = try await copy.verify()
        #expect(result.code == 1)
        #expect(result.output.contains("The queue of changes is damaged"), "\(result.output)")
        #expect(result.errors.contains("outpost repair"))
    }
}
