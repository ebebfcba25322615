import Synchronization

/// Bytes in chunks, produced only as fast as they are asked for.
///
/// A pull source: the producer does nothing until ``next()`` is called, so a slow reader holds no
/// producer's memory. One consumer at a time.
public struct ByteStream: Sendable, AsyncSequence, AsyncIteratorProtocol {
    /// Bytes.
    public typealias Element = [UInt8]

    private let produce: @Sendable () async throws -> [UInt8]?
    private let part: (@Sendable (Range<Int64>) -> ByteStream)?
    /// The chunks that are at hand before ``produce`` is asked; `nil` if nothing was read ahead.
    private let beginning: Beginning?

    /// The number of bytes in all, where known beforehand.
    public let length: Int64?

    /// Makes a stream.
    ///
    /// - Parameters:
    ///   - length: the number of bytes in all, where known.
    ///   - part: makes a stream of some of the bytes, where the producer can begin anywhere.
    ///   - produce: gives the next chunk, never empty, `nil` at the end; called again only after it returned.
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

    /// A stream of one chunk.
    public init(_ bytes: [UInt8]) {
        self.init(
            length: Int64(bytes.count), part: { ByteStream(Array(bytes[Int($0.lowerBound)..<Int($0.upperBound)])) },
            beginning: Beginning(bytes.isEmpty ? [] : [bytes], isAll: true), Self.nothing)
    }

    private static let nothing: @Sendable () async throws -> [UInt8]? = { nil }

    /// A stream of some of the bytes, which costs only these: what `Range` asks for (RFC 9110, 14).
    ///
    /// - Parameter range: the bytes, counted from 0 and cut to those that there are.
    /// - Returns: `nil` when the producer cannot begin anywhere; nothing of this stream is consumed.
    public func slice(_ range: Range<Int64>) -> ByteStream? {
        guard let part, let length else { return nil }
        return part(range.clamped(to: 0..<length))
    }

    /// The next chunk, `nil` at the end.
    public func next() async throws -> [UInt8]? {
        guard let beginning else { return try await produce() }
        switch beginning.next() {
        case .chunk(let chunk): return chunk
        case .end: return nil
        case .unread: return try await produce()
        }
    }

    /// The stream itself: it is its own iterator.
    public func makeAsyncIterator() -> ByteStream { self }

    /// All bytes.
    ///
    /// - Parameter limit: the most bytes to take.
    /// - Throws: ``ODataError`` with status 413 when there are more, and what the producer throws.
    public func collect(limit: Int) async throws -> [UInt8] {
        let tooLarge = ODataError(status: 413, code: "PayloadTooLarge", message: "The body exceeds \(limit) bytes.")
        // What is announced to be too much is not begun with.
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
    /// The size from which a first chunk is taken for a part of more, in bytes: then nobody waits for the second.
    private static let chunkSize = 65_536

    /// The same stream with its first chunk at hand, so that an error before the first byte is thrown here, while the response can
    /// still become a refusal.
    ///
    /// Every layer before the first byte may ask: a stream that was read ahead is returned as it is, and wrapped once.
    ///
    /// - Parameter findingEnd: whether a second chunk is looked for behind a short first one if the length is not known. A
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

    /// Takes all bytes at once if they are at hand as one chunk; `nil`, and nothing taken, otherwise.
    package func takeWhole() -> [UInt8]? { beginning?.takeWhole(length: length) }

    /// The next chunk if it is at hand; `nil` if the producer has to be asked.
    package func nextAtHand() -> [UInt8]? {
        guard case .chunk(let chunk)? = beginning?.next() else { return nil }
        return chunk
    }

    /// The same stream, which keeps an object until it is let go of.
    package func holding(_ object: (any AnyObject & Sendable)?) -> ByteStream {
        guard let object else { return self }
        return ByteStream(length: length, part: part, beginning: beginning) { [produce] in
            defer { withExtendedLifetime(object) {} }
            return try await produce()
        }
    }

    /// The chunks at the beginning of a stream that were read before somebody asked for them.
    private final class Beginning: Sendable {
        enum Next {
            case chunk([UInt8])
            /// The stream has ended.
            case end
            /// The producer has to be asked.
            case unread
        }

        private let chunks: Mutex<ArraySlice<[UInt8]>>
        /// Whether the chunks are all that the stream has.
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
