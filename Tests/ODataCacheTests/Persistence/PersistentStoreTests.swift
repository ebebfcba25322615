import DataVault
import Foundation
import ODataModel
import ODataService
import Secrets
import Testing

@testable import ODataCache

@Suite("Storage between runs")
struct PersistentStoreTests {
    private struct Settings: Codable, Equatable, Sendable {
        var theme: String
        var size: Int
    }

    private let folder = TemporaryFolder()
    private let key = EncryptionKey.generate()

    private func store(
        _ policy: StoragePolicy = .full, key: StoreKey? = nil, limits: PersistentStore.Limits = .init()
    ) -> PersistentStore {
        PersistentStore(folder: folder.path, policy: policy, key: key ?? .given(.key(self.key)), limits: limits)
    }

    private func stream(_ chunks: [[UInt8]]) -> ByteStream {
        let iterator = Chunks(chunks)
        return ByteStream { await iterator.next() }
    }

    private actor Chunks {
        private var rest: ArraySlice<[UInt8]>
        init(_ chunks: [[UInt8]]) { rest = chunks[...] }
        func next() -> [UInt8]? { rest.popFirst() }
    }

    @Test(
        "Values, bytes and streams are read back by another object under every policy",
        arguments: StoragePolicy.allCases
    )
    func roundTrip(_ policy: StoragePolicy) async throws {
        let one = store(policy)
        #expect(try await one.names().isEmpty)
        try await one.put(Settings(theme: "dark", size: 3), for: "settings")
        try await one.putBytes([1, 2, 3], for: "bytes")
        let chunks = (0..<5).map { [UInt8](repeating: $0, count: 50_001) }
        try await one.putStream(stream(chunks), for: "film/ä")
        try await one.put(42, for: "number")
        try await one.put(43, for: "number")

        let two = store(policy)
        #expect(try await two.value(Settings.self, for: "settings") == Settings(theme: "dark", size: 3))
        #expect(try await two.value(Int.self, for: "number") == 43)
        #expect(try await two.bytes(for: "bytes") == [1, 2, 3])
        let film = try #require(try await two.stream(for: "film/ä"))
        #expect(try await film.collect(limit: 1 << 20) == chunks.flatMap { $0 })
        #expect(try await two.names() == ["bytes", "film/ä", "number", "settings"])
        #expect(try await two.value(Int.self, for: "nothing") == nil)
        #expect(try await two.bytes(for: "nothing") == nil)
        #expect(try await two.stream(for: "nothing") == nil)
    }

    @Test(
        "Streams of any length are read back", arguments: [0, 1, 65_535, 65_536, 65_537, 131_072, 131_073])
    func sizes(_ size: Int) async throws {
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
        let store = store()
        try await store.putStream(stream(size == 0 ? [] : [bytes]), for: "s")
        #expect(try await store.bytes(for: "s") == bytes)
    }

    @Test("Items can be found and removed, and all of them cleared")
    func removing() async throws {
        let store = store()
        #expect(try await store.remove("a") == false)
        for name in ["a", "b", "c"] { try await store.put(name, for: name) }
        #expect(try await store.contains("a"))
        #expect(try await store.remove("a"))
        #expect(try await store.contains("a") == false)
        #expect(try await store.remove("a") == false)
        try await store.removeAll()
        #expect(try await store.names().isEmpty)
        #expect(folder.items.isEmpty)
        try await store.put(1, for: "again")
        #expect(try await self.store().value(Int.self, for: "again") == 1)
    }

    @Test("Files of an encrypted store show neither content nor names, and only their owner can read them")
    func encrypted() async throws {
        let store = store()
        try await store.put("marker-of-a-value", for: "marker-of-a-name")
        try await store.putStream(stream([Array("marker-of-a-stream".utf8)]), for: "s")
        #expect(try folder.contains("marker") == false)
        for name in folder.files {
            let mode = try FileManager.default.attributesOfItem(atPath: folder.path + "/" + name)[.posixPermissions]
            #expect(mode as? Int == 0o600)
        }
        let plain = TemporaryFolder()
        try await PersistentStore(folder: plain.path, policy: .unprotected).put("marker", for: "n")
        #expect(try plain.contains("marker"), "the control")
    }

    @Test("An encrypted store without a key is a typed error until the key is given")
    func keyMissing() async throws {
        let store = PersistentStore(folder: folder.path)
        await #expect(throws: PersistenceError.keyMissing(folder: folder.path)) { try await store.put(1, for: "a") }
        await store.setKey(.given(.key(key)))
        try await store.put(1, for: "a")
        let other = PersistentStore(folder: folder.path)
        await #expect(throws: PersistenceError.keyMissing(folder: folder.path)) {
            try await other.value(Int.self, for: "a")
        }
    }

    @Test("A wrong key, and a passphrase instead of a key, are typed errors and change nothing")
    func wrongKey() async throws {
        try await store().put(1, for: "a")
        let wrong = PersistentStore(folder: folder.path, key: .given(.key(.generate())))
        await #expect(throws: PersistenceError.wrongKey(folder: folder.path)) { try await wrong.put(2, for: "a") }
        await #expect(throws: PersistenceError.wrongKey(folder: folder.path)) { try await wrong.contains("a") }
        let phrase = PersistentStore(folder: folder.path, key: .given(.passphrase(Secret("secret"))))
        await #expect(throws: PersistenceError.wrongKindOfKey(folder: folder.path, expected: "key")) {
            try await phrase.put(2, for: "a")
        }
        #expect(try await store().value(Int.self, for: "a") == 1)
    }

    @Test("A key is created at first use and stored, and without it nothing can be read")
    func generated() async throws {
        let keys = TemporaryFolder()
        let secrets = try FileSecretStore(directory: keys.path)
        let source = try StoreKey.generated(in: secrets, named: SecretName("cache"))
        try await store(key: source).put(1, for: "a")
        #expect(try secrets.names().map(\.text) == ["cache"])
        #expect(try await store(key: source).value(Int.self, for: "a") == 1)
        try secrets.remove(named: SecretName("cache"))
        await #expect(throws: PersistenceError.keyMissing(folder: folder.path)) {
            try await self.store(key: source).value(Int.self, for: "a")
        }
    }

    @Test("After a key change, only the new key opens the items")
    func changeKey() async throws {
        let store = store()
        try await store.put(1, for: "a")
        let before = try Data(contentsOf: URL(fileURLWithPath: try #require(folder.items.first)))
        let new = EncryptionKey.generate()
        try await store.changeKey(to: .given(.key(new)))
        try await store.put(2, for: "b")
        #expect(
            try Data(
                contentsOf: URL(
                    fileURLWithPath: try #require(
                        folder.items.first { (try? Data(contentsOf: URL(fileURLWithPath: $0))) == before }))) == before)
        let reopened = PersistentStore(folder: folder.path, key: .given(.key(new)))
        #expect(try await reopened.value(Int.self, for: "a") == 1)
        #expect(try await reopened.value(Int.self, for: "b") == 2)
        await #expect(throws: PersistenceError.wrongKey(folder: folder.path)) {
            try await self.store().value(Int.self, for: "a")
        }
    }

    @Test("Opening a store under another policy is an error and deletes nothing")
    func otherPolicy() async throws {
        try await store().put(1, for: "a")
        await #expect(
            throws: PersistenceError.otherPolicy(folder: folder.path, found: .full, expected: .unprotected)
        ) { try await self.store(.unprotected).put(2, for: "a") }
        #expect(try await store().value(Int.self, for: "a") == 1)
    }

    @Test(
        "A change of policy converts every item",
        arguments: [
            (StoragePolicy.full, StoragePolicy.unprotected), (.unprotected, .full), (.full, .afterFirstUnlock),
            (.full, .full),
        ])
    func changePolicy(_ old: StoragePolicy, _ new: StoragePolicy) async throws {
        let store = store(old)
        for number in 0..<5 { try await store.put("marker \(number)", for: "n\(number)") }
        let cache = MemoryEntityCache(model: try Shop.model())
        try await store.save(cache, as: "n1")
        try await store.changePolicy(to: new)
        #expect(try folder.contains("marker") == (new == .unprotected))
        let reopened = self.store(new)
        for number in 0..<5 {
            #expect(try await reopened.value(String.self, for: "n\(number)") == "marker \(number)")
        }
        #expect(try await reopened.names().count == 5)
        #expect(try await reopened.snapshotNames() == ["n1"])
        #expect(folder.items.count == 6)
        if old != new { await #expect(throws: PersistenceError.self) { try await self.store(old).names() } }
    }

    @Test("An interrupted conversion is continued, and items can be used meanwhile")
    func interruptedConversion() async throws {
        let store = store(.unprotected)
        for number in 0..<4 { try await store.put("v\(number)", for: "n\(number)") }
        // An unreadable item interrupts the conversion.
        let damaged = try #require(folder.items.last)
        let content = try Data(contentsOf: URL(fileURLWithPath: damaged))
        try Data("rubbish".utf8).write(to: URL(fileURLWithPath: damaged))
        await #expect(throws: PersistenceError.self) { try await store.changePolicy(to: .full) }
        try content.write(to: URL(fileURLWithPath: damaged))

        let reopened = self.store(.full)
        for number in 0..<4 { #expect(try await reopened.value(String.self, for: "n\(number)") == "v\(number)") }
        try await reopened.put("new", for: "n3")
        try await reopened.put("new", for: "n0")
        #expect(try await reopened.names().count == 4)
        try await reopened.changePolicy(to: .full)
        #expect(try await reopened.value(String.self, for: "n0") == "new")
        #expect(try await reopened.value(String.self, for: "n3") == "new")
        #expect(folder.items.count == 4)
        #expect(folder.files.contains { $0.hasPrefix("p") } == false, "no plain item is left")
    }

    @Test("A plain item in an encrypted store is refused")
    func planted() async throws {
        let other = TemporaryFolder()
        try await PersistentStore(folder: other.path, policy: .unprotected).put("planted", for: "a")
        try await store().put("mine", for: "a")
        let target = try #require(folder.items.first)
        try FileManager.default.removeItem(atPath: target)
        try FileManager.default.copyItem(atPath: try #require(other.items.first), toPath: target)
        await #expect(throws: PersistenceError.damaged(name: "a")) {
            try await self.store().value(String.self, for: "a")
        }
    }

    @Test("An item that was moved to another name is refused")
    func exchanged() async throws {
        let store = store()
        try await store.put("one", for: "a")
        let first = try #require(folder.items.first)
        let content = try Data(contentsOf: URL(fileURLWithPath: first))
        try await store.put("two", for: "b")
        let second = try #require(folder.items.first { $0 != first })
        try content.write(to: URL(fileURLWithPath: second))
        await #expect(throws: PersistenceError.damaged(name: "b")) { try await store.value(String.self, for: "b") }
        #expect(try await store.value(String.self, for: "a") == "one")
    }

    @Test(
        "Damage to an item is found and does not affect other items",
        arguments: StoragePolicy.allCases)
    func damaged(_ policy: StoragePolicy) async throws {
        let store = store(policy)
        let bytes = [UInt8](repeating: 7, count: 70_000)
        try await store.putBytes(bytes, for: "a")
        let path = try #require(folder.items.first)
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        try await store.put("fine", for: "b")
        var places = [0, 4, 5, 8, 24, 28, 60, whole.count / 2, whole.count - 1]
        places += stride(from: 24, to: whole.count, by: 9973)
        for place in places {
            var altered = whole
            altered[place] ^= 1
            try altered.write(to: URL(fileURLWithPath: path))
            await #expect(throws: PersistenceError.damaged(name: "a"), "byte \(place)") {
                try await store.bytes(for: "a")
            }
        }
        for length in [0, 10, 24, 100, whole.count - 70_000 + 65_536, whole.count - 1] {
            try whole.prefix(length).write(to: URL(fileURLWithPath: path))
            await #expect(throws: PersistenceError.damaged(name: "a"), "cut at \(length)") {
                try await store.bytes(for: "a")
            }
        }
        #expect(try await store.value(String.self, for: "b") == "fine")
        try whole.prefix(50).write(to: URL(fileURLWithPath: path))
        #expect(try await store.names() == ["b"])
        #expect(try await store.contains("a"))
        #expect(try await store.remove("a"))
    }

    @Test(
        "A damaged description of the store is a typed error, not a new store",
        arguments: ["", "rubbish", "{\"format\":2}"])
    func damagedMarker(_ content: String) async throws {
        try await store().put(1, for: "a")
        let path = folder.path + "/store"
        try Data(content.utf8).write(to: URL(fileURLWithPath: path))
        await #expect(throws: PersistenceError.unknownFormat(path: path)) { try await self.store().put(2, for: "a") }
        #expect(folder.items.count == 1)
    }

    @Test("A failed stream keeps the previous content and leaves no partial file")
    func failingStream() async throws {
        struct Lost: Error {}
        let store = store()
        try await store.putBytes([1], for: "a")
        let chunks = Chunks([[2], [3]])
        let failing = ByteStream {
            guard let chunk = await chunks.next() else { throw Lost() }
            return chunk
        }
        await #expect(throws: Lost.self) { try await store.putStream(failing, for: "a") }
        #expect(try await store.bytes(for: "a") == [1])
        #expect(folder.files.sorted() == folder.files.filter { !$0.hasPrefix(".") }.sorted())
    }

    @Test("A running read continues with the old content of an item")
    func readingWhileReplaced() async throws {
        let store = store()
        try await store.putBytes([UInt8](repeating: 1, count: 200_000), for: "a")
        let reading = try #require(try await store.stream(for: "a"))
        var all = try await reading.next() ?? []
        try await store.putBytes([2], for: "a")
        while let chunk = try await reading.next() { all += chunk }
        #expect(all == [UInt8](repeating: 1, count: 200_000))
        #expect(try await store.bytes(for: "a") == [2])
    }

    @Test("A value of another type, or an unencodable one, is a typed error without the value")
    func wrongTypes() async throws {
        let store = store()
        try await store.put("text", for: "a")
        await #expect(throws: PersistenceError.undecodable(name: "a", expected: "Int")) {
            try await store.value(Int.self, for: "a")
        }
        await #expect(throws: PersistenceError.unencodable(name: "a")) { try await store.put(Double.nan, for: "a") }
        #expect(try await store.value(String.self, for: "a") == "text")
    }

    @Test("Names and values are accepted up to their limits")
    func limits() async throws {
        let store = store(limits: PersistentStore.Limits(valueBytes: 1000, nameBytes: 10))
        try await store.putBytes([UInt8](repeating: 0, count: 999), for: "0123456789")
        try await store.putBytes([UInt8](repeating: 0, count: 1000), for: "012345678")
        await #expect(throws: PersistenceError.tooLarge(name: "a", bytes: 1001, limit: 1000)) {
            try await store.putBytes([UInt8](repeating: 0, count: 1001), for: "a")
        }
        await #expect(throws: PersistenceError.illegalName(bytes: 11, limit: 10)) {
            try await store.put(1, for: "0123456789a")
        }
        await #expect(throws: PersistenceError.illegalName(bytes: 0, limit: 10)) { try await store.contains("") }
        try await store.putStream(stream([[UInt8](repeating: 0, count: 1001)]), for: "s")
        await #expect(throws: PersistenceError.self) { try await store.bytes(for: "s") }
        #expect(try await store.stream(for: "s")?.collect(limit: 2000).count == 1001)
        #expect(PersistentStore.Limits() == PersistentStore.Limits(valueBytes: 64 << 20, nameBytes: 1024))
    }

    @Test("A folder that cannot be written is a typed error")
    func unwritable() async throws {
        let file = folder.path + ".file"
        try Data().write(to: URL(fileURLWithPath: file))
        defer { try? FileManager.default.removeItem(atPath: file) }
        for path in [file, file + "/below"] {
            let store = PersistentStore(folder: path, key: .given(.key(key)))
            await #expect(throws: PersistenceError.self) { try await store.put(1, for: "a") }
        }
        try await store().put(1, for: "a")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
        await #expect(throws: PersistenceError.exposed(path: folder.path)) { try await self.store().put(2, for: "a") }
    }

    @Test("A store that is removed while it is open is not created again silently")
    func removedStore() async throws {
        let store = store()
        try await store.put(1, for: "a")
        try FileManager.default.removeItem(atPath: folder.path)
        await #expect(throws: PersistenceError.storeRemoved(folder: folder.path)) {
            try await store.value(Int.self, for: "a")
        }
    }

    @Test("A store can be moved with its content, but not into a used folder")
    func move() async throws {
        let target = TemporaryFolder()
        let store = store()
        try await store.put(1, for: "a")
        try FileManager.default.createDirectory(atPath: target.path, withIntermediateDirectories: true)
        let other = target.path + "/file"
        try Data().write(to: URL(fileURLWithPath: other))
        await #expect(throws: PersistenceError.folderInUse(folder: target.path)) {
            try await store.move(to: target.path)
        }
        #expect(try await store.value(Int.self, for: "a") == 1)
        try FileManager.default.removeItem(atPath: other)
        try await store.move(to: target.path)
        #expect(await store.folder == target.path)
        #expect(try await store.value(Int.self, for: "a") == 1)
        try await store.put(2, for: "b")
        #expect(FileManager.default.fileExists(atPath: folder.path) == false)
        let reopened = PersistentStore(folder: target.path, key: .given(.key(key)))
        #expect(try await reopened.names() == ["a", "b"])
        let empty = PersistentStore(folder: folder.path, key: .given(.key(key)))
        try await empty.move(to: folder.path + "-2")
        #expect(try await empty.names().isEmpty)
    }

    @Test("The default folder is the cache folder of the XDG specification")
    func defaultFolder() {
        #if !canImport(Darwin)
            #expect(
                PersistentStore.defaultFolder(environment: ["XDG_CACHE_HOME": "/c", "HOME": "/h"]) == "/c/outpost/store"
            )
            #expect(
                PersistentStore.defaultFolder(environment: ["XDG_CACHE_HOME": "c", "HOME": "/h"])
                    == "/h/.cache/outpost/store")
        #endif
    }

    @Test("Several objects on one folder work at the same time and lose nothing")
    func concurrency() async throws {
        await withTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                let own = store()
                group.addTask {
                    for number in 0..<10 { try? await own.put("\(writer).\(number)", for: "\(writer)-\(number)") }
                }
            }
        }
        let reader = store()
        #expect(try await reader.names().count == 40)
        #expect(try await reader.value(String.self, for: "3-9") == "3.9")
    }
}

@Suite("A store of several processes")
struct PersistentStoreProcessTests {
    private static let probe: URL = {
        let candidates = [CommandLine.arguments[0], Bundle.main.bundlePath] + Bundle.allBundles.map(\.bundlePath)
        for candidate in candidates {
            let tool = URL(fileURLWithPath: candidate).deletingLastPathComponent().appendingPathComponent("CacheProbe")
            if FileManager.default.isExecutableFile(atPath: tool.path) { return tool }
        }
        return URL(fileURLWithPath: "CacheProbe")
    }()

    private let folder = TemporaryFolder()
    private let key = EncryptionKey.generate()

    private func start(_ arguments: String...) throws -> (process: Process, output: Pipe) {
        let process = Process()
        process.executableURL = Self.probe
        process.arguments = [arguments[0], folder.path, key.hexadecimal.reveal()] + arguments.dropFirst()
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        return (process, output)
    }

    @Test("Processes that write to a new folder at the same time lose nothing")
    func together() async throws {
        let processes = try ["a", "b", "c"].map { try start("put", $0, "8").process }
        for process in processes {
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
        }
        let store = PersistentStore(folder: folder.path, key: .given(.key(key)))
        #expect(try await store.names().count == 24)
        try await store.put("from here", for: "mine")
        let (reader, output) = try start("get", "mine")
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        reader.waitUntilExit()
        #expect(text == "from here\n")
    }

    @Test("A process that is killed while it writes leaves every item whole")
    func killed() async throws {
        let store = PersistentStore(folder: folder.path, key: .given(.key(key)))
        for round in 0..<6 {
            let (process, _) = try start("put", "k")
            let deadline = Date(timeIntervalSinceNow: 20)
            while try await store.names().count < 3, Date() < deadline { try await Task.sleep(for: .milliseconds(5)) }
            try await Task.sleep(for: .milliseconds(7 * round))
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            for number in 0..<3 {
                let text = try #require(try await store.value(String.self, for: "k\(number)"))
                let words = Set(text.split(separator: " "))
                #expect(words.count == 1)
            }
        }
        try await store.put("still works", for: "after")
        #expect(try await store.names().count == 4)
    }
}
