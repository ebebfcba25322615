import CZlib
import ODataService

/// Packs a stream with gzip (RFC 1952) as it is read: holds one chunk and zlib's window, however long the stream.
actor GzipEncoder {
    /// The bytes that are given out at once.
    private static let bufferSize = 16_384
    /// More than zlib can hold back.
    private static let flushSize = 1 << 20

    private let state: DeflateState
    private var input: [UInt8] = []
    private var position = 0
    private var isFinishing = false
    private var isDone = false
    /// The error that ended the stream, once the bytes before it have been given out.
    private var failure: (any Error)?

    /// Makes an encoder; `nil` when there is no memory for it.
    init?() {
        guard let state = DeflateState() else { return nil }
        self.state = state
    }

    /// The next packed bytes of a stream; `nil` at the end.
    ///
    /// - Throws: what the stream throws, behind all bytes that came before.
    func next(of stream: ByteStream) async throws -> [UInt8]? {
        if let failure { throw failure }
        var output: [UInt8] = []
        while !isDone, output.count < Self.bufferSize {
            if position == input.count, !isFinishing {
                do {
                    if let chunk = try await stream.next() {
                        input = chunk
                        position = 0
                    } else {
                        isFinishing = true
                    }
                } catch {
                    failure = error
                    // An error object may stand in what zlib holds back.
                    output += state.deflate([], .everythingSoFar, limit: Self.flushSize).output
                    guard output.isEmpty else { return output }
                    throw error
                }
            }
            let (consumed, packed, isAtEnd) = state.deflate(
                input[position...], isFinishing ? .end : .nothing, limit: Self.bufferSize)
            position += consumed
            output += packed
            isDone = isAtEnd
        }
        return output.isEmpty ? nil : output
    }
}

/// zlib's own state, freed with its owner.
private final class DeflateState {
    private let stream: UnsafeMutablePointer<z_stream>
    /// A speed that keeps up with the store and still makes JSON a sixth of its size.
    private static let level: Int32 = 4
    /// The largest window, and 16 for the header of gzip instead of zlib's.
    private static let windowBits: Int32 = 15 + 16

    init?() {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let status = deflateInit2_(
            stream, Self.level, Z_DEFLATED, Self.windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        guard status == Z_OK else {
            stream.deallocate()
            return nil
        }
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    /// What is given out of the bytes that zlib holds back.
    enum Flush {
        case nothing, everythingSoFar, end

        fileprivate var code: Int32 {
            switch self {
            case .nothing: Z_NO_FLUSH
            case .everythingSoFar: Z_SYNC_FLUSH
            case .end: Z_FINISH
            }
        }
    }

    /// Packs some bytes.
    ///
    /// - Returns: how many were taken, what came of them, and whether that was all.
    func deflate(
        _ input: ArraySlice<UInt8>, _ flush: Flush, limit: Int
    ) -> (consumed: Int, output: [UInt8], isAtEnd: Bool) {
        var isAtEnd = false
        var consumed = 0
        let output = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            input.withUnsafeBufferPointer { bytes in
                stream.pointee.next_in = UnsafeMutablePointer(mutating: bytes.baseAddress)
                stream.pointee.avail_in = UInt32(clamping: bytes.count)
                stream.pointee.next_out = buffer.baseAddress
                stream.pointee.avail_out = UInt32(clamping: limit)
                let offered = stream.pointee.avail_in
                let status = CZlib.deflate(stream, flush.code)
                isAtEnd = status == Z_STREAM_END
                consumed = Int(offered - stream.pointee.avail_in)
                count = limit - Int(stream.pointee.avail_out)
                stream.pointee.next_in = nil
                stream.pointee.next_out = nil
            }
        }
        return (consumed, output, isAtEnd)
    }
}
