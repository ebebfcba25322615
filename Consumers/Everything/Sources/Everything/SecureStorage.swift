import Foundation
import Secrets
import SecureStorage

func usesSecureStorage() async throws {
    let path = NSTemporaryDirectory() + "consumer-\(UUID().uuidString).db"
    let store = try await SecureKeyValueStore.open(path: path, key: .key(.generate()))
    try await store.put(["theme": "dark"], named: "settings")
    print(try await store.value([String: String].self, named: "settings") ?? [:])
    try FileManager.default.removeItem(atPath: path)
}
