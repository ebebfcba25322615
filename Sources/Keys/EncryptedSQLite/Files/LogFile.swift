import CSQLite

/// The write-ahead log: a header of 32 bytes, then frames of a 24-byte header and a page.
///
/// Headers stay plain but for their checksums, which are digests of plain pages and are masked.
///
/// SQLite writes each frame in two pieces. Those of one transaction are gathered, and written together with the frame
/// that commits: until then nobody looks for them, and an error of that write is one of the commit.
///
/// A page is sealed for its frame, its page number, and the salts of the log. What a page that is read must be comes from
/// SQLite's index, and never from the frame alone.
final class LogFile: SealedFile {
    private static let shift = Int64(FileFormat.logHeaderSize)
    /// The most frames that are gathered.
    private static let capacity = 16

    let version: FormatVersion
    let masks: ChecksumMasks
    private let frame = Buffer(size: FileFormat.frameSize)
    /// Sealed frames that were not written yet: the first `gathered` bytes, which belong at `start` of the file.
    private let frames = Buffer(size: capacity * FileFormat.frameSize)
    private var gathered = 0
    private var start: Int64 = 0
    /// The header of a frame whose page is to come, and where it belongs; -1 without one.
    private let held = Buffer(size: FileFormat.frameHeaderSize)
    private var heldOffset: Int64 = -1
    /// The frame that SQLite has just read to write its header anew, with another checksum; -1 without one.
    private var reread: (offset: Int64, nonce: Nonce) = (-1, Nonce())
    private var table = FrameTable()
    /// The salts of the log as its header says, whose checksum was verified or which this handle wrote.
    private var salts: UInt64?
    /// Whether this handle wrote the header in the transaction that goes on: the index does not say its salts yet.
    private var hasNewHeader = false
    /// Whether anything of the present transaction was written.
    private var isWriting = false
    /// The last frame of a commit that the index does not have yet; 0 without one.
    private var newCommit = 0
    /// What recovery has read so far.
    private var recovery: LogRecovery?
    /// Whether a read has lost gathered frames of the transaction that goes on. SQLite takes back the statement alone that it
    /// was for, and the rest would be committed behind a hole of the log.
    private var hasLostFrames = false
    /// Whether a sync has failed, and what was to become durable was not written again since.
    private var hasLostWrites = false
    private weak var main: MainFile?
    private let index: LogIndex

    /// - Parameter main: The database file, whose locks guard this file too.
    init(file: BaseFile, main: MainFile) {
        self.main = main
        index = main.index
        version = main.version
        masks = main.cipher.masks(main.version)
        super.init(file: file, cipher: main.cipher, kind: .log, version: main.version, epoch: main.epoch)
        main.log = self
    }

    // MARK: Reading

    override func read(_ target: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int32 {
        guard offset >= 0 else { return SQLITE_IOERR_READ }
        reread.offset = -1
        let code = flushBeforeReading()
        guard code == SQLITE_OK else { return code }
        if offset < Self.shift { return readLogHeader(target, skip: Int(offset)) }
        let position = Int((offset - Self.shift) % Int64(FileFormat.frameSize))
        let frame = offset - Int64(position)
        if position + target.count <= FileFormat.frameHeaderSize {
            return readFrameHeader(target, at: frame, skip: position)
        }
        guard position + target.count <= FileFormat.frameSize else { return SQLITE_IOERR_READ }
        return position < FileFormat.frameHeaderSize
            ? readFrame(target, at: frame, skip: position)
            : readPage(target, at: frame, from: position - FileFormat.frameHeaderSize)
    }

    /// A page alone is read where the index has found it: it must be that page, of the log that the index is of.
    private func readPage(_ target: UnsafeMutableRawBufferPointer, at offset: Int64, from start: Int) -> Int32 {
        let number = FileFormat.frameNumber(at: offset)
        let own = table[number]
        let code = file.read(frame.bytes, at: offset)
        guard code == SQLITE_OK, let address = frame.bytes.baseAddress else {
            fillWithZeros(target)
            return code
        }
        let fields = UInt64(bigEndian: address.loadUnaligned(as: UInt64.self))
        let stated = UInt64(bigEndian: address.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        // Until it commits, SQLite leaves salts out of headers whose checksums it will write anew.
        guard let page = own ?? index.page(inFrame: number), let salts = presentSalts(),
            UInt32(truncatingIfNeeded: fields >> 32) == page, own != nil || stated == salts,
            open(
                address + FileFormat.frameHeaderSize,
                at: .log(frame: offset, fields: fields, salts: salts, version), from: start, to: target)
        else {
            fillWithZeros(target)
            return SQLITE_IOERR_DATA
        }
        return SQLITE_OK
    }

    /// The salts of the log that the index is of; nil where the header of the file is none of that log.
    private func presentSalts() -> UInt64? {
        guard !hasNewHeader, let stated = index.salts, stated != salts else { return salts }
        var found: UInt64?
        let code = withUnsafeTemporaryAllocation(byteCount: FileFormat.logHeaderSize, alignment: 8) { header in
            let code = file.read(header, at: 0)
            guard code == SQLITE_OK else { return code }
            toggleMask(ofLogHeader: header)
            if LogChecksum.isHeader(UnsafeRawBufferPointer(header)) { found = Self.salts(ofLogHeader: header) }
            return code
        }
        guard code == SQLITE_OK, found == stated else { return nil }
        salts = found
        return found
    }

    /// A read that includes the frame's header comes from recovery, or from SQLite before it writes a header anew.
    private func readFrame(_ target: UnsafeMutableRawBufferPointer, at offset: Int64, skip: Int) -> Int32 {
        let code = file.read(frame.bytes, at: offset)
        guard code == SQLITE_OK, let address = frame.bytes.baseAddress else {
            fillWithZeros(target)
            return code
        }
        let number = FileFormat.frameNumber(at: offset)
        let own = table[number]
        let part = FileFormat.frameHeaderSize - skip
        let header = UnsafeMutableRawBufferPointer(rebasing: frame.bytes[..<FileFormat.frameHeaderSize])
        let page = UnsafeMutableRawBufferPointer(rebasing: target[part...])
        let fields = UInt64(bigEndian: header.loadUnaligned(as: UInt64.self))
        let stated = UInt64(bigEndian: header.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        let salts = own == nil ? recovery?.salts : presentSalts()
        let isOpen =
            salts.map { salts in
                (own.map { UInt32(truncatingIfNeeded: fields >> 32) == $0 } ?? (stated == salts))
                    && open(
                        address + FileFormat.frameHeaderSize,
                        at: .log(frame: offset, fields: fields, salts: salts, version), to: page)
            } ?? false
        let nonce = Nonce(of: address + FileFormat.frameHeaderSize)
        if isOpen { toggleMask(ofFrameHeader: header, at: offset, nonce: nonce) }
        if own != nil {
            // SQLite makes a frame of whatever it is given here.
            guard isOpen else {
                fillWithZeros(target)
                return SQLITE_IOERR_DATA
            }
            reread = (offset, nonce)
        } else if !isOpen || recovery?.goesOn(number, header: header, page: page) == false {
            return endRecovery(target, at: offset)
        } else if !index.isShared {
            table.set(number, page: UInt32(truncatingIfNeeded: fields >> 32))
        }
        UnsafeMutableRawBufferPointer(rebasing: target[..<part]).copyBytes(from: header[skip...])
        return SQLITE_OK
    }

    /// To recovery, a frame that was torn by a crash is normal. All zeros are no frame to SQLite: its salts do not fit, and the
    /// log ends here.
    private func endRecovery(_ target: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int32 {
        fillWithZeros(target)
        guard var recovery, !recovery.isOver else { return SQLITE_OK }
        recovery.isOver = true
        let code = keepLostCommits(from: offset, recovery.salts)
        // Tried again when it failed.
        if code == SQLITE_OK { self.recovery = recovery }
        return code
    }

    /// Keeps a copy of the log aside if a commit stands behind its end, before anything overwrites it; then cuts it there.
    ///
    /// - Parameter salts: nil where the log's header is damaged.
    private func keepLostCommits(from offset: Int64, _ salts: UInt64?) -> Int32 {
        // Who reads quietly writes nothing, and nothing is lost by it.
        guard let main, main.hasLogAlone, !QuietFiles.contains(main.file) else { return SQLITE_OK }
        var size: Int64 = 0
        let code = file.size(&size)
        guard code == SQLITE_OK else { return code }
        let log = LostLog(file: file, size: size, cipher: cipher, version: version)
        guard let found = log.saltsOfCommit(from: offset, salts) else { return SQLITE_OK }
        do throws(EncryptedDatabaseError) {
            try log.keep(besides: main.path, salts: found)
        } catch {
            guard case .sqlite(_, _, let code) = error else { return SQLITE_IOERR_WRITE }
            return code
        }
        return file.truncate(to: salts == nil ? 0 : offset)
    }

    private func readLogHeader(_ target: UnsafeMutableRawBufferPointer, skip: Int) -> Int32 {
        let size = FileFormat.logHeaderSize
        guard skip + target.count <= size else { return SQLITE_IOERR_READ }
        return withUnsafeTemporaryAllocation(byteCount: size, alignment: 8) { header in
            let code = file.read(header, at: 0)
            guard code == SQLITE_OK else {
                fillWithZeros(target)
                return code
            }
            toggleMask(ofLogHeader: header)
            target.copyBytes(from: header[skip..<(skip + target.count)])
            return target.count == size ? beginRecovery(UnsafeRawBufferPointer(header)) : SQLITE_OK
        }
    }

    /// SQLite reads the whole header before it recovers the log.
    private func beginRecovery(_ header: UnsafeRawBufferPointer) -> Int32 {
        table.removeAll()
        recovery = LogRecovery(header: header)
        guard let recovery else { return keepLostCommits(from: Self.shift, nil) }
        salts = recovery.salts
        return SQLITE_OK
    }

    private func readFrameHeader(_ target: UnsafeMutableRawBufferPointer, at offset: Int64, skip: Int) -> Int32 {
        // The mask needs the nonce of the page behind the header.
        let size = FileFormat.frameHeaderSize + FileFormat.nonceSize
        return withUnsafeTemporaryAllocation(byteCount: size, alignment: 8) { bytes in
            let code = file.read(bytes, at: offset)
            guard code == SQLITE_OK, let address = bytes.baseAddress else {
                fillWithZeros(target)
                return code
            }
            let header = UnsafeMutableRawBufferPointer(rebasing: bytes[..<FileFormat.frameHeaderSize])
            toggleMask(ofFrameHeader: header, at: offset, nonce: Nonce(of: address + FileFormat.frameHeaderSize))
            target.copyBytes(from: header[skip..<(skip + target.count)])
            return SQLITE_OK
        }
    }

    // MARK: Writing

    override func write(_ source: UnsafeRawBufferPointer, at offset: Int64) -> Int32 {
        let reread = reread
        self.reread.offset = -1
        guard !hasLostFrames else { return SQLITE_IOERR_WRITE }
        if offset == 0, source.count == FileFormat.logHeaderSize { return writeLogHeader(source) }
        guard offset >= Self.shift else { return SQLITE_IOERR_WRITE }
        switch (Int((offset - Self.shift) % Int64(FileFormat.frameSize)), source.count) {
        case (0, FileFormat.frameHeaderSize):
            let code = settleHeader()
            guard code == SQLITE_OK else { return code }
            if reread.offset == offset { return writeHeader(source, at: offset, nonce: reread.nonce) }
            held.bytes.copyMemory(from: source)
            heldOffset = offset
            return SQLITE_OK
        case (FileFormat.frameHeaderSize, FileFormat.pageSize):
            return heldOffset == offset - Int64(FileFormat.frameHeaderSize)
                ? gatherFrame(source, at: heldOffset) : overwritePage(source, at: offset)
        default:
            // Pages are never split: the VFS always reports power-safe overwrite, so SQLite does not pad.
            return SQLITE_IOERR_WRITE
        }
    }

    private func writeLogHeader(_ source: UnsafeRawBufferPointer) -> Int32 {
        let code = flush()
        guard code == SQLITE_OK else { return code }
        table.removeAll()
        isWriting = true
        return withUnsafeTemporaryAllocation(byteCount: source.count, alignment: 8) { header in
            header.copyMemory(from: source)
            toggleMask(ofLogHeader: header)
            let code = file.write(UnsafeRawBufferPointer(header), at: 0)
            salts = code == SQLITE_OK ? Self.salts(ofLogHeader: header) : nil
            hasNewHeader = code == SQLITE_OK
            return code
        }
    }

    /// Seals the page behind the header that is held, which makes a new frame.
    private func gatherFrame(_ source: UnsafeRawBufferPointer, at offset: Int64) -> Int32 {
        heldOffset = -1
        if gathered > 0, start + Int64(gathered) != offset || gathered + FileFormat.frameSize > frames.bytes.count {
            let code = writeGathered()
            guard code == SQLITE_OK else { return code }
        }
        if gathered == 0 { start = offset }
        let fields = UInt64(bigEndian: held.bytes.loadUnaligned(as: UInt64.self))
        guard let salts = presentSalts(), let address = frames.bytes.baseAddress.map({ $0 + gathered }) else {
            return SQLITE_IOERR_WRITE
        }
        let target = address + FileFormat.frameHeaderSize
        let code = seal(source, at: .log(frame: offset, fields: fields, salts: salts, version), to: target)
        guard code == SQLITE_OK else {
            gathered = 0
            return code
        }
        let header = UnsafeMutableRawBufferPointer(start: address, count: FileFormat.frameHeaderSize)
        header.copyMemory(from: UnsafeRawBufferPointer(held.bytes))
        toggleMask(ofFrameHeader: header, at: offset, nonce: Nonce(of: target))
        gathered += FileFormat.frameSize
        let number = FileFormat.frameNumber(at: offset)
        table.set(number, page: UInt32(truncatingIfNeeded: fields >> 32))
        isWriting = true
        let isCommit = UInt32(truncatingIfNeeded: fields) != 0
        if isCommit { newCommit = number }
        return isCommit || gathered == frames.bytes.count ? writeGathered() : SQLITE_OK
    }

    /// Writes a page without its header: SQLite overwrites one that it has written in this transaction. A frame that commits
    /// comes always anew.
    private func overwritePage(_ source: UnsafeRawBufferPointer, at offset: Int64) -> Int32 {
        let code = flush()
        guard code == SQLITE_OK else { return code }
        let frame = offset - Int64(FileFormat.frameHeaderSize)
        guard let page = table[FileFormat.frameNumber(at: frame)], let salts = presentSalts() else {
            return SQLITE_IOERR_WRITE
        }
        let place = PageCipher.Place.log(frame: frame, fields: UInt64(page) << 32, salts: salts, version)
        return sealing(source, at: place) { file.write($0, at: offset) }
    }

    /// Writes a header behind which the page stays as it is.
    private func writeHeader(_ source: UnsafeRawBufferPointer, at offset: Int64, nonce: Nonce) -> Int32 {
        let code = writeGathered()
        guard code == SQLITE_OK else { return code }
        return withUnsafeTemporaryAllocation(byteCount: source.count, alignment: 8) { header in
            header.copyMemory(from: source)
            toggleMask(ofFrameHeader: header, at: offset, nonce: nonce)
            return file.write(UnsafeRawBufferPointer(header), at: offset)
        }
    }

    /// Writes a header that was held, and behind which no page came: it is one whose checksum SQLite has written anew.
    private func settleHeader() -> Int32 {
        guard heldOffset >= 0 else { return SQLITE_OK }
        let offset = heldOffset
        heldOffset = -1
        let code = writeGathered()
        guard code == SQLITE_OK else { return code }
        return withUnsafeTemporaryAllocation(byteCount: FileFormat.nonceSize, alignment: 8) { nonce in
            let code = file.read(nonce, at: offset + Int64(FileFormat.frameHeaderSize))
            guard code == SQLITE_OK, let address = nonce.baseAddress else {
                // Without a page there is no frame, and nothing is lost.
                return code == SQLITE_IOERR_SHORT_READ ? SQLITE_OK : code
            }
            return writeHeader(UnsafeRawBufferPointer(held.bytes), at: offset, nonce: Nonce(of: address))
        }
    }

    /// Writes what was gathered. When that fails it is lost, as is the transaction that it belonged to.
    private func writeGathered() -> Int32 {
        guard gathered > 0 else { return SQLITE_OK }
        let code = file.write(UnsafeRawBufferPointer(rebasing: frames.bytes[..<gathered]), at: start)
        gathered = 0
        return code
    }

    /// Writes all that was not written yet.
    func flush() -> Int32 {
        let code = settleHeader()
        return code == SQLITE_OK ? writeGathered() : code
    }

    /// Writes what was gathered, for a look at the file. An error of it is none of a write, and does not end the transaction:
    /// nothing more is written of that.
    private func flushBeforeReading() -> Int32 {
        let code = flush()
        if code != SQLITE_OK { hasLostFrames = true }
        return code
    }

    /// Called before any lock of the connection changes.
    override func locksWillChange() -> Int32 {
        // In exclusive mode SQLite neither takes nor gives back the lock of who writes.
        if isWriting, index.isShared, main?.mayAppend != true { writerDidChange() }
        return gathered > 0 || heldOffset >= 0 ? flush() : SQLITE_OK
    }

    /// Called before the lock of who writes is given back.
    ///
    /// A commit that failed has left a frame with a commit mark, which the index does not have: it is cut off, so that nobody
    /// takes it for one that was lost. Failing that is no harm.
    func writerWillEnd() {
        guard newCommit > 0, let count = index.frameCount, count < newCommit else { return }
        _ = file.truncate(to: FileFormat.frameOffset(count + 1))
    }

    /// Called when the transaction that wrote is over, or another one begins.
    func writerDidChange() {
        guard isWriting || hasLostFrames else { return }
        isWriting = false
        hasLostFrames = false
        hasNewHeader = false
        newCommit = 0
        table.removeAll()
    }

    // MARK: The rest

    override func truncate(to size: Int64) -> Int32 {
        let code = flush()
        return code == SQLITE_OK ? super.truncate(to: size) : code
    }

    override func size(_ size: inout Int64) -> Int32 {
        let code = flushBeforeReading()
        return code == SQLITE_OK ? super.size(&size) : code
    }

    /// Makes the log durable.
    ///
    /// When a sync fails, a system takes what it could not write for written, and no later sync tries it again: transactions
    /// that were committed before without one would be a hole in the log, and those behind it, synced themselves, would be lost
    /// with them when the power fails. So all of the log is written again first.
    override func sync(_ flags: Int32) -> Int32 {
        guard !hasLostFrames else { return SQLITE_IOERR_WRITE }
        var code = flush()
        if code == SQLITE_OK, hasLostWrites { code = writeAgain() }
        guard code == SQLITE_OK else { return code }
        code = super.sync(flags)
        hasLostWrites = code != SQLITE_OK
        return code
    }

    private func writeAgain() -> Int32 {
        // Who only copies the log into the database waits for who writes next: somebody else may be appending now.
        guard main?.mayAppend == true else { return SQLITE_IOERR | 4 << 8 }  // SQLITE_IOERR_FSYNC
        var size: Int64 = 0
        var code = file.size(&size)
        var offset: Int64 = 0
        while code == SQLITE_OK, offset < size {
            let count = Int(min(Int64(frame.bytes.count), size - offset))
            let part = UnsafeMutableRawBufferPointer(rebasing: frame.bytes[..<count])
            code = file.read(part, at: offset)
            if code == SQLITE_OK { code = file.write(UnsafeRawBufferPointer(part), at: offset) }
            offset += Int64(count)
        }
        return code
    }

    override func close() -> Int32 {
        main?.log = nil
        let code = flush()
        let closed = super.close()
        return code == SQLITE_OK ? closed : code
    }

    /// Masks or unmasks the checksum, which is the last 8 bytes of a header of either kind.
    private func toggleMask(ofLogHeader header: UnsafeMutableRawBufferPointer) {
        Self.toggle(header, masks.logHeader(salts: Self.salts(ofLogHeader: header)))
    }

    private func toggleMask(ofFrameHeader header: UnsafeMutableRawBufferPointer, at offset: Int64, nonce: Nonce) {
        let fields = UInt64(bigEndian: header.loadUnaligned(as: UInt64.self))
        let salts = UInt64(bigEndian: header.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        Self.toggle(header, masks.frame(at: offset, fields: fields, salts: salts, nonce: nonce))
    }

    private static func toggle(_ header: UnsafeMutableRawBufferPointer, _ mask: UInt64) {
        let at = header.count - 8
        let value = header.loadUnaligned(fromByteOffset: at, as: UInt64.self) ^ mask.bigEndian
        header.storeBytes(of: value, toByteOffset: at, as: UInt64.self)
    }

    private static func salts(ofLogHeader header: UnsafeMutableRawBufferPointer) -> UInt64 {
        UInt64(bigEndian: header.loadUnaligned(fromByteOffset: 16, as: UInt64.self))
    }
}
