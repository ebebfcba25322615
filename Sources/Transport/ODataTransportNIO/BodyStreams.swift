import AsyncHTTPClient
import NIOCore
import ODataHTTP
import ODataService
import Synchronization

/// A request body for the network library. The caller's stream is read only as fast as the socket accepts
/// bytes.
struct UploadStream: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    /// The error of the producer, which the library replaces by its own.
    final class ProducerFailure: Sendable {
        private let stored = Mutex<(any Error)?>(nil)

        var value: (any Error)? {
            get { stored.withLock { $0 } }
            set { stored.withLock { $0 = newValue } }
        }
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        let stream: ByteStream
        let failure: ProducerFailure

        mutating func next() async throws -> ByteBuffer? {
            do {
                return try await stream.next().map { ByteBuffer(bytes: $0) }
            } catch {
                failure.value = error
                throw error
            }
        }
    }

    let stream: ByteStream
    let failure = ProducerFailure()

    init(_ stream: ByteStream) { self.stream = stream }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(stream: stream, failure: failure) }
}

/// Reads a response body in chunks and detects a truncated one.
///
/// `@unchecked Sendable`: the iterator and the count are used only between `begin()` and `end()`. `begin()`
/// admits one caller at a time under its lock; a second one receives an error.
final class DownloadReader: @unchecked Sendable {
    private var iterator: HTTPClientResponse.Body.AsyncIterator
    private var received: Int64 = 0
    private let length: Int64?
    private let unpacker: Unpacker?
    private var unpacked: Int64 = 0
    private let limit: UnpackingLimit
    private let mapping: TransportErrorMapping
    private let isReading = Mutex(false)

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - length: The number of bytes on the wire, if it was announced.
    ///   - unpacker: The decoder of a compressed body; `nil` for an uncompressed one.
    ///   - limit: The limit for the decompressed size.
    init(
        _ iterator: HTTPClientResponse.Body.AsyncIterator, length: Int64?, unpacker: Unpacker?,
        limit: UnpackingLimit, mapping: TransportErrorMapping
    ) {
        self.iterator = iterator
        self.length = length
        self.unpacker = unpacker
        self.limit = limit
        self.mapping = mapping
    }

    func next() async throws -> [UInt8]? {
        try begin()
        defer { end() }
        while true {
            if let bytes = try unpack(), !bytes.isEmpty { return bytes }
            let buffer: ByteBuffer?
            do {
                buffer = try await iterator.next()
            } catch {
                if Task.isCancelled { throw CancellationError() }
                throw mapping.bodyError(error)
            }
            guard let buffer else {
                try Task.checkCancellation()
                if let length, received < length {
                    throw TransportError.truncated(
                        host: mapping.host, reason: "\(received) of \(length) bytes arrived")
                }
                if let unpacker, !unpacker.isAtEnd {
                    throw TransportError.truncated(host: mapping.host, reason: "the packed body ends too early")
                }
                return nil
            }
            guard buffer.readableBytes > 0 else { continue }
            received += Int64(buffer.readableBytes)
            guard let unpacker else { return Array(buffer.readableBytesView) }
            unpacker.append(Array(buffer.readableBytesView))
        }
    }

    /// Returns the next bytes of a compressed body, or `nil` if more input is needed.
    private func unpack() throws(TransportError) -> [UInt8]? {
        guard let unpacker else { return nil }
        let bytes: [UInt8]?
        do throws(Unpacker.Failure) {
            bytes = try unpacker.next()
        } catch {
            throw .malformed(host: mapping.host, reason: "its body cannot be unpacked (\(error.reason))")
        }
        unpacked += Int64(bytes?.count ?? 0)
        if let problem = limit.problem(of: unpacked) { throw .tooLarge(host: mapping.host, reason: problem) }
        return bytes
    }

    private func begin() throws {
        let wasReading = isReading.withLock { reading in
            defer { reading = true }
            return reading
        }
        guard !wasReading else {
            throw TransportError.truncated(host: mapping.host, reason: "two readers of one body")
        }
    }

    private func end() { isReading.withLock { $0 = false } }
}
