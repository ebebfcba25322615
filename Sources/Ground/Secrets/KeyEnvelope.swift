import Crypto
import Foundation

/// A data key that is encrypted with a key or a passphrase.
///
/// A random data key encrypts the bulk of the data, and the envelope contains that data key. A change of key or
/// passphrase therefore replaces only these 92 bytes, not the data.
///
/// ```
/// offset  bytes
///      0      4  "OPKE"
///      4      1  version, 1
///      5      1  derivation: 0 none (a key), 1 scrypt (a passphrase)
///      6      1  scrypt: binary logarithm of N, else 0
///      7      1  0
///      8      4  scrypt: r, big-endian, else 0
///     12      4  scrypt: p, big-endian, else 0
///     16     16  salt, random
///     32     12  nonce, random
///     44     32  the data key, encrypted
///     76     16  tag
/// ```
///
/// The wrapping key is HKDF-SHA256 of the key (or of scrypt's output for the passphrase and the salt) with the
/// salt and the info `outpost key envelope 1`. The cipher is AES-256-GCM. Its associated data is bytes 0 to 31
/// followed by the caller's context, which binds an envelope to its place.
public struct KeyEnvelope: Equatable, Sendable {
    /// The size of an envelope in bytes.
    public static let byteCount = 92

    /// The envelope in its stored form, which contains no plain secret.
    public let bytes: [UInt8]

    /// The cost of the derivation, or `nil` if the envelope was sealed with a key.
    public let derivation: ScryptParameters?

    private static let magic = Array("OPKE".utf8)
    private static let version: UInt8 = 1
    private static let info = Array("outpost key envelope 1".utf8)
    private static let headerByteCount = 32

    /// Parses a stored envelope and validates everything that needs no key.
    ///
    /// - Parameter bytes: Exactly 92 bytes.
    /// - Throws: ``SecretError/envelopeMalformed(offset:expected:)`` or
    ///   ``SecretError/derivationParameters(_:)``.
    public init(bytes: [UInt8]) throws(SecretError) {
        guard bytes.count == Self.byteCount else {
            throw SecretError.envelopeMalformed(offset: bytes.count, expected: "\(Self.byteCount) bytes in all")
        }
        guard bytes.starts(with: Self.magic) else {
            throw SecretError.envelopeMalformed(offset: 0, expected: "OPKE")
        }
        guard bytes[4] == Self.version else {
            throw SecretError.envelopeMalformed(offset: 4, expected: "version \(Self.version)")
        }
        switch bytes[5] {
        case 0:
            guard bytes[6..<16].allSatisfy({ $0 == 0 }) else {
                throw SecretError.envelopeMalformed(offset: 6, expected: "zeros, as there is no derivation")
            }
            derivation = nil
        case 1:
            guard bytes[7] == 0 else { throw SecretError.envelopeMalformed(offset: 7, expected: "0") }
            derivation = try ScryptParameters(
                costExponent: bytes[6], blockSize: Self.integer(bytes[8..<12]),
                parallelization: Self.integer(bytes[12..<16]))
        default:
            throw SecretError.envelopeMalformed(offset: 5, expected: "derivation 0 or 1")
        }
        self.bytes = bytes
    }

    /// Encrypts a data key.
    ///
    /// - Parameters:
    ///   - dataKey: The data key.
    ///   - source: The key or passphrase that will open the envelope. A file counts as a key only if it has the
    ///     header of ``KeyFile``.
    ///   - context: Bytes that must be passed unchanged to open the envelope.
    ///   - derivation: The cost for a passphrase; ignored for a key.
    ///   - deriver: The deriver for a passphrase.
    /// - Returns: An envelope with a new salt and nonce.
    /// - Throws: ``SecretError/emptyPassphrase``, ``SecretError/shortPassphrase(length:minimum:)``,
    ///   ``SecretError/keyFileWithoutHeader(path:)`` or ``SecretError/derivationFailed``.
    public static func seal(
        _ dataKey: EncryptionKey, with source: KeySource, context: [UInt8],
        derivation: ScryptParameters = .standard, deriver: PassphraseDeriver = .shared
    ) throws(SecretError) -> KeyEnvelope {
        try seal(
            dataKey, with: source, context: context, derivation: derivation, deriver: deriver,
            salt: randomBytes(PassphraseDeriver.saltByteCount), nonce: randomBytes(12))
    }

    /// Encrypts a data key with a given salt and nonce, for test vectors and upgrades of the file format.
    package static func seal(
        _ dataKey: EncryptionKey, with source: KeySource, context: [UInt8], derivation: ScryptParameters,
        deriver: PassphraseDeriver, salt: [UInt8], nonce: [UInt8]
    ) throws(SecretError) -> KeyEnvelope {
        var header = magic + [version]
        var parameters: ScryptParameters?
        let material = try source.forSealing()
        switch material {
        case .key:
            header += [UInt8](repeating: 0, count: 11)
        case .passphrase:
            parameters = derivation
            header += [1, derivation.costExponent, 0]
            header += bigEndianBytes(derivation.blockSize) + bigEndianBytes(derivation.parallelization)
        }
        header += salt
        let key = try wrappingKey(material, salt: salt, parameters: parameters, deriver: deriver)
        let sealed: Data
        do {
            let box = try dataKey.withUnsafeBytes { plain in
                try AES.GCM.seal(
                    plain, using: key, nonce: AES.GCM.Nonce(data: nonce), authenticating: header + context)
            }
            sealed = box.ciphertext + box.tag
        } catch {
            throw SecretError.derivationFailed
        }
        return try KeyEnvelope(bytes: header + nonce + sealed)
    }

    /// Decrypts the data key.
    ///
    /// - Parameters:
    ///   - source: The key or passphrase. ``derivation`` determines whether a file is read as a key or a
    ///     passphrase.
    ///   - context: The context that was passed when the envelope was sealed.
    ///   - deriver: The deriver for a passphrase.
    /// - Returns: The data key.
    /// - Throws: ``SecretError/wrongKindOfKey(expected:)``, ``SecretError/wrongKey``,
    ///   ``SecretError/emptyPassphrase`` or ``SecretError/derivationFailed``.
    public func open(
        with source: KeySource, context: [UInt8], deriver: PassphraseDeriver = .shared
    ) throws(SecretError) -> EncryptionKey {
        let material = try source.forOpening(isDerived: derivation != nil)
        let header = Array(bytes[..<Self.headerByteCount])
        let key = try Self.wrappingKey(
            material, salt: Array(header[16...]), parameters: derivation, deriver: deriver)
        var plain: Data
        do {
            let box = try AES.GCM.SealedBox(combined: bytes[Self.headerByteCount...])
            plain = try AES.GCM.open(box, using: key, authenticating: header + context)
        } catch {
            throw SecretError.wrongKey
        }
        defer { wipe(&plain) }
        return try EncryptionKey(SymmetricKey(data: plain))
    }

    private static func wrappingKey(
        _ material: KeyMaterial, salt: [UInt8], parameters: ScryptParameters?, deriver: PassphraseDeriver
    ) throws(SecretError) -> SymmetricKey {
        let secret: EncryptionKey
        switch material {
        case .key(let key): secret = key
        case .passphrase(let passphrase):
            secret = try deriver.key(from: passphrase, salt: salt, parameters: parameters ?? .standard)
        }
        return HKDF<SHA256>.deriveKey(
            inputKeyMaterial: secret.symmetricKey, salt: salt, info: info,
            outputByteCount: EncryptionKey.byteCount)
    }

    private static func integer(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.reduce(0) { $0 << 8 | UInt32($1) }
    }

}

/// Returns random bytes from the system for identities, salts and nonces.
package func randomBytes(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
}
