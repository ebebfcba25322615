import DataVault
import EncryptedSQLite
import ErrorCodes
import Foundation
import GRDB
import Secrets
import Testing

@testable import SecureStorage

/// A folder with an unlocked vault, removed with it.
private final class Fixture: Sendable {
    let directory: String
    let vault: Vault

    init() async throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("secure-\(UUID().uuidString)").path
        let vaults = try VaultFolder(
            directory: directory + "/vaults", keys: FileSecretStore(directory: directory + "/keys"),
            derivation: ScryptParameters(costExponent: 10, blockSize: 1, parallelization: 1))
        vault = try await vaults.create("v", VaultCredentials(password: "p"))
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    var path: String { directory + "/values.db" }
}

private struct Settings: Codable, Equatable {
    var theme: String
    var sizes: [Int]
}

@Suite("Values and databases with the key of a vault")
struct SecureStorageTests {
    @Test("A name with U+0000 is refused")
    func names() async throws {
        let fixture = try await Fixture()
        let store = try await SecureKeyValueStore.open(path: fixture.path, vault: fixture.vault, keyName: "k")
        try await store.put("first", named: "a")
        for work: @Sendable (String) async throws -> Void in [
            { try await store.put("second", named: $0) }, { _ = try await store.value(String.self, named: $0) },
            { try await store.remove(named: $0) },
        ] {
            await #expect(throws: SecureStorageError.self) { try await work("a\u{0}1") }
        }
        #expect(try await store.value(String.self, named: "a") == "first")
        #expect(try await store.names() == ["a"])
    }

    @Test("Values of any type are stored, read, listed, replaced and removed, also after reopening")
    func roundTrip() async throws {
        let fixture = try await Fixture()
        let store = try await SecureKeyValueStore.open(path: fixture.path, vault: fixture.vault, keyName: "k")
        let settings = Settings(theme: "dark", sizes: [1, 2])
        try await store.put(settings, named: "settings")
        try await store.put(42, named: "number")
        try await store.put("grün", named: "text")
        try await store.put(Data([0, 255]), named: "bytes")
        try await store.put(43, named: "number")
        try store.close()
        await #expect(throws: SecureStorageError.closed) { try await store.names() }

        let again = try await SecureKeyValueStore.open(path: fixture.path, vault: fixture.vault, keyName: "k")
        #expect(try await again.value(Settings.self, named: "settings") == settings)
        #expect(try await again.value(Int.self, named: "number") == 43)
        #expect(try await again.value(String.self, named: "text") == "grün")
        #expect(try await again.value(Data.self, named: "bytes") == Data([0, 255]))
        #expect(try await again.value(Int.self, named: "none") == nil)
        #expect(try await again.names() == ["bytes", "number", "settings", "text"])
        #expect(try await again.remove(named: "text"))
        #expect(try await !again.remove(named: "text"))
        try await again.removeAll()
        #expect(try await again.names() == [])
    }

    @Test("Several named stores share a file but no values")
    func severalStores() async throws {
        let fixture = try await Fixture()
        let database = try await SecureDatabase.open(path: fixture.path, vault: fixture.vault, keyName: "k")
        let (a, b) = (
            try await SecureKeyValueStore(database, name: "a"), try await SecureKeyValueStore(database, name: "b")
        )
        try await a.put(1, named: "x")
        try await b.put(2, named: "x")
        try await a.removeAll()
        #expect(try await a.value(Int.self, named: "x") == nil)
        #expect(try await b.value(Int.self, named: "x") == 2)
    }

    @Test("A value of another type is an error without the value")
    func undecodable() async throws {
        let fixture = try await Fixture()
        let store = try await SecureKeyValueStore.open(path: fixture.path, vault: fixture.vault, keyName: "k")
        try await store.put("SECRET", named: "x")
        let error = await #expect(throws: SecureStorageError.self) { try await store.value(Int.self, named: "x") }
        #expect(error == .undecodable(store: "default", name: "x", expected: "Int"))
        await #expect(throws: SecureStorageError.unencodable(store: "default", name: "y")) {
            try await store.put(Double.infinity, named: "y")
        }
    }

    @Test("A database that cannot be opened leaves no key unless another connection uses it")
    func failedOpening() async throws {
        let fixture = try await Fixture()
        let key = EncryptionKey.generate()
        let database = try SecureDatabase(path: fixture.path, key: .key(key))
        try await database.write { try $0.execute(sql: "CREATE TABLE t(a)") }
        try database.close()
        #expect(!EncryptedDatabase.isUnlocked(at: fixture.path))
        var bytes = try Data(contentsOf: URL(fileURLWithPath: fixture.path))
        // A byte of the first page, behind the key block.
        bytes[bytes.startIndex + 5000] ^= 1
        try bytes.write(to: URL(fileURLWithPath: fixture.path))
        #expect(throws: SecureStorageError.self) { try SecureDatabase(path: fixture.path, key: .key(key)) }
        #expect(!EncryptedDatabase.isUnlocked(at: fixture.path))
        try EncryptedDatabase.unlock(at: fixture.path, with: .key(key))
        #expect(throws: SecureStorageError.self) { try SecureDatabase(path: fixture.path, key: .key(key)) }
        #expect(EncryptedDatabase.isUnlocked(at: fixture.path))
        try EncryptedDatabase.lock(at: fixture.path)
    }

    @Test("A lock of another connection is a transient failure")
    func busy() {
        #expect(SecureStorageError(EncryptedDatabaseError.busy(path: "p")).failureKind == .transient)
        for (code, kind) in [(5, FailureKind.transient), (6, .transient), (517, .transient), (10, .device)] {
            #expect(SecureStorageError.database(code: code, message: "").failureKind == kind, "\(code)")
        }
    }

    @Test("A locked vault gives no key, and a wrong key opens nothing")
    func locked() async throws {
        let fixture = try await Fixture()
        try await SecureKeyValueStore.open(path: fixture.path, vault: fixture.vault, keyName: "k").close()
        await fixture.vault.lock()
        await #expect(throws: SecureStorageError.vault(.locked(name: "v"))) {
            try await SecureDatabase.open(path: fixture.path, vault: fixture.vault, keyName: "k")
        }
        #expect(throws: SecureStorageError.wrongKey(path: fixture.path)) {
            try SecureDatabase(path: fixture.path, key: .key(.generate()))
        }
        #expect(throws: SecureStorageError.notFound(path: fixture.path + "x")) {
            try SecureDatabase(path: fixture.path + "x", key: .key(.generate()), createsFile: false)
        }
    }

    @Test("The key is changed without rewriting the file, which contains no plain values")
    func rekey() async throws {
        let fixture = try await Fixture()
        let (first, second) = (EncryptionKey.generate(), EncryptionKey.generate())
        let store = try await SecureKeyValueStore.open(path: fixture.path, key: .key(first))
        try await store.put("PLAIN-MARKER", named: "x")
        let before = try Data(contentsOf: URL(fileURLWithPath: fixture.path))
        try store.close()
        let database = try SecureDatabase(path: fixture.path, key: .key(first))
        try database.rekey(from: .key(first), to: .key(second))
        try database.close()
        let after = try Data(contentsOf: URL(fileURLWithPath: fixture.path))
        #expect(before.count == after.count && before[4096...] == after[4096...])
        #expect(after.range(of: Data("PLAIN-MARKER".utf8)) == nil)
        let again = try await SecureKeyValueStore.open(path: fixture.path, key: .key(second))
        #expect(try await again.value(String.self, named: "x") == "PLAIN-MARKER")
    }

    @Test("A failed write changes nothing, and its error has no SQL")
    func failedWrite() async throws {
        let fixture = try await Fixture()
        let database = try await SecureDatabase.open(path: fixture.path, vault: fixture.vault, keyName: "k")
        let error = await #expect(throws: SecureStorageError.self) {
            try await database.write { database in
                try database.execute(sql: "CREATE TABLE t(a)")
                try database.execute(sql: "INSERT INTO nothing VALUES ('SECRET')")
            }
        }
        #expect(error.map { !"\($0)".contains("SECRET") } == true)
        #expect(try await database.read { try $0.tableExists("t") } == false)
    }
}
