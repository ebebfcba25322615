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

/// Counts the changes of a connection's locks; its three files share one.
final class LockEpoch {
    private(set) var number: UInt64 = 1

    func advance() { number &+= 1 }
}

/// The nonces of one open file: they look random, and do not repeat when the memory of the machine is put back.
///
/// A nonce is a keyed code of 16 random bytes of the system, of a counter, and of a keyed hash of what is sealed and where. The
/// random bytes are fetched at the first page, and again once the connection's locks have changed often enough. A restored machine
/// may repeat them and the counter; the nonce then repeats only for equal content at an equal place, which gives equal bytes.
/// Different content has the same nonce with a probability of 2^-96.
///
/// Opening a page needs none of this: the nonce stands before it.
final class NonceSource {
    private let epoch: LockEpoch
    private let hashKey: SymmetricKey
    private let schedule: OpaquePointer?
    private let code: KeyedCode
    private let fetch: (UnsafeMutableRawBufferPointer) -> Void
    /// Random bytes, the counter (big-endian), then the hash of the page.
    private let input = Buffer(size: randomSize + 4 + FileFormat.tagSize)
    private var fetchedIn: UInt64 = 0
    private var count: UInt32 = 0

    private static let randomSize = 16
    /// The changes of locks after which random bytes are fetched anew, about ten transactions. Fetching them for each costs 2 % of
    /// a small transaction, and makes no nonce safer.
    static let maximumAge: UInt64 = 64

    /// - Parameters:
    ///   - hashKey: The key of the hash, which has no other use.
    ///   - key: The key of the code.
    ///   - keepsSchedule: Whether the C code is used if it can be; a test compares both ways.
    ///   - fetch: Fills a buffer with random bytes. Only tests may choose them.
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

    /// Writes the nonce, 12 bytes, of a page that is about to be sealed.
    ///
    /// - Parameters:
    ///   - content: 4068 bytes.
    ///   - data: The associated data of the page.
    /// - Returns: Whether it was done.
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

    /// The tag of AES-256-GCM without a text, of associated data and content; it never leaves memory.
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
