import Crypto
import Foundation

/// Seals records one by one under a key: what is kept in a file or a store that others can read.
///
/// ```swift
/// let cipher = RecordCipher(key: key, purpose: "log")
/// let sealed = try cipher.seal(bytes, context: Array("entry 1".utf8))
/// let bytes = try cipher.open(sealed, context: Array("entry 1".utf8))
/// ```
///
/// AES-256-GCM with a random nonce, under a key that HKDF-SHA256 derives from the given one and the purpose, so that
/// one key can serve several purposes. A sealed record is 12 bytes of nonce, the ciphertext and 16 bytes of tag.
/// After 2^32 records the chance that two nonces are the same is no longer negligible: take another key by then.
public struct RecordCipher: Sendable {
    /// The number of bytes by which a sealed record is longer.
    public static let overhead = 28

    private let key: SymmetricKey

    /// - Parameters:
    ///   - key: The key.
    ///   - purpose: What the records are for; each purpose has its own derived key.
    public init(key: EncryptionKey, purpose: String) {
        self.key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: key.symmetricKey, info: Array(purpose.utf8), outputByteCount: EncryptionKey.byteCount)
    }

    /// Encrypts and authenticates a record.
    ///
    /// - Parameters:
    ///   - bytes: The record.
    ///   - context: What must be the same when it is opened: its place, its name.
    /// - Throws: ``SecretError/sealingFailed``.
    public func seal(_ bytes: some Collection<UInt8>, context: [UInt8] = []) throws(SecretError) -> [UInt8] {
        do {
            guard let sealed = try AES.GCM.seal(Data(bytes), using: key, authenticating: context).combined else {
                throw SecretError.sealingFailed
            }
            return Array(sealed)
        } catch {
            throw .sealingFailed
        }
    }

    /// Gives back a record.
    ///
    /// - Throws: ``SecretError/wrongKey`` when it was sealed under another key, for another purpose or context, or
    ///   was altered.
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

    /// A name that tells nothing of a text, the same for the same text: 64 hexadecimal digits of HMAC-SHA256.
    public func pseudonym(of text: String) -> String {
        HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key)
            .map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

extension RecordCipher: CustomStringConvertible, CustomReflectable {
    /// Always `‹redacted›`.
    public var description: String { redactedText }

    /// A mirror that shows nothing but `‹redacted›`.
    public var customMirror: Mirror { Mirror(self, unlabeledChildren: [redactedText], displayStyle: .struct) }
}
