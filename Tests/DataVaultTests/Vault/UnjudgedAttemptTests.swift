import Foundation
import Secrets
import Testing

@testable import DataVault

@Suite("An interrupted password check does not count as an attempt")
struct UnjudgedAttemptTests {
    /// Returns a locked vault that the third wrong password destroys.
    private func vault(in fixture: VaultFixture) async throws -> Vault {
        let vault = try await fixture.folder.create("v", .old)
        try await vault.setRetryLimit(3)
        await vault.lock()
        return vault
    }

    private func failures(in fixture: VaultFixture) throws -> UInt32 {
        let file = try #require(try fixture.folder.file(of: "v"))
        return try fixture.folder.record(file, "v").failures
    }

    @Test("The right password never destroys a vault, even if the device key is often unreadable")
    func deviceKey() async throws {
        let fixture = try VaultFixture()
        let vault = try await vault(in: fixture)
        let keys = fixture.path("keys")
        let names = try FileManager.default.contentsOfDirectory(atPath: keys).filter { !$0.contains(".tries") }
        let key = keys + "/" + (try #require(names.first { $0.hasPrefix("vault-") }))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: key)
        for _ in 0..<5 {
            await #expect(throws: DataVaultError.exposed(path: key, mode: 0o644)) { try await vault.unlock(.old) }
        }
        #expect(try failures(in: fixture) == 0)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
        try await vault.unlock(.old)
    }

    @Test("If the key derivation fails, its attempt is not counted, and earlier failures stay counted")
    func derivation() async throws {
        let fixture = try VaultFixture()
        let vault = try await vault(in: fixture)
        await #expect(throws: DataVaultError.wrongPassword(name: "v", attemptsLeft: 2)) {
            try await vault.unlock(.wrong)
        }
        let place = URL(fileURLWithPath: fixture.path("v.vault"))
        let whole = try Data(contentsOf: place)
        var dear = whole
        // The product of the values exceeds scrypt's limit for this block size (RFC 7914, 2), although each
        // value is in range.
        dear[33] = 20
        try write(dear, to: place)
        for _ in 0..<5 {
            await #expect(throws: DataVaultError.system(operation: "deriving the key", path: "vault", code: 0)) {
                try await vault.unlock(.old)
            }
        }
        #expect(try failures(in: fixture) == 1)
        try write(whole, to: place)
        await #expect(throws: DataVaultError.wrongPassword(name: "v", attemptsLeft: 1)) {
            try await vault.unlock(.wrong)
        }
        try await vault.unlock(.old)
    }

    /// Overwrites a file and keeps its permissions.
    private func write(_ data: Data, to place: URL) throws {
        let handle = try FileHandle(forWritingTo: place)
        try handle.write(contentsOf: data)
        try handle.close()
    }
}
