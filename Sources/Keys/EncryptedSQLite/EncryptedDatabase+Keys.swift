import CSQLite
package import Secrets

extension EncryptedDatabase {
    /// Returns whether a key opens a database. Unlocks nothing and writes nothing.
    ///
    /// - Parameters:
    ///   - path: The database file.
    ///   - source: A key or passphrase. A passphrase costs one derivation per process.
    /// - Returns: `false` also for a file that is missing, damaged or not an encrypted database.
    package static func isOpened(at path: String, by source: KeySource) -> Bool {
        guard (try? register()) != nil, let path = try? canonical(path),
            let file = try? KeyBlockFile(path: path, flags: SQLITE_OPEN_READONLY)
        else { return false }
        return (try? file.opened(with: source)) != nil
    }
}
