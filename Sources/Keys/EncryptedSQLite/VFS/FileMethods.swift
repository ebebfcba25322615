import CSQLite

/// The functions that SQLite calls for a file. Each function finds our object and forwards the call.
enum FileMethods {
    /// The method table, version 2: shared memory, but no `xFetch`, so that no page is ever mapped undecrypted.
    ///
    /// `nonisolated(unsafe)` is sound: the memory is written once, before the constant can be read, and SQLite
    /// only reads it. It is never freed.
    nonisolated(unsafe) static let table: UnsafePointer<sqlite3_io_methods> = {
        let table = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        table.initialize(to: methods)
        return UnsafePointer(table)
    }()

    /// The device characteristics that SQLite may rely on. Promises of atomic or partial page access are not
    /// passed on, because a page is sealed as a unit. Power-safe overwrite is always reported, regardless of
    /// `psow` in a URI: it keeps pages in logs whole and journal sectors at 512 bytes, on which the format
    /// depends.
    private static let passedCharacteristics =
        SQLITE_IOCAP_SEQUENTIAL | SQLITE_IOCAP_SAFE_APPEND | SQLITE_IOCAP_UNDELETABLE_WHEN_OPEN
        | SQLITE_IOCAP_IMMUTABLE

    private static var methods: sqlite3_io_methods {
        var methods = sqlite3_io_methods()
        methods.iVersion = 2
        methods.xClose = { file in
            let code = FileHandle.object(of: file)?.close() ?? SQLITE_OK
            FileHandle.remove(from: file)
            return code
        }
        methods.xRead = { file, target, count, offset in
            guard let object = FileHandle.object(of: file), count >= 0 else { return SQLITE_IOERR_READ }
            return object.read(UnsafeMutableRawBufferPointer(start: target, count: Int(count)), at: offset)
        }
        methods.xWrite = { file, source, count, offset in
            guard let object = FileHandle.object(of: file), count >= 0 else { return SQLITE_IOERR_WRITE }
            return object.write(UnsafeRawBufferPointer(start: source, count: Int(count)), at: offset)
        }
        methods.xTruncate = { file, size in FileHandle.object(of: file)?.truncate(to: size) ?? SQLITE_IOERR }
        methods.xSync = { file, flags in
            guard let object = FileHandle.object(of: file) else { return SQLITE_IOERR }
            return object.sync(flags)
        }
        methods.xFileSize = { file, result in
            guard let object = FileHandle.object(of: file), let result else { return SQLITE_IOERR }
            return object.size(&result.pointee)
        }
        methods.xSectorSize = { file in
            FileHandle.object(of: file)?.base?.sectorSize ?? Int32(FileFormat.pageSize)
        }
        methods.xDeviceCharacteristics = { file in
            let base = FileHandle.object(of: file)?.base?.deviceCharacteristics ?? 0
            return base & FileMethods.passedCharacteristics | SQLITE_IOCAP_POWERSAFE_OVERWRITE
        }
        addLocks(to: &methods)
        addControl(to: &methods)
        return methods
    }

    private static func addLocks(to methods: inout sqlite3_io_methods) {
        methods.xLock = { file, level in
            guard let object = FileHandle.object(of: file) else { return SQLITE_IOERR }
            let code = object.locksWillChange()
            guard code == SQLITE_OK else { return code }
            let locked = object.base?.lock(level) ?? SQLITE_OK
            return locked == SQLITE_OK ? object.lockDidChange(to: level) : locked
        }
        methods.xUnlock = { file, level in
            guard let object = FileHandle.object(of: file) else { return SQLITE_IOERR }
            let code = object.locksWillChange()
            let unlocked = object.base?.unlock(level) ?? SQLITE_OK
            _ = object.lockDidChange(to: level)
            return code == SQLITE_OK ? unlocked : code
        }
        methods.xCheckReservedLock = { file, result in
            result?.pointee = 0
            return FileHandle.object(of: file)?.base?.checkReservedLock(result) ?? SQLITE_OK
        }
        methods.xShmMap = { file, region, size, extend, target in
            guard let object = FileHandle.object(of: file) else { return SQLITE_IOERR }
            let code = object.base?.shmMap(region, size, extend: extend, target: target) ?? SQLITE_IOERR
            // A read-only index is mapped too.
            if code == SQLITE_OK || code == SQLITE_READONLY, size == LogIndex.regionSize {
                object.didMap(region, to: target?.pointee)
            }
            return code
        }
        methods.xShmLock = { file, offset, count, flags in
            guard let object = FileHandle.object(of: file) else { return SQLITE_IOERR }
            let code = object.locksWillChange()
            guard code == SQLITE_OK || flags & SQLITE_SHM_UNLOCK != 0 else { return code }
            object.sharedLockWillChange(offset, count, flags: flags)
            let changed = object.base?.shmLock(offset, count, flags: flags) ?? SQLITE_IOERR
            if changed == SQLITE_OK { object.sharedLockDidChange(offset, count, flags: flags) }
            return code == SQLITE_OK ? changed : code
        }
        methods.xShmBarrier = { file in FileHandle.object(of: file)?.base?.shmBarrier() }
        methods.xShmUnmap = { file, delete in
            guard let object = FileHandle.object(of: file) else { return SQLITE_OK }
            object.didUnmap()
            return object.base?.shmUnmap(delete) ?? SQLITE_OK
        }
    }

    private static func addControl(to methods: inout sqlite3_io_methods) {
        methods.xFileControl = { file, operation, argument in
            guard let base = FileHandle.object(of: file)?.base else { return SQLITE_NOTFOUND }
            switch operation {
            case SQLITE_FCNTL_SIZE_HINT, SQLITE_FCNTL_CHUNK_SIZE:
                // Both would extend the file by zeros, which are not sealed pages. They are only hints.
                return SQLITE_OK
            case SQLITE_FCNTL_MMAP_SIZE, SQLITE_FCNTL_BEGIN_ATOMIC_WRITE, SQLITE_FCNTL_COMMIT_ATOMIC_WRITE,
                SQLITE_FCNTL_ROLLBACK_ATOMIC_WRITE:
                return SQLITE_NOTFOUND
            default:
                return base.control(operation, argument)
            }
        }
    }
}
