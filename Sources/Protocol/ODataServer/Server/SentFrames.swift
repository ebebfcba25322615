import NIOCore

/// Counts the bytes of responses that leave a connection of HTTP/2 in frames (RFC 9113, 4.1 and 6.1).
///
/// A write on a stream completes only when all of its bytes were sent. A client with a small flow-control window
/// receives them in many small frames, so that the writes alone do not show whether it still reads. The handler
/// stands behind that of NIO and reads the lengths in the frames' headers.
final class SentFrames: ChannelOutboundHandler {
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// The number of bytes of a frame's header.
    private static let headerSize = 9
    /// The frame type `DATA`.
    private static let dataType: UInt8 = 0

    private var counts: [Int: UInt64] = [:]
    /// The bytes of a header that has not been written as a whole.
    private var header: [UInt8] = []
    /// The number of bytes before the next header.
    private var rest = 0

    /// Begins to count the bytes of a stream.
    func watch(_ stream: Int) { counts[stream] = 0 }

    func forget(_ stream: Int) { counts[stream] = nil }

    /// Returns the number of bytes since the count began.
    func count(of stream: Int) -> UInt64 { counts[stream] ?? 0 }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .byteBuffer(let buffer): read(buffer)
        // Responses contain no files.
        case .fileRegion(let region): rest = max(0, rest - region.readableBytes)
        }
        context.write(data, promise: promise)
    }

    private func read(_ buffer: ByteBuffer) {
        var index = buffer.readerIndex
        while index < buffer.writerIndex {
            if rest > 0 {
                let skipped = min(rest, buffer.writerIndex - index)
                rest -= skipped
                index += skipped
                continue
            }
            let size = min(Self.headerSize - header.count, buffer.writerIndex - index)
            header += buffer.getBytes(at: index, length: size) ?? []
            index += size
            if header.count == Self.headerSize { readHeader() }
        }
    }

    private func readHeader() {
        rest = Int(header[0]) << 16 | Int(header[1]) << 8 | Int(header[2])
        if header[3] == Self.dataType, !counts.isEmpty {
            // The highest bit is reserved.
            let stream = header[5...].reduce(0) { $0 << 8 | Int($1) } & 0x7FFF_FFFF
            counts[stream]? += UInt64(rest)
        }
        header.removeAll(keepingCapacity: true)
    }
}
