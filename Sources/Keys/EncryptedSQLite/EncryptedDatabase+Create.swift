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
    /// Creates an empty encrypted database and unlocks it.
    ///
    /// The file is built under a temporary name and then linked to `path`. It appears whole or not at all, and
    /// never replaces an existing file. Only its owner can read the file (mode 0600); SQLite gives logs and
    /// journals the same mode. The file fixes the page size and the reserved bytes, so connections need to set
    /// neither. `PRAGMA auto_vacuum` takes effect only after a `VACUUM`.
    ///
    /// - Parameters:
    ///   - path: The path of the new file; its folder must exist.
    ///   - key: The key or passphrase that opens the database.
    ///   - derivation: The cost of the derivation if `key` is a passphrase.
    /// - Throws: ``EncryptedDatabaseError``: `secret`, `sqlite`, `unavailable`; `alreadyExists` also if a
    ///   deleted database left a `-wal` or `-journal` file, because SQLite would use that file as part of the
    ///   new database.
    public static func create(
        at path: String, key: KeySource, derivation: ScryptParameters = .standard
    ) throws(EncryptedDatabaseError) {
        let identity = (0..<16).map { _ in UInt8.random(in: 0...255) }
        try create(at: path, dataKey: .generate(), fileIdentity: identity) {
            (block, dataKey) throws(SecretError) in
            _ = try block.addSlot(dataKey, with: key, derivation: derivation)
        }
    }

    /// Creates a database with a given data key, identity and version, for tests.
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

    /// Writes the bytes to a new file. No connection can have the file open yet, so closing the descriptor
    /// drops no locks.
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

    /// Makes SQLite write page 1 with its reserved bytes.
    private static func initialise(_ path: String) throws(EncryptedDatabaseError) {
        var database: OpaquePointer?
        var code = sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, vfsName)
        defer { sqlite3_close_v2(database) }
        var reserved = Int32(FileFormat.reservedSize)
        if code == SQLITE_OK {
            code = sqlite3_file_control(database, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved)
        }
        if code == SQLITE_OK {
            // Setting any header field writes the header. The journal stays in memory, because a crash leaves
            // only a temporary file.
            let sql = """
                PRAGMA page_size = \(FileFormat.pageSize); PRAGMA journal_mode = MEMORY;
                PRAGMA synchronous = FULL; PRAGMA user_version = 0;
                """
            code = sqlite3_exec(database, sql, nil, nil, nil)
        }
        guard code == SQLITE_OK else { throw .sqlite(path: path, operation: "initialising", code: code) }
    }

    /// Gives the finished file its name, durably, unless a file with that name exists.
    private static func link(_ temporary: String, _ path: String) throws(EncryptedDatabaseError) {
        // Some file systems have no hard links. A check followed by a rename is the best alternative there.
        if systemLink(temporary, path) != 0 {
            guard errno != EEXIST, !exists(path) else { throw .alreadyExists(path: path) }
            guard rename(temporary, path) == 0 else {
                throw .sqlite(path: path, operation: "creating", code: SQLITE_CANTOPEN)
            }
        }
        syncFolder(of: path)
    }

    /// Syncs the folder of a file, so that the file's name is durable.
    static func syncFolder(of path: String) {
        let folder = open((path as NSString).deletingLastPathComponent, O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { return }
        // A file system that cannot sync folders is not an error: SQLite ignores the failure too.
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
