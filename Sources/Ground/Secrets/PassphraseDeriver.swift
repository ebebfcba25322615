import Crypto
import CryptoExtras
import Foundation
import Synchronization

/// Derives keys from passphrases, each one once per process.
///
/// A connection pool opens a database many times; scrypt is slow on purpose. So the derived key is kept in
/// memory for each combination of passphrase, salt and parameters (`rules.md` 32). Entries are found by a
/// keyed digest whose key is random per process: the passphrase itself is not kept.
public final class PassphraseDeriver: Sendable {
    /// The deriver that the whole process shares.
    public static let shared = PassphraseDeriver()

    /// The number of bytes of a salt.
    public static let saltByteCount = 16

    /// How many derived keys are remembered. When one more comes, all are forgotten: a process that goes
    /// through more passphrases than this is guessing, and gains nothing from the memory.
    public static let maximumRememberedKeys = 64

    private struct State {
        var keys: [[UInt8]: EncryptionKey] = [:]
        var count = 0
    }

    private let state = Mutex(State())
    private let indexKey = SymmetricKey(size: .bits256)

    /// Makes a deriver with a memory of its own, for tests that count.
    public init() {}

    /// How many derivations really ran, since the process began.
    public var derivationCount: Int {
        state.withLock { $0.count }
    }

    /// The key of a passphrase, derived now or remembered.
    ///
    /// The passphrase is normalised to Unicode's form C first, so that it opens the same file whichever
    /// keyboard typed it. Concurrent callers wait for each other: this is what makes "once" exact.
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

    /// Derives a key and remembers nothing: for secrets that must be asked for each time.
    ///
    /// - Parameters:
    ///   - text: The bytes of the passphrase, taken as they are.
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

    /// Forgets every derived key; the next use of a passphrase derives again.
    public func forgetAll() {
        state.withLock { $0.keys.removeAll() }
    }

    private func index(of text: [UInt8], salt: [UInt8], parameters: ScryptParameters) -> [UInt8] {
        var digest = HMAC<SHA256>(key: indexKey)
        // All that precedes the passphrase has a fixed length, so no two inputs run into each other.
        digest.update(data: [parameters.costExponent])
        digest.update(data: bigEndianBytes(parameters.blockSize))
        digest.update(data: bigEndianBytes(parameters.parallelization))
        digest.update(data: salt)
        digest.update(data: text)
        return Array(digest.finalize())
    }
}

/// The bytes of an integer, most significant first, as every stored format of this package has them.
package func bigEndianBytes(_ value: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: value.bigEndian) { Array($0) }
}
