import NIOCore
import NIOHTTP1
import NIOHTTP2

extension Channel {
    /// Adds handlers between the response decoder and the library, on a new connection of HTTP/1.1 or a new
    /// stream of HTTP/2.
    ///
    /// - Parameter make: Creates the handlers, the one nearest to the wire first.
    func addHandlersOfResponses(_ make: @escaping @Sendable () -> [any ChannelHandler]) -> EventLoopFuture<Void> {
        let eventLoop = eventLoop
        return eventLoop.flatSubmit {
            do {
                let pipeline = self.pipeline.syncOperations
                let decoder =
                    try (try? pipeline.context(handlerType: ByteToMessageHandler<HTTPResponseDecoder>.self).handler)
                    ?? pipeline.context(handlerType: HTTP2FramePayloadToHTTP1ClientCodec.self).handler
                try pipeline.addHandlers(make(), position: .after(decoder))
                return eventLoop.makeSucceededVoidFuture()
            } catch {
                self.close(promise: nil)
                return eventLoop.makeFailedFuture(error)
            }
        }
    }
}
