import CSQLite

/// Reads several pages at once while SQLite goes through a file in order.
///
/// What was read ahead counts only as long as the connection's locks stay as they are. While it holds a read lock,
/// SQLite's own rules keep others from changing any page that it may read from the database file: with a journal,
/// writers wait for the lock; with a log, a checkpoint copies back only what such a reader finds in the log.
struct ReadAhead {
    /// How many pages are read at once in the end; it begins with two, and doubles.
    private static let most = 16
    /// Pages of one table are seldom quite without gaps: so many may be left out.
    private static let gap = 4

    private var buffer: Buffer?
    /// Where the buffer's bytes stand in the file, as the system counts.
    private var range: Range<Int64> = 0..<0
    private var last: Int64 = -1
    /// How many pages the next read takes; one at random access.
    private var window = 1

    /// The sealed page at an offset, if it was read ahead or is worth reading together with those that follow.
    mutating func page(at offset: Int64, of file: BaseFile) -> UnsafeRawPointer? {
        let size = Int64(FileFormat.pageSize)
        let isNext = last >= 0 && offset > last && offset - last <= size * Int64(Self.gap)
        last = offset
        if range.contains(offset), let address = buffer?.bytes.baseAddress {
            return UnsafeRawPointer(address + Int(offset - range.lowerBound))
        }
        guard isNext else {
            window = 1
            return nil
        }
        window = min(window * 2, Self.most)
        let buffer = self.buffer ?? Buffer(size: Self.most * FileFormat.pageSize)
        self.buffer = buffer
        let bytes = UnsafeMutableRawBufferPointer(rebasing: buffer.bytes[..<(window * FileFormat.pageSize)])
        let code = file.read(bytes, at: offset)
        // A short read ends in zeros, which no page opens from.
        guard code == SQLITE_OK || code == SQLITE_IOERR_SHORT_READ, let address = bytes.baseAddress else {
            range = 0..<0
            return nil
        }
        range = offset..<(offset + Int64(bytes.count))
        return UnsafeRawPointer(address)
    }

    /// Forgets what was read.
    mutating func forget() {
        range = 0..<0
    }
}
