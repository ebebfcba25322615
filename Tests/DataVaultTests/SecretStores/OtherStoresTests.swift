import Foundation
import Secrets
import Testing

@testable import DataVault

@Suite("Sealed secrets and the kernel's keyring")
struct OtherStoresTests {
    private func behaves(_ store: any SecretStore) throws {
        let (a, b, k) = (try SecretName("a"), try SecretName("b"), try SecretName("k"))
        #expect(try store.secret(named: a) == nil)
        try store.remove(named: a)
        try store.set(Secret([1, 2, 3]), named: b)
        try store.set(Secret([]), named: a)
        try store.set(Secret([4]), named: b)
        #expect(try store.secret(named: a)?.reveal() == [])
        #expect(try store.secret(named: b)?.reveal() == [4])
        #expect(throws: DataVaultError.alreadyExists(name: "b")) { try store.add(Secret([5]), named: b) }
        let key = try store.generateKey(named: k)
        #expect(try store.key(named: k) == key)
        #expect(try store.names() == [a, b, k])
        for name in [a, b, k] { try store.remove(named: name) }
        #expect(try store.names() == [])
    }

    @Test("Sealed secrets are read with their master key and under their own name only")
    func sealed() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("sealed-\(UUID().uuidString)")
            .path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let files = try FileSecretStore(directory: directory)
        let master = EncryptionKey.generate()
        let store = SealedSecretStore(files, masterKey: master)
        try behaves(store)
        let (a, b) = (try SecretName("a"), try SecretName("b"))
        try store.set(Secret(Array("plain text".utf8)), named: a)
        let sealed = try #require(try files.secret(named: a))
        #expect(Data(sealed.reveal()).range(of: Data("plain".utf8)) == nil)
        try files.set(sealed, named: b)
        #expect(throws: DataVaultError.unsealable(name: "b")) { try store.secret(named: b) }
        #expect(throws: DataVaultError.unsealable(name: "a")) {
            try SealedSecretStore(files, masterKey: .generate()).secret(named: a)
        }
        var altered = sealed.reveal()
        altered[20] ^= 1
        try files.set(Secret(altered), named: a)
        #expect(throws: DataVaultError.unsealable(name: "a")) { try store.secret(named: a) }
    }

    #if os(Linux)
        private static var hasKeyring: Bool { (try? KeyringSecretStore(name: "outpost-test").names()) != nil }

        @Test(
            "The kernel's keyring keeps secrets",
            .enabled(if: hasKeyring, "the kernel's keyring is not to be used here"))
        func keyring() throws {
            try behaves(KeyringSecretStore(name: "outpost-test-\(UInt32.random(in: 0 ... .max))"))
        }
    #endif
}
