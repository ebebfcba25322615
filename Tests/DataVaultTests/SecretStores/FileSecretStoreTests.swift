import Foundation
import Secrets
import Testing

@testable import DataVault

/// A store in a temporary folder, which is removed with this object.
private final class Fixture {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("vault-\(UUID().uuidString)")
    let store: FileSecretStore
    var keys: String { folder.path + "/deep/keys" }

    init() throws {
        store = try FileSecretStore(directory: folder.path + "/deep/keys")
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    func setMode(_ mode: Int, _ path: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }
}

@Suite("Secrets in owner-only files")
struct FileSecretStoreTests {
    private func name(_ text: String) throws -> SecretName { try SecretName(text) }

    @Test("A stored secret is read back, replaced, listed and removed")
    func roundTrip() throws {
        let fixture = try Fixture()
        let store = fixture.store
        #expect(try store.names() == [])
        #expect(try store.secret(named: name("a")) == nil)
        try store.remove(named: name("a"))
        try store.set(Secret([1, 2, 3]), named: name("b"))
        try store.set(Secret([]), named: name("a"))
        try store.set(Secret([4]), named: name("b"))
        #expect(try store.secret(named: name("a"))?.reveal() == [])
        #expect(try store.secret(named: name("b"))?.reveal() == [4])
        try Data().write(to: URL(fileURLWithPath: fixture.keys + "/.new-crashed"))
        #expect(try store.names().map(\.text) == ["a", "b"])
        try store.remove(named: name("b"))
        #expect(try store.secret(named: name("b")) == nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.keys).sorted() == [".new-crashed", "a"])
    }

    @Test("A removal deletes half-written files after a crash, and keeps files that are being written")
    func leftovers() throws {
        let fixture = try Fixture()
        try fixture.store.set(Secret([1]), named: name("a"))
        for (file, age) in [(".new-old", 3700.0), (".new-young", 3500.0), (".other", 1e6)] {
            let path = fixture.keys + "/" + file
            try Data([1]).write(to: URL(fileURLWithPath: path))
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -age)], ofItemAtPath: path)
        }
        try fixture.store.remove(named: name("a"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.keys).sorted() == [".new-young", ".other"])
    }

    @Test("A removal deletes all unfinished files of its secret, except those that are being written")
    func unfinished() throws {
        let fixture = try Fixture()
        try fixture.store.set(Secret([1]), named: name("a"))
        for file in [".new-1-a", ".new-2-b-a", ".new-3-b", ".new-4-a"] {
            try Data([1]).write(to: URL(fileURLWithPath: fixture.keys + "/" + file))
        }
        let lock = try #require(try SystemFiles().lock(fixture.keys + "/.new-4-a"))
        try fixture.store.remove(named: name("a"))
        let left = try FileManager.default.contentsOfDirectory(atPath: fixture.keys).sorted()
        #expect(left == [".new-2-b-a", ".new-3-b", ".new-4-a"])
        withExtendedLifetime(lock) {}
    }

    @Test("A file is locked while it is written, so that a removal does not delete it")
    func making() throws {
        let fixture = try Fixture()
        let files = SystemFiles()
        try files.makeDirectory(fixture.keys)
        let lock = try files.create(fixture.keys + "/.new-1-a", [1])
        #expect(try !files.removeUnfinished("a", in: fixture.keys))
        withExtendedLifetime(lock) {}
    }

    @Test("After a crash at any moment, a removal leaves no copy of the secret")
    func removalAfterCrash() throws {
        for steps in 0..<8 {
            let disk = MemoryFiles()
            let store = FileSecretStore(directory: "/keys", files: disk)
            try store.set(Secret([1]), named: name("b"))
            disk.endWorld(after: steps, tears: true)
            try? store.set(Secret([2, 2]), named: name("a"))
            let restarted = disk.restarted { _ in true }
            try FileSecretStore(directory: "/keys", files: restarted).remove(named: name("a"))
            #expect(try restarted.names(in: "/keys") == ["b"], "\(steps)")
        }
    }

    @Test("Files are 0600 in a folder of 0700")
    func modes() throws {
        let fixture = try Fixture()
        try fixture.store.set(Secret([1]), named: name("a"))
        #expect(try fixture.mode(fixture.keys) == 0o700)
        #expect(try fixture.mode(fixture.keys + "/a") == 0o600)
    }

    @Test("A file that other users can access is refused", arguments: [0o640, 0o604, 0o620, 0o602, 0o601])
    func exposedFile(mode: Int) throws {
        let fixture = try Fixture()
        try fixture.store.set(Secret([1]), named: name("a"))
        let path = fixture.keys + "/a"
        try fixture.setMode(mode, path)
        #expect(throws: DataVaultError.exposed(path: path, mode: UInt32(mode))) {
            try fixture.store.secret(named: name("a"))
        }
        #expect(try fixture.mode(path) == mode)
    }

    @Test("A folder that other users can access is refused for reading and writing")
    func exposedFolder() throws {
        let fixture = try Fixture()
        try fixture.store.set(Secret([1]), named: name("a"))
        try fixture.setMode(0o755, fixture.keys)
        let expected = DataVaultError.exposed(path: fixture.keys, mode: 0o755)
        #expect(throws: expected) { try fixture.store.secret(named: name("a")) }
        #expect(throws: expected) { try fixture.store.set(Secret([1]), named: name("b")) }
        #expect(throws: expected) { try fixture.store.names() }
        #expect(throws: expected) { try fixture.store.remove(named: name("a")) }
    }

    @Test("A symbolic link and a folder in place of a file are refused")
    func notFiles() throws {
        let fixture = try Fixture()
        try fixture.store.set(Secret([1]), named: name("a"))
        let link = fixture.keys + "/link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: fixture.keys + "/a")
        #expect(throws: DataVaultError.notAFile(path: link)) { try fixture.store.secret(named: name("link")) }
        let folder = fixture.keys + "/folder"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        #expect(throws: DataVaultError.notAFile(path: folder)) { try fixture.store.secret(named: name("folder")) }
    }

    @Test("A generated key is stored as a key file, is read again and is never replaced")
    func generatedKey() throws {
        let fixture = try Fixture()
        let key = try fixture.store.generateKey(named: name("k"))
        #expect(try fixture.store.key(named: name("k")) == key)
        let file = try KeyFile(path: fixture.keys + "/k")
        #expect(file.hasHeader && file.key == key)
        #expect(throws: DataVaultError.alreadyExists(name: "k")) { try fixture.store.generateKey(named: name("k")) }
        #expect(try fixture.store.key(named: name("k")) == key)
        #expect(try fixture.store.names().map(\.text) == ["k"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.keys) == ["k"])
    }

    @Test("A secret that is no key is not used as a key")
    func notAKey() throws {
        let fixture = try Fixture()
        try fixture.store.set(Secret(Array("password".utf8)), named: name("p"))
        #expect(throws: DataVaultError.notAKey(name: "p")) { try fixture.store.key(named: name("p")) }
        #expect(try fixture.store.key(named: name("none")) == nil)
    }

    @Test("A secret one byte over the limit is refused when set and when read")
    func limit() throws {
        let fixture = try Fixture()
        let limit = DataVaultLimits.maximumSecretByteCount
        try fixture.store.set(Secret([UInt8](repeating: 7, count: limit)), named: name("a"))
        #expect(try fixture.store.secret(named: name("a"))?.reveal().count == limit)
        #expect(throws: DataVaultError.tooLong(name: "a", bytes: limit + 1)) {
            try fixture.store.set(Secret([UInt8](repeating: 7, count: limit + 1)), named: name("a"))
        }
        let path = fixture.keys + "/a"
        try Data(repeating: 7, count: limit + 1).write(to: URL(fileURLWithPath: path))
        try fixture.setMode(0o600, path)
        #expect(throws: DataVaultError.self) { try fixture.store.secret(named: name("a")) }
    }

    @Test(
        "Names that are not safe as file names are refused",
        arguments: ["", ".", "..", ".x", "a/b", "a b", "ä", "a\0", "a\n"])
    func illegalNames(text: String) {
        #expect(throws: DataVaultError.self) { try SecretName(text) }
    }

    @Test("A name may have at most 128 characters")
    func nameLength() throws {
        _ = try SecretName(String(repeating: "x", count: 128))
        let long = String(repeating: "x", count: 129)
        #expect(throws: DataVaultError.illegalName(long, position: 129)) { try SecretName(long) }
        #expect(throws: DataVaultError.illegalName("ab/c", position: 2)) { try SecretName("ab/c") }
    }

    @Test("The default folder follows the XDG base directory specification")
    func defaultDirectory() throws {
        func folder(_ environment: [String: String]) throws -> String {
            try FileSecretStore.defaultDirectory(environment: environment)
        }
        #expect(try folder(["XDG_DATA_HOME": "/data", "HOME": "/home/u"]) == "/data/outpost/keys")
        #expect(try folder(["HOME": "/home/u"]) == "/home/u/.local/share/outpost/keys")
        #expect(try folder(["XDG_DATA_HOME": "relative", "HOME": "/home/u"]) == "/home/u/.local/share/outpost/keys")
        #expect(throws: DataVaultError.noHome) { try folder([:]) }
    }
}
