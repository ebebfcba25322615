import CSQLite

/// The main database file: a key block, then sealed pages.
final class MainFile: SealedFile {
    /// The log and the rollback journal of the same connection, which the locks of this file protect.
    var log: LogFile?
    var journal: JournalFile?
    /// The format version of the file, which determines the format of logs and journals.
    private(set) var version: FormatVersion
    /// SQLite's index of the log, which the log's file reads too.
    let index = LogIndex()
    let epoch: LockEpoch
    let path: String
    /// Whether this connection holds the write lock of the log.
    private(set) var mayAppend = false
    /// The exclusive locks on the log's index that this connection holds, one bit each.
    private var exclusiveLocks: UInt32 = 0
    private var level = SQLITE_LOCK_NONE
    private let page = Buffer(size: FileFormat.pageSize)
    private var ahead = ReadAhead()
    /// The end of the pages by SQLite's count, or -1 if the size must be read again.
    private var end: Int64 = -1

    private static let shift = Int64(FileFormat.keyBlockSize)
    /// The number of attempts to read the first page, one millisecond apart. When SQLite opens a file, it reads
    /// the first 100 bytes without a lock, so another process may be writing the page at that time.
    private static let attempts = 4
    /// The number of bytes of page 1 that SQLite reads when it opens a file.
    private static let firstLook = 100

    /// The index locks of writers and of recovery ("WAL-Index Format", locks).
    private static let writeLock: Int32 = 0
    private static let recoveryLock: Int32 = 2

    /// - Parameter version: The format version in the key block.
    init(file: BaseFile, path: String, cipher: PageCipher, version: FormatVersion) {
        self.path = path
        self.version = version
        epoch = LockEpoch()
        super.init(file: file, cipher: cipher, kind: .main, version: version, epoch: epoch)
    }

    /// Whether only this connection can read or change the log, as during recovery. When SQLite closes a
    /// database, it holds the exclusive lock of the file but no lock on the index.
    var hasLogAlone: Bool { level >= SQLITE_LOCK_EXCLUSIVE || exclusiveLocks & 1 << Self.recoveryLock != 0 }

    override func read(_ target: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int32 {
        let start = Int(offset % Int64(FileFormat.pageSize))
        guard offset >= 0, start + target.count <= FileFormat.pageSize else { return SQLITE_IOERR_READ }
        let place = PageCipher.Place.main(offset - Int64(start))
        // A page that was read ahead and does not open was behind the end of the file or is damaged; `readPage`
        // reports which.
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
            // SQLite treats a short read as a page of zeros, so a truncated page must not be reported as one.
            guard code == SQLITE_OK || code == SQLITE_IOERR_SHORT_READ else { return code }
            if code == SQLITE_OK, let sealed = page.bytes.baseAddress, open(sealed, at: place, from: start, to: target)
            {
                return SQLITE_OK
            }
        }
        fillWithZeros(target)
        // When SQLite opens a file, it reads the start of page 1 before it looks for a journal. A power failure
        // may have torn that page; the journal repairs it. An empty start lets SQLite reach the journal.
        let isFirstLook = place.offset == 0 && start == 0 && target.count == Self.firstLook
        return isFirstLook ? SQLITE_IOERR_SHORT_READ : SQLITE_IOERR_DATA
    }

    override func lockDidChange(to level: Int32) -> Int32 {
        let before = self.level
        self.level = level
        // When SQLite releases its write locks, it is done with the journal. The next journal may be another
        // connection's.
        if level <= SQLITE_LOCK_SHARED { journal?.forget() }
        // Another process may have upgraded the file to format 2 between two locks. The read releases no locks.
        guard before == SQLITE_LOCK_NONE, level >= SQLITE_LOCK_SHARED, version == .one else { return SQLITE_OK }
        return readVersion()
    }

    private func readVersion() -> Int32 {
        let latest = KeyBlock.bytes(of: .latest)
        return withUnsafeTemporaryAllocation(byteCount: latest.count, alignment: 2) { bytes in
            let code = file.read(bytes, at: Int64(KeyBlock.versionOffset))
            if code == SQLITE_OK, bytes.elementsEqual(latest) { version = .latest }
            return code
        }
    }

    override func sharedLockWillChange(_ first: Int32, _ count: Int32, flags: Int32) {
        guard first == Self.writeLock, flags & SQLITE_SHM_EXCLUSIVE != 0, flags & SQLITE_SHM_UNLOCK != 0 else { return }
        log?.writerWillEnd()
    }

    override func sharedLockDidChange(_ first: Int32, _ count: Int32, flags: Int32) {
        guard flags & SQLITE_SHM_EXCLUSIVE != 0, first >= 0, count > 0, first + count <= 32 else { return }
        let locks = UInt32(truncatingIfNeeded: (UInt64(1) << UInt64(count) - 1) << UInt64(first))
        if flags & SQLITE_SHM_LOCK != 0 { exclusiveLocks |= locks } else { exclusiveLocks &= ~locks }
        guard first == Self.writeLock else { return }
        mayAppend = flags & SQLITE_SHM_LOCK != 0
        log?.writerDidChange()
    }

    override func didMap(_ region: Int32, to address: UnsafeMutableRawPointer?) { index.map(region, to: address) }

    override func didUnmap() { index.unmap() }

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
        // SQLite may skip pages whose content does not matter. The gaps would be unauthenticated zeros, and a
        // later reader of all pages (a backup) would fail there.
        while end < offset {
            let code = writeZeroPage(at: end)
            guard code == SQLITE_OK else { return code }
            end += Int64(FileFormat.pageSize)
        }
        let code = sealing(source, at: .main(offset)) {
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
        epoch.advance()
        return log?.locksWillChange() ?? SQLITE_OK
    }

    override func close() -> Int32 {
        let code = super.close()
        OpenDatabases.shared.didClose(path)
        return code
    }

    private func writeZeroPage(at offset: Int64) -> Int32 {
        withUnsafeTemporaryAllocation(byteCount: FileFormat.pageSize, alignment: 16) { zeros in
            fillWithZeros(zeros)
            return sealing(UnsafeRawBufferPointer(zeros), at: .main(offset)) {
                file.write($0, at: offset + Self.shift)
            }
        }
    }

    /// Returns whether a first page keeps the page size and the reserved bytes, without which the database is
    /// unreadable.
    private static func isAcceptableFirstPage(_ page: UnsafeRawBufferPointer) -> Bool {
        let size = Int(page[16]) << 8 | Int(page[17])
        return size == FileFormat.pageSize && Int(page[20]) == FileFormat.reservedSize
            || page.allSatisfy { $0 == 0 }
    }
}
