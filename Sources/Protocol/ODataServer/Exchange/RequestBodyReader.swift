import Hummingbird
import NIOCore
import NIOHTTP1
import ODataService
import Synchronization

/// Reads a request body up to a limit.
///
/// `@unchecked Sendable`: the iterator, the count and `giveLeave` are used only by the caller that set
/// `isReading`. A second concurrent caller receives an error, so they are never used by two tasks at once.
final class RequestBodyReader: @unchecked Sendable {
    /// The state that is accessible while a task reads.
    private struct State {
        var isReading = false
        var isAtEnd = false
        /// Whether any task has tried to read.
        var hasBegun = false
    }

    private var iterator: RequestBody.AsyncIterator
    private var received: Int64 = 0
    private let announced: Int64?
    private let limit: Int64
    /// Tells a waiting client to send its body.
    private var giveLeave: (@Sendable () -> Void)?
    private let state: Mutex<State>
    /// The channel that is informed when bytes are awaited.
    private let channel: ChannelState?

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - iterator: The parts of the body.
    ///   - announced: The length of the body, if the request states it.
    ///   - limit: The maximum number of bytes for a handler.
    ///   - giveLeave: Tells a waiting client to send the body (RFC 9110, 10.1.1).
    ///   - channel: The state of the channel, which detects a client that sends too slowly.
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

    var isAtEnd: Bool { state.withLock { $0.isAtEnd } }
    var hasBegun: Bool { state.withLock { $0.hasBegun } }

    /// Returns the next bytes, or `nil` at the end.
    ///
    /// - Throws: ``ODataError`` with status 413 beyond the limit, and the errors of the connection.
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

    /// Reads and discards the rest of the body, up to a number of bytes.
    ///
    /// - Returns: Whether the end was reached; the end of the connection counts as the end.
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
                message: "The body is malformed: a chunk has no length.")
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
