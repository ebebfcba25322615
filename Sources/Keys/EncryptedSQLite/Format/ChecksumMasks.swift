import Crypto

/// The nonce of a sealed page, which precedes the page in the file.
struct Nonce: Equatable {
    var first: UInt64 = 0
    var last: UInt32 = 0

    init() {}

    /// - Parameter sealed: The address of at least 12 bytes.
    init(of sealed: UnsafeRawPointer) {
        first = UInt64(bigEndian: sealed.loadUnaligned(as: UInt64.self))
        last = UInt32(bigEndian: sealed.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
    }
}

/// The masks of SQLite's checksums in one file. The checksums are digests of plain pages and must not be
/// readable.
///
/// All plain fields beside a checksum are inputs of its mask. A changed page number, commit mark or salt
/// therefore invalidates the checksum, and recovery refuses the frame. In format 2, the page's nonce is an
/// input too, so a frame that is rewritten at its place has a new mask.
final class ChecksumMasks {
    let version: FormatVersion
    private let code: KeyedCode

    init(key: SymmetricKey, version: FormatVersion) {
        self.version = version
        code = KeyedCode(key: key)
    }

    /// Returns the mask of the checksum in the header of the log (kind 4).
    func logHeader(salts: UInt64) -> UInt64 { mask(4, 0, third: salts, fourth: 0) }

    /// Returns the mask of the checksum in the header of a frame (kind 2).
    ///
    /// - Parameter fields: The first 8 bytes of the header: the page number, then the database size after a
    ///   commit.
    func frame(at offset: Int64, fields: UInt64, salts: UInt64, nonce: Nonce) -> UInt64 {
        mask(PageKind.log.rawValue, offset, third: salts, fourth: fields, nonce: nonce)
    }

    /// Returns the mask of the checksum behind a page of a rollback journal (kind 3).
    ///
    /// - Parameter segment: Bytes 12 to 19 of the header that precedes the record.
    func journalRecord(at offset: Int64, segment: UInt64, page: UInt32, nonce: Nonce) -> UInt32 {
        let kind = PageKind.journal.rawValue
        let value =
            version == .one
            ? mask(kind, offset, third: nonce.first, fourth: UInt64(nonce.last) << 32)
            : mask(kind, offset, third: segment, fourth: UInt64(page) << 32, nonce: nonce)
        return UInt32(truncatingIfNeeded: value >> 32)
    }

    /// Returns the authentication code of the header of a rollback journal (kind 5).
    func journalHeader(at offset: Int64, fields: (UInt64, UInt64)) -> UInt64 {
        mask(5, offset, third: fields.0, fourth: fields.1)
    }

    private func mask(
        _ kind: UInt8, _ offset: Int64, third: UInt64, fourth: UInt64, nonce: Nonce = Nonce()
    ) -> UInt64 {
        let words = (
            (UInt64(kind) << 56).bigEndian, UInt64(bitPattern: offset).bigEndian, third.bigEndian, fourth.bigEndian,
            nonce.first.bigEndian, nonce.last.bigEndian
        )
        return withUnsafeBytes(of: words) { bytes in
            let count = version == .one ? 32 : 44
            return code.code(of: UnsafeRawBufferPointer(rebasing: bytes[..<count])) {
                UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self))
            }
        }
    }
}
