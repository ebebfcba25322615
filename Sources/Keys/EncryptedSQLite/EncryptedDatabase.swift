import CSQLite
import Foundation
public import Secrets

#if canImport(Musl)
    import Musl
#endif

/// Encrypted SQLite databases: making, unlocking, locking and re-keying them.
///
/// A database is unlocked once per process; then any number of connections open it, with the system's
/// SQLite, by the URI of ``uri(forPath:)`` or by the VFS name ``vfsName``. A path that was not unlocked is
/// refused (`SQLITE_AUTH`), and the VFS never creates a database file, so that no connection through it can
/// make a plain file by mistake. A connection that does *not* go through it can: open all by one factory.
///
/// All functions may be called from any thread and take paths relative to the working directory or absolute.
public enum EncryptedDatabase {
    /// The name of the VFS, for `sqlite3_open_v2` or the `vfs` parameter of a URI.
    public static let vfsName = EncryptingVFS.name

    /// The page size of every encrypted database, in bytes.
    public static let pageSize = FileFormat.pageSize

    /// The version of the file format that new databases have, and the latest one that is read.
    package static let latestFormat = FormatVersion.latest.rawValue

    /// Registers the VFS with SQLite. The other functions do it too; calling it twice does no harm.
    ///
    /// - Throws: ``EncryptedDatabaseError/unavailable(code:)``.
    public static func register() throws(EncryptedDatabaseError) {
        try EncryptingVFS.ensureRegistered()
    }

    /// Puts another VFS than `unix` beneath the encryption, for all files that are opened from now on: one that fails
    /// as disks do, in tests.
    ///
    /// - Parameter name: The name of a registered VFS whose files are not larger than those of `unix`.
    /// - Throws: ``EncryptedDatabaseError/unavailable(code:)``.
    package static func stack(over name: String) throws(EncryptedDatabaseError) {
        try EncryptingVFS.stack(over: name)
    }

    /// Unlocks a database for this process: connections can be opened until ``lock(at:)``.
    ///
    /// A passphrase costs one derivation per process. A wrong key writes nothing.
    ///
    /// A database of format 1, which release 0.1.0 made, is brought to format 2 if no connection has it open, in this process
    /// or another; else it is used as it is, and the next unlocking tries again. Release 0.1.0 refuses it afterwards, and there
    /// is no way back but a copy. See <doc:Format>.
    ///
    /// - Parameters:
    ///   - path: The database file.
    ///   - source: Its key or passphrase.
    ///   - upgradesFormat: Whether an older format is brought up to date; if not, nothing is written at all.
    /// - Throws: ``EncryptedDatabaseError``: `notFound`, `plainDatabase`, `notADatabase`,
    ///   `unsupportedFormat`, `damagedKeyBlock`, `wrongKey`, `wrongKindOfKey`, `secret`, `sqlite`.
    public static func unlock(
        at path: String, with source: KeySource, upgradesFormat: Bool = true
    ) throws(EncryptedDatabaseError) {
        try register()
        let path = try canonical(path)
        var block = try KeyBlockFile(path: path, flags: SQLITE_OPEN_READONLY).read()
        let dataKey = try translating(path) { () throws(SecretError) in try block.dataKey(with: source) }
        func remember() {
            let cipher = PageCipher(dataKey: dataKey, fileIdentity: block.fileIdentity, version: block.version)
            KeyRegistry.shared.register(cipher, forPath: path)
        }
        remember()
        guard upgradesFormat else { return }
        do throws(EncryptedDatabaseError) {
            guard let upgraded = try FormatUpgrade(path: path, source: source).run(block, dataKey) else { return }
            block = upgraded
            remember()
        } catch {
            KeyRegistry.shared.forget(path: path)
            throw error
        }
    }

    /// Forgets the key of a database. Connections that are open go on; new ones are refused.
    ///
    /// - Parameter path: The database file; locking one that is not unlocked does nothing.
    /// - Throws: ``EncryptedDatabaseError``: `unavailable`, `sqlite` when the path cannot be resolved.
    public static func lock(at path: String) throws(EncryptedDatabaseError) {
        try register()
        KeyRegistry.shared.forget(path: try canonical(path))
    }

    /// Whether a database is unlocked in this process.
    ///
    /// - Parameter path: The database file.
    /// - Returns: False also for a path that leads nowhere.
    public static func isUnlocked(at path: String) -> Bool {
        guard (try? register()) != nil, let path = try? canonical(path) else { return false }
        return KeyRegistry.shared.cipher(forPath: path) != nil
    }

    /// Whether a file is an encrypted database, by its first bytes.
    ///
    /// - Parameter path: The file.
    /// - Returns: True for any version of the format, also for a damaged key block; false for a plain
    ///   database and for anything else that can be read.
    /// - Throws: ``EncryptedDatabaseError``: `notFound`, `sqlite`, `unavailable`.
    public static func isEncrypted(at path: String) throws(EncryptedDatabaseError) -> Bool {
        try register()
        let path = try canonical(path)
        do {
            _ = try KeyBlockFile(path: path, flags: SQLITE_OPEN_READONLY).read()
            return true
        } catch {
            switch error {
            case .plainDatabase, .notADatabase: return false
            case .unsupportedFormat, .damagedKeyBlock: return true
            default: throw error
            }
        }
    }

    /// Whether a file is missing, empty or begins as a plain SQLite database does.
    ///
    /// - Parameter path: The file. It is looked at without harm to the locks that connections of this process have on it.
    /// - Throws: ``EncryptedDatabaseError``: `sqlite`, `unavailable`.
    package static func isEmptyOrPlain(at path: String) throws(EncryptedDatabaseError) -> Bool {
        try register()
        let path = try canonical(path)
        do throws(EncryptedDatabaseError) {
            let file = try KeyBlockFile(path: path, flags: SQLITE_OPEN_READONLY)
            let mark = Array("SQLite format 3\0".utf8)
            let (size, start) = (try file.size(), try file.content(at: 0, count: mark.count))
            return size == 0 || start == mark
        } catch {
            guard case .notFound = error else { throw error }
            return true
        }
    }

    /// Replaces the key or passphrase; only the key block is rewritten, and atomically.
    ///
    /// The data key stays: whoever had the old key and a copy of the file can go on reading the pages that
    /// both have. Connections that are open are not disturbed.
    ///
    /// - Parameters:
    ///   - path: The database file.
    ///   - old: The key or passphrase that opens it now.
    ///   - new: The one that shall.
    ///   - derivation: The cost if `new` is a passphrase.
    /// - Throws: ``EncryptedDatabaseError``: what ``unlock(at:with:upgradesFormat:)`` throws, and `busy`: the old key opens the database as
    ///   before. Only after `keyInDoubt`, where the disk failed twice, nobody can tell which of the two does.
    public static func rekey(
        at path: String, from old: KeySource, to new: KeySource, derivation: ScryptParameters = .standard
    ) throws(EncryptedDatabaseError) {
        try register()
        let path = try canonical(path)
        // Derive before the lock is taken: it is slow, and the old key may be wrong.
        let reader = try KeyBlockFile(path: path, flags: SQLITE_OPEN_READONLY)
        let first = try reader.read()
        _ = try translating(path) { () throws(SecretError) in try first.dataKey(with: old) }
        let file = try KeyBlockFile(path: path, flags: SQLITE_OPEN_READWRITE)
        try file.whileReserved { () throws(EncryptedDatabaseError) in
            var block = try file.read()
            let slot = try translating(path) { () throws(SecretError) in
                let dataKey = try block.dataKey(with: old)
                return try block.addSlot(dataKey, with: new, derivation: derivation)
            }
            do throws(EncryptedDatabaseError) {
                try file.write(block.slotBytes(slot), at: KeyBlock.slotOffsets[slot])
            } catch {
                // It may be there all the same, and would count: what is not durable is taken back.
                let empty = [UInt8](repeating: 0, count: KeyBlock.slotSize)
                guard (try? file.write(empty, at: KeyBlock.slotOffsets[slot])) != nil else {
                    throw .keyInDoubt(path: path)
                }
                throw error
            }
            // The new slot counts, alone. An old one that cannot be wiped opens nothing, and is written over next time.
            for _ in 0..<2 {
                if (try? file.write(block.slotBytes(1 - slot), at: KeyBlock.slotOffsets[1 - slot])) != nil { break }
            }
        }
    }

    /// The URI that opens a database through the VFS, with every byte escaped that a URI cannot hold.
    ///
    /// - Parameter path: The database file. A relative path is resolved against the working directory.
    /// - Returns: For instance `file:///var/lib/a%20b.db?vfs=outpost`; needs `SQLITE_OPEN_URI`, or a SQLite
    ///   compiled to understand URIs (for `ATTACH` too).
    public static func uri(forPath path: String) -> String {
        let absolute =
            path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
        var escaped = ""
        for byte in absolute.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "-"), UInt8(ascii: "_"),
                UInt8(ascii: "."), UInt8(ascii: "~"):
                escaped.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                escaped += digits.utf8.count == 1 ? "%0" + digits : "%" + digits
            }
        }
        return "file://" + escaped + "?vfs=" + vfsName
    }

    /// The path as SQLite itself resolves it, so that the registry and connections agree on it.
    static func canonical(_ path: String) throws(EncryptedDatabaseError) -> String {
        guard let base = EncryptingVFS.base else { throw .unavailable(code: SQLITE_NOTFOUND) }
        // A zero byte would silently end the path here, and in every connection.
        guard !path.isEmpty, !path.utf8.contains(0) else { throw .notFound(path: path) }
        var buffer = [CChar](repeating: 0, count: Int(base.pointee.mxPathname) + 1)
        let code = buffer.withUnsafeMutableBufferPointer {
            base.pointee.xFullPathname?(base, path, Int32($0.count), $0.baseAddress) ?? SQLITE_CANTOPEN
        }
        // SQLITE_OK_SYMLINK only says that the path went through a symbolic link.
        guard code & 0xFF == SQLITE_OK else { throw .sqlite(path: path, operation: "resolving", code: code) }
        let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Names the file in an error about its key.
    static func translating<Result>(
        _ path: String, _ body: () throws(SecretError) -> Result
    ) throws(EncryptedDatabaseError) -> Result {
        do {
            return try body()
        } catch {
            switch error {
            case .wrongKey: throw .wrongKey(path: path)
            case .wrongKindOfKey(let expected): throw .wrongKindOfKey(path: path, expected: expected)
            default: throw .secret(error)
            }
        }
    }
}
