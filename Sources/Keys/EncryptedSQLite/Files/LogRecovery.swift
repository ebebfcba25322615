/// The state of SQLite's recovery of a log, derived from its reads, which gives the frame at which recovery
/// will end.
struct LogRecovery {
    /// The salts from a log header with a valid checksum.
    let salts: UInt64
    /// Whether the end of the log has been found.
    var isOver = false
    private let isBigEndian: Bool
    private var sum: LogChecksum
    private var next = 1

    /// - Parameter header: The unmasked header of the log. The initializer returns `nil` if SQLite would not
    ///   accept it.
    init?(header: UnsafeRawBufferPointer) {
        guard LogChecksum.isHeader(header) else { return nil }
        salts = UInt64(bigEndian: header.loadUnaligned(fromByteOffset: 16, as: UInt64.self))
        isBigEndian = header[3] & 1 == 1
        sum = LogChecksum(of: header)
    }

    /// Returns whether a frame continues the preceding frame, so that SQLite's recovery does not end here.
    ///
    /// - Parameters:
    ///   - header: The unmasked header of the frame.
    ///   - page: The page of the frame, with its reserved bytes.
    mutating func goesOn(
        _ number: Int, header: UnsafeMutableRawBufferPointer, page: UnsafeMutableRawBufferPointer
    ) -> Bool {
        // Recovery reads frames in order. A frame that is read out of order is accepted.
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
