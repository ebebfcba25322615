import CSQLite
import Foundation
package import Secrets

/// A database file, plain or encrypted, that no connection can be opened to as long as this is there, in this process or
/// another: so that its files can be copied and replaced.
///
/// SQLite itself is kept away from files that are damaged: it ends the log at the damage, and deletes it when it closes them.
package final class ExclusiveDatabase {
    private let path: String
    private let file: KeyBlockFile

    /// How often the lock is tried, 20 milliseconds apart.
    private static let attempts = 25
    /// How many bytes are copied at once.
    private static let part = 64 << 10

    /// Takes the lock.
    ///
    /// - Parameter path: The database file.
    /// - Throws: ``EncryptedDatabaseError``: `busy` while a connection is open; `notFound`, `sqlite`, `unavailable`.
    package init(path: String) throws(EncryptedDatabaseError) {
        try EncryptedDatabase.register()
        let path = try EncryptedDatabase.canonical(path)
        let file = try KeyBlockFile(path: path, flags: SQLITE_OPEN_READWRITE)
        try file.lockOut(attempts: Self.attempts)
        self.path = path
        self.file = file
    }

    /// Copies the database file, byte by byte.
    ///
    /// - Parameter copy: A file that does not exist.
    /// - Throws: ``EncryptedDatabaseError``: `alreadyExists`, `sqlite`.
    package func copyFile(to copy: String) throws(EncryptedDatabaseError) {
        let target = try NewFile(path: copy)
        let size = try file.size()
        for offset in stride(from: Int64(0), to: size, by: Self.part) {
            let count = Int(min(size - offset, Int64(Self.part)))
            try target.write(try file.content(at: offset, count: count), at: offset)
        }
    }

    /// Copies a plain database that may have been cut: it is made as long as it says that it is.
    ///
    /// - Parameter copy: A file that does not exist, beside which there is no log; this one's is copied too.
    /// - Throws: ``EncryptedDatabaseError``: `alreadyExists`, `sqlite`.
    package func copyPlain(to copy: String) throws(EncryptedDatabaseError) {
        try copyFile(to: copy)
        let start = try file.content(at: 0, count: 100)
        func integer(_ range: Range<Int>) -> Int64 { start[range].reduce(0) { $0 << 8 | Int64($1) } }
        // SQLite's file format, 1.3: the page size, and the number of pages where it is valid.
        let pageSize = integer(16..<18) == 1 ? 65_536 : integer(16..<18)
        if integer(24..<28) == integer(92..<96), integer(28..<32) * pageSize > (try file.size()) {
            // What nothing vouches for may say more than a file can have.
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

    /// Writes what an encrypted database and its log have of each page into a database without a log, which the same key opens.
    ///
    /// Pages that do not open stay as they are, and pages that are missing are holes: a connection finds them as it does in a
    /// damaged file. What is damaged in the log is left out.
    ///
    /// - Parameters:
    ///   - copy: A file that does not exist.
    ///   - source: The database's key or passphrase.
    /// - Returns: How many frames of the log were left out. An earlier state of their pages stands in the copy.
    /// - Throws: ``EncryptedDatabaseError``: `alreadyExists`, what ``EncryptedDatabase/unlock(at:with:upgradesFormat:)`` throws.
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

    /// The pages of an encrypted database with its log.
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

    /// The pages of a plain database.
    func plainPages() throws(EncryptedDatabaseError) -> DatabasePages {
        let start = try file.content(at: 0, count: 100)
        // SQLite's file format, 1.3: where the start cannot be read, the page size is the one that the package makes.
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
