import CSQLite
import Crypto
import Foundation

/// One file that SQLite has open through the encrypting VFS.
///
/// SQLite calls a file from one thread at a time (the connection's mutex), so there is no lock here.
class OpenFile {
    func read(_ target: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int32 { SQLITE_IOERR }
    func write(_ source: UnsafeRawBufferPointer, at offset: Int64) -> Int32 { SQLITE_IOERR }
    func truncate(to size: Int64) -> Int32 { SQLITE_IOERR }
    func size(_ size: inout Int64) -> Int32 { SQLITE_IOERR }
    func close() -> Int32 { SQLITE_OK }

    /// Called when this connection's locks change: what is remembered of the file's size may be old then.
    func locksChanged() {}

    /// The file beneath; nil for a file in memory.
    var base: BaseFile? { nil }
}

/// A file that holds sealed pages.
class SealedFile: OpenFile {
    let file: BaseFile
    let cipher: PageCipher
    private var nonces = NonceSource()

    init(file: BaseFile, cipher: PageCipher) {
        self.file = file
        self.cipher = cipher
    }

    override final var base: BaseFile? { file }
    override func truncate(to size: Int64) -> Int32 { file.truncate(to: size) }
    override func size(_ size: inout Int64) -> Int32 { file.size(&size) }
    override final func close() -> Int32 { file.close() }

    /// Seals a page and hands the 4096 bytes to `body`.
    ///
    /// SQLite leaves the reserved bytes zero. Anything else there means a writer that does not reserve them
    /// (a backup from a plain database, for instance), whose data would be lost: refused.
    final func sealing(
        _ page: UnsafeRawBufferPointer, at place: PageCipher.Place, _ body: (UnsafeRawBufferPointer) -> Int32
    ) -> Int32 {
        guard page.count == FileFormat.pageSize, Self.reservedBytesAreZero(page) else { return SQLITE_IOERR_WRITE }
        do {
            let content = UnsafeRawBufferPointer(rebasing: page[..<FileFormat.contentSize])
            let sealed = try cipher.seal(content, at: place, nonce: nonces.next())
            return sealed.withUnsafeBytes(body)
        } catch {
            return SQLITE_IOERR_WRITE
        }
    }

    private static func reservedBytesAreZero(_ page: UnsafeRawBufferPointer) -> Bool {
        let start = FileFormat.contentSize
        return page.loadUnaligned(fromByteOffset: start, as: UInt64.self)
            | page.loadUnaligned(fromByteOffset: start + 8, as: UInt64.self)
            | page.loadUnaligned(fromByteOffset: start + 16, as: UInt64.self)
            | UInt64(page.loadUnaligned(fromByteOffset: start + 24, as: UInt32.self)) == 0
    }
}

/// A buffer to read sealed bytes into, with a view of its pages that swift-crypto takes without copying.
final class ReadBuffer {
    let bytes: UnsafeMutableRawBufferPointer
    /// The sealed page in the buffer, as it is when it is read: `bytes` outlives every use of it, since
    /// both are used within one call only.
    let page: Data

    /// - Parameter leading: How many bytes precede the page.
    init(leading: Int) {
        bytes = .allocate(byteCount: leading + FileFormat.pageSize, alignment: 16)
        bytes.initializeMemory(as: UInt8.self, repeating: 0)
        page =
            bytes.baseAddress.map {
                Data(bytesNoCopy: $0 + leading, count: FileFormat.pageSize, deallocator: .none)
            } ?? Data()
    }

    deinit {
        bytes.deallocate()
    }

    var isZero: Bool { bytes.allSatisfy { $0 == 0 } }
}

/// Copies a range of an opened page, whose reserved bytes read as zeros: WAL checksums cover them.
func copyPage(_ content: Data, from start: Int, to target: UnsafeMutableRawBufferPointer) {
    guard let address = target.baseAddress else { return }
    let available = max(0, min(target.count, FileFormat.contentSize - start))
    if available > 0 {
        content.withUnsafeBytes { bytes in
            if let source = bytes.baseAddress { memcpy(address, source + start, available) }
        }
    }
    if available < target.count { memset(address + available, 0, target.count - available) }
}

func fillWithZeros(_ target: UnsafeMutableRawBufferPointer) {
    if let address = target.baseAddress { memset(address, 0, target.count) }
}
