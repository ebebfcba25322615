import CSQLite
package import Secrets

extension EncryptedDatabase {
    /// Whether a key opens a database. Nothing is unlocked and nothing is written.
    ///
    /// - Parameters:
    ///   - path: The database file.
    ///   - source: A key or a passphrase, which costs one derivation per process.
    /// - Returns: False also for a file that is missing, damaged or no encrypted database.
    package static func isOpened(at path: String, by source: KeySource) -> Bool {
        guard (try? register()) != nil, let path = try? canonical(path),
            let file = try? KeyBlockFile(path: path, flags: SQLITE_OPEN_READONLY)
        else { return false }
        return (try? file.opened(with: source)) != nil
    }
}
