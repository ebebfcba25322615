/// SQLite's checksum of the log, which goes on from the header to each frame.
struct LogChecksum: Equatable {
    /// The two words, the first one above.
    var value: UInt64

    private static let magic: UInt64 = 0x377F_0682

    /// Whether a header of 32 bytes, unmasked, is one that SQLite believes.
    static func isHeader(_ header: UnsafeRawBufferPointer) -> Bool {
        guard header.count == FileFormat.logHeaderSize,
            UInt64(bigEndian: header.loadUnaligned(as: UInt64.self)) >> 33 == magic >> 1
        else { return false }
        let fields = UnsafeRawBufferPointer(rebasing: header[..<24])
        return LogChecksum(value: 0).after(fields, isBigEndian: header[3] & 1 == 1) == LogChecksum(of: header)
    }

    init(value: UInt64) {
        self.value = value
    }

    /// The checksum at the end of an unmasked header of the log or of a frame.
    init(of header: UnsafeRawBufferPointer) {
        value = UInt64(bigEndian: header.loadUnaligned(fromByteOffset: header.count - 8, as: UInt64.self))
    }

    /// The checksum behind more bytes.
    ///
    /// - Parameters:
    ///   - bytes: A multiple of 8 bytes.
    ///   - isBigEndian: Whether the log counts in big-endian words, which the last bit of its first word tells.
    func after(_ bytes: UnsafeRawBufferPointer, isBigEndian: Bool) -> LogChecksum {
        var (first, second) = (UInt32(truncatingIfNeeded: value >> 32), UInt32(truncatingIfNeeded: value))
        for at in stride(from: 0, to: bytes.count - 7, by: 8) {
            let a = bytes.loadUnaligned(fromByteOffset: at, as: UInt32.self)
            let b = bytes.loadUnaligned(fromByteOffset: at + 4, as: UInt32.self)
            first &+= (isBigEndian ? UInt32(bigEndian: a) : UInt32(littleEndian: a)) &+ second
            second &+= (isBigEndian ? UInt32(bigEndian: b) : UInt32(littleEndian: b)) &+ first
        }
        return LogChecksum(value: UInt64(first) << 32 | UInt64(second))
    }

    /// The checksum behind a frame: of the first 8 bytes of its header, and of its page with the reserved bytes.
    func after(fields: UnsafeRawBufferPointer, page: UnsafeRawBufferPointer, isBigEndian: Bool) -> LogChecksum {
        after(UnsafeRawBufferPointer(rebasing: fields[..<8]), isBigEndian: isBigEndian)
            .after(page, isBigEndian: isBigEndian)
    }
}
