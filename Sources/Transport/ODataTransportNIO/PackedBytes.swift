import NIOCore
import NIOHTTP1
import Synchronization

/// The number of bytes of a response on the wire, before decompression.
final class PackedBytes: Sendable {
    private let number = Atomic<Int64>(0)

    var count: Int64 { number.load(ordering: .relaxed) }

    fileprivate func add(_ count: Int) { number.add(Int64(count), ordering: .relaxed) }
}

/// Counts the bytes of responses before decompression, on one connection of HTTP/1.1 or one stream of HTTP/2.
final class PackedBytesHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    private let registry: TransferRegistry<PackedBytes>
    private var bytes: PackedBytes?

    init(registry: TransferRegistry<PackedBytes>) { self.registry = registry }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .head(var head) = unwrapOutboundIn(data) else { return context.write(data, promise: promise) }
        bytes = registry.take(from: &head.headers)
        context.write(wrapOutboundOut(.head(head)), promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head: break
        case .body(let chunk): bytes?.add(chunk.readableBytes)
        case .end: bytes = nil
        }
        context.fireChannelRead(data)
    }
}

/// The limit for the decompressed size of a response. Up to ``unlimited`` bytes there is none, since long runs
/// of one byte are compressed a thousandfold. Beyond that, it is a multiple of the compressed size.
struct UnpackingLimit: Sendable {
    /// The decompressed size that is always allowed, because an app can hold it in memory.
    static let unlimited: Int64 = 64 << 20

    /// The compressed size.
    let packed: PackedBytes
    /// The maximum ratio between the sizes.
    let ratio: Int

    /// Returns an explanation if the size exceeds the limit, otherwise `nil`.
    func problem(of unpacked: Int64) -> String? {
        guard unpacked > Self.unlimited else { return nil }
        let (most, overflows) = packed.count.multipliedReportingOverflow(by: Int64(max(0, ratio)))
        guard !overflows, unpacked > most else { return nil }
        return "it unpacks to more than \(ratio) times what came, as only an attack does; the rest was refused "
            + "(maxDecompressionRatio)"
    }
}
