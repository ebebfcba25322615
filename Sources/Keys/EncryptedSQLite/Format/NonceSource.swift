import CAESGCM
import Crypto
import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A counter of the changes of a connection's locks, shared by its three files.
final class LockEpoch {
    private(set) var number: UInt64 = 1

    func advance() { number &+= 1 }
}

/// The source of the nonces of one open file. The nonces look random, and do not repeat if a virtual machine is
/// restored.
///
/// A nonce is a keyed code of 16 random system bytes, a counter, and a keyed hash of the content and its place.
/// The random bytes are fetched for the first page, and again after a number of lock changes. A restored
/// machine may repeat the random bytes and the counter. The nonce then repeats only for equal content at an
/// equal place, which gives equal bytes. Different content has the same nonce with a probability of 2^-96.
///
/// Opening a page needs no nonce source, because the nonce precedes the page.
final class NonceSource {
    private let epoch: LockEpoch
    private let hashKey: SymmetricKey
    private let schedule: OpaquePointer?
    private let code: KeyedCode
    private let fetch: (UnsafeMutableRawBufferPointer) -> Void
    /// The input of the code: random bytes, the counter (big-endian), and the hash of the page.
    private let input = Buffer(size: randomSize + 4 + FileFormat.tagSize)
    private var fetchedIn: UInt64 = 0
    private var count: UInt32 = 0

    private static let randomSize = 16
    /// The number of lock changes after which new random bytes are fetched, about ten transactions. Fetching
    /// them for each transaction costs 2 % of a small transaction and makes no nonce safer.
    static let maximumAge: UInt64 = 64

    /// - Parameters:
    ///   - hashKey: The key of the hash, which has no other purpose.
    ///   - key: The key of the code.
    ///   - keepsSchedule: Whether to use the native code if available; a test compares both implementations.
    ///   - fetch: Fills a buffer with random bytes. Only tests pass another function.
    init(
        hashKey: SymmetricKey, key: SymmetricKey, epoch: LockEpoch, keepsSchedule: Bool = true,
        fetch: @escaping (UnsafeMutableRawBufferPointer) -> Void = NonceSource.fetchFromSystem
    ) {
        self.epoch = epoch
        self.hashKey = hashKey
        self.fetch = fetch
        schedule = keepsSchedule ? hashKey.withUnsafeBytes { outpost_gcm_new($0.baseAddress) } : nil
        code = KeyedCode(key: key, keepsState: keepsSchedule)
    }

    deinit {
        outpost_gcm_free(schedule)
    }

    /// Writes the 12-byte nonce of a page that is about to be sealed.
    ///
    /// - Parameters:
    ///   - content: The address of 4068 bytes.
    ///   - data: The associated data of the page.
    /// - Returns: `false` if the hash could not be computed.
    func write(
        for content: UnsafeRawPointer, authenticating data: UnsafeRawBufferPointer,
        to target: UnsafeMutableRawPointer
    ) -> Bool {
        guard let input = input.bytes.baseAddress else { return false }
        if count == 0 || count == .max || epoch.number &- fetchedIn >= Self.maximumAge {
            fetch(UnsafeMutableRawBufferPointer(start: input, count: Self.randomSize))
            (fetchedIn, count) = (epoch.number, 0)
        }
        count += 1
        input.storeBytes(of: count.bigEndian, toByteOffset: Self.randomSize, as: UInt32.self)
        guard hash(content, data, to: input + Self.randomSize + 4) else { return false }
        code.code(of: UnsafeRawBufferPointer(self.input.bytes)) { code in
            if let source = code.baseAddress { memcpy(target, source, FileFormat.nonceSize) }
        }
        return true
    }

    /// Computes the tag of AES-256-GCM over the associated data and the content, with an empty plaintext. The
    /// tag never leaves memory.
    private func hash(
        _ content: UnsafeRawPointer, _ data: UnsafeRawBufferPointer, to target: UnsafeMutableRawPointer
    ) -> Bool {
        if let schedule {
            return outpost_gcm_tag(
                schedule, target, data.baseAddress, data.count, content, FileFormat.contentSize) == 1
        }
        do {
            let nonce = try AES.GCM.Nonce(data: [UInt8](repeating: 0, count: FileFormat.nonceSize))
            let all = Data(data) + Data(bytes: content, count: FileFormat.contentSize)
            let box = try AES.GCM.seal(Data(), using: hashKey, nonce: nonce, authenticating: all)
            UnsafeMutableRawBufferPointer(start: target, count: FileFormat.tagSize).copyBytes(from: box.tag)
            return true
        } catch {
            return false
        }
    }

    private static func fetchFromSystem(_ target: UnsafeMutableRawBufferPointer) {
        guard getentropy(target.baseAddress, target.count) != 0 else { return }
        var generator = SystemRandomNumberGenerator()
        for index in target.indices { target[index] = generator.next() }
    }
}
