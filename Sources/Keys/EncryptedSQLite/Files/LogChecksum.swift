/// SQLite's checksum of the log, which runs from the header through every frame.
struct LogChecksum: Equatable {
    /// The two words of the checksum; the first word is in the upper half.
    var value: UInt64

    private static let magic: UInt64 = 0x377F_0682

    /// Returns whether SQLite accepts an unmasked log header of 32 bytes.
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

    /// Reads the checksum at the end of an unmasked header of the log or of a frame.
    init(of header: UnsafeRawBufferPointer) {
        value = UInt64(bigEndian: header.loadUnaligned(fromByteOffset: header.count - 8, as: UInt64.self))
    }

    /// Returns the checksum after further bytes.
    ///
    /// - Parameters:
    ///   - bytes: A multiple of 8 bytes.
    ///   - isBigEndian: Whether the log uses big-endian words, as given by the last bit of its first word.
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

    /// Returns the checksum after a frame: it covers the first 8 bytes of the header, and the page with its
    /// reserved bytes.
    func after(fields: UnsafeRawBufferPointer, page: UnsafeRawBufferPointer, isBigEndian: Bool) -> LogChecksum {
        after(UnsafeRawBufferPointer(rebasing: fields[..<8]), isBigEndian: isBigEndian)
            .after(page, isBigEndian: isBigEndian)
    }
}
