import CSQLite

/// The rollback journal: headers, and records of a page number, a page and a checksum.
///
/// Records have no fixed offsets, but SQLite reads and writes the three parts of a record in order. Only a page
/// is 4096 bytes long: the sector size is always 512, because the VFS reports power-safe overwrite.
final class JournalFile: SealedFile {
    private let buffer = Buffer(size: 4 + FileFormat.pageSize)
    private weak var main: MainFile?
    /// The masks of each format version in use, the current version first.
    private var masks: [ChecksumMasks]
    /// The last 4-byte integer written, and its offset. Before a page, the integer is the page number.
    private var word: (offset: Int64, value: UInt32) = (-1, 0)
    /// The offset and the mask of the checksum of the last page that was written (`written`) or read
    /// (`opened`).
    private var written = Checksum()
    private var opened = Checksum()
    /// The offset of the highest page written through this handle. A crash cannot have torn pages that this
    /// handle wrote. A page below this offset that does not open is therefore an error and not the end of the
    /// journal.
    private var highestWritten: Int64 = -1
    /// The headers that this handle wrote in the current transaction.
    private var segments: [JournalHeader.Segment] = []
    /// The last header that was read and found intact.
    private var played: JournalHeader.Segment?

    private struct Checksum {
        var offset: Int64 = -1
        var mask: UInt32 = 0
    }

    /// - Parameter main: The database file. Its locks also protect this file.
    init(file: BaseFile, main: MainFile) {
        self.main = main
        masks = FormatVersion.allCases.reversed().filter { $0 <= main.version }.map { main.cipher.masks($0) }
        super.init(file: file, cipher: main.cipher, kind: .journal, version: main.version, epoch: main.epoch)
        if main.journal == nil { main.journal = self }
    }

    /// Forgets the written headers and pages at the end of a transaction.
    func forget() {
        segments = []
        played = nil
        highestWritten = -1
    }

    override func close() -> Int32 {
        if main?.journal === self { main?.journal = nil }
        return super.close()
    }

    override func read(_ target: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int32 {
        if target.count == FileFormat.pageSize { return readPage(target, at: offset) }
        let code = file.read(target, at: offset)
        guard code == SQLITE_OK else { return code }
        if target.count == 4, offset == opened.offset {
            toggleMask(target, opened)
            opened.offset = -1
        } else if target.count == JournalHeader.magic.count, JournalHeader.canStand(at: offset) {
            return refuseForgedHeader(target, at: offset)
        }
        return code
    }

    override func write(_ source: UnsafeRawBufferPointer, at offset: Int64) -> Int32 {
        if source.count == FileFormat.pageSize { return writePage(source, at: offset) }
        // No part of a journal is longer than a page, and unknown data must not be written unencrypted.
        guard source.count < FileFormat.pageSize else { return SQLITE_IOERR_WRITE }
        if JournalHeader.isHeader(source, at: offset) { return writeHeader(source, at: offset) }
        guard source.count == 4 else { return file.write(source, at: offset) }
        guard offset == written.offset else {
            word = (offset, UInt32(bigEndian: source.loadUnaligned(as: UInt32.self)))
            return file.write(source, at: offset)
        }
        return withUnsafeTemporaryAllocation(byteCount: 4, alignment: 4) { sum in
            sum.copyMemory(from: source)
            toggleMask(sum, written)
            written.offset = -1
            return file.write(UnsafeRawBufferPointer(sum), at: offset)
        }
    }

    override func truncate(to size: Int64) -> Int32 {
        highestWritten = min(highestWritten, size - 1)
        segments.removeAll { $0.offset >= size }
        return file.truncate(to: size)
    }

    private func writeHeader(_ source: UnsafeRawBufferPointer, at offset: Int64) -> Int32 {
        let version = main?.version ?? masks[0].version
        if masks[0].version != version { masks.insert(cipher.masks(version), at: 0) }
        segments.removeAll { $0.offset >= offset }
        segments.append(JournalHeader.Segment(source, at: offset, version))
        return withUnsafeTemporaryAllocation(byteCount: source.count, alignment: 8) { header in
            header.copyMemory(from: source)
            JournalHeader.seal(header, at: offset, with: masks[0])
            return file.write(UnsafeRawBufferPointer(header), at: offset)
        }
    }

    /// Hides the magic number of a header that is not intact. SQLite reads the magic number first, so the
    /// journal ends there for SQLite, as if it were truncated.
    private func refuseForgedHeader(_ magic: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int32 {
        guard magic.elementsEqual(JournalHeader.magic) else { return SQLITE_OK }
        if let main, main.version != masks[0].version { masks.insert(cipher.masks(main.version), at: 0) }
        return withUnsafeTemporaryAllocation(byteCount: JournalHeader.sealedSize, alignment: 8) { header in
            let code = file.read(header, at: offset)
            // With so few bytes left, SQLite does not read the rest of a header either.
            if code == SQLITE_IOERR_SHORT_READ { return SQLITE_OK }
            guard code == SQLITE_OK else { return code }
            played = JournalHeader.segment(UnsafeRawBufferPointer(header), at: offset, with: masks)
            if played == nil { fillWithZeros(magic) }
            return SQLITE_OK
        }
    }

    /// Returns the header of the record at an offset: a header that this handle wrote, or otherwise the last
    /// header that was read.
    private func segment(at offset: Int64) -> JournalHeader.Segment? {
        let segment = segments.isEmpty ? played : segments.last { $0.offset < offset }
        return segment.flatMap { $0.offset < offset ? $0 : nil }
    }

    private func readPage(_ target: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int32 {
        guard offset >= 4 else { return SQLITE_IOERR_READ }
        let code = file.read(buffer.bytes, at: offset - 4)
        guard code == SQLITE_OK else {
            fillWithZeros(target)
            return code
        }
        let number = UInt32(bigEndian: buffer.bytes.loadUnaligned(as: UInt32.self))
        guard let sealed = buffer.bytes.baseAddress.map({ $0 + 4 }), let segment = segment(at: offset),
            open(sealed, at: segment.place(at: offset, page: number), to: target)
        else {
            fillWithZeros(target)
            // A short read ends the playback of a hot journal, as a torn record does; elsewhere it is an error.
            // Returning a page with a wrong checksum would not suffice, because savepoints ignore checksums.
            return offset <= highestWritten ? SQLITE_IOERR_DATA : SQLITE_IOERR_SHORT_READ
        }
        opened = checksum(behind: offset, page: number, nonce: Nonce(of: sealed), in: segment)
        return SQLITE_OK
    }

    private func writePage(_ source: UnsafeRawBufferPointer, at offset: Int64) -> Int32 {
        guard word.offset == offset - 4, let segment = segments.last, segment.offset < offset else {
            return SQLITE_IOERR_WRITE
        }
        return sealing(source, at: segment.place(at: offset, page: word.value)) { sealed in
            guard let address = sealed.baseAddress else { return SQLITE_IOERR_WRITE }
            written = checksum(behind: offset, page: word.value, nonce: Nonce(of: address), in: segment)
            highestWritten = max(highestWritten, offset)
            return file.write(sealed, at: offset)
        }
    }

    private func checksum(
        behind offset: Int64, page: UInt32, nonce: Nonce, in segment: JournalHeader.Segment
    ) -> Checksum {
        let end = offset + Int64(FileFormat.pageSize)
        let masks = masks.first { $0.version == segment.version } ?? cipher.masks(segment.version)
        let mask = masks.journalRecord(at: end, segment: segment.fields, page: page, nonce: nonce)
        return Checksum(offset: end, mask: mask)
    }

    private func toggleMask(_ bytes: UnsafeMutableRawBufferPointer, _ checksum: Checksum) {
        let value = bytes.loadUnaligned(as: UInt32.self) ^ checksum.mask.bigEndian
        bytes.storeBytes(of: value, as: UInt32.self)
    }
}
