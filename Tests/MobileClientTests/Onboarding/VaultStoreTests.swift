import DataVault
import Foundation
import HTTPTypes
import ODataClient
import Secrets
import Testing

@testable import MobileClient

/// Credentials, tokens and cookies in a vault (requirements R43, B43).
@Suite("Stores of secrets in a vault") struct VaultStoreTests {
    private func withVault(_ body: (Vault, @escaping @Sendable () throws -> Vault) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("stores-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let vaults = try VaultFolder(
            directory: folder.path, keys: FileSecretStore(directory: folder.path + "/keys"),
            derivation: ScryptParameters(costExponent: 10, blockSize: 1, parallelization: 1))
        try await body(try await vaults.create("login"), { try vaults.open("login") })
    }

    @Test("Credentials belong to their space, and are there for the next process")
    func credentials() async throws {
        try await withVault { vault, open in
            let store = VaultCredentialStore(vault)
            let space = ProtectionSpace(
                host: "a.example", port: 443, scheme: "https", realm: String(repeating: "r", count: 500))
            let other = ProtectionSpace(host: "a.example", port: 80, scheme: "http", realm: "r")
            let ann = UserCredentials(user: "ann", password: "p")
            try await store.save(ann, for: space)
            #expect(try await store.credentials(for: other) == nil)
            let later = try open()
            try await later.unlock(.platformKey)
            #expect(try await VaultCredentialStore(later).credentials(for: space) == ann)
            try await store.save(ann, for: other)
            try await store.remove(for: space)
            #expect(try await store.credentials(for: space) == nil)
            try await vault.setString("kept", named: "other value")
            try await store.removeAll()
            #expect(try await store.credentials(for: other) == nil)
            #expect(try await vault.items.map(\.name) == ["other value"])
            await vault.lock()
            await #expect(throws: DataVaultError.locked(name: "login")) { try await store.credentials(for: space) }
        }
    }

    @Test("Tokens and cookies are kept by name")
    func tokensAndCookies() async throws {
        try await withVault { vault, _ in
            let tokens = OAuth2Tokens(accessToken: "a", refreshToken: "r", expires: 7)
            try await VaultTokens(vault, named: "shop").save(tokens)
            #expect(try await VaultTokens(vault, named: "shop").tokens() == tokens)
            #expect(try await VaultTokens(vault, named: "other").tokens() == nil)
            try await VaultTokens(vault, named: "shop").save(nil)
            #expect(try await VaultTokens(vault, named: "shop").tokens() == nil)
            let jar = CookieJar()
            var response = HTTPResponse(status: .ok)
            response.headerFields[.setCookie] = "session=1; Path=/; Max-Age=3600"
            jar.store(response, to: HTTPRequest(method: .get, scheme: "https", authority: "a.example", path: "/"))
            try await VaultCookies(vault, named: "shop").save(jar)
            let kept = try await VaultCookies(vault, named: "shop").cookies()
            #expect(kept == jar.cookies && kept.map(\.name) == ["session"])
        }
    }
}
