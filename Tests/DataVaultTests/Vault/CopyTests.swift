import Foundation
import Secrets
import Testing

@testable import DataVault

/// The detection of restored copies of a vault's file; the documentation has the same table.
@Suite("Copied and restored vault files")
struct VaultCopyTests {
    private func copy(_ fixture: VaultFixture) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: fixture.path("v.vault")))
    }

    private func restore(_ data: Data, _ fixture: VaultFixture) throws {
        let path = fixture.path("v.vault")
        try? FileManager.default.removeItem(atPath: path)
        #expect(FileManager.default.createFile(atPath: path, contents: data, attributes: [.posixPermissions: 0o600]))
    }

    @Test("An older file with an older password is refused")
    func olderPassword() async throws {
        let fixture = try VaultFixture()
        let vault = try await fixture.folder.create("v", .old)
        let data = try copy(fixture)
        try await vault.changePassword(to: .new)
        try restore(data, fixture)
        await #expect(throws: DataVaultError.olderCopy(name: "v")) { try await fixture.folder.open("v").unlock(.old) }
    }

    @Test("An older file with an older policy is refused, even if its epoch is forged")
    func olderPolicy() async throws {
        let fixture = try VaultFixture()
        let vault = try await fixture.folder.create("v", .old)
        var data = try copy(fixture)
        try await vault.setPasswordPolicy(PasswordPolicy())
        try restore(data, fixture)
        await #expect(throws: DataVaultError.olderCopy(name: "v")) { try await fixture.folder.open("v").unlock(.old) }
        data[31] = 9
        try restore(data, fixture)
        await #expect {
            try await fixture.folder.open("v").unlock(.old)
        } throws: {
            guard case .damaged? = $0 as? DataVaultError else { return false }
            return true
        }
    }

    @Test("Reading a damaged file with the right password does not count as an attempt")
    func damaged() async throws {
        let fixture = try VaultFixture()
        let vault = try await fixture.folder.create("v", .old)
        try await vault.setRetryLimit(2)
        let data = try copy(fixture)
        var altered = data
        altered[data.count - 20] ^= 1
        try restore(altered, fixture)
        for _ in 0..<4 {
            await #expect(
                throws: DataVaultError.damaged(
                    path: fixture.path("v.vault"), offset: 220, expected: "content sealed under the vault's key")
            ) {
                try await fixture.folder.open("v").unlock(.old)
            }
        }
        try restore(data, fixture)
        try await fixture.folder.open("v").unlock(.old)
    }

    @Test("Restoring an older file restores neither attempts nor a higher limit")
    func counter() async throws {
        let fixture = try VaultFixture()
        let vault = try await fixture.folder.create("v", .old)
        let unlimited = try copy(fixture)
        try await vault.setRetryLimit(3)
        for _ in 0..<2 {
            _ = try? await fixture.folder.open("v").unlock(.wrong)
            try restore(unlimited, fixture)
        }
        await #expect(throws: DataVaultError.destroyed(name: "v")) { try await fixture.folder.open("v").unlock(.wrong) }
        try restore(unlimited, fixture)
        await #expect(throws: DataVaultError.keysMissing(name: "v")) { try await fixture.folder.open("v").unlock(.old) }
    }

    @Test("Restoring the file of a deleted vault does not open it")
    func deleted() async throws {
        let fixture = try VaultFixture()
        _ = try await fixture.folder.create("v", .old)
        let data = try copy(fixture)
        try await fixture.folder.delete("v")
        try restore(data, fixture)
        await #expect(throws: DataVaultError.keysMissing(name: "v")) { try await fixture.folder.open("v").unlock(.old) }
        try await fixture.folder.delete("v")
        _ = try await fixture.folder.create("v", .new)
    }

    @Test("A file on another machine, without the key store, opens with no password")
    func elsewhere() async throws {
        let fixture = try VaultFixture()
        _ = try await fixture.folder.create("v", .old)
        let other = try VaultFixture()
        _ = try await other.folder.create("x", .old)
        try restore(try copy(fixture), other)
        await #expect(throws: DataVaultError.keysMissing(name: "v")) { try await other.folder.open("v").unlock(.old) }
    }

    @Test("A restored older value under the same password is not detected, nor is a copy with its key store")
    func unnoticed() async throws {
        let fixture = try VaultFixture()
        let vault = try await fixture.folder.create("v", .old)
        try await vault.setString("older", named: "a")
        let data = try copy(fixture)
        try await vault.setString("newer", named: "a")
        try restore(data, fixture)
        #expect(try await vault.string(named: "a") == "older")
        let all = FileManager.default.temporaryDirectory.appendingPathComponent("copy-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: all) }
        try FileManager.default.copyItem(atPath: fixture.directory, toPath: all)
        try await VaultFolder(directory: all, keys: FileSecretStore(directory: all + "/keys")).open("v").unlock(.old)
    }
}
