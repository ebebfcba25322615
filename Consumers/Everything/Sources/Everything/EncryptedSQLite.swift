import EncryptedSQLite
import Foundation
import Secrets

func usesEncryptedSQLite() async throws {
    let path = NSTemporaryDirectory() + "consumer-\(UUID().uuidString).db"
    try EncryptedDatabase.create(at: path, key: .key(.generate()))
    print(try EncryptedDatabase.isEncrypted(at: path))
    try FileManager.default.removeItem(atPath: path)
}
