import CZlib

/// Unpacks a body as it arrives: gzip of any number of members (RFC 1952, 2.2), and deflate with the wrapper of zlib or, as
/// some servers send it, without (RFC 9110, 8.4.1.2).
///
/// `@unchecked Sendable`: its owner lets one caller in at a time.
final class Unpacker: @unchecked Sendable {
    /// The codings.
    enum Packing {
        case gzip
        case deflate
    }

    /// Bytes that are no body of the coding.
    struct Failure: Error {
        let reason: String
    }

    /// The most bytes that are given out at once.
    private static let bufferSize = 64 << 10

    private let packing: Packing
    private let stream: UnsafeMutablePointer<z_stream>
    private var input: [UInt8] = []
    private var position = 0
    /// Whether zlib's state is made: what the first bytes say decides how.
    private var isReady = false
    /// Whether a member of gzip, or the deflated body, has ended and no other has begun.
    private var isBetweenMembers = true
    /// Whether the body has had its first byte.
    private var hasBegun = false
    private var isDone = false

    init(_ packing: Packing) {
        self.packing = packing
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
    }

    deinit {
        if isReady { inflateEnd(stream) }
        stream.deallocate()
    }

    /// Whether what has arrived may be all: a whole body, or none.
    var isAtEnd: Bool { isBetweenMembers }

    /// Takes bytes as they came.
    func append(_ bytes: [UInt8]) {
        if position == input.count {
            input = bytes
        } else {
            input = Array(input[position...]) + bytes
        }
        position = 0
    }

    /// The next unpacked bytes; `nil` when more must arrive.
    ///
    /// - Throws: ``Failure`` for bytes that are no body of the coding.
    func next() throws(Failure) -> [UInt8]? {
        while true {
            if isBetweenMembers, try !begin() { return nil }
            let (output, isMemberAtEnd) = try inflateSome()
            if isMemberAtEnd {
                isBetweenMembers = true
                isDone = packing == .deflate
            }
            if !output.isEmpty { return output }
            guard isMemberAtEnd || position < input.count else { return nil }
        }
    }

    /// Begins with a member, where there is one.
    ///
    /// - Returns: `false` when more must arrive, and when only padding has.
    private func begin() throws(Failure) -> Bool {
        guard position < input.count else { return false }
        guard hasBegun else {
            // Two bytes tell whether there is a wrapper.
            guard packing == .gzip || input.count - position >= 2 else { return false }
            try makeState()
            hasBegun = true
            isBetweenMembers = false
            return true
        }
        // Zeros may pad the last member; anything else behind it is another one.
        if isDone || input[position] != 0x1F {
            guard input[position...].allSatisfy({ $0 == 0 }) else { throw Failure(reason: "bytes behind its end") }
            position = input.count
            return false
        }
        guard inflateReset(stream) == Z_OK else { throw Failure(reason: "no memory") }
        isBetweenMembers = false
        return true
    }

    private func makeState() throws(Failure) {
        let bits: Int32
        switch packing {
        case .gzip: bits = 15 + 16
        case .deflate:
            // The header of zlib (RFC 1950, 2.2): method 8, and a multiple of 31 as a number of two bytes.
            let (first, second) = (UInt16(input[position]), UInt16(input[position + 1]))
            bits = first & 0x0F == 8 && (first << 8 | second) % 31 == 0 ? 15 : -15
        }
        guard inflateInit2_(stream, bits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            throw Failure(reason: "no memory")
        }
        isReady = true
    }

    private func inflateSome() throws(Failure) -> (output: [UInt8], isMemberAtEnd: Bool) {
        var status = Z_OK
        var consumed = 0
        let stream = stream
        let output = input[position...].withUnsafeBufferPointer { source in
            [UInt8](unsafeUninitializedCapacity: Self.bufferSize) { target, count in
                // zlib reads what it is given and writes nothing there.
                stream.pointee.next_in = source.baseAddress.map { UnsafeMutablePointer(mutating: $0) }
                stream.pointee.avail_in = UInt32(source.count)
                stream.pointee.next_out = target.baseAddress
                stream.pointee.avail_out = UInt32(Self.bufferSize)
                status = inflate(stream, Z_NO_FLUSH)
                consumed = source.count - Int(stream.pointee.avail_in)
                count = Self.bufferSize - Int(stream.pointee.avail_out)
            }
        }
        position += consumed
        switch status {
        case Z_OK, Z_BUF_ERROR: return (output, false)
        case Z_STREAM_END: return (output, true)
        default: throw Failure(reason: stream.pointee.msg.map { String(cString: $0) } ?? "zlib \(status)")
        }
    }
}
