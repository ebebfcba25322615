import CZlib
import ODataService

/// Compresses a stream with gzip (RFC 1952) while it is read. It buffers one chunk and zlib's window, whatever
/// the length of the stream.
actor GzipEncoder {
    /// The number of bytes that are returned at once.
    private static let bufferSize = 16_384
    /// A size greater than the amount of output that zlib can buffer.
    private static let flushSize = 1 << 20

    private let state: DeflateState
    private var input: [UInt8] = []
    private var position = 0
    private var isFinishing = false
    private var isDone = false
    /// The error of the stream. It is thrown after all bytes before it have been returned.
    private var failure: (any Error)?

    /// Creates an encoder; returns `nil` if there is not enough memory.
    init?() {
        guard let state = DeflateState() else { return nil }
        self.state = state
    }

    /// Returns the next compressed bytes of a stream, or `nil` at the end.
    ///
    /// - Throws: The error of the stream, after all bytes before it have been returned.
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
                    // The buffered output of zlib may contain an OData error object.
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

/// The state of zlib, which is freed with its owner.
private final class DeflateState {
    private let stream: UnsafeMutablePointer<z_stream>
    /// The compression level: fast enough for the store, with about one sixth of the size for JSON.
    private static let level: Int32 = 4
    /// The largest window (15), plus 16 for a gzip header.
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

    /// The amount of buffered output that zlib returns.
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

    /// Compresses bytes.
    ///
    /// - Returns: The number of consumed bytes, the output, and whether the stream has ended.
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
