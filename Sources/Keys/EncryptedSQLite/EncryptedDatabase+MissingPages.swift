import CSQLite

extension EncryptedDatabase {
    /// How many pages are missing at the end of an unlocked database that has a log: neither the file has them, nor what SQLite
    /// recovers of the log.
    ///
    /// SQLite takes the number of pages from the log, and zeros for the pages that are missing; who moves the log into the file
    /// makes them genuine. A crash leaves no such file: what a checkpoint has not written yet is in the log.
    ///
    /// The caller is in a read transaction, so that nobody makes the file shorter or begins the log anew meanwhile.
    ///
    /// - Parameters:
    ///   - path: The database file.
    ///   - pageCount: How many pages the database has in that transaction.
    /// - Returns: 0 where the file is long enough, which takes no look into the log.
    /// - Throws: ``EncryptedDatabaseError``: `locked` when it was not unlocked; `notFound`, `sqlite`, `unavailable`.
    package static func missingPages(
        at path: String, of pageCount: Int
    ) throws(EncryptedDatabaseError) -> Int {
        try register()
        let path = try canonical(path)
        guard let cipher = KeyRegistry.shared.cipher(forPath: path) else { throw .locked(path: path) }
        let file = try KeyBlockFile(path: path, flags: SQLITE_OPEN_READONLY)
        // A page of which a part is there does not count: who writes behind it takes its place for a gap.
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
