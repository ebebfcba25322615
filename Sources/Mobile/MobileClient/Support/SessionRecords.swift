import DataVault
import Foundation

/// The durable state of a session: small values as JSON in a vault that the platform's key opens.
///
/// Each step of onboarding is written here before its effect is visible.
actor SessionRecords {
    private let vault: Vault
    private let folder: VaultFolder
    private let afterWrite: (@Sendable (String) throws -> Void)?

    /// - Parameter afterWrite: Called with the name of each durable write; a test ends the device there.
    init(_ vault: Vault, in folder: VaultFolder, afterWrite: (@Sendable (String) throws -> Void)? = nil) {
        self.vault = vault
        self.folder = folder
        self.afterWrite = afterWrite
    }

    /// Returns a value; `nil` if there is none.
    func value<Value: Decodable & Sendable>(
        _ name: String, as type: Value.Type = Value.self
    ) async throws(MobileError) -> Value? {
        do throws(DataVaultError) {
            guard let bytes = try await opened().data(named: name) else { return nil }
            // A value of another version of the app counts as missing.
            return try? JSONDecoder().decode(Value.self, from: Data(bytes))
        } catch {
            throw MobileError(error)
        }
    }

    /// Writes a value durably; `nil` removes it.
    func set<Value: Encodable & Sendable>(_ value: Value?, _ name: String) async throws(MobileError) {
        do {
            if let value {
                let encoder = JSONEncoder()
                encoder.outputFormatting = .sortedKeys
                try await opened().setData(Array(try encoder.encode(value)), named: name)
            } else {
                try await opened().removeValue(named: name)
            }
            try afterWrite?(name)
        } catch let error as DataVaultError {
            throw MobileError(error)
        } catch let error as MobileError {
            throw error
        } catch {
            throw .device(reason: "\(error)")
        }
    }

    func remove(_ name: String) async throws(MobileError) { try await set(String?.none, name) }

    /// The vault, which another process may have locked by a change.
    private func opened() async throws(DataVaultError) -> Vault {
        if await vault.isLocked { try await vault.unlock(.platformKey) }
        return vault
    }
}
