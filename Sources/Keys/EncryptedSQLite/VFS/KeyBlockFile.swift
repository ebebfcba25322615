import CSQLite
import Foundation
import Secrets

/// A database file opened only for its key block, beneath the encryption.
///
/// Access goes through SQLite's `unix` VFS, to keep the locks of other connections; see ``BaseFile``.
final class KeyBlockFile {
    private let path: String
    private let name: UnsafePointer<CChar>
    private let memory: UnsafeMutableRawPointer
    private let file: BaseFile

    /// - Parameters:
    ///   - path: A canonical path.
    ///   - flags: `SQLITE_OPEN_READONLY` or `SQLITE_OPEN_READWRITE`.
    init(path: String, flags: Int32) throws(EncryptedDatabaseError) {
        guard let base = EncryptingVFS.base else { throw .unavailable(code: SQLITE_NOTFOUND) }
        // The unix VFS looks for URI parameters behind the name, so SQLite must create the name.
        guard let name = sqlite3_create_filename(path, "", "", 0, nil) else {
            throw .sqlite(path: path, operation: "opening", code: SQLITE_NOMEM)
        }
        let memory = UnsafeMutableRawPointer.allocate(byteCount: Int(base.pointee.szOsFile), alignment: 16)
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: Int(base.pointee.szOsFile))
        let file = BaseFile(pointer: memory.assumingMemoryBound(to: sqlite3_file.self))
        var opened: Int32 = 0
        var code =
            base.pointee.xOpen?(base, name, file.pointer, flags | SQLITE_OPEN_MAIN_DB, &opened)
            ?? SQLITE_CANTOPEN
        if code == SQLITE_OK, opened & flags & SQLITE_OPEN_READWRITE != flags & SQLITE_OPEN_READWRITE {
            // The unix VFS falls back to read-only access without write permission.
            code = SQLITE_READONLY
        }
        guard code == SQLITE_OK else {
            _ = file.closeIfOpen()
            memory.deallocate()
            sqlite3_free_filename(name)
            guard FileManager.default.fileExists(atPath: path) else { throw .notFound(path: path) }
            throw .sqlite(path: path, operation: "opening", code: code)
        }
        self.path = path
        self.name = name
        self.memory = memory
        self.file = file
    }

    deinit {
        _ = file.close()
        memory.deallocate()
        sqlite3_free_filename(name)
    }

    /// Reads the key block.
    func read() throws(EncryptedDatabaseError) -> KeyBlock {
        do {
            return try Self.block(of: file)
        } catch {
            switch error {
            case .plainDatabase: throw .plainDatabase(path: path)
            case .notADatabase: throw .notADatabase(path: path)
            case .unsupportedFormat(let version): throw .unsupportedFormat(path: path, version: version)
            case .damaged: throw .damagedKeyBlock(path: path)
            case .unreadable(let code): throw .sqlite(path: path, operation: "reading", code: code)
            }
        }
    }

    /// Reads and opens the key block. Damaged bytes are reconstructed if the format determines their value.
    func opened(with source: KeySource) throws(EncryptedDatabaseError) -> (block: KeyBlock, dataKey: EncryptionKey) {
        let refusal: EncryptedDatabaseError
        do throws(EncryptedDatabaseError) {
            let block = try read()
            let dataKey = try EncryptedDatabase.translating(path) { () throws(SecretError) in
                try block.dataKey(with: source)
            }
            return (block, dataKey)
        } catch {
            refusal = error
        }
        switch refusal {
        case .notADatabase, .unsupportedFormat, .damagedKeyBlock:
            for block in KeyBlock.mended(try content(at: 0, count: FileFormat.keyBlockSize)) {
                if let dataKey = try? block.dataKey(with: source) { return (block, dataKey) }
            }
        default: break
        }
        throw refusal
    }

    /// Reads the key block of an open file.
    ///
    /// A re-keying in another process changes both slots within milliseconds. A block without a valid slot is
    /// therefore read again before it is reported as damaged.
    static func block(of file: BaseFile) throws(KeyBlock.Refusal) -> KeyBlock {
        for _ in 0..<3 {
            do {
                return try KeyBlock(bytes: bytes(of: file))
            } catch {
                guard error == .damaged else { throw error }
                sqlite3_sleep(2)
            }
        }
        return try KeyBlock(bytes: bytes(of: file))
    }

    /// Returns bytes of the file; bytes behind its end are zeros.
    func content(at offset: Int64, count: Int) throws(EncryptedDatabaseError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let code = bytes.withUnsafeMutableBytes { file.read($0, at: offset) }
        guard code == SQLITE_OK || code == SQLITE_IOERR_SHORT_READ else {
            throw .sqlite(path: path, operation: "reading", code: code)
        }
        return bytes
    }

    /// Returns the size of the file in bytes, including the key block.
    func size() throws(EncryptedDatabaseError) -> Int64 {
        var size: Int64 = 0
        let code = file.size(&size)
        guard code == SQLITE_OK else { throw .sqlite(path: path, operation: "reading", code: code) }
        return size
    }

    private static func bytes(of file: BaseFile) throws(KeyBlock.Refusal) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: FileFormat.keyBlockSize)
        let code = bytes.withUnsafeMutableBytes { file.read($0, at: 0) }
        guard code == SQLITE_OK || code == SQLITE_IOERR_SHORT_READ else { throw .unreadable(code) }
        return bytes
    }

    /// Takes the exclusive lock of the database until it is released. Every connection to a database with a log
    /// holds SQLite's SHARED lock while open, so no other connection can exist in any process.
    ///
    /// - Parameter attempts: The number of attempts, 20 milliseconds apart, because short reads of a database
    ///   end soon.
    func lockOut(attempts: Int) throws(EncryptedDatabaseError) {
        for attempt in 1...attempts {
            var code = SQLITE_OK
            for level in [SQLITE_LOCK_SHARED, SQLITE_LOCK_RESERVED, SQLITE_LOCK_EXCLUSIVE] where code == SQLITE_OK {
                code = file.lock(level)
            }
            guard code != SQLITE_OK else { return }
            _ = file.unlock(SQLITE_LOCK_NONE)
            guard code & 0xFF == SQLITE_BUSY else { throw .sqlite(path: path, operation: "locking", code: code) }
            if attempt < attempts { sqlite3_sleep(20) }
        }
        throw .busy(path: path)
    }

    /// Releases every lock.
    func unlock() { _ = file.unlock(SQLITE_LOCK_NONE) }

    /// Runs `body` while no other process or thread can re-key the database.
    ///
    /// The lock is SQLite's RESERVED lock, which connections hold only while they write with a rollback
    /// journal. A database with a write-ahead log therefore stays usable.
    func whileReserved(_ body: () throws(EncryptedDatabaseError) -> Void) throws(EncryptedDatabaseError) {
        for level in [SQLITE_LOCK_SHARED, SQLITE_LOCK_RESERVED] {
            let code = file.lock(level)
            guard code == SQLITE_OK else {
                _ = file.unlock(SQLITE_LOCK_NONE)
                if code & 0xFF == SQLITE_BUSY { throw .busy(path: path) }
                throw .sqlite(path: path, operation: "locking", code: code)
            }
        }
        defer { _ = file.unlock(SQLITE_LOCK_NONE) }
        try body()
    }

    /// Writes bytes of the key block durably.
    func write(_ bytes: [UInt8], at offset: Int) throws(EncryptedDatabaseError) {
        var code = bytes.withUnsafeBytes { file.write($0, at: Int64(offset)) }
        if code == SQLITE_OK { code = file.sync(SQLITE_SYNC_FULL) }
        guard code == SQLITE_OK else { throw .sqlite(path: path, operation: "writing the key block", code: code) }
    }
}
