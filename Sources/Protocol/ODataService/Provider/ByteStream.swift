/// Bytes in chunks, produced only as fast as they are asked for.
///
/// A pull source: the producer does nothing until ``next()`` is called, so a slow reader holds no
/// producer's memory. One consumer at a time.
public struct ByteStream: Sendable, AsyncSequence, AsyncIteratorProtocol {
    /// Bytes.
    public typealias Element = [UInt8]

    private let produce: @Sendable () async throws -> [UInt8]?
    private let part: (@Sendable (Range<Int64>) -> ByteStream)?

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
        self.length = length
        self.part = part
        self.produce = produce
    }

    /// A stream of one chunk.
    public init(_ bytes: [UInt8]) {
        let once = Once(bytes)
        self.init(
            length: Int64(bytes.count), part: { ByteStream(Array(bytes[Int($0.lowerBound)..<Int($0.upperBound)])) }
        ) { await once.take() }
    }

    /// A stream of some of the bytes, which costs only these: what `Range` asks for (RFC 9110, 14).
    ///
    /// - Parameter range: the bytes, counted from 0 and cut to those that there are.
    /// - Returns: `nil` when the producer cannot begin anywhere; nothing of this stream is consumed.
    public func slice(_ range: Range<Int64>) -> ByteStream? {
        guard let part, let length else { return nil }
        return part(range.clamped(to: 0..<length))
    }

    /// The next chunk, `nil` at the end.
    public func next() async throws -> [UInt8]? { try await produce() }

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

    private actor Once {
        private var bytes: [UInt8]?
        init(_ bytes: [UInt8]) { self.bytes = bytes.isEmpty ? nil : bytes }
        func take() -> [UInt8]? {
            defer { bytes = nil }
            return bytes
        }
    }
}
