import CSQLite
import Foundation
public import Secrets

#if canImport(Musl)
    import Musl
#endif

/// A namespace for creating, unlocking, locking and re-keying encrypted SQLite databases.
///
/// A database is unlocked once per process. Any number of connections then open the database with the system's
/// SQLite, by the URI of ``uri(forPath:)`` or with the VFS ``vfsName``. The VFS refuses a path that was not
/// unlocked (`SQLITE_AUTH`). It never creates a database file, so no connection through it can create a plain
/// file by mistake. A connection that bypasses the VFS can, so open all connections in one place.
///
/// All functions may be called from any thread. Paths are absolute or relative to the working directory.
public enum EncryptedDatabase {
    /// The name of the VFS, for `sqlite3_open_v2` or the `vfs` parameter of a URI.
    public static let vfsName = EncryptingVFS.name

    /// The page size of every encrypted database, in bytes.
    public static let pageSize = FileFormat.pageSize

    /// The file format version of new databases, which is also the latest version that can be read.
    package static let latestFormat = FormatVersion.latest.rawValue

    /// Registers the VFS with SQLite. The other functions do so too; further calls have no effect.
    ///
    /// - Throws: ``EncryptedDatabaseError/unavailable(code:)``.
    public static func register() throws(EncryptedDatabaseError) {
        try EncryptingVFS.ensureRegistered()
    }

    /// Replaces the `unix` VFS beneath the encryption for all files opened afterwards, so that tests can
    /// simulate disk failures.
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
    /// A database of format 1 (release 0.1.0) is upgraded to format 2 if no connection in any process has the
    /// database open. Otherwise its format stays, and the next call tries again. Release 0.1.0 cannot open an
    /// upgraded database, and the upgrade can only be undone by restoring a copy. See <doc:Format>.
    /// - Parameters:
    ///   - path: The database file.
    ///   - source: Its key or passphrase.
    ///   - upgradesFormat: Whether to upgrade an older format. If `false`, nothing is written.
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

    /// Forgets the key of a database. Open connections keep working; new connections are refused.
    ///
    /// - Parameter path: The database file; locking one that is not unlocked does nothing.
    /// - Throws: ``EncryptedDatabaseError``: `unavailable`; `sqlite` if the path cannot be resolved.
    public static func lock(at path: String) throws(EncryptedDatabaseError) {
        try register()
        KeyRegistry.shared.forget(path: try canonical(path))
    }

    /// Returns whether a database is unlocked in this process.
    ///
    /// - Parameter path: The database file.
    /// - Returns: `false` also for a path that cannot be resolved.
    public static func isUnlocked(at path: String) -> Bool {
        guard (try? register()) != nil, let path = try? canonical(path) else { return false }
        return KeyRegistry.shared.cipher(forPath: path) != nil
    }

    /// Returns whether a file is an encrypted database, judged by its key block.
    ///
    /// - Parameter path: The file.
    /// - Returns: `true` for any version of the format, even with a damaged key block; `false` for a plain
    ///   database and any other readable file.
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

    /// Returns whether a file is missing, empty, or starts like a plain SQLite database.
    ///
    /// - Parameter path: The file. Reading it does not affect the locks that connections of this process hold.
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

    /// Replaces the key or passphrase by rewriting only the key block, atomically.
    ///
    /// The data key does not change. Anyone with the old key and a copy of the file can still read the pages
    /// that both files share. Open connections are not disturbed.
    ///
    /// - Parameters:
    ///   - path: The database file.
    ///   - old: The current key or passphrase.
    ///   - new: The new key or passphrase.
    ///   - derivation: The cost of the derivation if `new` is a passphrase.
    /// - Throws: ``EncryptedDatabaseError``: the errors of ``unlock(at:with:upgradesFormat:)``, and `busy`.
    ///   After any of these, the old key still opens the database. After `keyInDoubt` (the disk failed twice),
    ///   either of the two keys may open the database.
    public static func rekey(
        at path: String, from old: KeySource, to new: KeySource, derivation: ScryptParameters = .standard
    ) throws(EncryptedDatabaseError) {
        try register()
        let path = try canonical(path)
        // Derive before taking the lock: derivation is slow, and the old key may be wrong.
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
                // The new slot may be on disk and would then take effect, so a slot that is not durable is
                // erased.
                let empty = [UInt8](repeating: 0, count: KeyBlock.slotSize)
                guard (try? file.write(empty, at: KeyBlock.slotOffsets[slot])) != nil else {
                    throw .keyInDoubt(path: path)
                }
                throw error
            }
            // Only the new slot takes effect. If the old slot cannot be erased, it opens nothing, and the next
            // re-keying overwrites it.
            for _ in 0..<2 {
                if (try? file.write(block.slotBytes(1 - slot), at: KeyBlock.slotOffsets[1 - slot])) != nil { break }
            }
        }
    }

    /// Returns the URI that opens a database through the VFS, with every reserved byte escaped.
    ///
    /// - Parameter path: The database file. A relative path is resolved against the working directory.
    /// - Returns: For example `file:///var/lib/a%20b.db?vfs=outpost`. It needs `SQLITE_OPEN_URI`, or a SQLite
    ///   that is compiled to understand URIs (also for `ATTACH`).
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

    /// Returns the path as SQLite resolves it, so that the registry and the connections use the same path.
    static func canonical(_ path: String) throws(EncryptedDatabaseError) -> String {
        guard let base = EncryptingVFS.base else { throw .unavailable(code: SQLITE_NOTFOUND) }
        // A zero byte would silently end the path, here and in every connection.
        guard !path.isEmpty, !path.utf8.contains(0) else { throw .notFound(path: path) }
        var buffer = [CChar](repeating: 0, count: Int(base.pointee.mxPathname) + 1)
        let code = buffer.withUnsafeMutableBufferPointer {
            base.pointee.xFullPathname?(base, path, Int32($0.count), $0.baseAddress) ?? SQLITE_CANTOPEN
        }
        // SQLITE_OK_SYMLINK only reports that the path contained a symbolic link.
        guard code & 0xFF == SQLITE_OK else { throw .sqlite(path: path, operation: "resolving", code: code) }
        let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Converts an error about a key into one that names the file.
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
