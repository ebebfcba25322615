import Crypto
import Foundation
import Secrets

/// The binary format of a vault's file.
///
/// ```
/// offset  bytes
///      0      7  "OPVAULT"
///      7      1  version, 1
///      8     16  identity, random, constant for the life of the vault
///     24      8  epoch: incremented at each change of password or policy
///     32      1  credentials: 1 password, 2 salt, 3 both, 0 the platform's key alone
///     33      1  scrypt: binary logarithm of N, else 0
///     34      2  0
///     36      4  scrypt: r, else 0
///     40      4  scrypt: p, else 0
///     44     16  salt, random
///     60     68  0
///    128     92  the data key in a `KeyEnvelope`; its context is bytes 0 to 127 with zeros for the epoch
///    220     12  nonce, random
///    232         the content (see `VaultContent`), AES-256-GCM with the data key, associated data bytes 0 to
///                219; then its tag of 16 bytes
/// ```
///
/// Integers are big-endian. The key of the envelope is derived with HKDF-SHA256, with the salt and the info
/// `outpost vault 1`. Its input is the vault's device key (32 random bytes in the key store), followed by
/// scrypt's output (32 bytes) if the credentials are not 0. The password input of scrypt is `P` and the
/// password in UTF-8, form C, or `D` without a password. The salt of scrypt is the salt, or the first 16 bytes
/// of the HMAC-SHA256 of the caller's salt with the salt as the key.
struct VaultFile {
    var header: Header
    var envelope: KeyEnvelope
    /// The nonce, the encrypted content and the tag.
    var sealed: [UInt8]

    static let magic = Array("OPVAULT".utf8)
    static let version: UInt8 = 1
    static let headerByteCount = 128
    static let contentOffset = headerByteCount + KeyEnvelope.byteCount
    /// The maximum size of a file that is read, in bytes.
    static let maximumByteCount = contentOffset + 28 + DataVaultLimits.maximumVaultByteCount
    private static let info = Array("outpost vault 1".utf8)

    struct Header: Equatable {
        var identity: [UInt8]
        var epoch: UInt64
        var hasPassword: Bool
        var hasSalt: Bool
        var derivation: ScryptParameters
        var salt: [UInt8]

        /// Creates the header of a vault with these credentials and a new salt.
        init(identity: [UInt8], epoch: UInt64, credentials: VaultCredentials, derivation: ScryptParameters) {
            self.identity = identity
            self.epoch = epoch
            self.derivation = derivation
            hasPassword = credentials.password != nil
            hasSalt = credentials.salt != nil
            salt = randomBytes(PassphraseDeriver.saltByteCount)
        }

        var derives: Bool { hasPassword || hasSalt }

        var bytes: [UInt8] {
            var bytes = VaultFile.magic + [VaultFile.version] + identity + bigEndianBytes(epoch)
            bytes.append((hasPassword ? 1 : 0) | (hasSalt ? 2 : 0))
            bytes += derives ? [derivation.costExponent, 0, 0] : [0, 0, 0]
            bytes += derives ? bigEndianBytes(derivation.blockSize) : [0, 0, 0, 0]
            bytes += derives ? bigEndianBytes(derivation.parallelization) : [0, 0, 0, 0]
            bytes += salt
            return bytes + [UInt8](repeating: 0, count: VaultFile.headerByteCount - bytes.count)
        }

        /// The associated data of the envelope. It excludes the epoch, so that a policy can be set without the
        /// password; the content's tag covers the epoch.
        var context: [UInt8] {
            var header = self
            header.epoch = 0
            return header.bytes
        }
    }

    /// Seals content with a new data key.
    init(
        header: Header, content: VaultContent, credentials: VaultCredentials, deviceKey: Secret<[UInt8]>
    ) throws(DataVaultError) {
        self.header = header
        let dataKey = EncryptionKey.generate()
        let key = try Self.wrappingKey(header, credentials, deviceKey: deviceKey)
        do {
            envelope = try KeyEnvelope.seal(dataKey, with: .key(key), context: header.context)
        } catch {
            throw .system(operation: "deriving the key", path: "vault", code: 0)
        }
        sealed = []
        try seal(content, with: dataKey)
    }

    /// Parses a file and validates everything that needs no key.
    init(bytes: [UInt8], path: String) throws(DataVaultError) {
        func damaged(_ offset: Int, _ expected: String) -> DataVaultError {
            .damaged(path: path, offset: offset, expected: expected)
        }
        guard bytes.starts(with: Self.magic) else { throw damaged(0, "OPVAULT") }
        guard bytes.count > Self.contentOffset + 28, bytes.count <= Self.maximumByteCount else {
            throw damaged(bytes.count, "\(Self.contentOffset + 29) to \(Self.maximumByteCount) bytes in all")
        }
        guard bytes[7] == Self.version else { throw .unsupportedFormat(path: path, version: Int(bytes[7])) }
        guard bytes[32] <= 3 else { throw damaged(32, "0 to 3") }
        let derivation: ScryptParameters
        do {
            derivation =
                bytes[32] == 0
                ? .standard
                : try ScryptParameters(
                    costExponent: bytes[33], blockSize: UInt32(bigEndian: bytes[36..<40]),
                    parallelization: UInt32(bigEndian: bytes[40..<44]))
        } catch {
            throw damaged(33, "parameters of scrypt within their ranges")
        }
        header = Header(
            identity: Array(bytes[8..<24]), epoch: UInt64(bigEndian: bytes[24..<32]),
            credentials: .platformKey, derivation: derivation)
        header.hasPassword = bytes[32] & 1 != 0
        header.hasSalt = bytes[32] & 2 != 0
        header.salt = Array(bytes[44..<60])
        guard bytes.starts(with: header.bytes) else { throw damaged(34, "zeros where nothing is") }
        do {
            envelope = try KeyEnvelope(bytes: Array(bytes[Self.headerByteCount..<Self.contentOffset]))
        } catch .envelopeMalformed(let offset, let expected) {
            throw damaged(Self.headerByteCount + offset, expected)
        } catch {
            throw damaged(Self.headerByteCount, "a key envelope")
        }
        guard envelope.derivation == nil else { throw damaged(Self.headerByteCount + 5, "derivation 0") }
        sealed = Array(bytes[Self.contentOffset...])
    }

    var bytes: [UInt8] { header.bytes + envelope.bytes + sealed }

    /// Returns the data key, or `nil` if the credentials or the device key are wrong, which cannot be
    /// distinguished.
    func dataKey(
        _ credentials: VaultCredentials, deviceKey: Secret<[UInt8]>
    ) throws(DataVaultError) -> EncryptionKey? {
        guard header.hasPassword == (credentials.password != nil), header.hasSalt == (credentials.salt != nil)
        else { return nil }
        let key = try Self.wrappingKey(header, credentials, deviceKey: deviceKey)
        return try? envelope.open(with: .key(key), context: header.context)
    }

    /// Decrypts the content.
    func content(with dataKey: EncryptionKey, path: String) throws(DataVaultError) -> VaultContent {
        let damaged = DataVaultError.damaged(
            path: path, offset: Self.contentOffset, expected: "content sealed under the vault's key")
        do {
            let box = try AES.GCM.SealedBox(combined: sealed)
            var plain = try AES.GCM.open(
                box, using: dataKey.symmetricKey, authenticating: header.bytes + envelope.bytes)
            var bytes = Array(plain)
            defer {
                wipe(&plain)
                wipe(&bytes)
            }
            guard let content = VaultContent(bytes: bytes) else { throw damaged }
            return content
        } catch {
            throw damaged
        }
    }

    /// Replaces the content, sealed with the same data key.
    mutating func seal(_ content: VaultContent, with dataKey: EncryptionKey) throws(DataVaultError) {
        var plain = content.bytes
        defer { wipe(&plain) }
        do {
            let box = try AES.GCM.seal(
                plain, using: dataKey.symmetricKey, authenticating: header.bytes + envelope.bytes)
            sealed = Array(box.combined ?? Data())
        } catch {
            throw .system(operation: "sealing", path: "vault", code: 0)
        }
    }

    private static func wrappingKey(
        _ header: Header, _ credentials: VaultCredentials, deviceKey: Secret<[UInt8]>
    ) throws(DataVaultError) -> EncryptionKey {
        // Reserve the full capacity at the start, because growth would leave a copy in memory.
        var material: [UInt8] = []
        material.reserveCapacity(2 * EncryptionKey.byteCount)
        material += deviceKey.reveal()
        defer { wipe(&material) }
        do {
            if header.derives {
                let password = credentials.password?.reveal().precomposedStringWithCanonicalMapping.utf8
                var text: [UInt8] = []
                text.reserveCapacity(1 + (password?.count ?? 0))
                text.append(UInt8(ascii: password == nil ? "D" : "P"))
                if let password { text += password }
                defer { wipe(&text) }
                var salt = header.salt
                if let given = credentials.salt {
                    let code = HMAC<SHA256>.authenticationCode(
                        for: Data(given.reveal().precomposedStringWithCanonicalMapping.utf8),
                        using: SymmetricKey(data: header.salt))
                    salt = Array(Array(code).prefix(PassphraseDeriver.saltByteCount))
                }
                let derived = try PassphraseDeriver.derive(from: text, salt: salt, parameters: header.derivation)
                derived.withUnsafeBytes { material += $0 }
            }
            return try EncryptionKey(
                HKDF<SHA256>.deriveKey(
                    inputKeyMaterial: SymmetricKey(data: material), salt: header.salt, info: info,
                    outputByteCount: EncryptionKey.byteCount))
        } catch {
            throw .system(operation: "deriving the key", path: "vault", code: 0)
        }
    }
}
