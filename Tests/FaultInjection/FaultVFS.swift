import CSQLite
import Foundation
import Synchronization

struct WeakDisk: Sendable {
    weak var disk: FaultDisk?
}

/// The VFS ``FaultDisk/vfsName``: SQLite's `unix` VFS, which asks a ``FaultDisk`` before every change to its
/// files.
enum FaultVFS {
    static let disks = Mutex<[String: WeakDisk]>([:])
    static let registration: Int32 = register()

    private static func disk(of path: String) -> FaultDisk? {
        disks.withLock { disks in disks.first { path.hasPrefix($0.key + "/") }?.value.disk }
    }

    static var base: UnsafeMutablePointer<sqlite3_vfs>? { sqlite3_vfs_find("unix") }

    private static func register() -> Int32 {
        guard let base else { return SQLITE_NOTFOUND }
        // SQLite keeps the VFS as long as the process lives, so it is never freed.
        let vfs = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        vfs.initialize(to: base.pointee)
        vfs.pointee.pNext = nil
        vfs.pointee.zName = UnsafePointer(strdup(FaultDisk.vfsName))
        vfs.pointee.xOpen = { _, path, file, flags, outFlags in
            FaultVFS.open(path, file, flags, outFlags)
        }
        vfs.pointee.xDelete = { _, path, syncsFolder in
            guard let base = FaultVFS.base, let path else { return SQLITE_IOERR }
            let name = String(cString: path)
            if let disk = FaultVFS.disk(of: name) {
                guard FileManager.default.fileExists(atPath: name) else { return SQLITE_IOERR | 23 << 8 }
                // A power failure may undo a deletion that was not synced.
                if case .fails(let code) = disk.change(.delete, of: name, isDurable: syncsFolder != 0) { return code }
            }
            return base.pointee.xDelete?(base, path, 0) ?? SQLITE_IOERR
        }
        return sqlite3_vfs_register(vfs, 0)
    }

    private static func open(
        _ path: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32,
        _ outFlags: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        guard let file, let base else { return SQLITE_CANTOPEN }
        guard let path, let disk = disk(of: String(cString: path)) else {
            return base.pointee.xOpen?(base, path, file, flags, outFlags) ?? SQLITE_CANTOPEN
        }
        file.pointee.pMethods = nil
        guard !disk.isOver else { return SQLITE_CANTOPEN }
        let under = UnsafeMutableRawPointer.allocate(byteCount: Int(base.pointee.szOsFile), alignment: 16)
        under.initializeMemory(as: UInt8.self, repeating: 0, count: Int(base.pointee.szOsFile))
        let opened = under.assumingMemoryBound(to: sqlite3_file.self)
        let code = base.pointee.xOpen?(base, path, opened, flags, outFlags) ?? SQLITE_CANTOPEN
        guard code == SQLITE_OK else {
            if opened.pointee.pMethods != nil { _ = opened.pointee.pMethods.pointee.xClose?(opened) }
            under.deallocate()
            return code
        }
        let name = String(cString: path)
        disk.opened(name)
        let object = FaultFile(path: name, disk: disk, file: opened, deletes: flags & SQLITE_OPEN_DELETEONCLOSE != 0)
        UnsafeMutableRawPointer(file).initializeMemory(
            as: FaultHandle.self,
            to: FaultHandle(methods: FaultMethods.table, object: Unmanaged.passRetained(object).toOpaque()))
        return SQLITE_OK
    }
}

/// The memory of a `sqlite3_file` of this VFS.
struct FaultHandle {
    var methods: UnsafePointer<sqlite3_io_methods>?
    var object: UnsafeMutableRawPointer?

    static func object(of file: UnsafeMutablePointer<sqlite3_file>?) -> FaultFile? {
        guard let file,
            let object = UnsafeMutableRawPointer(file).assumingMemoryBound(to: FaultHandle.self).pointee.object
        else { return nil }
        return Unmanaged<FaultFile>.fromOpaque(object).takeUnretainedValue()
    }
}
