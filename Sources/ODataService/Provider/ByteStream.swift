/// Bytes in chunks, produced only as fast as they are asked for.
///
/// A pull source: the producer does nothing until ``next()`` is called, so a slow reader holds no
/// producer's memory. One consumer at a time.
public struct ByteStream: Sendable, AsyncSequence, AsyncIteratorProtocol {
    /// Bytes.
    public typealias Element = [UInt8]

    private let produce: @Sendable () async throws -> [UInt8]?

    /// The number of bytes in all, where known beforehand.
    public let length: Int64?

    /// Makes a stream.
    ///
    /// - Parameters:
    ///   - length: the number of bytes in all, where known.
    ///   - produce: gives the next chunk, never empty, `nil` at the end; called again only after it returned.
    public init(length: Int64? = nil, _ produce: @escaping @Sendable () async throws -> [UInt8]?) {
        self.length = length
        self.produce = produce
    }

    /// A stream of one chunk.
    public init(_ bytes: [UInt8]) {
        let once = Once(bytes)
        self.init(length: Int64(bytes.count)) { await once.take() }
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
        var all: [UInt8] = []
        while let chunk = try await next() {
            guard all.count + chunk.count <= limit else {
                throw ODataError(status: 413, code: "PayloadTooLarge", message: "The body exceeds \(limit) bytes.")
            }
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
