import Crypto
import CryptoExtras
import Foundation
import Synchronization

/// Derives keys from passphrases, each one once per process.
///
/// A connection pool opens a database many times, and scrypt is slow by design. The derived key is therefore
/// kept in memory for each combination of passphrase, salt and parameters (`rules.md` 32). Entries are indexed
/// by a keyed digest with a random key per process; the passphrase itself is not kept.
public final class PassphraseDeriver: Sendable {
    /// The shared deriver of the process.
    public static let shared = PassphraseDeriver()

    /// The number of bytes of a salt.
    public static let saltByteCount = 16

    /// The maximum number of remembered keys. Beyond it, all keys are forgotten: a process with more
    /// passphrases is guessing, and gains nothing from remembered keys.
    public static let maximumRememberedKeys = 64

    private struct State {
        var keys: [[UInt8]: EncryptionKey] = [:]
        var count = 0
    }

    private let state = Mutex(State())
    private let indexKey = SymmetricKey(size: .bits256)

    /// Creates a deriver with its own memory, for tests that count derivations.
    public init() {}

    /// The number of derivations that this deriver has computed.
    public var derivationCount: Int {
        state.withLock { $0.count }
    }

    /// Returns the key of a passphrase, derived or remembered.
    ///
    /// The passphrase is normalised to Unicode's form C, so that it opens the same file regardless of the
    /// keyboard. Concurrent callers wait for each other, so that a key is never derived twice.
    ///
    /// - Parameters:
    ///   - passphrase: At least one character.
    ///   - salt: 16 bytes.
    ///   - parameters: The cost.
    /// - Returns: A key of 256 bits.
    /// - Throws: ``SecretError/emptyPassphrase``, ``SecretError/saltLength(bytes:)`` or
    ///   ``SecretError/derivationFailed``.
    public func key(
        from passphrase: Secret<String>, salt: [UInt8], parameters: ScryptParameters
    ) throws(SecretError) -> EncryptionKey {
        guard salt.count == Self.saltByteCount else { throw SecretError.saltLength(bytes: salt.count) }
        var text = Array(passphrase.reveal().precomposedStringWithCanonicalMapping.utf8)
        defer { wipe(&text) }
        guard !text.isEmpty else { throw SecretError.emptyPassphrase }
        let index = index(of: text, salt: salt, parameters: parameters)
        return try state.withLock { (state) throws(SecretError) -> EncryptionKey in
            if let known = state.keys[index] { return known }
            let key = try Self.derive(from: text, salt: salt, parameters: parameters)
            if state.keys.count >= Self.maximumRememberedKeys { state.keys.removeAll() }
            state.keys[index] = key
            state.count += 1
            return key
        }
    }

    /// Derives a key without remembering it, for secrets that must be entered each time.
    ///
    /// - Parameters:
    ///   - text: The bytes of the passphrase, without normalisation.
    ///   - salt: 16 bytes.
    ///   - parameters: The cost.
    /// - Returns: A key of 256 bits.
    /// - Throws: ``SecretError/saltLength(bytes:)`` or ``SecretError/derivationFailed``.
    package static func derive(
        from text: [UInt8], salt: [UInt8], parameters: ScryptParameters
    ) throws(SecretError) -> EncryptionKey {
        guard salt.count == saltByteCount else { throw SecretError.saltLength(bytes: salt.count) }
        let derived: SymmetricKey
        do {
            derived = try KDF.Scrypt.deriveKey(
                from: text, salt: salt, outputByteCount: EncryptionKey.byteCount,
                rounds: 1 << Int(parameters.costExponent), blockSize: Int(parameters.blockSize),
                parallelism: Int(parameters.parallelization))
        } catch {
            throw SecretError.derivationFailed
        }
        return try EncryptionKey(derived)
    }

    /// Forgets every derived key. The next use of a passphrase derives its key again.
    public func forgetAll() {
        state.withLock { $0.keys.removeAll() }
    }

    private func index(of text: [UInt8], salt: [UInt8], parameters: ScryptParameters) -> [UInt8] {
        var digest = HMAC<SHA256>(key: indexKey)
        // Everything before the passphrase has a fixed length, so different inputs have different encodings.
        digest.update(data: [parameters.costExponent])
        digest.update(data: bigEndianBytes(parameters.blockSize))
        digest.update(data: bigEndianBytes(parameters.parallelization))
        digest.update(data: salt)
        digest.update(data: text)
        return Array(digest.finalize())
    }
}

/// Returns the bytes of an integer, most significant byte first, as in all stored formats of this package.
package func bigEndianBytes(_ value: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: value.bigEndian) { Array($0) }
}
