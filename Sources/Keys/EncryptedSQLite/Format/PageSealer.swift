import CAESGCM
import Crypto
import Foundation

/// AES-256-GCM with one key, for one page at a time, from one memory address to another.
///
/// If `CAESGCM` provides a native implementation, the key schedule is computed once and nothing is copied or
/// allocated. Otherwise (on Apple's platforms, with CryptoKit) each page allocates a box. Both produce the same
/// bytes.
///
/// The schedule never changes, but the class is not `Sendable`: each open file has its own sealer.
final class PageSealer {
    private let key: SymmetricKey
    private let schedule: OpaquePointer?

    /// - Parameters:
    ///   - key: A key of 256 bits.
    ///   - keepsSchedule: Whether to keep the key schedule if possible; a test compares both implementations.
    init(key: SymmetricKey, keepsSchedule: Bool = true) {
        self.key = key
        schedule = keepsSchedule ? key.withUnsafeBytes { outpost_gcm_new($0.baseAddress) } : nil
    }

    deinit {
        outpost_gcm_free(schedule)
    }

    /// Whether the key schedule is kept, as it is everywhere except on Apple's platforms.
    var hasSchedule: Bool { schedule != nil }

    /// Seals the content of a page into `target`: the encrypted content, then the tag.
    ///
    /// - Parameters:
    ///   - content: The address of 4068 bytes.
    ///   - nonce: The address of 12 bytes.
    ///   - data: The associated data.
    ///   - target: The address of 4084 writable bytes.
    /// - Returns: `false` if the encryption failed.
    func seal(
        _ content: UnsafeRawPointer, nonce: UnsafeRawPointer, authenticating data: UnsafeRawBufferPointer,
        to target: UnsafeMutableRawPointer
    ) -> Bool {
        if let schedule {
            return outpost_gcm_seal(
                schedule, target, nonce, content, FileFormat.contentSize, data.baseAddress, data.count) == 1
        }
        do {
            let nonce = try AES.GCM.Nonce(data: UnsafeRawBufferPointer(start: nonce, count: FileFormat.nonceSize))
            let box = try AES.GCM.seal(
                UnsafeRawBufferPointer(start: content, count: FileFormat.contentSize), using: key, nonce: nonce,
                authenticating: data)
            UnsafeMutableRawBufferPointer(start: target, count: FileFormat.contentSize).copyBytes(from: box.ciphertext)
            UnsafeMutableRawBufferPointer(start: target + FileFormat.contentSize, count: FileFormat.tagSize)
                .copyBytes(from: box.tag)
            return true
        } catch {
            return false
        }
    }

    /// Opens a sealed page into `target`, whose content is undefined if opening fails.
    ///
    /// - Parameters:
    ///   - sealed: The address of 4096 bytes: nonce, encrypted content, tag.
    ///   - data: The associated data.
    ///   - target: The address of 4068 writable bytes.
    /// - Returns: Whether the page was sealed with this key and this data.
    func open(
        _ sealed: UnsafeRawPointer, authenticating data: UnsafeRawBufferPointer, to target: UnsafeMutableRawPointer
    ) -> Bool {
        if let schedule {
            return outpost_gcm_open(
                schedule, target, sealed, sealed + FileFormat.nonceSize, FileFormat.contentSize, data.baseAddress,
                data.count) == 1
        }
        do {
            // No copy is needed, because the bytes are not used after the return.
            let page = Data(
                bytesNoCopy: UnsafeMutableRawPointer(mutating: sealed), count: FileFormat.pageSize, deallocator: .none)
            let content = try AES.GCM.open(AES.GCM.SealedBox(combined: page), using: key, authenticating: data)
            UnsafeMutableRawBufferPointer(start: target, count: FileFormat.contentSize).copyBytes(from: content)
            return true
        } catch {
            return false
        }
    }
}
