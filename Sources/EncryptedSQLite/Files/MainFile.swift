import CSQLite

/// The main database file: a key block, then sealed pages.
final class MainFile: SealedFile {
    /// The log of the same connection, which is guarded by the locks of this file.
    var log: LogFile?
    /// Whether this connection alone may append to the log now.
    private(set) var mayAppend = false
    private let page = Buffer(size: FileFormat.pageSize)
    private var ahead = ReadAhead()
    /// The end of the pages as SQLite counts, or -1 when it must be asked for again.
    private var end: Int64 = -1

    private static let shift = Int64(FileFormat.keyBlockSize)
    /// SQLite reads the first 100 bytes without a lock when it opens a file, so that it may see the first page half
    /// written by another process. If that does not open it is read again, this often, a millisecond apart.
    private static let attempts = 4
    /// How many bytes SQLite reads of page 1 when it opens a file.
    private static let firstLook = 100

    init(file: BaseFile, cipher: PageCipher) {
        super.init(file: file, cipher: cipher, kind: .main)
    }

    override func read(_ target: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int32 {
        let start = Int(offset % Int64(FileFormat.pageSize))
        guard offset >= 0, start + target.count <= FileFormat.pageSize else { return SQLITE_IOERR_READ }
        let place = PageCipher.Place(kind: .main, offset: offset - Int64(start))
        // What was read ahead and does not open stood behind the end of the file, or is damaged: the slow way tells.
        if let sealed = ahead.page(at: place.offset + Self.shift, of: file),
            open(sealed, at: place, from: start, to: target)
        {
            return SQLITE_OK
        }
        return readPage(at: place, from: start, to: target)
    }

    private func readPage(
        at place: PageCipher.Place, from start: Int, to target: UnsafeMutableRawBufferPointer
    ) -> Int32 {
        for attempt in 0..<(place.offset == 0 ? Self.attempts : 1) {
            if attempt > 0 { sqlite3_sleep(1) }
            let code = file.read(page.bytes, at: place.offset + Self.shift)
            if code == SQLITE_IOERR_SHORT_READ, page.bytes.allSatisfy({ $0 == 0 }) {
                fillWithZeros(target)
                return code
            }
            // SQLite takes a short read for a page of zeros: a page cut in the middle must not be one.
            guard code == SQLITE_OK || code == SQLITE_IOERR_SHORT_READ else { return code }
            if code == SQLITE_OK, let sealed = page.bytes.baseAddress, open(sealed, at: place, from: start, to: target)
            {
                return SQLITE_OK
            }
        }
        fillWithZeros(target)
        // When it opens a file, SQLite looks at the beginning of page 1 before it looks for a journal. A power failure
        // may have torn that page, and the journal mends it: an empty beginning lets SQLite come that far.
        let isFirstLook = place.offset == 0 && start == 0 && target.count == Self.firstLook
        return isFirstLook ? SQLITE_IOERR_SHORT_READ : SQLITE_IOERR_DATA
    }

    override func sharedLockDidChange(_ first: Int32, _ count: Int32, _ flags: Int32) {
        // The first of the locks is the one of who writes (the file format of SQLite, "WAL-Index Format").
        guard first == 0, flags & SQLITE_SHM_EXCLUSIVE != 0 else { return }
        mayAppend = flags & SQLITE_SHM_LOCK != 0
        log?.writerDidChange()
    }

    override func write(_ source: UnsafeRawBufferPointer, at offset: Int64) -> Int32 {
        guard offset >= 0, offset % Int64(FileFormat.pageSize) == 0, source.count == FileFormat.pageSize,
            offset > 0 || Self.isAcceptableFirstPage(source)
        else { return SQLITE_IOERR_WRITE }
        ahead.forget()
        if end < 0 {
            var size: Int64 = 0
            let code = self.size(&size)
            guard code == SQLITE_OK else { return code }
            end = size - size % Int64(FileFormat.pageSize)
        }
        // SQLite may leave out pages whose content does not matter. As holes of the file they would read as
        // zeros that nothing vouches for, and a later reader of all pages (a backup) would stop at them.
        while end < offset {
            let code = writeZeroPage(at: end)
            guard code == SQLITE_OK else { return code }
            end += Int64(FileFormat.pageSize)
        }
        let code = sealing(source, at: .init(kind: .main, offset: offset)) {
            file.write($0, at: offset + Self.shift)
        }
        if code == SQLITE_OK {
            end = max(end, offset + Int64(FileFormat.pageSize))
        } else {
            end = -1
        }
        return code
    }

    override func truncate(to size: Int64) -> Int32 {
        end = -1
        ahead.forget()
        return file.truncate(to: size + Self.shift)
    }

    override func size(_ size: inout Int64) -> Int32 {
        let code = file.size(&size)
        size = max(0, size - Self.shift)
        return code
    }

    override func locksWillChange() -> Int32 {
        end = -1
        ahead.forget()
        return log?.flush() ?? SQLITE_OK
    }

    private func writeZeroPage(at offset: Int64) -> Int32 {
        withUnsafeTemporaryAllocation(byteCount: FileFormat.pageSize, alignment: 16) { zeros in
            fillWithZeros(zeros)
            return sealing(UnsafeRawBufferPointer(zeros), at: .init(kind: .main, offset: offset)) {
                file.write($0, at: offset + Self.shift)
            }
        }
    }

    /// A first page with another page size, or without reserved bytes, would make the database unreadable.
    private static func isAcceptableFirstPage(_ page: UnsafeRawBufferPointer) -> Bool {
        let size = Int(page[16]) << 8 | Int(page[17])
        return size == FileFormat.pageSize && Int(page[20]) == FileFormat.reservedSize
            || page.allSatisfy { $0 == 0 }
    }
}
