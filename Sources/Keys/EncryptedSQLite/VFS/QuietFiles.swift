import CSQLite
import Synchronization

/// Database files that are read without writing anything. The index of the log, which SQLite would write beside
/// the database, is kept in the memory of this process.
///
/// SQLite creates the index as a file, and cannot read a database if there is no room for that file. A database
/// on a full disk is therefore opened quietly. The caller holds the lock of ``ExclusiveDatabase`` meanwhile, so
/// no other process changes the database or its log. Quiet connections therefore only need locks among
/// themselves, which are kept here too.
///
/// A quiet file is a file of the underlying VFS with replaced methods for locks, shared memory and writes.
enum QuietFiles {
    /// The parameter in a database URI that makes its connections quiet.
    static let parameter = "outpost_quiet"

    /// The number of locks of SQLite's index of the log.
    private static let lockCount = 8

    /// The index of one log and its locks.
    private final class Memory {
        var regions: [UnsafeMutableRawBufferPointer] = []
        var sharers = [Int](repeating: 0, count: lockCount)
        var isExclusive = [Bool](repeating: false, count: lockCount)

        deinit { for region in regions { region.deallocate() } }
    }

    /// The state of one open file.
    private struct Handle {
        let memory: Memory
        let methods: UnsafePointer<sqlite3_io_methods>
        var shared: Set<Int> = []
        var exclusive: Set<Int> = []
    }

    private struct WeakMemory {
        weak var memory: Memory?
    }

    private struct State {
        /// The open files, by their address.
        var handles: [UInt: Handle] = [:]
        var memories: [String: WeakMemory] = [:]
        /// The replaced methods by the address of the original ones. There is one table for each kind of
        /// underlying file; tables are never freed.
        var tables: [UInt: UnsafePointer<sqlite3_io_methods>] = [:]
    }

    // `nonisolated(unsafe)` is sound: only `withState` accesses the value, and it holds the lock. Pointers to
    // files stay valid until SQLite closes them, which removes their handles.
    private nonisolated(unsafe) static var state = State()
    private static let lock = Mutex(())

    private static func withState<Result>(_ body: (inout State) -> Result) -> Result {
        lock.withLock { _ in body(&state) }
    }

    /// Makes an open file of the underlying VFS quiet until it is closed.
    static func begin(_ file: BaseFile, path: String) {
        guard let methods = file.pointer.pointee.pMethods else { return }
        withState { state in
            let memory = state.memories[path]?.memory ?? Memory()
            state.memories[path] = WeakMemory(memory: memory)
            state.handles[UInt(bitPattern: file.pointer)] = Handle(memory: memory, methods: methods)
            let key = UInt(bitPattern: methods)
            let table = state.tables[key] ?? quiet(methods.pointee)
            state.tables[key] = table
            file.pointer.pointee.pMethods = table
        }
    }

    /// Returns whether a file is quiet.
    static func contains(_ file: BaseFile) -> Bool {
        withState { $0.handles[UInt(bitPattern: file.pointer)] != nil }
    }

    private static func quiet(_ original: sqlite3_io_methods) -> UnsafePointer<sqlite3_io_methods> {
        var methods = original
        methods.xLock = { _, _ in SQLITE_OK }
        methods.xUnlock = { _, _ in SQLITE_OK }
        methods.xCheckReservedLock = { _, result in
            result?.pointee = 0
            return SQLITE_OK
        }
        methods.xWrite = { _, _, _, _ in SQLITE_FULL }
        methods.xTruncate = { _, _ in SQLITE_FULL }
        methods.xShmMap = { QuietFiles.map($0, $1, size: $2, extend: $3, target: $4) }
        methods.xShmLock = { QuietFiles.changeLock($0, $1, count: $2, flags: $3) }
        // Taking the mutex orders reads and writes before and after it.
        methods.xShmBarrier = { _ in QuietFiles.withState { _ in } }
        methods.xShmUnmap = { file, _ in QuietFiles.unmap(file) }
        methods.xClose = { QuietFiles.close($0) }
        let table = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        table.initialize(to: methods)
        return UnsafePointer(table)
    }

    private static func map(
        _ file: UnsafeMutablePointer<sqlite3_file>?, _ region: Int32, size: Int32, extend: Int32,
        target: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    ) -> Int32 {
        withState { state in
            target?.pointee = nil
            guard let memory = state.handles[UInt(bitPattern: file)]?.memory, region >= 0, size > 0 else {
                return SQLITE_IOERR
            }
            while memory.regions.count <= Int(region) {
                guard extend != 0 else { return SQLITE_OK }
                let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: Int(size), alignment: 16)
                fillWithZeros(bytes)
                memory.regions.append(bytes)
            }
            target?.pointee = memory.regions[Int(region)].baseAddress
            return SQLITE_OK
        }
    }

    private static func changeLock(
        _ file: UnsafeMutablePointer<sqlite3_file>?, _ first: Int32, count: Int32, flags: Int32
    ) -> Int32 {
        withState { state in
            let key = UInt(bitPattern: file)
            guard var handle = state.handles[key], first >= 0, count > 0, Int(first + count) <= lockCount else {
                return SQLITE_IOERR
            }
            let locks = Int(first)..<Int(first + count)
            if flags & SQLITE_SHM_UNLOCK != 0 {
                release(locks, of: &handle)
            } else {
                for lock in locks {
                    let others = handle.memory.sharers[lock] - (handle.shared.contains(lock) ? 1 : 0)
                    let isTaken = handle.memory.isExclusive[lock] && !handle.exclusive.contains(lock)
                    guard !isTaken, flags & SQLITE_SHM_SHARED != 0 || others == 0 else { return SQLITE_BUSY }
                }
                for lock in locks {
                    if flags & SQLITE_SHM_SHARED != 0 {
                        if handle.shared.insert(lock).inserted { handle.memory.sharers[lock] += 1 }
                    } else {
                        handle.exclusive.insert(lock)
                        handle.memory.isExclusive[lock] = true
                    }
                }
            }
            state.handles[key] = handle
            return SQLITE_OK
        }
    }

    private static func release(_ locks: Range<Int>, of handle: inout Handle) {
        for lock in locks {
            if handle.shared.remove(lock) != nil { handle.memory.sharers[lock] -= 1 }
            if handle.exclusive.remove(lock) != nil { handle.memory.isExclusive[lock] = false }
        }
    }

    private static func unmap(_ file: UnsafeMutablePointer<sqlite3_file>?) -> Int32 {
        withState { state in
            let key = UInt(bitPattern: file)
            guard var handle = state.handles[key] else { return SQLITE_OK }
            release(0..<lockCount, of: &handle)
            state.handles[key] = handle
            return SQLITE_OK
        }
    }

    private static func close(_ file: UnsafeMutablePointer<sqlite3_file>?) -> Int32 {
        guard let file else { return SQLITE_OK }
        let methods = withState { state -> UnsafePointer<sqlite3_io_methods>? in
            guard var handle = state.handles.removeValue(forKey: UInt(bitPattern: file)) else { return nil }
            release(0..<lockCount, of: &handle)
            return handle.methods
        }
        guard let methods else { return SQLITE_OK }
        file.pointee.pMethods = methods
        return methods.pointee.xClose?(file) ?? SQLITE_OK
    }
}

extension EncryptedDatabase {
    /// Returns the URI that opens a database for reading without writing anything; see ``uri(forPath:)``.
    ///
    /// - Parameter path: The database file, on which the caller holds the lock of ``ExclusiveDatabase``.
    package static func quietURI(forPath path: String) -> String {
        uri(forPath: path) + "&\(QuietFiles.parameter)=1"
    }
}
