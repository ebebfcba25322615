import Hummingbird
import NIOCore
import ODataService
import Synchronization

/// Reads a request body and stops at the limit.
///
/// `@unchecked Sendable`: the iterator is touched only by the caller that set `isReading`, and a second
/// caller meanwhile gets an error, so no two tasks ever use it at once.
final class RequestBodyReader: @unchecked Sendable {
    /// The most bytes that are read of a body which nobody wants, so that the connection can be used again.
    static let maxUnwanted: Int64 = 1 << 20

    private var iterator: RequestBody.AsyncIterator
    private var received: Int64 = 0
    private var isAtEnd = false
    private let limit: Int64
    private let isReading = Mutex(false)

    init(_ iterator: RequestBody.AsyncIterator, limit: Int64) {
        self.iterator = iterator
        self.limit = limit
    }

    /// The next bytes; `nil` at the end.
    ///
    /// - Throws: ``ODataError`` with status 413 beyond the limit, and what the connection throws.
    func next() async throws -> [UInt8]? {
        try await exclusively {
            while let buffer = try await iterator.next() {
                guard buffer.readableBytes > 0 else { continue }
                received += Int64(buffer.readableBytes)
                guard received <= limit else {
                    throw ODataError(status: 413, code: "PayloadTooLarge", message: "The body exceeds \(limit) bytes.")
                }
                return Array(buffer.readableBytesView)
            }
            isAtEnd = true
            return nil
        }
    }

    /// Reads what a handler left unread, if it is not much.
    ///
    /// - Throws: ``UnwantedBody`` when there is more: closing the connection is cheaper than taking it all.
    func skipRest() async throws {
        try await exclusively {
            var skipped: Int64 = 0
            while !isAtEnd {
                guard let buffer = try await iterator.next() else {
                    isAtEnd = true
                    return
                }
                skipped += Int64(buffer.readableBytes)
                guard skipped <= Self.maxUnwanted else { throw UnwantedBody() }
            }
        }
    }

    private func exclusively<Result>(_ body: () async throws -> Result) async throws -> Result {
        let wasReading = isReading.withLock { reading in
            defer { reading = true }
            return reading
        }
        guard !wasReading else {
            throw ODataError(status: 500, code: "InternalError", message: "Two readers of one request body.")
        }
        defer { isReading.withLock { $0 = false } }
        return try await body()
    }
}

/// Ends a connection on which a body is still coming that was refused.
struct UnwantedBody: Error {}
