import Crypto
import Secrets

/// The keys of one database, the associated data of its pages, and the masks of the checksums beside them.
///
/// Each kind of file has a key of its own, derived from the data key: the budget of 2^32 random nonces then
/// counts for each kind alone.
final class PageCipher: Sendable {
    let fileIdentity: [UInt8]
    private let identity: (UInt64, UInt64)
    private let mainKey: SymmetricKey
    private let logKey: SymmetricKey
    private let journalKey: SymmetricKey
    /// The code after its key and before any input. Keying it anew for each mask would cost as much again as the
    /// mask, and a frame of the log needs one. Unlike the keys, its state is not overwritten when it is released;
    /// it hides checksums, and opens no page.
    private let maskCode: HMAC<SHA256>

    init(dataKey: EncryptionKey, fileIdentity: [UInt8]) {
        func derive(_ purpose: String) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: dataKey.symmetricKey, salt: fileIdentity,
                info: Array("outpost sqlite 1 \(purpose)".utf8), outputByteCount: EncryptionKey.byteCount)
        }
        self.fileIdentity = fileIdentity
        identity = fileIdentity.withUnsafeBytes { bytes in
            bytes.count == 16
                ? (bytes.loadUnaligned(as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
                : (0, 0)
        }
        mainKey = derive("main")
        logKey = derive("wal")
        journalKey = derive("journal")
        maskCode = HMAC<SHA256>(key: derive("mask"))
    }

    /// Where a page stands: its associated data (`rules.md` 31).
    struct Place {
        var kind: PageKind
        /// The offset in the file as SQLite counts it: without the key block.
        var offset: Int64
        /// The page number that stands before the page in a rollback journal; else 0. SQLite's journal
        /// checksum does not cover it, so that without this a page could be rolled back to a wrong place.
        var journalPage: UInt32 = 0
    }

    /// Who seals and opens the pages of one open file of a kind.
    func sealer(for kind: PageKind) -> PageSealer {
        switch kind {
        case .main: PageSealer(key: mainKey)
        case .log: PageSealer(key: logKey)
        case .journal: PageSealer(key: journalKey)
        }
    }

    func withAssociatedData<Result>(of place: Place, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        let kindAndPage = UInt64(place.kind.rawValue) << 56 | UInt64(place.journalPage)
        let data = (identity.0, identity.1, kindAndPage.bigEndian, UInt64(bitPattern: place.offset).bigEndian)
        return withUnsafeBytes(of: data, body)
    }

    /// The mask of the checksum in the header of the log (kind 4) or of one of its frames (kind 2).
    ///
    /// All plain fields beside the checksum go into the mask. A changed page number, commit mark or salt
    /// thus turns the checksum into noise, and recovery refuses the frame.
    func logMask(isHeader: Bool, offset: Int64, salts: UInt64, pageAndCommit: UInt64) -> UInt64 {
        mask(
            (
                UInt64(isHeader ? 4 : PageKind.log.rawValue) << 56, UInt64(bitPattern: offset), salts,
                pageAndCommit
            ))
    }

    /// The mask of the checksum behind a page of a rollback journal.
    ///
    /// The page's nonce makes it a new mask for every page that was ever written at this offset.
    func journalMask(offset: Int64, nonce: (UInt64, UInt32)) -> UInt32 {
        let value = mask(
            (UInt64(PageKind.journal.rawValue) << 56, UInt64(bitPattern: offset), nonce.0, UInt64(nonce.1) << 32))
        return UInt32(value >> 32)
    }

    /// The code that vouches for the header of a rollback journal (kind 5).
    func journalHeaderCode(offset: Int64, fields: (UInt64, UInt64)) -> UInt64 {
        mask((5 << 56, UInt64(bitPattern: offset), fields.0, fields.1))
    }

    private func mask(_ words: (UInt64, UInt64, UInt64, UInt64)) -> UInt64 {
        let input = (words.0.bigEndian, words.1.bigEndian, words.2.bigEndian, words.3.bigEndian)
        var code = maskCode
        withUnsafeBytes(of: input) { code.update(data: $0) }
        return code.finalize().withUnsafeBytes { UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)) }
    }
}
