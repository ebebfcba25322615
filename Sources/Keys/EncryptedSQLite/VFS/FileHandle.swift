import CSQLite

/// The memory layout of our `sqlite3_file`: methods, our object, then the underlying file.
///
/// SQLite allocates the memory (`szOsFile` bytes, 8-aligned) and never moves it while the file is open.
struct FileHandle {
    private var methods: UnsafePointer<sqlite3_io_methods>?
    private var object: UnsafeMutableRawPointer?

    /// The offset of the underlying file in the memory.
    static var size: Int { MemoryLayout<FileHandle>.stride }

    static func base(of file: UnsafeMutablePointer<sqlite3_file>) -> BaseFile {
        let address = UnsafeMutableRawPointer(file) + size
        return BaseFile(pointer: address.assumingMemoryBound(to: sqlite3_file.self))
    }

    /// Makes SQLite call `object` for this file until the file is closed.
    static func install(_ object: OpenFile, in file: UnsafeMutablePointer<sqlite3_file>) {
        UnsafeMutableRawPointer(file).initializeMemory(
            as: FileHandle.self,
            to: FileHandle(methods: FileMethods.table, object: Unmanaged.passRetained(object).toOpaque()))
    }

    /// Returns the object of a file, or `nil` if the file is not one of ours.
    static func object(of file: UnsafeMutablePointer<sqlite3_file>?) -> OpenFile? {
        guard let file else { return nil }
        let handle = UnsafeMutableRawPointer(file).assumingMemoryBound(to: FileHandle.self)
        guard handle.pointee.methods == FileMethods.table, let object = handle.pointee.object else { return nil }
        return Unmanaged<OpenFile>.fromOpaque(object).takeUnretainedValue()
    }

    /// Releases the object of a file. SQLite must not call the file again.
    static func remove(from file: UnsafeMutablePointer<sqlite3_file>?) {
        guard let file else { return }
        let handle = UnsafeMutableRawPointer(file).assumingMemoryBound(to: FileHandle.self)
        guard handle.pointee.methods == FileMethods.table, let object = handle.pointee.object else { return }
        Unmanaged<OpenFile>.fromOpaque(object).release()
        handle.pointee = FileHandle(methods: nil, object: nil)
    }
}

extension BaseFile {
    /// Closes a file that a failed opening may have left open: SQLite sets the methods of such a file.
    func closeIfOpen() -> Int32 {
        pointer.pointee.pMethods == nil ? SQLITE_OK : close()
    }
}
