import NIOCore
import NIOHTTP1
import Synchronization

/// How many bytes of an answer came over the wire, before they were unpacked.
final class PackedBytes: Sendable {
    private let number = Atomic<Int64>(0)

    var count: Int64 { number.load(ordering: .relaxed) }

    fileprivate func add(_ count: Int) { number.add(Int64(count), ordering: .relaxed) }
}

/// Counts the bytes of answers on one connection of HTTP/1.1 or one stream of HTTP/2, before the library unpacks them.
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

/// How far an answer may unpack: without a limit at first, since long runs of one byte, as a value of zeros has them, pack a
/// thousandfold, and beyond that as a multiple of what came.
struct UnpackingLimit: Sendable {
    /// The bytes that any answer may unpack to: an app can hold them.
    static let unlimited: Int64 = 64 << 20

    /// What came.
    let packed: PackedBytes
    /// The multiple.
    let ratio: Int

    /// What is wrong with having so many bytes; `nil` for nothing.
    func problem(of unpacked: Int64) -> String? {
        guard unpacked > Self.unlimited else { return nil }
        let (most, overflows) = packed.count.multipliedReportingOverflow(by: Int64(max(0, ratio)))
        guard !overflows, unpacked > most else { return nil }
        return "it unpacks to more than \(ratio) times what came, as only an attack does; the rest was refused "
            + "(maxDecompressionRatio)"
    }
}
