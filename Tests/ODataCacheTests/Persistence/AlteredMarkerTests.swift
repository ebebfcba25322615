import Foundation
import Secrets
import Testing

@testable import ODataCache

@Suite("The format record of a store counts only if its key authenticates it")
struct AlteredMarkerTests {
    private let folder = TemporaryFolder()
    private let key = EncryptionKey.generate()

    private func store(_ policy: StoragePolicy = .full) -> PersistentStore {
        PersistentStore(folder: folder.path, policy: policy, key: .given(.key(key)))
    }

    /// Replaces all items in the folder by an unencrypted one, as an attacker without the key can do.
    private func plant(_ value: String, as name: String) async throws {
        let other = TemporaryFolder()
        try await PersistentStore(folder: other.path, policy: .unprotected).put(value, for: name)
        for item in folder.items { try FileManager.default.removeItem(atPath: item) }
        let item = try #require(other.items.first)
        let target = folder.path + "/" + (item as NSString).lastPathComponent
        try FileManager.default.copyItem(atPath: item, toPath: target)
    }

    /// Changes fields of the marker without the envelope.
    private func alter(_ fields: [String: Any]) throws {
        let url = URL(fileURLWithPath: folder.path + "/store")
        var marker = try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: url)) as? [String: Any])
        marker.merge(fields) { $1 }
        let handle = try FileHandle(forWritingTo: url)
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: JSONSerialization.data(withJSONObject: marker))
        try handle.close()
    }

    @Test(
        "An encrypted store refuses plain items, even if someone marks it as being encrypted",
        arguments: [("unprotected", "full", 1), ("unprotected", "full", 2), ("afterFirstUnlock", "full", 2)])
    func plainItems(policy: String, target: String, format: Int) async throws {
        try await store().put("mine", for: "a")
        try await plant("planted", as: "a")
        #expect(try await store().value(String.self, for: "a") == nil)
        try alter(["policy": policy, "target": target, "format": format])
        let altered = store()
        await #expect(throws: PersistenceError.self) { try await altered.value(String.self, for: "a") }
        await #expect(throws: PersistenceError.self) { try await altered.changePolicy(to: .full) }
    }

    @Test("During a change between encrypted stores, plain items are refused and not encrypted")
    func conversion() async throws {
        try await store().put("mine", for: "a")
        let mine = try #require(folder.items.first)
        let content = try Data(contentsOf: URL(fileURLWithPath: mine))
        try await plant("planted", as: "b")
        #expect(FileManager.default.createFile(atPath: mine, contents: content, attributes: [.posixPermissions: 0o600]))
        try await store().changePolicy(to: .afterFirstUnlock)
        let converted = store(.afterFirstUnlock)
        #expect(try await converted.value(String.self, for: "a") == "mine")
        #expect(try await converted.value(String.self, for: "b") == nil)
        #expect(try await converted.names() == ["a"])
    }

    @Test("After every change of policy, only the key of the store opens it")
    func changes() async throws {
        let store = store()
        try await store.put("mine", for: "a")
        for policy in [StoragePolicy.afterFirstUnlock, .unprotected, .full, .unprotected, .afterFirstUnlock, .full] {
            try await store.changePolicy(to: policy)
            #expect(try await self.store(policy).value(String.self, for: "a") == "mine", "\(policy)")
        }
        let wrong = PersistentStore(folder: folder.path, key: .given(.key(.generate())))
        await #expect(throws: PersistenceError.wrongKey(folder: folder.path)) { try await wrong.names() }
    }

    /// Creates a store in version 1 of the format with the value "kept" under `a`.
    private func version1() throws -> EncryptionKey {
        let files = [
            "b0c58be179df14d8288a37b64dab3c7140125b3378deb925cb34ab8c2cfdb900.item":
                "T1BJVAEBAACwyJBM218q8ovInLU0wWUTAAAAN/Fl6l2ygkvYUYfDahWFIiAsz4XbhVTyHURHMm9NM2t9SmTtYFMF"
                + "mDJ3wuzxmstPA0+uZS0FxCiAAAAi0gd7H+2cmfgbAuZszoH/Mzq5g6GpiUEjtdWjC86pkAMotg==",
            "store":
                "eyJwb2xpY3kiOiJmdWxsIiwiZW52ZWxvcGUiOiJUMUJMUlFFQUFBQUFBQUFBQUFBQUFEcE40N1Z1XC9LWk9mRmls"
                + "NGt2VGxid1RnYzhRNEtYb2xqSWxWYTQrXC82SHpkdDBWWStzUFhCdzVqSTErcTFYUDF3OWhxVG15YjRjNzZOR21s"
                + "ZHcyUk1STThFOFZYNU54MHJaZVA1dz0iLCJmb3JtYXQiOjF9",
        ]
        let manager = FileManager.default
        try manager.createDirectory(
            atPath: folder.path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        for (name, text) in files {
            let path = folder.path + "/" + name
            #expect(
                manager.createFile(
                    atPath: path, contents: Data(base64Encoded: text), attributes: [.posixPermissions: 0o600]))
        }
        return try EncryptionKey(hexadecimal: String(repeating: "0f", count: 32))
    }

    @Test("A store of an earlier version opens, and the next change of policy binds it to its key")
    func earlierVersion() async throws {
        let key = try version1()
        func marker() throws -> Data { try Data(contentsOf: URL(fileURLWithPath: folder.path + "/store")) }
        let before = try marker()
        let store = PersistentStore(folder: folder.path, key: .given(.key(key)))
        #expect(try await store.value(String.self, for: "a") == "kept")
        #expect(try marker() == before)
        let new = EncryptionKey.generate()
        try await store.changeKey(to: .given(.key(new)))
        try await store.changePolicy(to: .afterFirstUnlock)
        let reopened = PersistentStore(folder: folder.path, policy: .afterFirstUnlock, key: .given(.key(new)))
        #expect(try await reopened.value(String.self, for: "a") == "kept")
        try alter(["policy": "full"])
        let altered = PersistentStore(folder: folder.path, key: .given(.key(new)))
        await #expect(throws: PersistenceError.wrongKey(folder: folder.path)) { try await altered.names() }
    }

    @Test("A forged mark of running encryption in an earlier version is not accepted")
    func earlierConversion() async throws {
        let key = try version1()
        try await plant("planted", as: "a")
        try alter(["policy": "unprotected", "target": "full"])
        let store = PersistentStore(folder: folder.path, key: .given(.key(key)))
        let path = folder.path + "/store"
        await #expect(throws: PersistenceError.unknownFormat(path: path)) {
            try await store.value(String.self, for: "a")
        }
    }
}
