import Crypto
import Foundation

/// A cipher that seals single records with a key, for a file or a store that others can read.
///
/// ```swift
/// let cipher = RecordCipher(key: key, purpose: "log")
/// let sealed = try cipher.seal(bytes, context: Array("entry 1".utf8))
/// let bytes = try cipher.open(sealed, context: Array("entry 1".utf8))
/// ```
///
/// The cipher is AES-256-GCM with a random nonce. HKDF-SHA256 derives its key from the given key and the
/// purpose, so that one key can serve several purposes. A sealed record consists of 12 bytes of nonce, the
/// ciphertext and 16 bytes of tag. Use another key after 2^32 records, because nonces may then repeat.
public struct RecordCipher: Sendable {
    /// The number of bytes that sealing adds to a record.
    public static let overhead = 28

    private let key: SymmetricKey

    /// Creates a cipher.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - purpose: The purpose of the records. Each purpose has its own derived key.
    public init(key: EncryptionKey, purpose: String) {
        self.key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: key.symmetricKey, info: Array(purpose.utf8), outputByteCount: EncryptionKey.byteCount)
    }

    /// Encrypts and authenticates a record.
    ///
    /// - Parameters:
    ///   - bytes: The record.
    ///   - context: Bytes that must be passed unchanged to open the record, such as its place or name.
    /// - Throws: ``SecretError/sealingFailed``.
    public func seal(_ bytes: some Collection<UInt8>, context: [UInt8] = []) throws(SecretError) -> [UInt8] {
        var plain = Data(bytes)
        defer { wipe(&plain) }
        do {
            guard let sealed = try AES.GCM.seal(plain, using: key, authenticating: context).combined else {
                throw SecretError.sealingFailed
            }
            return Array(sealed)
        } catch {
            throw .sealingFailed
        }
    }

    /// Decrypts a record.
    ///
    /// - Throws: ``SecretError/wrongKey`` if the record was altered, or sealed with another key, purpose or
    ///   context.
    public func open(_ sealed: some Collection<UInt8>, context: [UInt8] = []) throws(SecretError) -> [UInt8] {
        do {
            let box = try AES.GCM.SealedBox(combined: Data(sealed))
            var plain = try AES.GCM.open(box, using: key, authenticating: context)
            defer { wipe(&plain) }
            return Array(plain)
        } catch {
            throw .wrongKey
        }
    }

    /// Returns a pseudonym that reveals nothing of a text: 64 hexadecimal digits of HMAC-SHA256, equal for
    /// equal texts.
    public func pseudonym(of text: String) -> String {
        HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key)
            .map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

extension RecordCipher: CustomStringConvertible, CustomReflectable {
    /// Always `‹redacted›`.
    public var description: String { redactedText }

    /// A mirror that contains only `‹redacted›`.
    public var customMirror: Mirror { Mirror(self, unlabeledChildren: [redactedText], displayStyle: .struct) }
}
