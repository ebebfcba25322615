/// Reads a whole write-ahead log as recovery does, and tells what in it is not as it was written.
struct LogReader {
    private let content: [UInt8]
    private let cipher: PageCipher
    private let sealer: PageSealer
    /// Whether SQLite's checksum is of big-endian words.
    private var isBigEndian: Bool
    /// The mark of this log, which each of its frames has.
    private var salts: UInt64 = 0
    /// Whether the log begins with a header that SQLite would believe.
    private(set) var headerIsWhole = false
    /// The checksum of the header, which that of the first frame goes on from.
    private var headerSum: UInt64 = 0
    /// What is known of the frames of this log, in order.
    private var frames: [Frame] = []

    private struct Frame {
        var offset: Int
        var state: State

        enum State {
            /// Nothing of it was changed.
            case whole
            /// Its page opens, but nothing vouches for its header, as the one before it is damaged.
            case doubtful
            case damaged
        }
    }

    /// Reads a log file, which is kept in memory as a whole: it is not kept long, and no lock stands on it.
    ///
    /// - Returns: nil where there is none, or an empty one.
    init?(path: String, cipher: PageCipher) {
        guard let content = FileContent.bytes(of: path), !content.isEmpty else { return nil }
        self.init(content: content, cipher: cipher)
    }

    init(content: [UInt8], cipher: PageCipher) {
        self.content = content
        self.cipher = cipher
        sealer = cipher.sealer(for: .log)
        isBigEndian = content.count > 3 && content[3] & 1 == 1
        guard content.count >= FileFormat.logHeaderSize else { return }
        salts = integer(at: 16)
        let mask = cipher.logMask(isHeader: true, offset: 0, salts: salts, pageAndCommit: 0)
        headerSum = integer(at: 24) ^ mask
        headerIsWhole = integer(at: 0) >> 33 == 0x377F_0682 >> 1 && sum(content[..<24], after: 0) == headerSum
        if !headerIsWhole {
            // The first frame has the mark too. Who writes a log takes the words of its machine.
            isBigEndian = Int(1).bigEndian == 1
            guard content.count >= FileFormat.logHeaderSize + FileFormat.frameSize else { return }
            salts = integer(at: FileFormat.logHeaderSize + 8)
        }
        frames = states()
    }

    /// The offsets of frames of this log that are not as they were written.
    var damagedFrames: [Int] { frames.filter { $0.state == .damaged }.map(\.offset) }

    /// How many frames of this log cannot be used.
    var unusableCount: Int { frames.count { $0.state != .whole } }

    /// What the transactions that were committed wrote last of each page: the offsets of frames, by page number.
    ///
    /// A frame that cannot be used is left out: of its page, what an earlier one wrote counts.
    var committedFrames: [Int: Int] { committed(of: frames.filter { $0.state == .whole })?.frames ?? [:] }

    /// What SQLite takes from this log, which to it ends at the first frame that is not as it was written; nil where that
    /// commits nothing.
    var recovered: (frames: [Int: Int], pageCount: Int)? {
        headerIsWhole ? committed(of: frames.prefix { $0.state == .whole }) : nil
    }

    /// The offsets of the frames that count, by page number, and how many pages the database has with them.
    private func committed(of frames: some Sequence<Frame>) -> (frames: [Int: Int], pageCount: Int)? {
        var (committed, pending): ([Int: Int], [Int: Int]) = ([:], [:])
        var size = 0
        for frame in frames {
            let fields = integer(at: frame.offset)
            pending[Int(fields >> 32)] = frame.offset
            // The frame that commits says how many pages there are then.
            let pageCount = Int(fields & 0xFFFF_FFFF)
            guard pageCount > 0 else { continue }
            committed.merge(pending) { $1 }
            if pageCount < size { committed = committed.filter { $0.key <= pageCount } }
            (size, pending) = (pageCount, [:])
        }
        return size > 0 ? (committed, size) : nil
    }

    /// The page in a frame, with its reserved bytes.
    func page(inFrameAt offset: Int) -> [UInt8]? { opened(offset) }

    /// Tells of each frame of this log what it is.
    ///
    /// The frames behind the last one of this log are of an older one, and nobody reads them. So are those of a
    /// transaction that was rolled back: they follow from each other, but not from the frame before them.
    private func states() -> [Frame] {
        let offsets = Array(
            stride(
                from: FileFormat.logHeaderSize, through: content.count - FileFormat.frameSize, by: FileFormat.frameSize)
        )
        var frames: [Frame] = []
        // What the next frame goes on from; nil behind what is damaged.
        var before = headerIsWhole ? headerSum : nil
        for (index, offset) in offsets.enumerated() {
            guard belongs(offset) else {
                // A changed mark alone makes no frame of an older log.
                if halfBelongs(offset) || offsets[(index + 1)...].contains(where: belongs) {
                    frames.append(Frame(offset: offset, state: .damaged))
                    before = nil
                    continue
                }
                break
            }
            guard let page = opened(offset) else {
                frames.append(Frame(offset: offset, state: .damaged))
                before = nil
                continue
            }
            let (stored, next) = (storedSum(offset), offset + FileFormat.frameSize)
            func isFollowed() -> Bool { index + 1 < offsets.count && follows(next, from: stored) }
            guard let known = before else {
                // Of a frame that is damaged in its page alone, the header still tells what the next one goes on from.
                let hint = index > 0 ? storedSum(offsets[index - 1]) : headerSum
                let isKnown = follows(offset, page, from: hint) || isFollowed()
                frames.append(Frame(offset: offset, state: isKnown ? .whole : .doubtful))
                before = stored
                continue
            }
            if !follows(offset, page, from: known) {
                if isFollowed() { break }
                frames.append(Frame(offset: offset, state: .damaged))
                before = nil
                continue
            }
            frames.append(Frame(offset: offset, state: .whole))
            before = stored
        }
        return frames
    }

    /// Whether a frame of this log goes on from a checksum.
    private func follows(_ offset: Int, from sum: UInt64) -> Bool {
        guard belongs(offset), let page = opened(offset) else { return false }
        return follows(offset, page, from: sum)
    }

    private func follows(_ offset: Int, _ page: [UInt8], from before: UInt64) -> Bool {
        sum(content[offset..<(offset + 8)] + page, after: before) == storedSum(offset)
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
