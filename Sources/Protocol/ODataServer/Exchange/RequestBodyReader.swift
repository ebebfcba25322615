import Hummingbird
import NIOCore
import NIOHTTP1
import ODataService
import Synchronization

/// Reads a request body and stops at the limit.
///
/// `@unchecked Sendable`: iterator, count and leave are touched only by the caller that set `isReading`, and a second
/// caller meanwhile gets an error, so no two tasks ever use them at once.
final class RequestBodyReader: @unchecked Sendable {
    /// What others may know while somebody reads.
    private struct State {
        var isReading = false
        var isAtEnd = false
        /// Whether somebody has begun to read, or wanted to.
        var hasBegun = false
    }

    private var iterator: RequestBody.AsyncIterator
    private var received: Int64 = 0
    private let announced: Int64?
    private let limit: Int64
    /// Tells a client to send its body, where it waits for that.
    private var giveLeave: (@Sendable () -> Void)?
    private let state: Mutex<State>
    /// Tells the channel when bytes are awaited.
    private let channel: ChannelState?

    /// Reads a body.
    ///
    /// - Parameters:
    ///   - iterator: the body.
    ///   - announced: its length, where the request says it.
    ///   - limit: the most bytes that a handler gets.
    ///   - giveLeave: tells the client to send, where it waits for that (RFC 9110, 10.1.1).
    ///   - channel: notices a client that hardly sends anything.
    init(
        _ iterator: RequestBody.AsyncIterator, announced: Int64?, limit: Int64,
        giveLeave: (@Sendable () -> Void)? = nil, _ channel: ChannelState? = nil
    ) {
        self.iterator = iterator
        self.announced = announced
        self.limit = limit
        self.giveLeave = giveLeave
        self.channel = channel
        state = Mutex(State(isAtEnd: announced == 0))
    }

    /// Whether all of the body has been read.
    var isAtEnd: Bool { state.withLock { $0.isAtEnd } }
    /// Whether anybody has asked for the body.
    var hasBegun: Bool { state.withLock { $0.hasBegun } }

    /// The next bytes; `nil` at the end.
    ///
    /// - Throws: ``ODataError`` with status 413 beyond the limit, and what the connection throws.
    func next() async throws -> [UInt8]? {
        try await exclusively {
            if let giveLeave { giveLeave() }
            giveLeave = nil
            while let buffer = try await advance() {
                guard buffer.readableBytes > 0 else { continue }
                guard received <= limit else {
                    throw ODataError(status: 413, code: "PayloadTooLarge", message: "The body exceeds \(limit) bytes.")
                }
                return Array(buffer.readableBytesView)
            }
            return nil
        }
    }

    /// Reads what a handler left unread, up to some bytes.
    ///
    /// - Returns: whether that was all; the end of the connection is the end of the body.
    func skip(upTo limit: Int64) async throws -> Bool {
        try await exclusively {
            var skipped: Int64 = 0
            while skipped <= limit {
                guard let buffer = try await advance() else { return true }
                skipped += Int64(buffer.readableBytes)
            }
            return false
        }
    }

    private func advance() async throws -> ByteBuffer? {
        guard !isAtEnd else { return nil }
        channel?.awaitsBody = true
        defer { channel?.awaitsBody = false }
        let next: ByteBuffer?
        do {
            next = try await iterator.next()
        } catch is HTTPParserError {
            throw ODataError(
                status: 400, code: "InvalidBody",
                message: "The body is not framed as HTTP has it: a chunk has no length.")
        } catch is SlowRequestBody {
            throw ODataError(
                status: 408, code: "RequestTimeout",
                message: "The body of the request comes too slowly. Send it again over a better connection.")
        }
        guard let buffer = next else {
            state.withLock { $0.isAtEnd = true }
            return nil
        }
        received += Int64(buffer.readableBytes)
        if received == announced { state.withLock { $0.isAtEnd = true } }
        return buffer
    }

    private func exclusively<Result>(_ body: () async throws -> Result) async throws -> Result {
        let wasReading = state.withLock { state in
            defer { (state.isReading, state.hasBegun) = (true, true) }
            return state.isReading
        }
        guard !wasReading else {
            throw ODataError(status: 500, code: "InternalError", message: "Two readers of one request body.")
        }
        defer { state.withLock { $0.isReading = false } }
        return try await body()
    }
}
