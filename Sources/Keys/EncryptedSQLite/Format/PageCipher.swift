import Crypto
import Secrets

/// The keys of one database, and the associated data of its pages.
///
/// Each kind of file has its own key, derived from the data key, so the limit of 2^32 random nonces applies to
/// each kind separately. The cipher has the keys of both format versions, because another process may upgrade
/// the file to format 2, and a journal of format 1 may remain.
final class PageCipher: Sendable {
    let fileIdentity: [UInt8]
    /// The format version in the key block when the database was unlocked. An earlier version in the file later
    /// means tampering.
    let version: FormatVersion
    private let identity: (UInt64, UInt64)
    private let mainKey: SymmetricKey
    private let first: VersionKeys
    private let second: VersionKeys
    private let nonceHashKey: SymmetricKey
    private let nonceKey: SymmetricKey

    /// The keys that differ between the format versions.
    private struct VersionKeys: Sendable {
        var log: SymmetricKey
        var journal: SymmetricKey
        var mask: SymmetricKey
    }

    init(dataKey: EncryptionKey, fileIdentity: [UInt8], version: FormatVersion = .latest) {
        func derive(_ purpose: String, _ version: FormatVersion = .two) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: dataKey.symmetricKey, salt: fileIdentity,
                info: Array("outpost sqlite \(version.rawValue) \(purpose)".utf8),
                outputByteCount: EncryptionKey.byteCount)
        }
        func keys(of version: FormatVersion) -> VersionKeys {
            VersionKeys(log: derive("wal", version), journal: derive("journal", version), mask: derive("mask", version))
        }
        self.fileIdentity = fileIdentity
        self.version = version
        identity = fileIdentity.withUnsafeBytes { bytes in
            bytes.count == 16
                ? (bytes.loadUnaligned(as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
                : (0, 0)
        }
        // The main key is the same in both versions, so an upgrade rewrites no page of the database.
        mainKey = derive("main", .one)
        first = keys(of: .one)
        second = keys(of: .two)
        nonceHashKey = derive("nonce hash")
        nonceKey = derive("nonce")
    }

    private func keys(of version: FormatVersion) -> VersionKeys { version == .one ? first : second }

    /// The place of a page, from which its associated data is made (`rules.md` 31).
    struct Place {
        var kind: PageKind
        /// The offset in the file by SQLite's count, which excludes the key block.
        var offset: Int64
        /// The format version of the log or journal. Pages of the database are equal in both versions.
        var version: FormatVersion = .latest
        /// The page number of a log frame or a journal record.
        var page: UInt32 = 0
        /// The identity of the log or journal: the salts of the log, or bytes 12 to 19 of a journal's header.
        var context: UInt64 = 0
        /// The page count of the database after a commit, for a commit frame; otherwise 0.
        var commit: UInt32 = 0

        static func main(_ offset: Int64) -> Place { Place(kind: .main, offset: offset) }

        /// Returns the place of a page in a frame of the log.
        ///
        /// - Parameters:
        ///   - frame: The offset of the frame, not of the page in it.
        ///   - fields: The first 8 bytes of the frame's header: the page number, then the database size after a
        ///     commit.
        static func log(frame: Int64, fields: UInt64, salts: UInt64, _ version: FormatVersion) -> Place {
            Place(
                kind: .log, offset: frame + Int64(FileFormat.frameHeaderSize), version: version,
                page: UInt32(truncatingIfNeeded: fields >> 32), context: salts,
                commit: UInt32(truncatingIfNeeded: fields))
        }
    }

    /// Returns a sealer for one open file of a kind.
    func sealer(for kind: PageKind, _ version: FormatVersion = .latest) -> PageSealer {
        switch kind {
        case .main: PageSealer(key: mainKey)
        case .log: PageSealer(key: keys(of: version).log)
        case .journal: PageSealer(key: keys(of: version).journal)
        }
    }

    /// Returns the checksum masks of one open file.
    func masks(_ version: FormatVersion) -> ChecksumMasks {
        ChecksumMasks(key: keys(of: version).mask, version: version)
    }

    /// Returns the nonce source of one open file.
    func nonces(_ epoch: LockEpoch) -> NonceSource {
        NonceSource(hashKey: nonceHashKey, key: nonceKey, epoch: epoch)
    }

    func withAssociatedData<Result>(of place: Place, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        let kind = UInt64(place.kind.rawValue) << 56
        let offset = UInt64(bitPattern: place.offset).bigEndian
        if place.kind == .main || place.version == .one {
            let page = place.kind == .journal ? UInt64(place.page) : 0
            return withUnsafeBytes(of: (identity.0, identity.1, (kind | page).bigEndian, offset), body)
        }
        let version = UInt64(place.version.rawValue) << 48
        let data = (
            identity.0, identity.1, (kind | version | UInt64(place.page)).bigEndian, offset, place.context.bigEndian,
            (UInt64(place.commit) << 32).bigEndian
        )
        return withUnsafeBytes(of: data, body)
    }
}
