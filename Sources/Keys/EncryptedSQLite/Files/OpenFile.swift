import CSQLite
import Foundation

/// One file that SQLite has open through the encrypting VFS.
///
/// SQLite calls a file from one thread at a time (the connection's mutex), so there is no lock here.
class OpenFile {
    func read(_ target: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int32 { SQLITE_IOERR }
    func write(_ source: UnsafeRawBufferPointer, at offset: Int64) -> Int32 { SQLITE_IOERR }
    func truncate(to size: Int64) -> Int32 { SQLITE_IOERR }
    func size(_ size: inout Int64) -> Int32 { SQLITE_IOERR }
    func sync(_ flags: Int32) -> Int32 { SQLITE_OK }
    func close() -> Int32 { SQLITE_OK }

    /// Called before this connection's locks change: what is remembered of the file may be old afterwards.
    ///
    /// - Returns: A result code; what is not `SQLITE_OK` keeps a lock from being taken.
    func locksWillChange() -> Int32 { SQLITE_OK }

    /// Called when this connection has taken or given back a lock of the file.
    ///
    /// - Returns: A result code.
    func lockDidChange(to level: Int32) -> Int32 { SQLITE_OK }

    /// Called before this connection takes or gives back locks of the log's index, and after it has done so.
    func sharedLockWillChange(_ first: Int32, _ count: Int32, flags: Int32) {}
    func sharedLockDidChange(_ first: Int32, _ count: Int32, flags: Int32) {}

    /// Called when SQLite got a region of the log's index in shared memory, or has given all of them back.
    func didMap(_ region: Int32, to address: UnsafeMutableRawPointer?) {}
    func didUnmap() {}

    /// The file beneath; nil for a file in memory.
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

    /// - Parameter epoch: The changes of the locks of the database file, which guard this file too.
    init(file: BaseFile, cipher: PageCipher, kind: PageKind, version: FormatVersion, epoch: LockEpoch) {
        self.file = file
        self.cipher = cipher
        self.kind = kind
        sealer = cipher.sealer(for: kind, version)
        sealerVersion = version
        nonces = cipher.nonces(epoch)
    }

    /// The sealer of a place: a journal may be of an earlier version than the database.
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
    /// SQLite leaves the reserved bytes zero. Anything else there means a writer that does not reserve them
    /// (a backup from a plain database, for instance), whose data would be lost: refused.
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

    /// Seals a page into a buffer of its own, and hands the 4096 bytes to `body`.
    final func sealing(
        _ page: UnsafeRawBufferPointer, at place: PageCipher.Place, _ body: (UnsafeRawBufferPointer) -> Int32
    ) -> Int32 {
        withUnsafeTemporaryAllocation(byteCount: FileFormat.pageSize, alignment: 16) { sealed in
            guard let address = sealed.baseAddress else { return SQLITE_IOERR_WRITE }
            let code = seal(page, at: place, to: address)
            return code == SQLITE_OK ? body(UnsafeRawBufferPointer(sealed)) : code
        }
    }

    /// Opens the sealed page at `sealed`, and copies what SQLite asked for, `start` bytes into the page.
    ///
    /// The reserved bytes read as zeros: checksums of the log cover them.
    ///
    /// - Returns: False when the page is not what was sealed in its place; `target` is all zeros then.
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

/// Memory that lives as long as an open file.
final class Buffer {
    let bytes: UnsafeMutableRawBufferPointer

    /// - Parameter size: In bytes.
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
