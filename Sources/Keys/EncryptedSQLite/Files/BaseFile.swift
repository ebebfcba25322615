import CSQLite

/// A file of the operating system, accessed through SQLite's own `unix` VFS.
///
/// This module never opens a database with `open(2)`. POSIX locks belong to the process, so closing such a
/// descriptor would drop every lock that other connections of the process hold on the file. SQLite's VFS delays
/// the close to avoid this problem.
struct BaseFile {
    let pointer: UnsafeMutablePointer<sqlite3_file>

    private var methods: sqlite3_io_methods? { pointer.pointee.pMethods?.pointee }

    func read(_ target: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int32 {
        pointer.pointee.pMethods.pointee.xRead?(pointer, target.baseAddress, Int32(target.count), offset)
            ?? SQLITE_IOERR
    }

    func write(_ source: UnsafeRawBufferPointer, at offset: Int64) -> Int32 {
        pointer.pointee.pMethods.pointee.xWrite?(pointer, source.baseAddress, Int32(source.count), offset)
            ?? SQLITE_IOERR
    }

    func truncate(to size: Int64) -> Int32 { methods?.xTruncate?(pointer, size) ?? SQLITE_IOERR }

    func sync(_ flags: Int32) -> Int32 { methods?.xSync?(pointer, flags) ?? SQLITE_IOERR }

    func size(_ size: inout Int64) -> Int32 { methods?.xFileSize?(pointer, &size) ?? SQLITE_IOERR }

    func lock(_ level: Int32) -> Int32 { methods?.xLock?(pointer, level) ?? SQLITE_IOERR }

    func unlock(_ level: Int32) -> Int32 { methods?.xUnlock?(pointer, level) ?? SQLITE_IOERR }

    func checkReservedLock(_ result: UnsafeMutablePointer<Int32>?) -> Int32 {
        methods?.xCheckReservedLock?(pointer, result) ?? SQLITE_IOERR
    }

    func control(_ operation: Int32, _ argument: UnsafeMutableRawPointer?) -> Int32 {
        methods?.xFileControl?(pointer, operation, argument) ?? SQLITE_NOTFOUND
    }

    var sectorSize: Int32 { methods?.xSectorSize?(pointer) ?? Int32(FileFormat.pageSize) }

    var deviceCharacteristics: Int32 { methods?.xDeviceCharacteristics?(pointer) ?? 0 }

    func shmMap(
        _ region: Int32, _ size: Int32, extend: Int32,
        target: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    ) -> Int32 {
        methods?.xShmMap?(pointer, region, size, extend, target) ?? SQLITE_IOERR
    }

    func shmLock(_ offset: Int32, _ count: Int32, flags: Int32) -> Int32 {
        methods?.xShmLock?(pointer, offset, count, flags) ?? SQLITE_IOERR
    }

    func shmBarrier() { methods?.xShmBarrier?(pointer) }

    func shmUnmap(_ delete: Int32) -> Int32 { methods?.xShmUnmap?(pointer, delete) ?? SQLITE_IOERR }

    func close() -> Int32 { methods?.xClose?(pointer) ?? SQLITE_OK }
}
