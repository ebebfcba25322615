import CSQLite

/// A temporary file of SQLite, kept in memory. No sorter, statement journal or temporary table is written to
/// disk, regardless of `PRAGMA temp_store`.
final class MemoryFile: OpenFile {
    private var content: [UInt8] = []

    /// The maximum size of one temporary file, in bytes (1 GiB). A statement that needs more fails with
    /// `SQLITE_FULL`.
    static let limit: Int64 = 1 << 30

    override func read(_ target: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int32 {
        guard offset >= 0 else { return SQLITE_IOERR_READ }
        let start = Int(min(offset, Int64(content.count)))
        let count = min(target.count, content.count - start)
        target.copyBytes(from: content[start..<(start + count)])
        guard count == target.count else {
            fillWithZeros(UnsafeMutableRawBufferPointer(rebasing: target[count...]))
            return SQLITE_IOERR_SHORT_READ
        }
        return SQLITE_OK
    }

    override func write(_ source: UnsafeRawBufferPointer, at offset: Int64) -> Int32 {
        guard offset >= 0, offset <= Self.limit - Int64(source.count) else { return SQLITE_FULL }
        let end = Int(offset) + source.count
        if content.count < end { content.append(contentsOf: repeatElement(0, count: end - content.count)) }
        content.withUnsafeMutableBytes { bytes in
            UnsafeMutableRawBufferPointer(rebasing: bytes[Int(offset)..<end]).copyMemory(from: source)
        }
        return SQLITE_OK
    }

    override func truncate(to size: Int64) -> Int32 {
        if size < Int64(content.count) { content.removeLast(content.count - Int(max(0, size))) }
        return SQLITE_OK
    }

    override func size(_ size: inout Int64) -> Int32 {
        size = Int64(content.count)
        return SQLITE_OK
    }
}
