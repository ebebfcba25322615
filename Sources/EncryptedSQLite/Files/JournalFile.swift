import CSQLite

/// The rollback journal: headers, and records of a page number, a page and a checksum.
///
/// Records have no fixed offsets, but SQLite reads and writes the three parts of one in order, and only a
/// page is 4096 bytes long (the sector is always 512, as the VFS reports power-safe overwrite).
final class JournalFile: SealedFile {
    private let buffer = Buffer(size: 4 + FileFormat.pageSize)
    /// The last number written, and where: before a page it is the page's number.
    private var word: (offset: Int64, value: UInt32) = (-1, 0)
    /// Where the checksum of the last page stands that was written or read, and that page's nonce.
    private var written = Checksum()
    private var opened = Checksum()
    /// The highest page written through this handle. What we wrote ourselves cannot have been torn by a
    /// crash, so that below it a page that does not open is an error and not the journal's end.
    private var highestWritten: Int64 = -1

    private struct Checksum {
        var offset: Int64 = -1
        var nonce: (UInt64, UInt32) = (0, 0)
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
        // Longer than a page there is nothing in a journal; what it would be, it must not be in plain.
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
        return file.truncate(to: size)
    }

    private func writeHeader(_ source: UnsafeRawBufferPointer, at offset: Int64) -> Int32 {
        withUnsafeTemporaryAllocation(byteCount: source.count, alignment: 8) { header in
            header.copyMemory(from: source)
            JournalHeader.seal(header, at: offset, with: cipher)
            return file.write(UnsafeRawBufferPointer(header), at: offset)
        }
    }

    /// SQLite looks for the magic number before it believes a header. Where the rest of the header is not as it was
    /// written, no magic number is there: the journal ends, as if it had been cut.
    private func refuseForgedHeader(_ magic: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int32 {
        guard magic.elementsEqual(JournalHeader.magic) else { return SQLITE_OK }
        return withUnsafeTemporaryAllocation(byteCount: JournalHeader.sealedSize, alignment: 8) { header in
            let code = file.read(header, at: offset)
            // Where so few bytes are left, SQLite does not look for the rest of a header.
            if code == SQLITE_IOERR_SHORT_READ { return SQLITE_OK }
            guard code == SQLITE_OK else { return code }
            if !JournalHeader.isSealed(UnsafeRawBufferPointer(header), at: offset, with: cipher) {
                fillWithZeros(magic)
            }
            return SQLITE_OK
        }
    }

    private func readPage(_ target: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int32 {
        guard offset >= 4 else { return SQLITE_IOERR_READ }
        let code = file.read(buffer.bytes, at: offset - 4)
        guard code == SQLITE_OK else {
            fillWithZeros(target)
            return code
        }
        let number = UInt32(bigEndian: buffer.bytes.loadUnaligned(as: UInt32.self))
        let place = PageCipher.Place(kind: .journal, offset: offset, journalPage: number)
        let page = UnsafeRawBufferPointer(rebasing: buffer.bytes[4...])
        guard let address = page.baseAddress, open(address, at: place, to: target) else {
            // A short read ends the playback of a hot journal as a torn record does, and is an error
            // everywhere else. A success with wrong checksum would not do: savepoints ignore checksums.
            return offset <= highestWritten ? SQLITE_IOERR_DATA : SQLITE_IOERR_SHORT_READ
        }
        opened = Self.checksum(behind: offset, sealed: page)
        return SQLITE_OK
    }

    private func writePage(_ source: UnsafeRawBufferPointer, at offset: Int64) -> Int32 {
        guard word.offset == offset - 4 else { return SQLITE_IOERR_WRITE }
        let place = PageCipher.Place(kind: .journal, offset: offset, journalPage: word.value)
        return sealing(source, at: place) { sealed in
            written = Self.checksum(behind: offset, sealed: sealed)
            highestWritten = max(highestWritten, offset)
            return file.write(sealed, at: offset)
        }
    }

    private static func checksum(behind offset: Int64, sealed: UnsafeRawBufferPointer) -> Checksum {
        Checksum(
            offset: offset + Int64(FileFormat.pageSize),
            nonce: (
                UInt64(bigEndian: sealed.loadUnaligned(as: UInt64.self)),
                UInt32(bigEndian: sealed.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
            ))
    }

    private func toggleMask(_ bytes: UnsafeMutableRawBufferPointer, _ checksum: Checksum) {
        let mask = cipher.journalMask(offset: checksum.offset, nonce: checksum.nonce)
        let value = bytes.loadUnaligned(as: UInt32.self) ^ mask.bigEndian
        bytes.storeBytes(of: value, as: UInt32.self)
    }
}
