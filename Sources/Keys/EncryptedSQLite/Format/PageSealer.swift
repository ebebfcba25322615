import CAESGCM
import Crypto
import Foundation

/// AES-256-GCM under one key: one page after the other from the memory of one to that of another.
///
/// Where `CAESGCM` has it, the key schedule is made once and nothing is copied or allocated; elsewhere (on Apple's
/// platforms, by CryptoKit) each page takes a box of its own. Both make the same bytes.
///
/// A schedule is used and never changed, but the class is not `Sendable`: each open file has a sealer of its own.
final class PageSealer {
    private let key: SymmetricKey
    private let schedule: OpaquePointer?

    /// - Parameters:
    ///   - key: A key of 256 bits.
    ///   - keepsSchedule: Whether the schedule is kept if it can be; a test compares both ways.
    init(key: SymmetricKey, keepsSchedule: Bool = true) {
        self.key = key
        schedule = keepsSchedule ? key.withUnsafeBytes { outpost_gcm_new($0.baseAddress) } : nil
    }

    deinit {
        outpost_gcm_free(schedule)
    }

    /// Whether the key schedule is kept, as it is everywhere but on Apple's platforms.
    var hasSchedule: Bool { schedule != nil }

    /// Seals the content of a page into `target`: encrypted content, then the tag.
    ///
    /// - Parameters:
    ///   - content: 4068 bytes.
    ///   - nonce: 12 bytes.
    ///   - data: The associated data.
    ///   - target: Room for 4084 bytes.
    /// - Returns: Whether it was done.
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

    /// Opens a sealed page into `target`, which holds nothing of use when that fails.
    ///
    /// - Parameters:
    ///   - sealed: 4096 bytes: nonce, encrypted content, tag.
    ///   - data: The associated data.
    ///   - target: Room for 4068 bytes.
    /// - Returns: Whether the page is what was sealed under this key, with this data.
    func open(
        _ sealed: UnsafeRawPointer, authenticating data: UnsafeRawBufferPointer, to target: UnsafeMutableRawPointer
    ) -> Bool {
        if let schedule {
            return outpost_gcm_open(
                schedule, target, sealed, sealed + FileFormat.nonceSize, FileFormat.contentSize, data.baseAddress,
                data.count) == 1
        }
        do {
            // Without a copy: the bytes are not needed once this returns.
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
