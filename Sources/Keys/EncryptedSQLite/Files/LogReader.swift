/// Reads a whole write-ahead log as recovery does, and tells what in it is not as it was written.
struct LogReader {
    private let content: [UInt8]
    private let cipher: PageCipher
    private let version: FormatVersion
    private let sealer: PageSealer
    private let masks: ChecksumMasks
    /// Whether SQLite's checksum is of big-endian words.
    private var isBigEndian: Bool
    /// The mark of this log, which each of its frames has.
    private(set) var salts: UInt64 = 0
    /// Whether the log begins with a header that SQLite would believe.
    private(set) var headerIsWhole = false
    /// The checksum of the header, which that of the first frame goes on from.
    private var headerSum = LogChecksum(value: 0)
    /// What is known of the frames of this log, in order.
    private var frames: [Frame] = []
    /// The frames that recovery would take, whether or not a commit follows them.
    private var recoverable = 0
    /// Whether a commit stands behind the frame at which recovery would end.
    private(set) var hasLostCommit = false

    private struct Frame {
        var offset: Int
        var state: State
        /// Whether it is the last one of a transaction.
        var isCommit = false

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
    init?(path: String, cipher: PageCipher, version: FormatVersion) {
        guard let content = FileContent.bytes(of: path), !content.isEmpty else { return nil }
        self.init(content: content, cipher: cipher, version: version)
    }

    init(content: [UInt8], cipher: PageCipher, version: FormatVersion) {
        self.content = content
        self.cipher = cipher
        self.version = version
        sealer = cipher.sealer(for: .log, version)
        masks = cipher.masks(version)
        isBigEndian = content.count > 3 && content[3] & 1 == 1
        guard content.count >= FileFormat.logHeaderSize else { return }
        salts = integer(at: 16)
        headerSum = LogChecksum(value: integer(at: 24) ^ masks.logHeader(salts: salts))
        var header = Array(content[..<FileFormat.logHeaderSize])
        withUnsafeBytes(of: headerSum.value.bigEndian) { header.replaceSubrange(24..., with: $0) }
        headerIsWhole = header.withUnsafeBytes { LogChecksum.isHeader($0) }
        if !headerIsWhole {
            // The first frame has the mark too. Who writes a log takes the words of its machine.
            isBigEndian = Int(1).bigEndian == 1
            guard content.count >= FileFormat.logHeaderSize + FileFormat.frameSize else { return }
            salts = integer(at: FileFormat.logHeaderSize + 8)
        }
        readFrames()
    }

    /// The offsets of frames of this log that are not as they were written.
    var damagedFrames: [Int] { frames.filter { $0.state == .damaged }.map(\.offset) }

    /// How many frames of this log cannot be used.
    var unusableCount: Int { frames.count { $0.state != .whole } }

    /// How many frames SQLite takes of this log: up to the last commit before its end.
    var recoveredCount: Int {
        headerIsWhole ? (frames[..<recoverable].lastIndex(where: \.isCommit) ?? -1) + 1 : 0
    }

    /// Where a transaction begins that has no commit at the end of the log; nil without one. It may have been rolled back.
    private(set) var unfinishedTransaction: Int?

    /// What the transactions that were committed wrote last of each page: the offsets of frames, by page number.
    ///
    /// A frame that cannot be used is left out: of its page, what an earlier one wrote counts.
    var committedFrames: [Int: Int] { committed(of: frames.filter { $0.state == .whole })?.frames ?? [:] }

    /// What SQLite takes from this log, which to it ends at the first frame that is not as it was written; nil where that
    /// commits nothing.
    var recovered: (frames: [Int: Int], pageCount: Int)? {
        headerIsWhole ? committed(of: frames[..<recoverable]) : nil
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

    // MARK: The frames

    /// Tells of each frame of this log what it is.
    ///
    /// Up to the last frame that commits, every frame is one of this log, and what is not as it was written is damaged. Behind
    /// it, frames are of an older log, of a transaction that was rolled back, or of one that has not ended.
    private mutating func readFrames() {
        let offsets = Array(
            stride(
                from: FileFormat.logHeaderSize, through: content.count - FileFormat.frameSize, by: FileFormat.frameSize)
        )
        let opens = offsets.map { belongs($0) && opened($0) != nil }
        let lastCommit = offsets.indices.last { opens[$0] && integer(at: offsets[$0]) & 0xFFFF_FFFF != 0 } ?? -1
        // What the next frame goes on from; nil behind what is damaged.
        var before = headerIsWhole ? headerSum : nil
        var isBroken = !headerIsWhole
        // In the first version, nothing but the checksum tells that a page is of this log.
        if headerIsWhole, version > .one, let next = offsets.dropFirst(lastCommit + 1).first, opens[lastCommit + 1] {
            unfinishedTransaction = next
        }
        for (index, offset) in offsets.enumerated() {
            let next = index + 1 < offsets.count && opens[index + 1] ? offsets[index + 1] : nil
            let state: Frame.State
            if !opens[index] {
                // A changed mark alone makes no frame of an older log.
                guard index <= lastCommit || belongs(offset) || halfBelongs(offset) else { break }
                (state, before) = (.damaged, nil)
            } else if let sum = before {
                (state, before) = judge(offset, after: sum, next: next, isEnded: index > lastCommit)
                // A frame of this log that goes on from nothing is left of what was rolled back.
                guard state == .whole || index <= lastCommit || before == nil else { break }
            } else {
                (state, before) = (vouched(index, offsets, next: next), storedSum(offset))
            }
            let isCommit = opens[index] && integer(at: offset) & 0xFFFF_FFFF != 0
            frames.append(Frame(offset: offset, state: state, isCommit: isCommit))
            if state != .whole { isBroken = true }
            if !isBroken { recoverable += 1 }
            if isBroken, isCommit { hasLostCommit = true }
        }
        if hasLostCommit { unfinishedTransaction = nil }
    }

    /// Judges a frame that opens, behind one whose checksum is known.
    ///
    /// - Returns: What it is, and what the next one goes on from.
    private func judge(
        _ offset: Int, after sum: LogChecksum, next: Int?, isEnded: Bool
    ) -> (Frame.State, LogChecksum?) {
        let (stored, computed) = (storedSum(offset), computedSum(offset, after: sum))
        guard stored != computed else { return (.whole, stored) }
        // Its checksum alone, or its page: the next frame tells what it goes on from.
        let following = [computed, stored].compactMap { $0 }.first { sum in next.map { follows($0, from: sum) } ?? false
        }
        // In the first version, a commit mark that was taken away leaves this.
        if isEnded, version == .one, following != stored { return (.damaged, nil) }
        return (.damaged, isEnded ? stored : following)
    }

    /// Judges a frame that opens behind one that is damaged. In the second version a page opens only under its header.
    private func vouched(_ index: Int, _ offsets: [Int], next: Int?) -> Frame.State {
        guard version == .one else { return .whole }
        // Of a frame that is damaged in its page alone, the header still tells what the next one goes on from.
        let hint = index > 0 ? storedSum(offsets[index - 1]) : headerSum
        let isFollowed = next.map { follows($0, from: storedSum(offsets[index])) } ?? false
        return follows(offsets[index], from: hint) || isFollowed ? .whole : .doubtful
    }

    /// Whether a frame of this log goes on from a checksum.
    private func follows(_ offset: Int, from sum: LogChecksum) -> Bool {
        computedSum(offset, after: sum) == storedSum(offset)
    }

    private func computedSum(_ offset: Int, after before: LogChecksum) -> LogChecksum? {
        guard let page = opened(offset) else { return nil }
        return content[offset..<(offset + 8)].withUnsafeBytes { fields in
            page.withUnsafeBytes { before.after(fields: fields, page: $0, isBigEndian: isBigEndian) }
        }
    }

    private func belongs(_ offset: Int) -> Bool { integer(at: offset + 8) == salts }

    private func halfBelongs(_ offset: Int) -> Bool {
        let difference = integer(at: offset + 8) ^ salts
        return difference >> 32 == 0 || difference << 32 == 0
    }

    /// The page in a frame with its reserved bytes, or nil when it does not open.
    private func opened(_ offset: Int) -> [UInt8]? {
        let start = offset + FileFormat.frameHeaderSize
        let place = PageCipher.Place.log(frame: Int64(offset), fields: integer(at: offset), salts: salts, version)
        var page = [UInt8](repeating: 0, count: FileFormat.pageSize)
        let isOpen = page.withUnsafeMutableBytes { target in
            content[start..<(start + FileFormat.pageSize)].withUnsafeBytes { sealed in
                guard let target = target.baseAddress, let sealed = sealed.baseAddress else { return false }
                return cipher.withAssociatedData(of: place) { sealer.open(sealed, authenticating: $0, to: target) }
            }
        }
        return isOpen ? page : nil
    }

    private func storedSum(_ offset: Int) -> LogChecksum {
        let start = offset + FileFormat.frameHeaderSize
        let nonce = content[start..<(start + FileFormat.nonceSize)].withUnsafeBytes {
            $0.baseAddress.map { Nonce(of: $0) } ?? Nonce()
        }
        let mask = masks.frame(
            at: Int64(offset), fields: integer(at: offset), salts: integer(at: offset + 8), nonce: nonce)
        return LogChecksum(value: integer(at: offset + 16) ^ mask)
    }

    private func integer(at offset: Int) -> UInt64 {
        content[offset..<(offset + 8)].reduce(0) { $0 << 8 | UInt64($1) }
    }
}
