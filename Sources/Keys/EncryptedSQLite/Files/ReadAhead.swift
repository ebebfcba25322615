import CSQLite

/// A buffer that reads several pages at once while SQLite reads a file in order.
///
/// The buffer is valid only while the connection's locks do not change. While the connection holds a read lock,
/// SQLite's rules keep other connections from changing any page that it may read from the database file. With a
/// journal, writers wait for the lock. With a log, a checkpoint copies back only pages that such a reader finds
/// in the log.
struct ReadAhead {
    /// The maximum number of pages of one read; it starts with two and doubles.
    private static let most = 16
    /// The largest number of pages between two reads that still count as sequential, as the pages of a table
    /// have gaps.
    private static let gap = 4

    private var buffer: Buffer?
    /// The range of the file that the buffer holds, in offsets of the underlying file.
    private var range: Range<Int64> = 0..<0
    private var last: Int64 = -1
    /// The number of pages of the next read; one for random access.
    private var window = 1

    /// Returns the sealed page at an offset if it was read ahead, or reads it with the following pages in
    /// sequential access.
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
        // A short read ends in zeros, from which no page opens.
        guard code == SQLITE_OK || code == SQLITE_IOERR_SHORT_READ, let address = bytes.baseAddress else {
            range = 0..<0
            return nil
        }
        range = offset..<(offset + Int64(bytes.count))
        return UnsafeRawPointer(address)
    }

    /// Discards the pages that were read ahead.
    mutating func forget() {
        range = 0..<0
    }
}
