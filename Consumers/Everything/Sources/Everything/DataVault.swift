import DataVault
import Foundation

func usesDataVault() async throws {
    let directory = NSTemporaryDirectory() + "consumer-\(UUID().uuidString)"
    let vault = try FileSecretStore(directory: directory)
    print(try vault.generateKey(named: SecretName("store")))
    try FileManager.default.removeItem(atPath: directory)
}
