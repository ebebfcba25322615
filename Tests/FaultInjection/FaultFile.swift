import CSQLite

/// An open file of a ``FaultDisk``.
final class FaultFile {
    let path: String
    let disk: FaultDisk
    /// The underlying file of the operating system.
    let file: UnsafeMutablePointer<sqlite3_file>
    private let deletes: Bool

    init(path: String, disk: FaultDisk, file: UnsafeMutablePointer<sqlite3_file>, deletes: Bool) {
        self.path = path
        self.disk = disk
        self.file = file
        self.deletes = deletes
    }

    var methods: sqlite3_io_methods { file.pointee.pMethods.pointee }

    func close() -> Int32 {
        let code = methods.xClose?(file) ?? SQLITE_OK
        UnsafeMutableRawPointer(file).deallocate()
        if deletes { _ = disk.change(.delete, of: path, isDurable: true) }
        return code
    }

    func read(_ target: UnsafeMutableRawPointer?, _ count: Int32, _ offset: Int64) -> Int32 {
        disk.isOver ? SQLITE_IOERR : methods.xRead?(file, target, count, offset) ?? SQLITE_IOERR
    }

    func write(_ source: UnsafeRawPointer?, _ count: Int32, _ offset: Int64) -> Int32 {
        var size: Int64 = 0
        _ = methods.xFileSize?(file, &size)
        let bytes = UnsafeRawBufferPointer(start: source, count: Int(count))
        switch disk.write(bytes, at: Int(offset), of: path, grows: offset + Int64(count) > size) {
        case .fails(let code): return code
        case .half(let code):
            _ = methods.xWrite?(file, source, count / 2, offset)
            return code
        case .goes, .lies: return methods.xWrite?(file, source, count, offset) ?? SQLITE_IOERR
        }
    }

    func truncate(_ size: Int64) -> Int32 {
        if case .fails(let code) = disk.change(.truncate(Int(size)), of: path) { return code }
        return methods.xTruncate?(file, size) ?? SQLITE_IOERR
    }

    /// Reports a sync to the disk, which records durability. The system's file is not synced.
    func sync() -> Int32 {
        if case .fails(let code) = disk.sync(path) { return code }
        return SQLITE_OK
    }
}

/// The functions that SQLite calls for a file.
enum FaultMethods {
    /// `nonisolated(unsafe)` is sound: the memory is written once, before the constant can be read, and SQLite
    /// only reads it.
    nonisolated(unsafe) static let table: UnsafePointer<sqlite3_io_methods> = {
        let table = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        table.initialize(to: methods)
        return UnsafePointer(table)
    }()

    private static var methods: sqlite3_io_methods {
        var methods = sqlite3_io_methods()
        // Version 2 has shared memory but no mapped files, because their changes would go unnoticed.
        methods.iVersion = 2
        methods.xClose = { file in
            guard let file, let object = FaultHandle.object(of: file) else { return SQLITE_IOERR }
            let code = object.close()
            Unmanaged.passUnretained(object).release()
            UnsafeMutableRawPointer(file).initializeMemory(as: FaultHandle.self, to: FaultHandle())
            return code
        }
        methods.xRead = { FaultHandle.object(of: $0)?.read($1, $2, $3) ?? SQLITE_IOERR }
        methods.xWrite = { FaultHandle.object(of: $0)?.write($1, $2, $3) ?? SQLITE_IOERR }
        methods.xTruncate = { FaultHandle.object(of: $0)?.truncate($1) ?? SQLITE_IOERR }
        methods.xSync = { file, _ in FaultHandle.object(of: file)?.sync() ?? SQLITE_IOERR }
        methods.xFileSize = { file, size in
            guard let object = FaultHandle.object(of: file), !object.disk.isOver else { return SQLITE_IOERR }
            return object.methods.xFileSize?(object.file, size) ?? SQLITE_IOERR
        }
        methods.xSectorSize = { _ in 4096 }
        // No operation is atomic, ordered or safe to append; sectors beside a written one stay unchanged.
        methods.xDeviceCharacteristics = { _ in SQLITE_IOCAP_POWERSAFE_OVERWRITE }
        methods.xFileControl = { file, operation, argument in
            guard let object = FaultHandle.object(of: file) else { return SQLITE_NOTFOUND }
            switch operation {
            // Both would extend the file without a write.
            case SQLITE_FCNTL_SIZE_HINT, SQLITE_FCNTL_CHUNK_SIZE: return SQLITE_OK
            case SQLITE_FCNTL_MMAP_SIZE: return SQLITE_NOTFOUND
            default: return object.methods.xFileControl?(object.file, operation, argument) ?? SQLITE_NOTFOUND
            }
        }
        addLocks(to: &methods)
        return methods
    }

    private static func addLocks(to methods: inout sqlite3_io_methods) {
        methods.xLock = { file, level in
            guard let object = FaultHandle.object(of: file) else { return SQLITE_IOERR }
            return object.methods.xLock?(object.file, level) ?? SQLITE_IOERR
        }
        methods.xUnlock = { file, level in
            guard let object = FaultHandle.object(of: file) else { return SQLITE_IOERR }
            return object.methods.xUnlock?(object.file, level) ?? SQLITE_IOERR
        }
        methods.xCheckReservedLock = { file, result in
            guard let object = FaultHandle.object(of: file) else { return SQLITE_IOERR }
            return object.methods.xCheckReservedLock?(object.file, result) ?? SQLITE_IOERR
        }
        methods.xShmMap = { file, region, size, extend, target in
            guard let object = FaultHandle.object(of: file) else { return SQLITE_IOERR }
            return object.methods.xShmMap?(object.file, region, size, extend, target) ?? SQLITE_IOERR
        }
        methods.xShmLock = { file, offset, count, flags in
            guard let object = FaultHandle.object(of: file) else { return SQLITE_IOERR }
            return object.methods.xShmLock?(object.file, offset, count, flags) ?? SQLITE_IOERR
        }
        methods.xShmBarrier = { file in
            guard let object = FaultHandle.object(of: file) else { return }
            object.methods.xShmBarrier?(object.file)
        }
        methods.xShmUnmap = { file, deletes in
            guard let object = FaultHandle.object(of: file) else { return SQLITE_OK }
            return object.methods.xShmUnmap?(object.file, deletes) ?? SQLITE_OK
        }
    }
}
