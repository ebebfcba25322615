import CZlib

/// Decompresses a body while it arrives. It supports gzip with any number of members (RFC 1952, 2.2), and
/// deflate with or without the zlib wrapper, which some servers omit (RFC 9110, 8.4.1.2).
///
/// `@unchecked Sendable`: the owner admits one caller at a time.
final class Unpacker: @unchecked Sendable {
    enum Packing {
        case gzip
        case deflate
    }

    /// The error for bytes that are not valid in the coding.
    struct Failure: Error {
        let reason: String
    }

    /// The maximum number of bytes that are returned at once.
    private static let bufferSize = 64 << 10

    private let packing: Packing
    private let stream: UnsafeMutablePointer<z_stream>
    private var input: [UInt8] = []
    private var position = 0
    /// Whether the state of zlib was created; its kind depends on the first bytes.
    private var isReady = false
    /// Whether a gzip member or the deflated body has ended, and no other has begun.
    private var isBetweenMembers = true
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

    /// Whether the body may be complete here.
    var isAtEnd: Bool { isBetweenMembers }

    func append(_ bytes: [UInt8]) {
        if position == input.count {
            input = bytes
        } else {
            input = Array(input[position...]) + bytes
        }
        position = 0
    }

    /// Returns the next decompressed bytes, or `nil` if more input is needed.
    ///
    /// - Throws: ``Failure`` for invalid bytes.
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

    /// Starts the next member, if there is one.
    ///
    /// - Returns: `false` if more input is needed, or if only padding has arrived.
    private func begin() throws(Failure) -> Bool {
        guard position < input.count else { return false }
        guard hasBegun else {
            // The first two bytes show whether there is a wrapper.
            guard packing == .gzip || input.count - position >= 2 else { return false }
            try makeState()
            hasBegun = true
            isBetweenMembers = false
            return true
        }
        // Zeros may follow the last member as padding; any other bytes begin another member.
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
            // The header of zlib (RFC 1950, 2.2): method 8, and a two-byte number that is a multiple of 31.
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
                // zlib only reads the input buffer.
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
