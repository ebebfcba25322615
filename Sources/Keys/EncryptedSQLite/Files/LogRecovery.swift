/// Follows what SQLite reads while it recovers a log, to know the frame at which it will end.
struct LogRecovery {
    /// The salts in the header of the log, whose checksum is right.
    let salts: UInt64
    /// Whether the end of the log was found.
    var isOver = false
    private let isBigEndian: Bool
    private var sum: LogChecksum
    private var next = 1

    /// - Parameter header: The header of the log, unmasked; nil is made of one that SQLite does not believe.
    init?(header: UnsafeRawBufferPointer) {
        guard LogChecksum.isHeader(header) else { return nil }
        salts = UInt64(bigEndian: header.loadUnaligned(fromByteOffset: 16, as: UInt64.self))
        isBigEndian = header[3] & 1 == 1
        sum = LogChecksum(of: header)
    }

    /// Whether a frame goes on from the one before it, so that SQLite does not end here.
    ///
    /// - Parameters:
    ///   - header: Its header, unmasked.
    ///   - page: Its page, with the reserved bytes.
    mutating func goesOn(
        _ number: Int, header: UnsafeMutableRawBufferPointer, page: UnsafeMutableRawBufferPointer
    ) -> Bool {
        // SQLite reads frames in their order; of one that it picks out, nothing is known.
        guard number == next, !isOver else { return true }
        let after = sum.after(
            fields: UnsafeRawBufferPointer(header), page: UnsafeRawBufferPointer(page), isBigEndian: isBigEndian)
        guard header.loadUnaligned(as: UInt32.self) != 0, after == LogChecksum(of: UnsafeRawBufferPointer(header))
        else { return false }
        sum = after
        next += 1
        return true
    }
}
