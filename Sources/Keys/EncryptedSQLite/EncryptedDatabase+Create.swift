import CSQLite
import Foundation
public import Secrets

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

extension EncryptedDatabase {
    /// Creates an empty encrypted database, and unlocks it.
    ///
    /// The file is built under another name and then linked into place: it appears whole or not at all, and
    /// never replaces one that is there. It is readable by its owner alone (mode 0600); logs and journals
    /// take their mode from it. Page size and reserved bytes are fixed in it, so that connections need to
    /// set neither. `PRAGMA auto_vacuum` can no longer be switched on except by a `VACUUM`.
    ///
    /// - Parameters:
    ///   - path: Where it shall be; its folder must exist.
    ///   - key: The key or passphrase that shall open it.
    ///   - derivation: The cost if `key` is a passphrase.
    /// - Throws: ``EncryptedDatabaseError``: `alreadyExists` (also for a `-wal` or `-journal` left of a
    ///   deleted database, which SQLite would take for part of the new one), `secret`, `sqlite`,
    ///   `unavailable`.
    public static func create(
        at path: String, key: KeySource, derivation: ScryptParameters = .standard
    ) throws(EncryptedDatabaseError) {
        let identity = (0..<16).map { _ in UInt8.random(in: 0...255) }
        try create(at: path, dataKey: .generate(), fileIdentity: identity) {
            (block, dataKey) throws(SecretError) in
            _ = try block.addSlot(dataKey, with: key, derivation: derivation)
        }
    }

    /// Creates a database whose random parts and version are given; tests need that.
    static func create(
        at path: String, dataKey: EncryptionKey, fileIdentity: [UInt8], version: FormatVersion = .latest,
        adding slot: (inout KeyBlock, EncryptionKey) throws(SecretError) -> Void
    ) throws(EncryptedDatabaseError) {
        try register()
        let path = try canonical(path)
        for name in [path, path + "-wal", path + "-journal"] where exists(name) {
            throw .alreadyExists(path: name)
        }
        var block = KeyBlock(fileIdentity: fileIdentity, version: version)
        try translating(path) { () throws(SecretError) in try slot(&block, dataKey) }
        let cipher = PageCipher(dataKey: dataKey, fileIdentity: fileIdentity, version: version)

        let temporary = path + ".new-" + String(UInt64.random(in: .min ... .max), radix: 36)
        try write(block.bytes, toNewFile: temporary)
        defer { unlink(temporary) }
        KeyRegistry.shared.register(cipher, forPath: temporary)
        defer { KeyRegistry.shared.forget(path: temporary) }
        try initialise(temporary)
        try link(temporary, path)
        KeyRegistry.shared.register(cipher, forPath: path)
    }

    private static func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// No connection can have this file open yet, so that closing a descriptor drops nobody's locks.
    private static func write(
        _ bytes: [UInt8], toNewFile path: String
    ) throws(EncryptedDatabaseError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .sqlite(path: path, operation: "creating", code: SQLITE_CANTOPEN) }
        let file = Foundation.FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try file.write(contentsOf: bytes)
            try file.close()
        } catch {
            unlink(path)
            throw .sqlite(path: path, operation: "creating", code: SQLITE_IOERR_WRITE)
        }
    }

    /// Has SQLite write page 1, with its reserved bytes.
    private static func initialise(_ path: String) throws(EncryptedDatabaseError) {
        var database: OpaquePointer?
        var code = sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, vfsName)
        defer { sqlite3_close_v2(database) }
        var reserved = Int32(FileFormat.reservedSize)
        if code == SQLITE_OK {
            code = sqlite3_file_control(database, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved)
        }
        if code == SQLITE_OK {
            // Setting any header field writes the header; the journal stays in memory, as a crash leaves
            // nothing but a file under a temporary name.
            let sql = """
                PRAGMA page_size = \(FileFormat.pageSize); PRAGMA journal_mode = MEMORY;
                PRAGMA synchronous = FULL; PRAGMA user_version = 0;
                """
            code = sqlite3_exec(database, sql, nil, nil, nil)
        }
        guard code == SQLITE_OK else { throw .sqlite(path: path, operation: "initialising", code: code) }
    }

    /// Gives the finished file its name, durably, unless there is one of that name.
    private static func link(_ temporary: String, _ path: String) throws(EncryptedDatabaseError) {
        // Some file systems have no links. There, a rename after a look is the best there is.
        if systemLink(temporary, path) != 0 {
            guard errno != EEXIST, !exists(path) else { throw .alreadyExists(path: path) }
            guard rename(temporary, path) == 0 else {
                throw .sqlite(path: path, operation: "creating", code: SQLITE_CANTOPEN)
            }
        }
        syncFolder(of: path)
    }

    /// Makes the name of a file durable.
    static func syncFolder(of path: String) {
        let folder = open((path as NSString).deletingLastPathComponent, O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { return }
        // A file system that cannot sync a folder fails nothing: SQLite does the same.
        fsync(folder)
        close(folder)
    }

    private static func systemLink(_ source: String, _ target: String) -> Int32 {
        #if canImport(Darwin)
            Darwin.link(source, target)
        #elseif canImport(Musl)
            Musl.link(source, target)
        #else
            Glibc.link(source, target)
        #endif
    }
}
