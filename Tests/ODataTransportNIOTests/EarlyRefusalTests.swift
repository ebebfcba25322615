import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTP1
import ODataHTTP
import ODataService
import ODataTransportConformance
import Synchronization
import Testing

@testable import ODataTransportNIO

/// A case that the library would lose: a refusal that ends after the end of the request, of which a part was
/// sent.
@Suite struct EarlyRefusalTests {
    /// The output of a connection with the handler, as words.
    private func parts(_ channel: EmbeddedChannel) throws -> [String] {
        var parts: [String] = []
        while let part = try channel.readInbound(as: HTTPClientResponsePart.self) {
            switch part {
            case .head(let head): parts.append("\(head.status.code)")
            case .body(let bytes): parts.append(String(buffer: bytes))
            case .end: parts.append("end")
            }
        }
        return parts
    }

    private func started(_ status: HTTPResponseStatus = .unauthorized) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(handler: EarlyRefusalHandler())
        try channel.connect(to: .init(ipAddress: "127.0.0.1", port: 1)).wait()
        try channel.writeOutbound(HTTPClientRequestPart.head(.init(version: .http1_1, method: .PUT, uri: "/")))
        try channel.writeOutbound(HTTPClientRequestPart.body(.byteBuffer(ByteBuffer(string: "part"))))
        try channel.writeInbound(HTTPClientResponsePart.head(.init(version: .http1_1, status: status)))
        return channel
    }

    private func answer(_ channel: EmbeddedChannel, _ text: String) throws {
        try channel.writeInbound(HTTPClientResponsePart.body(ByteBuffer(string: text)))
    }

    @Test func `a refusal waits for its own end`() throws {
        let channel = try started()
        try answer(channel, "who")
        #expect(try parts(channel).isEmpty)
        try channel.writeInbound(HTTPClientResponsePart.end(nil))
        #expect(try parts(channel) == ["401", "who", "end"])
    }

    @Test func `or for the end of the request, and the rest comes as it comes`() throws {
        let channel = try started()
        #expect(try parts(channel).isEmpty)
        try channel.writeOutbound(HTTPClientRequestPart.end(nil))
        channel.embeddedEventLoop.run()
        #expect(try parts(channel) == ["401"])
        try answer(channel, "who")
        #expect(try parts(channel) == ["who"])
    }

    @Test func `or for the end of the connection`() throws {
        let channel = try started()
        try answer(channel, "who")
        channel.pipeline.fireChannelInactive()
        #expect(try parts(channel) == ["401", "who"])
    }

    @Test func `a long one is not kept in memory`() throws {
        let channel = try started()
        let part = String(repeating: "x", count: 300_000)
        for _ in 0..<3 { try answer(channel, part) }
        #expect(try parts(channel).isEmpty)
        try answer(channel, part)
        #expect(try parts(channel).count == 5)
        try answer(channel, "more")
        #expect(try parts(channel) == ["more"])
    }

    @Test(arguments: [HTTPResponseStatus.continue, .ok]) func `only refusals are ever held`(
        status: HTTPResponseStatus
    ) throws {
        #expect(try parts(try started(status)) == ["\(status.code)"])
    }

    @Test func `the next request on the connection is held alike`() throws {
        let channel = try started()
        try channel.writeOutbound(HTTPClientRequestPart.end(nil))
        channel.embeddedEventLoop.run()
        try channel.writeInbound(HTTPClientResponsePart.end(nil))
        #expect(try parts(channel) == ["401", "end"])
        try channel.writeOutbound(HTTPClientRequestPart.head(.init(version: .http1_1, method: .PUT, uri: "/")))
        try channel.writeInbound(HTTPClientResponsePart.head(.init(version: .http1_1, status: .forbidden)))
        #expect(try parts(channel).isEmpty)
        try channel.writeInbound(HTTPClientResponsePart.end(nil))
        #expect(try parts(channel) == ["403", "end"])
    }

    /// A socket that does not take the end of a request yet.
    private final class FullSocket: ChannelOutboundHandler {
        typealias OutboundIn = HTTPClientRequestPart
        private(set) var end: EventLoopPromise<Void>?

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            guard case .end = unwrapOutboundIn(data) else { return context.write(data, promise: promise) }
            end = promise
        }
    }

    /// Sends a request whose end waits for the socket.
    private func waiting() throws -> (EmbeddedChannel, FullSocket, EventLoopPromise<Void>) {
        let socket = FullSocket()
        let channel = EmbeddedChannel(handlers: [socket, EarlyRefusalHandler()])
        try channel.connect(to: .init(ipAddress: "127.0.0.1", port: 1)).wait()
        try channel.writeOutbound(HTTPClientRequestPart.head(.init(version: .http1_1, method: .PUT, uri: "/")))
        let end = channel.eventLoop.makePromise(of: Void.self)
        channel.write(HTTPClientRequestPart.end(nil), promise: end)
        return (channel, socket, end)
    }

    @Test(arguments: [HTTPResponseStatus.payloadTooLarge, .ok])
    func `a response settles the end of a request whose bytes still wait for the socket`(
        status: HTTPResponseStatus
    ) throws {
        let (channel, socket, end) = try waiting()
        let isSent = Mutex(false)
        end.futureResult.whenSuccess { isSent.withLock { $0 = true } }
        try channel.writeInbound(HTTPClientResponsePart.head(.init(version: .http1_1, status: .continue)))
        let isEarly = isSent.withLock { $0 }
        #expect(!isEarly)
        try channel.writeInbound(HTTPClientResponsePart.head(.init(version: .http1_1, status: status)))
        let isSettled = isSent.withLock { $0 }
        #expect(isSettled)
        #expect(try parts(channel) == ["100", "\(status.code)"])
        // The failure of the bytes comes too late to discard the response.
        try #require(socket.end).fail(ChannelError.ioOnClosedChannel)
    }

    @Test func `the end of a request without a response fails with its bytes`() throws {
        let (_, socket, end) = try waiting()
        try #require(socket.end).fail(ChannelError.ioOnClosedChannel)
        #expect(throws: ChannelError.self) { try end.futureResult.wait() }
    }

    @Test(arguments: [1, 512]) func `a refusal of 32 MiB reaches the caller while they are sent`(
        pieces: Int
    ) async throws {
        let refusal = "HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig"
        let peer = try await RawPeer(sends: refusal, then: .close)
        try await withTransport { transport in
            let request = HTTPRequest(method: .put, scheme: "http", authority: "127.0.0.1:\(peer.port)", path: "/")
            for _ in 0..<10 {
                let left = Mutex(pieces)
                let body = ByteStream(length: 32 << 20) {
                    let isEnd = left.withLock { left in
                        left -= 1
                        return left < 0
                    }
                    return isEnd ? nil : [UInt8](repeating: 1, count: (32 << 20) / pieces)
                }
                let (response, answer) = try await transport.send(request, body: body)
                #expect(response.status.code == 413)
                #expect(try await answer.collect(limit: 10) == Array("big".utf8))
            }
        }
        try await peer.stop()
    }

    @Test func `on a socket it is given with its end, while the request still goes on`() async throws {
        let head = "HTTP/1.1 401 Unauthorized\r\nContent-Length: 3\r\n\r\n"
        let peer = try await RawPeer(sends: head, then: .rest("who", after: .milliseconds(500)))
        try await withTransport { transport in
            let request = HTTPRequest(method: .put, scheme: "http", authority: "127.0.0.1:\(peer.port)", path: "/")
            let isFirst = Mutex(true)
            let body = ByteStream(length: 200_000) {
                let wasFirst = isFirst.withLock { isFirst in
                    defer { isFirst = false }
                    return isFirst
                }
                if !wasFirst { try await Task.sleep(for: .seconds(30)) }
                return [UInt8](repeating: 1, count: 100_000)
            }
            let start = ContinuousClock.now
            let (response, answer) = try await transport.send(request, body: body)
            #expect(response.status.code == 401)
            #expect(ContinuousClock.now - start >= .milliseconds(450))
            #expect(try await answer.collect(limit: 10) == Array("who".utf8))
        }
        try await peer.stop()
    }
}
