import CSQLite

/// The write-ahead log: a header of 32 bytes, then frames, each a header of 24 bytes and a page.
///
/// Headers are not encrypted. Their checksums are digests of plain pages and are therefore masked.
///
/// SQLite writes each frame in two pieces. The frames of one transaction are buffered and written together with
/// the commit frame. No connection reads these frames earlier, and a failure of the write is reported as a
/// failure of the commit.
///
/// A page is sealed for its frame, its page number and the salts of the log. The expected page number comes
/// from SQLite's index and never from the frame alone.
final class LogFile: SealedFile {
    private static let shift = Int64(FileFormat.logHeaderSize)
    /// The maximum number of buffered frames.
    private static let capacity = 16

    let version: FormatVersion
    let masks: ChecksumMasks
    private let frame = Buffer(size: FileFormat.frameSize)
    /// Sealed frames that are not written yet: the first `gathered` bytes, which belong at offset `start` of
    /// the file.
    private let frames = Buffer(size: capacity * FileFormat.frameSize)
    private var gathered = 0
    private var start: Int64 = 0
    /// A frame header that waits for its page, and its offset; -1 without one.
    private let held = Buffer(size: FileFormat.frameHeaderSize)
    private var heldOffset: Int64 = -1
    /// The frame that SQLite has just read in order to rewrite its header with another checksum; -1 without
    /// one.
    private var reread: (offset: Int64, nonce: Nonce) = (-1, Nonce())
    private var table = FrameTable()
    /// The salts of the log, from a header whose checksum was verified or that this handle wrote.
    private var salts: UInt64?
    /// Whether this handle wrote the log header in the current transaction, so that the index does not have its
    /// salts yet.
    private var hasNewHeader = false
    /// Whether the current transaction has written anything.
    private var isWriting = false
    /// The last frame of a commit that the index does not contain yet; 0 without one.
    private var newCommit = 0
    /// The state of a recovery that is in progress.
    private var recovery: LogRecovery?
    /// Whether a failed flush before a read has lost buffered frames of the current transaction. SQLite rolls
    /// back only the statement that the read was for; committing the rest would leave a hole in the log.
    private var hasLostFrames = false
    /// Whether a sync has failed and the log has not been rewritten since.
    private var hasLostWrites = false
    private weak var main: MainFile?
    private let index: LogIndex

    /// - Parameter main: The database file. Its locks also protect this file.
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

    /// Reads a page that the index has located. It must be the expected page of the log that the index
    /// describes.
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
        // Until the commit, SQLite omits the salts from headers whose checksums it will rewrite.
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

    /// Returns the salts of the log that the index describes, or `nil` if the log header in the file does not
    /// match.
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

    /// Reads a page together with its frame header, for recovery or before SQLite rewrites the header.
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
            // SQLite builds a frame from any data that it receives here.
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

    /// Ends the recovery at a frame that does not open, as after a crash. SQLite ends the log at a frame of
    /// zeros, because the salts do not match.
    private func endRecovery(_ target: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int32 {
        fillWithZeros(target)
        guard var recovery, !recovery.isOver else { return SQLITE_OK }
        recovery.isOver = true
        let code = keepLostCommits(from: offset, recovery.salts)
        // If this fails, the next read tries again.
        if code == SQLITE_OK { self.recovery = recovery }
        return code
    }

    /// Copies the log to another file if there is a commit behind its recoverable end, and then truncates the
    /// log there.
    ///
    /// - Parameter salts: The salts of the log; `nil` if the header of the log is damaged.
    private func keepLostCommits(from offset: Int64, _ salts: UInt64?) -> Int32 {
        // A quiet connection writes nothing, so no commit can be lost.
        guard let main, main.hasLogAlone, !QuietFiles.contains(main.file) else { return SQLITE_OK }
        var size: Int64 = 0
        let code = file.size(&size)
        guard code == SQLITE_OK else { return code }
        let log = LostLog(file: file, path: main.path + "-wal", size: size, cipher: cipher, version: version)
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

    /// Starts following a recovery: SQLite reads the whole log header before it recovers the log.
    private func beginRecovery(_ header: UnsafeRawBufferPointer) -> Int32 {
        table.removeAll()
        recovery = LogRecovery(header: header)
        guard let recovery else { return keepLostCommits(from: Self.shift, nil) }
        salts = recovery.salts
        return SQLITE_OK
    }

    private func readFrameHeader(_ target: UnsafeMutableRawBufferPointer, at offset: Int64, skip: Int) -> Int32 {
        // The mask depends on the nonce of the page behind the header.
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

    /// Seals the page of the held header, which completes a new frame.
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

    /// Writes a page without its header, when SQLite overwrites a page of the current transaction. A commit
    /// frame is never overwritten.
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

    /// Rewrites the header of a frame without changing its page.
    private func writeHeader(_ source: UnsafeRawBufferPointer, at offset: Int64, nonce: Nonce) -> Int32 {
        let code = writeGathered()
        guard code == SQLITE_OK else { return code }
        return withUnsafeTemporaryAllocation(byteCount: source.count, alignment: 8) { header in
            header.copyMemory(from: source)
            toggleMask(ofFrameHeader: header, at: offset, nonce: nonce)
            return file.write(UnsafeRawBufferPointer(header), at: offset)
        }
    }

    /// Writes the held header if no page followed: SQLite has only rewritten its checksum.
    private func settleHeader() -> Int32 {
        guard heldOffset >= 0 else { return SQLITE_OK }
        let offset = heldOffset
        heldOffset = -1
        let code = writeGathered()
        guard code == SQLITE_OK else { return code }
        return withUnsafeTemporaryAllocation(byteCount: FileFormat.nonceSize, alignment: 8) { nonce in
            let code = file.read(nonce, at: offset + Int64(FileFormat.frameHeaderSize))
            guard code == SQLITE_OK, let address = nonce.baseAddress else {
                // A header without a page is not a frame, so nothing is lost.
                return code == SQLITE_IOERR_SHORT_READ ? SQLITE_OK : code
            }
            return writeHeader(UnsafeRawBufferPointer(held.bytes), at: offset, nonce: Nonce(of: address))
        }
    }

    /// Writes the buffered frames. If the write fails, the frames and their transaction are lost.
    private func writeGathered() -> Int32 {
        guard gathered > 0 else { return SQLITE_OK }
        let code = file.write(UnsafeRawBufferPointer(rebasing: frames.bytes[..<gathered]), at: start)
        gathered = 0
        return code
    }

    /// Writes all buffered data.
    func flush() -> Int32 {
        let code = settleHeader()
        return code == SQLITE_OK ? writeGathered() : code
    }

    /// Writes all buffered data before the file is read. If that fails, the transaction continues, but the rest
    /// of its writes are refused.
    private func flushBeforeReading() -> Int32 {
        let code = flush()
        if code != SQLITE_OK { hasLostFrames = true }
        return code
    }

    /// Writes buffered data before any lock of the connection changes.
    override func locksWillChange() -> Int32 {
        // In exclusive mode, SQLite neither takes nor releases the write lock.
        if isWriting, index.isShared, main?.mayAppend != true { writerDidChange() }
        return gathered > 0 || heldOffset >= 0 ? flush() : SQLITE_OK
    }

    /// Truncates a failed commit before the write lock is released.
    ///
    /// A failed commit leaves a frame with a commit mark that the index does not contain. Truncation keeps that
    /// frame from being mistaken for a lost commit. A failed truncation does no harm.
    func writerWillEnd() {
        guard newCommit > 0, let count = index.frameCount, count < newCommit else { return }
        _ = file.truncate(to: FileFormat.frameOffset(count + 1))
    }

    /// Resets the state of a transaction when it ends or another one begins.
    func writerDidChange() {
        guard isWriting || hasLostFrames else { return }
        isWriting = false
        hasLostFrames = false
        hasNewHeader = false
        newCommit = 0
        table.removeAll()
    }

    // MARK: Size, sync and close

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
    /// After a failed sync, the system considers the unwritten pages clean, and no later sync writes them.
    /// Earlier commits that were not synced would then be a hole in the log. A power failure would lose those
    /// commits and all synced commits behind them. Therefore the whole log is rewritten first.
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
        // During a checkpoint, another connection may be appending, so the next writer rewrites the log
        // instead.
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

    /// Masks or unmasks the checksum of a log header, which is its last 8 bytes.
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
