import CSQLite

extension EncryptedDatabase {
    /// Returns the number of pages that are missing at the end of an unlocked database with a log.
    ///
    /// A page is missing if neither the file nor the part of the log that SQLite recovers contains it. SQLite
    /// takes the page count from the log and reads missing pages as zeros. A checkpoint then makes these zeros
    /// genuine pages. A crash does not cause such a file, because the log keeps every page until a checkpoint
    /// has written it.
    ///
    /// The caller must be in a read transaction, so that no connection shortens the file or restarts the log
    /// meanwhile.
    ///
    /// - Parameters:
    ///   - path: The database file.
    ///   - pageCount: The number of pages of the database in that transaction.
    /// - Returns: 0 if the file is long enough; the log is not read then.
    /// - Throws: ``EncryptedDatabaseError``: `locked` if the database was not unlocked; `notFound`, `sqlite`,
    ///   `unavailable`.
    package static func missingPages(
        at path: String, of pageCount: Int
    ) throws(EncryptedDatabaseError) -> Int {
        try register()
        let path = try canonical(path)
        guard let cipher = KeyRegistry.shared.cipher(forPath: path) else { throw .locked(path: path) }
        let file = try KeyBlockFile(path: path, flags: SQLITE_OPEN_READONLY)
        // A partial page does not count: a write behind it treats it as a gap.
        let there = Int(max(0, try file.size() - Int64(FileFormat.keyBlockSize))) / FileFormat.pageSize
        let version = (try? file.read())?.version ?? cipher.version
        guard pageCount > there, let log = LogReader(path: path + "-wal", cipher: cipher, version: version),
            let recovered = log.recovered, recovered.pageCount > there
        else { return 0 }
        return ((there + 1)...recovered.pageCount).count {
            recovered.frames[$0] == nil && $0 != FileFormat.lockPage
        }
    }
}
