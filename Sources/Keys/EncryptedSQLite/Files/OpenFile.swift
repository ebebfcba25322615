import CSQLite
import Foundation

/// A file that SQLite has open through the encrypting VFS.
///
/// The connection's mutex ensures that SQLite calls a file from one thread at a time, so this class has no
/// lock.
class OpenFile {
    func read(_ target: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int32 { SQLITE_IOERR }
    func write(_ source: UnsafeRawBufferPointer, at offset: Int64) -> Int32 { SQLITE_IOERR }
    func truncate(to size: Int64) -> Int32 { SQLITE_IOERR }
    func size(_ size: inout Int64) -> Int32 { SQLITE_IOERR }
    func sync(_ flags: Int32) -> Int32 { SQLITE_OK }
    func close() -> Int32 { SQLITE_OK }

    /// Prepares for a change of this connection's locks, after which cached data of the file may be outdated.
    ///
    /// - Returns: A result code; any code but `SQLITE_OK` prevents a lock from being taken.
    func locksWillChange() -> Int32 { SQLITE_OK }

    /// Handles a lock of the file that this connection has taken or released.
    ///
    /// - Returns: A result code.
    func lockDidChange(to level: Int32) -> Int32 { SQLITE_OK }

    /// Handles a change of this connection's locks on the log's index: the first before, the second after the
    /// change.
    func sharedLockWillChange(_ first: Int32, _ count: Int32, flags: Int32) {}
    func sharedLockDidChange(_ first: Int32, _ count: Int32, flags: Int32) {}

    /// Handles a region of the log's index that SQLite has mapped, and the release of all regions.
    func didMap(_ region: Int32, to address: UnsafeMutableRawPointer?) {}
    func didUnmap() {}

    /// The underlying file; `nil` for a file in memory.
    var base: BaseFile? { nil }
}

/// A file that holds sealed pages.
class SealedFile: OpenFile {
    let file: BaseFile
    let cipher: PageCipher
    private let kind: PageKind
    private var sealer: PageSealer
    private var sealerVersion: FormatVersion
    private let nonces: NonceSource

    /// - Parameter epoch: The lock changes of the database file, whose locks also protect this file.
    init(file: BaseFile, cipher: PageCipher, kind: PageKind, version: FormatVersion, epoch: LockEpoch) {
        self.file = file
        self.cipher = cipher
        self.kind = kind
        sealer = cipher.sealer(for: kind, version)
        sealerVersion = version
        nonces = cipher.nonces(epoch)
    }

    /// Returns the sealer of a place, because a journal may have an earlier version than the database.
    private func sealer(for place: PageCipher.Place) -> PageSealer {
        if place.version != sealerVersion, kind != .main {
            sealer = cipher.sealer(for: kind, place.version)
            sealerVersion = place.version
        }
        return sealer
    }

    override final var base: BaseFile? { file }
    override func truncate(to size: Int64) -> Int32 { file.truncate(to: size) }
    override func size(_ size: inout Int64) -> Int32 { file.size(&size) }
    override func sync(_ flags: Int32) -> Int32 { file.sync(flags) }
    override func close() -> Int32 { file.close() }

    /// Seals a page into the 4096 bytes at `target`.
    ///
    /// SQLite leaves the reserved bytes zero. Other bytes come from a writer that does not reserve them, such
    /// as a backup from a plain database. Its data would be lost, so the page is refused.
    final func seal(
        _ page: UnsafeRawBufferPointer, at place: PageCipher.Place, to target: UnsafeMutableRawPointer
    ) -> Int32 {
        guard page.count == FileFormat.pageSize, let content = page.baseAddress, Self.reservedBytesAreZero(page) else {
            return SQLITE_IOERR_WRITE
        }
        let sealer = sealer(for: place)
        let isSealed = cipher.withAssociatedData(of: place) {
            nonces.write(for: content, authenticating: $0, to: target)
                && sealer.seal(content, nonce: target, authenticating: $0, to: target + FileFormat.nonceSize)
        }
        return isSealed ? SQLITE_OK : SQLITE_IOERR_WRITE
    }

    /// Seals a page into a temporary buffer and passes the 4096 bytes to `body`.
    final func sealing(
        _ page: UnsafeRawBufferPointer, at place: PageCipher.Place, _ body: (UnsafeRawBufferPointer) -> Int32
    ) -> Int32 {
        withUnsafeTemporaryAllocation(byteCount: FileFormat.pageSize, alignment: 16) { sealed in
            guard let address = sealed.baseAddress else { return SQLITE_IOERR_WRITE }
            let code = seal(page, at: place, to: address)
            return code == SQLITE_OK ? body(UnsafeRawBufferPointer(sealed)) : code
        }
    }

    /// Opens the sealed page at `sealed` and copies the requested part, which begins `start` bytes into the
    /// page.
    ///
    /// The reserved bytes read as zeros, because the checksums of the log cover them.
    ///
    /// - Returns: `false` if the page is not the one that was sealed at its place; `target` is then all zeros.
    final func open(
        _ sealed: UnsafeRawPointer, at place: PageCipher.Place, from start: Int = 0,
        to target: UnsafeMutableRawBufferPointer
    ) -> Bool {
        guard let address = target.baseAddress else { return false }
        let available = max(0, min(target.count, FileFormat.contentSize - start))
        let sealer = sealer(for: place)
        let isOpen = cipher.withAssociatedData(of: place) { data in
            if available == FileFormat.contentSize {
                return sealer.open(sealed, authenticating: data, to: address)
            }
            return withUnsafeTemporaryAllocation(byteCount: FileFormat.contentSize, alignment: 16) { content in
                guard let source = content.baseAddress, sealer.open(sealed, authenticating: data, to: source) else {
                    return false
                }
                if available > 0 { memcpy(address, source + start, available) }
                return true
            }
        }
        guard isOpen else {
            fillWithZeros(target)
            return false
        }
        if available < target.count { memset(address + available, 0, target.count - available) }
        return true
    }

    private static func reservedBytesAreZero(_ page: UnsafeRawBufferPointer) -> Bool {
        let start = FileFormat.contentSize
        return page.loadUnaligned(fromByteOffset: start, as: UInt64.self)
            | page.loadUnaligned(fromByteOffset: start + 8, as: UInt64.self)
            | page.loadUnaligned(fromByteOffset: start + 16, as: UInt64.self)
            | UInt64(page.loadUnaligned(fromByteOffset: start + 24, as: UInt32.self)) == 0
    }
}

/// A block of memory that lives as long as an open file.
final class Buffer {
    let bytes: UnsafeMutableRawBufferPointer

    /// - Parameter size: The size in bytes.
    init(size: Int) {
        bytes = .allocate(byteCount: size, alignment: 16)
        bytes.initializeMemory(as: UInt8.self, repeating: 0)
    }

    deinit {
        bytes.deallocate()
    }
}

func fillWithZeros(_ target: UnsafeMutableRawBufferPointer) {
    if let address = target.baseAddress { memset(address, 0, target.count) }
}
