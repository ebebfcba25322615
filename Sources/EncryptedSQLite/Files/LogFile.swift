import CSQLite

/// The write-ahead log: a header of 32 bytes, then frames of a 24-byte header and a page.
///
/// Headers stay plain but for their checksums, which are digests of plain pages and are masked.
///
/// SQLite writes each frame in two pieces. Those of one transaction are gathered, and written together with the frame
/// that commits: until then nobody looks for them, and an error of that write is one of the commit.
final class LogFile: SealedFile {
    private static let shift = Int64(FileFormat.logHeaderSize)
    /// The most frames that are gathered.
    private static let capacity = 16

    private let frame = Buffer(size: FileFormat.frameSize)
    /// Sealed frames that were not written yet: the first `gathered` bytes, which belong at `start` of the file.
    private let frames = Buffer(size: capacity * FileFormat.frameSize)
    private var gathered = 0
    private var start: Int64 = 0
    /// Where the next frame stands if it follows the last one that was written through this handle, else -1. A
    /// header anywhere else may be of an old frame whose checksum SQLite rewrites, and no page comes with it.
    private var end: Int64 = -1
    /// Where the last header was written that was not gathered.
    private var lastHeader: Int64 = -1
    private var isCommit = false
    /// Whether a read has lost gathered frames of the transaction that goes on. SQLite takes back the statement alone that it
    /// was for, and the rest would be committed behind a hole of the log.
    private var hasLostFrames = false
    /// Whether a sync has failed, and what was to become durable was not written again since.
    private var hasLostWrites = false
    private weak var main: MainFile?

    /// - Parameter main: The database file, whose locks guard this file too.
    init(file: BaseFile, main: MainFile) {
        self.main = main
        super.init(file: file, cipher: main.cipher, kind: .log)
        main.log = self
    }

    // MARK: Reading

    override func read(_ target: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int32 {
        guard offset >= 0 else { return SQLITE_IOERR_READ }
        let code = flushBeforeReading()
        guard code == SQLITE_OK else { return code }
        if offset < Self.shift {
            return readHeader(target, start: 0, size: FileFormat.logHeaderSize, skip: Int(offset))
        }
        let position = Int((offset - Self.shift) % Int64(FileFormat.frameSize))
        let frame = offset - Int64(position)
        if position + target.count <= FileFormat.frameHeaderSize {
            return readHeader(target, start: frame, size: FileFormat.frameHeaderSize, skip: position)
        }
        guard position + target.count <= FileFormat.frameSize else { return SQLITE_IOERR_READ }
        return position < FileFormat.frameHeaderSize
            ? readFrame(target, at: frame, skip: position)
            : readPage(target, at: frame, from: position - FileFormat.frameHeaderSize)
    }

    private func readPage(_ target: UnsafeMutableRawBufferPointer, at frame: Int64, from start: Int) -> Int32 {
        let page = frame + Int64(FileFormat.frameHeaderSize)
        let sealed = UnsafeMutableRawBufferPointer(rebasing: self.frame.bytes[..<FileFormat.pageSize])
        let code = file.read(sealed, at: page)
        guard code == SQLITE_OK, let address = sealed.baseAddress else {
            fillWithZeros(target)
            return code
        }
        return open(address, at: .init(kind: .log, offset: page), from: start, to: target)
            ? SQLITE_OK : SQLITE_IOERR_DATA
    }

    /// A read that includes the frame's header comes from recovery, where a frame that was torn by a crash is
    /// normal. All zeros are no frame to SQLite: its salts do not fit, and the log ends here.
    private func readFrame(_ target: UnsafeMutableRawBufferPointer, at offset: Int64, skip: Int) -> Int32 {
        let code = file.read(frame.bytes, at: offset)
        guard code == SQLITE_OK, let address = frame.bytes.baseAddress else {
            fillWithZeros(target)
            return code
        }
        let part = FileFormat.frameHeaderSize - skip
        let place = PageCipher.Place(kind: .log, offset: offset + Int64(FileFormat.frameHeaderSize))
        guard
            open(
                address + FileFormat.frameHeaderSize, at: place,
                to: UnsafeMutableRawBufferPointer(rebasing: target[part...]))
        else {
            fillWithZeros(target)
            return SQLITE_OK
        }
        let header = UnsafeMutableRawBufferPointer(rebasing: frame.bytes[..<FileFormat.frameHeaderSize])
        toggleMask(header, offset: offset)
        UnsafeMutableRawBufferPointer(rebasing: target[..<part]).copyBytes(from: header[skip...])
        return SQLITE_OK
    }

    private func readHeader(
        _ target: UnsafeMutableRawBufferPointer, start: Int64, size: Int, skip: Int
    ) -> Int32 {
        guard skip + target.count <= size else { return SQLITE_IOERR_READ }
        return withUnsafeTemporaryAllocation(byteCount: size, alignment: 8) { header in
            let code = file.read(header, at: start)
            guard code == SQLITE_OK else {
                fillWithZeros(target)
                return code
            }
            toggleMask(header, offset: start)
            target.copyBytes(from: header[skip..<(skip + target.count)])
            return SQLITE_OK
        }
    }

    // MARK: Writing

    override func write(_ source: UnsafeRawBufferPointer, at offset: Int64) -> Int32 {
        guard !hasLostFrames else { return SQLITE_IOERR_WRITE }
        if offset == 0, source.count == FileFormat.logHeaderSize {
            end = Self.shift
            return writeHeader(source, at: 0)
        }
        guard offset >= Self.shift else { return SQLITE_IOERR_WRITE }
        switch (Int((offset - Self.shift) % Int64(FileFormat.frameSize)), source.count) {
        case (0, FileFormat.frameHeaderSize):
            isCommit = source.loadUnaligned(fromByteOffset: 4, as: UInt32.self) != 0
            return offset == end ? gatherHeader(source, at: offset) : writeHeader(source, at: offset)
        case (FileFormat.frameHeaderSize, FileFormat.pageSize):
            return writePage(source, at: offset)
        default:
            // Pages are never split: the VFS always reports power-safe overwrite, so SQLite does not pad.
            return SQLITE_IOERR_WRITE
        }
    }

    private func gatherHeader(_ source: UnsafeRawBufferPointer, at offset: Int64) -> Int32 {
        if gathered > 0, start + Int64(gathered) != offset || gathered + FileFormat.frameSize > frames.bytes.count {
            let code = flush()
            guard code == SQLITE_OK else { return code }
        }
        if gathered == 0 { start = offset }
        let header = UnsafeMutableRawBufferPointer(
            rebasing: frames.bytes[gathered..<(gathered + FileFormat.frameHeaderSize)])
        header.copyMemory(from: source)
        toggleMask(header, offset: offset)
        gathered += FileFormat.frameHeaderSize
        return SQLITE_OK
    }

    private func writePage(_ source: UnsafeRawBufferPointer, at offset: Int64) -> Int32 {
        let place = PageCipher.Place(kind: .log, offset: offset)
        let next = offset + Int64(FileFormat.pageSize)
        guard gathered > 0, start + Int64(gathered) == offset, let address = frames.bytes.baseAddress else {
            var code = flush()
            guard code == SQLITE_OK else { return code }
            code = sealing(source, at: place) { file.write($0, at: offset) }
            // Behind its header, the page makes a new frame. Without, it is one that SQLite changed after it was written.
            let isNew = lastHeader == offset - Int64(FileFormat.frameHeaderSize)
            lastHeader = -1
            if code != SQLITE_OK { end = -1 } else if isNew { end = next }
            return code
        }
        let code = seal(source, at: place, to: address + gathered)
        guard code == SQLITE_OK else {
            gathered = 0
            end = -1
            return code
        }
        gathered += FileFormat.pageSize
        end = next
        return isCommit || gathered == frames.bytes.count ? flush() : SQLITE_OK
    }

    private func writeHeader(_ source: UnsafeRawBufferPointer, at offset: Int64) -> Int32 {
        let code = flush()
        guard code == SQLITE_OK else { return code }
        return withUnsafeTemporaryAllocation(byteCount: source.count, alignment: 8) { header in
            header.copyMemory(from: source)
            toggleMask(header, offset: offset)
            lastHeader = offset
            return file.write(UnsafeRawBufferPointer(header), at: offset)
        }
    }

    /// Writes what was gathered. When that fails it is lost, as is the transaction that it belonged to.
    func flush() -> Int32 {
        guard gathered > 0 else { return SQLITE_OK }
        let code = file.write(UnsafeRawBufferPointer(rebasing: frames.bytes[..<gathered]), at: start)
        gathered = 0
        if code != SQLITE_OK { end = -1 }
        return code
    }

    /// Writes what was gathered, for a look at the file. An error of it is none of a write, and does not end the transaction:
    /// nothing more is written of that.
    private func flushBeforeReading() -> Int32 {
        let code = flush()
        if code != SQLITE_OK { hasLostFrames = true }
        return code
    }

    /// Called when the transaction that wrote is over, or another one begins.
    func writerDidChange() { hasLostFrames = false }

    // MARK: The rest

    override func truncate(to size: Int64) -> Int32 {
        let code = flush()
        end = -1
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
    private func toggleMask(_ header: UnsafeMutableRawBufferPointer, offset: Int64) {
        let isHeader = header.count == FileFormat.logHeaderSize
        let salts = UInt64(bigEndian: header.loadUnaligned(fromByteOffset: isHeader ? 16 : 8, as: UInt64.self))
        let page = isHeader ? 0 : UInt64(bigEndian: header.loadUnaligned(as: UInt64.self))
        let mask = cipher.logMask(isHeader: isHeader, offset: offset, salts: salts, pageAndCommit: page)
        let at = header.count - 8
        let value = header.loadUnaligned(fromByteOffset: at, as: UInt64.self) ^ mask.bigEndian
        header.storeBytes(of: value, toByteOffset: at, as: UInt64.self)
    }
}
