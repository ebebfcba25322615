/// Reads a whole write-ahead log as recovery does, and tells what in it is not as it was written.
struct LogReader {
    private let content: [UInt8]
    private let cipher: PageCipher
    private let sealer: PageSealer
    /// Whether SQLite's checksum is of big-endian words, as the magic number says.
    private let isBigEndian: Bool
    private var salts: UInt64 { integer(at: 16) }

    init(content: [UInt8], cipher: PageCipher) {
        self.content = content
        self.cipher = cipher
        sealer = cipher.sealer(for: .log)
        isBigEndian = content.count > 3 && content[3] & 1 == 1
    }

    /// Whether the log begins with a header that SQLite would believe.
    var headerIsWhole: Bool {
        guard content.count >= FileFormat.logHeaderSize, integer(at: 0) >> 33 == 0x377F_0682 >> 1 else { return false }
        let mask = cipher.logMask(isHeader: true, offset: 0, salts: salts, pageAndCommit: 0)
        return sum(content[..<24], after: 0) == integer(at: 24) ^ mask
    }

    /// The offsets of frames of this log that are not as they were written.
    ///
    /// The frames behind the last one of this log are of an older one, and nobody reads them. So are those of a
    /// transaction that was rolled back: they follow from each other, but not from the frame before them.
    var damagedFrames: [Int] {
        let offsets = Array(
            stride(
                from: FileFormat.logHeaderSize, through: content.count - FileFormat.frameSize, by: FileFormat.frameSize)
        )
        var damaged: [Int] = []
        var before: UInt64? =
            integer(at: 24) ^ cipher.logMask(isHeader: true, offset: 0, salts: salts, pageAndCommit: 0)
        for (index, offset) in offsets.enumerated() {
            guard belongs(offset) else {
                // A changed mark alone makes no frame of an older log.
                if halfBelongs(offset) || offsets[(index + 1)...].contains(where: belongs) {
                    damaged.append(offset)
                    before = nil
                    continue
                }
                break
            }
            guard let page = opened(offset) else {
                damaged.append(offset)
                before = nil
                continue
            }
            let stored = storedSum(offset)
            if let known = before, sum(content[offset..<(offset + 8)] + page, after: known) != stored {
                let next = offset + FileFormat.frameSize
                if offsets.contains(next), belongs(next), let page = opened(next),
                    sum(content[next..<(next + 8)] + page, after: stored) == storedSum(next)
                {
                    break
                }
                damaged.append(offset)
                before = nil
                continue
            }
            before = stored
        }
        return damaged
    }

    private func belongs(_ offset: Int) -> Bool { integer(at: offset + 8) == salts }

    private func halfBelongs(_ offset: Int) -> Bool {
        let difference = integer(at: offset + 8) ^ salts
        return difference >> 32 == 0 || difference << 32 == 0
    }

    /// The page in a frame with its reserved bytes, or nil when it does not open.
    private func opened(_ offset: Int) -> [UInt8]? {
        let start = offset + FileFormat.frameHeaderSize
        let place = PageCipher.Place(kind: .log, offset: Int64(start))
        var page = [UInt8](repeating: 0, count: FileFormat.pageSize)
        let isOpen = page.withUnsafeMutableBytes { target in
            content[start..<(start + FileFormat.pageSize)].withUnsafeBytes { sealed in
                guard let target = target.baseAddress, let sealed = sealed.baseAddress else { return false }
                return cipher.withAssociatedData(of: place) { sealer.open(sealed, authenticating: $0, to: target) }
            }
        }
        return isOpen ? page : nil
    }

    private func storedSum(_ offset: Int) -> UInt64 {
        let mask = cipher.logMask(
            isHeader: false, offset: Int64(offset), salts: integer(at: offset + 8), pageAndCommit: integer(at: offset))
        return integer(at: offset + 16) ^ mask
    }

    /// SQLite's checksum of the log, which goes on from one frame to the next.
    private func sum(_ bytes: ArraySlice<UInt8>, after seed: UInt64) -> UInt64 {
        var (first, second) = (UInt32(truncatingIfNeeded: seed >> 32), UInt32(truncatingIfNeeded: seed))
        bytes.withUnsafeBytes { bytes in
            for at in stride(from: 0, to: bytes.count - 7, by: 8) {
                let a = bytes.loadUnaligned(fromByteOffset: at, as: UInt32.self)
                let b = bytes.loadUnaligned(fromByteOffset: at + 4, as: UInt32.self)
                first &+= (isBigEndian ? UInt32(bigEndian: a) : UInt32(littleEndian: a)) &+ second
                second &+= (isBigEndian ? UInt32(bigEndian: b) : UInt32(littleEndian: b)) &+ first
            }
        }
        return UInt64(first) << 32 | UInt64(second)
    }

    private func integer(at offset: Int) -> UInt64 {
        content[offset..<(offset + 8)].reduce(0) { $0 << 8 | UInt64($1) }
    }
}
