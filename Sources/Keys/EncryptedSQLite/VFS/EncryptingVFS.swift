import CSQLite
import Foundation
import Synchronization

/// The VFS `outpost`: the system's `unix` VFS with sealed files.
///
/// This VFS is a copy of the `unix` VFS with another name and its own functions to open and delete files.
/// Functions for paths, time and randomness are those of the `unix` VFS. They use nothing of the VFS argument,
/// so they work with this VFS too.
enum EncryptingVFS {
    static let name = "outpost"

    /// SQLite's result code of the registration, which runs once per process.
    private static let registration: Int32 = register()

    /// Registers the VFS; further calls cost nothing.
    static func ensureRegistered() throws(EncryptedDatabaseError) {
        guard registration == SQLITE_OK else { throw .unavailable(code: registration) }
    }

    private static let baseName = Mutex("unix")

    /// The underlying VFS, which SQLite keeps as long as the process lives.
    static var base: UnsafeMutablePointer<sqlite3_vfs>? { baseName.withLock { sqlite3_vfs_find($0) } }

    /// Replaces the underlying VFS for all files opened afterwards.
    ///
    /// - Parameter name: A registered VFS whose files are not larger than those of `unix`.
    static func stack(over name: String) throws(EncryptedDatabaseError) {
        guard let base = sqlite3_vfs_find(name), let unix = sqlite3_vfs_find("unix"),
            base.pointee.szOsFile <= unix.pointee.szOsFile
        else { throw .unavailable(code: SQLITE_NOTFOUND) }
        baseName.withLock { $0 = name }
    }

    private static func register() -> Int32 {
        guard let base = sqlite3_vfs_find("unix") else { return SQLITE_NOTFOUND }
        // SQLite keeps both allocations as long as the process lives, so neither is freed.
        let vfs = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        vfs.initialize(to: base.pointee)
        vfs.pointee.pNext = nil
        vfs.pointee.zName = UnsafePointer(strdup(name))
        vfs.pointee.szOsFile = Int32(FileHandle.size) + base.pointee.szOsFile
        vfs.pointee.xOpen = { _, path, file, flags, outFlags in
            EncryptingVFS.open(path, file, flags: flags, outFlags: outFlags)
        }
        vfs.pointee.xDelete = { _, path, syncsFolder in
            guard let base = EncryptingVFS.base else { return SQLITE_IOERR }
            return base.pointee.xDelete?(base, path, syncsFolder) ?? SQLITE_IOERR
        }
        return sqlite3_vfs_register(vfs, 0)
    }

    /// The flags of temporary files. SQLite sets exactly one flag for the kind of a file.
    private static let temporary =
        SQLITE_OPEN_TEMP_DB | SQLITE_OPEN_TRANSIENT_DB | SQLITE_OPEN_TEMP_JOURNAL | SQLITE_OPEN_SUBJOURNAL

    private static func open(
        _ path: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>?, flags: Int32,
        outFlags: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        guard let file, let base else { return SQLITE_CANTOPEN }
        // SQLite does not close a file without methods, so a failed opening leaves none.
        file.pointee.pMethods = nil
        if flags & temporary != 0 || path == nil {
            outFlags?.pointee = flags
            FileHandle.install(MemoryFile(), in: file)
            return SQLITE_OK
        }
        // A super-journal contains only the names of journals. SQLite also opens those journals as
        // super-journals, to read the plain name at their end.
        if flags & SQLITE_OPEN_SUPER_JOURNAL != 0 {
            return base.pointee.xOpen?(base, path, file, flags, outFlags) ?? SQLITE_CANTOPEN
        }
        if flags & SQLITE_OPEN_MAIN_DB != 0 {
            return openMain(base, path, file: file, flags: flags, outFlags: outFlags)
        }
        guard flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL) != 0,
            // Use the key of the open database, not of the registry, so that a database that was locked
            // meanwhile keeps working for its open connections.
            let main = sqlite3_database_file_object(path), let owner = FileHandle.object(of: main) as? MainFile
        else { return SQLITE_CANTOPEN }
        let under = FileHandle.base(of: file)
        var flags = flags
        if QuietFiles.contains(owner.file) {
            flags = flags & ~(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) | SQLITE_OPEN_READONLY
            if let path, access(path, F_OK) != 0 {
                outFlags?.pointee = flags
                FileHandle.install(MemoryFile(), in: file)
                return SQLITE_OK
            }
        }
        let code = base.pointee.xOpen?(base, path, under.pointer, flags, outFlags) ?? SQLITE_CANTOPEN
        guard code == SQLITE_OK else {
            _ = under.closeIfOpen()
            return code
        }
        let isLog = flags & SQLITE_OPEN_WAL != 0
        FileHandle.install(
            isLog ? LogFile(file: under, main: owner) : JournalFile(file: under, main: owner), in: file)
        return SQLITE_OK
    }

    private static func openMain(
        _ base: UnsafeMutablePointer<sqlite3_vfs>, _ path: UnsafePointer<CChar>?,
        file: UnsafeMutablePointer<sqlite3_file>, flags: Int32, outFlags: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        guard let path else { return SQLITE_CANTOPEN }
        let name = String(cString: path)
        guard FilesBeside.areOwn(of: name) else { return FilesBeside.refusal }
        guard let cipher = KeyRegistry.shared.cipher(forPath: name) else { return SQLITE_AUTH }
        let under = FileHandle.base(of: file)
        // Never create a database here; only `EncryptedDatabase.create` does.
        let flags = flags & ~(SQLITE_OPEN_CREATE | SQLITE_OPEN_EXCLUSIVE)
        let code = base.pointee.xOpen?(base, path, under.pointer, flags, outFlags) ?? SQLITE_CANTOPEN
        guard code == SQLITE_OK else {
            _ = under.closeIfOpen()
            return code
        }
        // The file may have been replaced since it was unlocked. Its pages would not open, but SQLite could
        // write before it reads one. A version never decreases: a block with an earlier version than at
        // unlocking was altered.
        guard let block = try? KeyBlockFile.block(of: under), block.fileIdentity == cipher.fileIdentity,
            block.version >= cipher.version
        else {
            _ = under.close()
            return SQLITE_NOTADB
        }
        if sqlite3_uri_boolean(path, QuietFiles.parameter, 0) != 0 { QuietFiles.begin(under, path: name) }
        OpenDatabases.shared.didOpen(name)
        FileHandle.install(
            MainFile(file: under, path: name, cipher: cipher, version: block.version), in: file)
        return SQLITE_OK
    }
}
