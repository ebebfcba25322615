import Synchronization

/// A sequence of byte chunks that are produced on demand.
///
/// The producer is idle until ``next()`` is called, so a slow reader does not make it fill memory. A stream has one
/// consumer at a time.
///
/// ```swift
/// let stream = ByteStream(Array("Hello".utf8))
/// for try await chunk in stream { show(chunk.count) }
/// let bytes = try await stream.collect(limit: 1_048_576)
/// ```
public struct ByteStream: Sendable, AsyncSequence, AsyncIteratorProtocol {
    /// A chunk of bytes.
    public typealias Element = [UInt8]

    private let produce: @Sendable () async throws -> [UInt8]?
    private let part: (@Sendable (Range<Int64>) -> ByteStream)?
    /// The chunks that were read ahead; `nil` if none were.
    private let beginning: Beginning?

    /// The total number of bytes, if it is known.
    public let length: Int64?

    /// Creates a stream.
    ///
    /// - Parameters:
    ///   - length: the total number of bytes, if it is known.
    ///   - part: returns a stream of a range of the bytes; `nil` if the producer cannot start at any offset.
    ///   - produce: returns the next chunk, which is never empty, and `nil` at the end. It is never called
    ///     concurrently.
    public init(
        length: Int64? = nil, part: (@Sendable (Range<Int64>) -> ByteStream)? = nil,
        _ produce: @escaping @Sendable () async throws -> [UInt8]?
    ) {
        self.init(length: length, part: part, beginning: nil, produce)
    }

    private init(
        length: Int64?, part: (@Sendable (Range<Int64>) -> ByteStream)?, beginning: Beginning?,
        _ produce: @escaping @Sendable () async throws -> [UInt8]?
    ) {
        self.length = length
        self.part = part
        self.beginning = beginning
        self.produce = produce
    }

    /// Creates a stream of one chunk.
    public init(_ bytes: [UInt8]) {
        self.init(
            length: Int64(bytes.count), part: { ByteStream(Array(bytes[Int($0.lowerBound)..<Int($0.upperBound)])) },
            beginning: Beginning(bytes.isEmpty ? [] : [bytes], isAll: true), Self.nothing)
    }

    private static let nothing: @Sendable () async throws -> [UInt8]? = { nil }

    /// Returns a stream of a range of bytes, without producing the bytes before it (`Range`; RFC 9110, 14).
    ///
    /// - Parameter range: the bytes, counted from 0 and clamped to the length.
    /// - Returns: `nil` if the producer cannot start at any offset. No bytes of this stream are consumed.
    public func slice(_ range: Range<Int64>) -> ByteStream? {
        guard let part, let length else { return nil }
        return part(range.clamped(to: 0..<length))
    }

    /// Returns the next chunk; `nil` at the end.
    public func next() async throws -> [UInt8]? {
        guard let beginning else { return try await produce() }
        switch beginning.next() {
        case .chunk(let chunk): return chunk
        case .end: return nil
        case .unread: return try await produce()
        }
    }

    /// Returns the stream, which is its own iterator.
    public func makeAsyncIterator() -> ByteStream { self }

    /// Returns all bytes.
    ///
    /// - Parameter limit: the maximum number of bytes.
    /// - Throws: ``ODataError`` with status 413 if the stream is longer, and the errors of the producer.
    public func collect(limit: Int) async throws -> [UInt8] {
        let tooLarge = ODataError(status: 413, code: "PayloadTooLarge", message: "The body exceeds \(limit) bytes.")
        // A stream that is known to be too long is not read at all.
        guard length.map({ $0 <= limit }) ?? true else { throw tooLarge }
        var all: [UInt8] = []
        while let chunk = try await next() {
            guard all.count + chunk.count <= limit else { throw tooLarge }
            if all.isEmpty { all = chunk } else { all += chunk }
        }
        return all
    }
}

// MARK: Reading ahead

extension ByteStream {
    /// The size in bytes from which a first chunk is taken for a part of a longer stream. No second chunk is then
    /// awaited.
    private static let chunkSize = 65_536

    /// Reads the first chunk and returns a stream that begins with it.
    ///
    /// An error before the first byte is thrown here, while the response can still become a refusal. A stream that
    /// was read ahead is returned unchanged, so every layer may call this method.
    ///
    /// - Parameter findingEnd: whether a second chunk is read if the first is short and the length is unknown. A
    ///   stream of one chunk then has its ``length``.
    /// - Throws: the error of the producer.
    package func readingAhead(findingEnd: Bool) async throws -> ByteStream {
        guard beginning == nil else { return self }
        guard let first = try await produce() else { return ByteStream([]) }
        guard findingEnd, length == nil, first.count < Self.chunkSize else {
            return ByteStream(length: length, part: part, beginning: Beginning([first], isAll: false), produce)
        }
        if let second = try await produce() {
            return ByteStream(length: nil, part: part, beginning: Beginning([first, second], isAll: false), produce)
        }
        return ByteStream(
            length: Int64(first.count), part: part, beginning: Beginning([first], isAll: true), Self.nothing)
    }

    /// Returns all bytes if they were read ahead as one chunk; otherwise returns `nil` and consumes nothing.
    package func takeWhole() -> [UInt8]? { beginning?.takeWhole(length: length) }

    /// Returns the next chunk if it was read ahead; `nil` if the producer has to be called.
    package func nextAtHand() -> [UInt8]? {
        guard case .chunk(let chunk)? = beginning?.next() else { return nil }
        return chunk
    }

    /// Returns the same stream, which retains an object as long as it lives.
    package func holding(_ object: (any AnyObject & Sendable)?) -> ByteStream {
        guard let object else { return self }
        return ByteStream(length: length, part: part, beginning: beginning) { [produce] in
            defer { withExtendedLifetime(object) {} }
            return try await produce()
        }
    }

    /// The chunks that were read ahead at the beginning of a stream.
    private final class Beginning: Sendable {
        enum Next {
            case chunk([UInt8])
            /// The stream has ended.
            case end
            /// The producer has to be called.
            case unread
        }

        private let chunks: Mutex<ArraySlice<[UInt8]>>
        /// Whether the chunks are the whole stream.
        private let isAll: Bool

        init(_ chunks: [[UInt8]], isAll: Bool) {
            self.chunks = Mutex(chunks[...])
            self.isAll = isAll
        }

        func next() -> Next {
            if let chunk = chunks.withLock({ $0.popFirst() }) { return .chunk(chunk) }
            return isAll ? .end : .unread
        }

        func takeWhole(length: Int64?) -> [UInt8]? {
            chunks.withLock { chunks in
                guard isAll || chunks.count == 1 && length == Int64(chunks[chunks.startIndex].count) else { return nil }
                guard chunks.count <= 1 else { return nil }
                return chunks.popFirst() ?? []
            }
        }
    }
}
