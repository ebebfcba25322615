import CSQLite
import Foundation
package import Secrets

/// An exclusive lock on a database file, plain or encrypted, so that its files can be copied and replaced.
///
/// No connection in any process can open the database while this object exists. Damaged files must not be
/// opened with SQLite: SQLite ends the log at the damage, and deletes the log when the database is closed.
package final class ExclusiveDatabase {
    private let path: String
    private let file: KeyBlockFile

    /// The number of attempts to take the lock, 20 milliseconds apart.
    private static let attempts = 25
    /// The number of bytes that are copied at once.
    private static let part = 64 << 10

    /// Takes the lock.
    ///
    /// - Parameter path: The database file.
    /// - Throws: ``EncryptedDatabaseError``: `busy` if a connection is open; `notFound`, `sqlite`,
    ///   `unavailable`.
    package init(path: String) throws(EncryptedDatabaseError) {
        try EncryptedDatabase.register()
        let path = try EncryptedDatabase.canonical(path)
        let file = try KeyBlockFile(path: path, flags: SQLITE_OPEN_READWRITE)
        try file.lockOut(attempts: Self.attempts)
        self.path = path
        self.file = file
    }

    /// Copies the database file byte by byte.
    ///
    /// - Parameter copy: The path of the copy, which must not exist.
    /// - Throws: ``EncryptedDatabaseError``: `alreadyExists`, `sqlite`.
    package func copyFile(to copy: String) throws(EncryptedDatabaseError) {
        let target = try NewFile(path: copy)
        let size = try file.size()
        for offset in stride(from: Int64(0), to: size, by: Self.part) {
            let count = Int(min(size - offset, Int64(Self.part)))
            try target.write(try file.content(at: offset, count: count), at: offset)
        }
    }

    /// Copies a plain database, its log and its journal. A truncated file is extended to the length that its
    /// header states.
    ///
    /// - Parameter copy: The path of the copy, which must not exist, nor a log beside it.
    /// - Throws: ``EncryptedDatabaseError``: `alreadyExists`, `sqlite`.
    package func copyPlain(to copy: String) throws(EncryptedDatabaseError) {
        try copyFile(to: copy)
        let start = try file.content(at: 0, count: 100)
        func integer(_ range: Range<Int>) -> Int64 { start[range].reduce(0) { $0 << 8 | Int64($1) } }
        // SQLite's file format, 1.3: the page size, and the page count if it is valid.
        let pageSize = integer(16..<18) == 1 ? 65_536 : integer(16..<18)
        if integer(24..<28) == integer(92..<96), integer(28..<32) * pageSize > (try file.size()) {
            // The count is not authenticated and may exceed the largest possible file, so a failure is ignored.
            try? NewFile(opening: copy).lengthen(to: integer(28..<32) * pageSize)
        }
        for suffix in ["-wal", "-journal"] where FileManager.default.fileExists(atPath: path + suffix) {
            do {
                try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
            } catch {
                throw .sqlite(path: path + suffix, operation: "copying", code: SQLITE_IOERR_WRITE)
            }
        }
    }

    /// Writes the pages of an encrypted database and its log to a database without a log, which the same key
    /// opens.
    ///
    /// Pages that do not open are copied unchanged, and missing pages are holes. A connection reports both as
    /// it does in a damaged file. Damaged frames of the log are omitted.
    ///
    /// - Parameters:
    ///   - copy: The path of the copy, which must not exist.
    ///   - source: The database's key or passphrase.
    /// - Returns: The number of omitted log frames. The copy has earlier versions of their pages.
    /// - Throws: ``EncryptedDatabaseError``: `alreadyExists`, and the errors of
    ///   ``EncryptedDatabase/unlock(at:with:upgradesFormat:)``.
    package func copyContent(to copy: String, openedWith source: KeySource) throws(EncryptedDatabaseError) -> Int {
        let (content, block, log) = try opened(with: source)
        let there = try content.filePageCount()
        let count = try content.statedPageCount() ?? max(there, content.lastPageInLog)
        let target = try NewFile(path: copy)
        try target.write(block.bytes, at: 0)
        func offset(_ number: Int) -> Int64 {
            Int64(FileFormat.keyBlockSize) + Int64(number - 1) * Int64(FileFormat.pageSize)
        }
        for number in stride(from: 1, through: min(count, max(there, content.lastPageInLog)), by: 1)
        where number <= there || content.isInLog(number) {
            try target.write(try content.movedPage(number), at: offset(number))
        }
        try target.lengthen(to: offset(count + 1))
        return log?.unusableCount ?? 0
    }

    /// Returns the pages of an encrypted database including its log.
    func content(openedWith source: KeySource) throws(EncryptedDatabaseError) -> CommittedContent {
        try opened(with: source).content
    }

    private func opened(
        with source: KeySource
    ) throws(EncryptedDatabaseError) -> (content: CommittedContent, block: KeyBlock, log: LogReader?) {
        let (block, dataKey) = try file.opened(with: source)
        let cipher = PageCipher(dataKey: dataKey, fileIdentity: block.fileIdentity, version: block.version)
        let log = LogReader(path: path + "-wal", cipher: cipher, version: block.version)
        return (CommittedContent(file: file, cipher: cipher, log: log), block, log)
    }

    /// Returns the pages of a plain database.
    func plainPages() throws(EncryptedDatabaseError) -> DatabasePages {
        let start = try file.content(at: 0, count: 100)
        // SQLite's file format, 1.3. If the header is unreadable, this package's page size is assumed.
        let stated = Int(start[16]) << 8 | Int(start[17])
        let size = stated == 1 ? 65_536 : stated
        let isValid = size >= 512 && size & (size - 1) == 0
        let pageSize = isValid ? size : FileFormat.pageSize
        let file = file
        return DatabasePages(
            count: Int(try file.size() / Int64(pageSize)), usableSize: pageSize - (isValid ? Int(start[20]) : 0)
        ) { number in
            try? file.content(at: Int64(number - 1) * Int64(pageSize), count: pageSize)
        }
    }
}
