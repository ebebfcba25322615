/// A reader of a whole write-ahead log that follows SQLite's recovery and finds damage.
struct LogReader {
    private let content: [UInt8]
    private let cipher: PageCipher
    private let version: FormatVersion
    private let sealer: PageSealer
    private let masks: ChecksumMasks
    /// Whether SQLite's checksum uses big-endian words.
    private var isBigEndian: Bool
    /// The salts of this log, which every frame of the log repeats.
    private(set) var salts: UInt64 = 0
    /// Whether the log begins with a header that SQLite accepts.
    private(set) var headerIsWhole = false
    /// The checksum of the header, at which the checksum of the first frame continues.
    private var headerSum = LogChecksum(value: 0)
    /// The frames of this log, in order.
    private var frames: [Frame] = []
    /// The number of frames that recovery would accept, with or without a commit behind them.
    private var recoverable = 0
    /// Whether there is a commit behind the frame at which recovery would end.
    private(set) var hasLostCommit = false

    private struct Frame {
        var offset: Int
        var state: State
        /// Whether the frame is the last one of a transaction.
        var isCommit = false

        enum State {
            /// An intact frame.
            case whole
            /// A frame whose page opens but whose header cannot be verified, because the preceding frame is
            /// damaged.
            case doubtful
            case damaged
        }
    }

    /// Reads a log file into memory. Holding the content is safe for a short time, and no lock is kept.
    ///
    /// - Returns: `nil` if the file is missing or empty.
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
            // Every frame repeats the salts, so the first one provides them. A log uses the word order of its
            // machine.
            isBigEndian = Int(1).bigEndian == 1
            guard content.count >= FileFormat.logHeaderSize + FileFormat.frameSize else { return }
            salts = integer(at: FileFormat.logHeaderSize + 8)
        }
        readFrames()
    }

    /// The offsets of the damaged frames of this log.
    var damagedFrames: [Int] { frames.filter { $0.state == .damaged }.map(\.offset) }

    /// The number of unusable frames of this log.
    var unusableCount: Int { frames.count { $0.state != .whole } }

    /// The number of frames that SQLite accepts: all frames up to the last commit before the recoverable end.
    var recoveredCount: Int {
        headerIsWhole ? (frames[..<recoverable].lastIndex(where: \.isCommit) ?? -1) + 1 : 0
    }

    /// The offset of a transaction without a commit at the end of the log, or `nil`. The transaction may have
    /// been rolled back.
    private(set) var unfinishedTransaction: Int?

    /// The frame offset of the last committed version of each page, by page number.
    ///
    /// Unusable frames are skipped; the previous frame of the same page is used instead.
    var committedFrames: [Int: Int] { committed(of: frames.filter { $0.state == .whole })?.frames ?? [:] }

    /// The frames that SQLite recovers, which end at the first damaged frame; `nil` if they contain no commit.
    var recovered: (frames: [Int: Int], pageCount: Int)? {
        headerIsWhole ? committed(of: frames[..<recoverable]) : nil
    }

    /// Returns the offsets of the committed frames by page number, and the page count of the database after
    /// them.
    private func committed(of frames: some Sequence<Frame>) -> (frames: [Int: Int], pageCount: Int)? {
        var (committed, pending): ([Int: Int], [Int: Int]) = ([:], [:])
        var size = 0
        for frame in frames {
            let fields = integer(at: frame.offset)
            pending[Int(fields >> 32)] = frame.offset
            // A commit frame states the page count of the database.
            let pageCount = Int(fields & 0xFFFF_FFFF)
            guard pageCount > 0 else { continue }
            committed.merge(pending) { $1 }
            if pageCount < size { committed = committed.filter { $0.key <= pageCount } }
            (size, pending) = (pageCount, [:])
        }
        return size > 0 ? (committed, size) : nil
    }

    /// Returns the page in a frame with its reserved bytes.
    func page(inFrameAt offset: Int) -> [UInt8]? { opened(offset) }

    // MARK: Frames

    /// Determines the state of each frame of this log.
    ///
    /// All frames up to the last commit frame belong to this log, so any mismatch among them is damage. Frames
    /// behind it are from an older log, from a rolled-back transaction, or from an unfinished one.
    private mutating func readFrames() {
        let offsets = Array(
            stride(
                from: FileFormat.logHeaderSize, through: content.count - FileFormat.frameSize, by: FileFormat.frameSize)
        )
        let opens = offsets.map { belongs($0) && opened($0) != nil }
        let lastCommit = offsets.indices.last { opens[$0] && integer(at: offsets[$0]) & 0xFFFF_FFFF != 0 } ?? -1
        // The checksum at which the next frame continues; `nil` behind a damaged frame.
        var before = headerIsWhole ? headerSum : nil
        var isBroken = !headerIsWhole
        // In format 1, only the checksum shows that a page belongs to this log.
        if headerIsWhole, version > .one, let next = offsets.dropFirst(lastCommit + 1).first, opens[lastCommit + 1] {
            unfinishedTransaction = next
        }
        for (index, offset) in offsets.enumerated() {
            let next = index + 1 < offsets.count && opens[index + 1] ? offsets[index + 1] : nil
            let state: Frame.State
            if !opens[index] {
                // One changed half of the salts does not make a frame part of an older log.
                guard index <= lastCommit || belongs(offset) || halfBelongs(offset) else { break }
                (state, before) = (.damaged, nil)
            } else if let sum = before {
                (state, before) = judge(offset, after: sum, next: next, isEnded: index > lastCommit)
                // A frame of this log whose checksum does not continue the previous one is left from a
                // rolled-back transaction.
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

    /// Determines the state of a frame that opens, if the checksum before the frame is known.
    ///
    /// - Returns: The state, and the checksum at which the next frame continues.
    private func judge(
        _ offset: Int, after sum: LogChecksum, next: Int?, isEnded: Bool
    ) -> (Frame.State, LogChecksum?) {
        let (stored, computed) = (storedSum(offset), computedSum(offset, after: sum))
        guard stored != computed else { return (.whole, stored) }
        // Either the frame's checksum or its page was changed: the next frame shows which checksum it
        // continues.
        let following = [computed, stored].compactMap { $0 }.first { sum in next.map { follows($0, from: sum) } ?? false
        }
        // In format 1, removing a commit mark has this effect.
        if isEnded, version == .one, following != stored { return (.damaged, nil) }
        return (.damaged, isEnded ? stored : following)
    }

    /// Determines the state of a frame that opens behind a damaged frame. In format 2, a page only opens with
    /// its header.
    private func vouched(_ index: Int, _ offsets: [Int], next: Int?) -> Frame.State {
        guard version == .one else { return .whole }
        // If only the page of the previous frame is damaged, its header still has the checksum at which this
        // frame continues.
        let hint = index > 0 ? storedSum(offsets[index - 1]) : headerSum
        let isFollowed = next.map { follows($0, from: storedSum(offsets[index])) } ?? false
        return follows(offsets[index], from: hint) || isFollowed ? .whole : .doubtful
    }

    /// Returns whether a frame of this log continues a checksum.
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

    /// Returns the page in a frame with its reserved bytes, or `nil` if it does not open.
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
