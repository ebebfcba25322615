import CSQLite

/// The write-ahead log: a header of 32 bytes, then frames of a 24-byte header and a page.
///
/// Headers stay plain but for their checksums, which are digests of plain pages and are masked.
final class LogFile: SealedFile {
    private let buffer = ReadBuffer(leading: FileFormat.frameHeaderSize)

    override func read(_ target: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int32 {
        guard offset >= 0 else { return SQLITE_IOERR_READ }
        if offset < Int64(FileFormat.logHeaderSize) {
            return readHeader(target, start: 0, size: FileFormat.logHeaderSize, skip: Int(offset))
        }
        let position = Int((offset - Int64(FileFormat.logHeaderSize)) % Int64(FileFormat.frameSize))
        let frame = offset - Int64(position)
        if position + target.count <= FileFormat.frameHeaderSize {
            return readHeader(target, start: frame, size: FileFormat.frameHeaderSize, skip: position)
        }
        guard position + target.count <= FileFormat.frameSize else { return SQLITE_IOERR_READ }
        let code = file.read(buffer.bytes, at: frame)
        guard code == SQLITE_OK else {
            fillWithZeros(target)
            return code
        }
        let place = PageCipher.Place(kind: .log, offset: frame + Int64(FileFormat.frameHeaderSize))
        guard let content = cipher.open(buffer.page, at: place) else {
            fillWithZeros(target)
            // A read that includes the frame's header comes from recovery, where a frame that was torn by a
            // crash is normal. All zeros are no frame to SQLite: its salts do not fit, and the log ends here.
            return position < FileFormat.frameHeaderSize ? SQLITE_OK : SQLITE_IOERR_DATA
        }
        guard position < FileFormat.frameHeaderSize else {
            copyPage(content, from: position - FileFormat.frameHeaderSize, to: target)
            return SQLITE_OK
        }
        let header = UnsafeMutableRawBufferPointer(rebasing: buffer.bytes[..<FileFormat.frameHeaderSize])
        toggleMask(header, offset: frame)
        let part = header[position...]
        target.copyBytes(from: part)
        copyPage(content, from: 0, to: UnsafeMutableRawBufferPointer(rebasing: target[part.count...]))
        return SQLITE_OK
    }

    override func write(_ source: UnsafeRawBufferPointer, at offset: Int64) -> Int32 {
        if offset == 0, source.count == FileFormat.logHeaderSize { return writeHeader(source, at: 0) }
        guard offset >= Int64(FileFormat.logHeaderSize) else { return SQLITE_IOERR_WRITE }
        switch (Int((offset - Int64(FileFormat.logHeaderSize)) % Int64(FileFormat.frameSize)), source.count) {
        case (0, FileFormat.frameHeaderSize):
            return writeHeader(source, at: offset)
        case (FileFormat.frameHeaderSize, FileFormat.pageSize):
            return sealing(source, at: .init(kind: .log, offset: offset)) { file.write($0, at: offset) }
        default:
            // Pages are never split: the VFS always reports power-safe overwrite, so SQLite does not pad.
            return SQLITE_IOERR_WRITE
        }
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

    private func writeHeader(_ source: UnsafeRawBufferPointer, at offset: Int64) -> Int32 {
        withUnsafeTemporaryAllocation(byteCount: source.count, alignment: 8) { header in
            header.copyMemory(from: source)
            toggleMask(header, offset: offset)
            return file.write(UnsafeRawBufferPointer(header), at: offset)
        }
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
