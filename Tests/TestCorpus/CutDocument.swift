import Synchronization

/// A document as a sequence of chunks, which counts the requested chunks.
public final class CutDocument: AsyncSequence, Sendable {
    /// A chunk.
    public typealias Element = ArraySlice<UInt8>

    private let chunks: [ArraySlice<UInt8>]
    private let taken = Mutex(0)

    /// Creates a document that is cut at certain positions.
    ///
    /// - Parameters:
    ///   - bytes: the document.
    ///   - cuts: the positions between two chunks, in ascending order.
    public init(_ bytes: [UInt8], at cuts: some Sequence<Int>) {
        var chunks: [ArraySlice<UInt8>] = []
        var start = 0
        for cut in cuts where cut > start && cut < bytes.count {
            chunks.append(bytes[start..<cut])
            start = cut
        }
        chunks.append(bytes[start...])
        self.chunks = chunks
    }

    /// Creates a document in chunks of equal size.
    public convenience init(_ bytes: [UInt8], chunkSize: Int) {
        self.init(bytes, at: stride(from: chunkSize, to: Swift.max(bytes.count, chunkSize), by: chunkSize))
    }

    /// Creates a document in chunks of random size, of which most are small.
    public convenience init(_ bytes: [UInt8], using generator: inout SeededGenerator) {
        var cuts: [Int] = []
        var place = 0
        while place < bytes.count {
            place += Int.random(in: 1...(1 << Int.random(in: 1...14, using: &generator)), using: &generator)
            cuts.append(place)
        }
        self.init(bytes, at: cuts)
    }

    /// The number of all chunks.
    public var count: Int { chunks.count }

    /// The number of requested chunks.
    public var takenCount: Int { taken.withLock { $0 } }

    /// Returns the next chunk; `nil` at the end.
    public func next() -> ArraySlice<UInt8>? {
        taken.withLock { taken in
            guard taken < chunks.count else { return nil }
            taken += 1
            return chunks[taken - 1]
        }
    }

    /// Returns an iterator over the chunks that were not requested yet.
    public func makeAsyncIterator() -> Iterator { Iterator(document: self) }

    /// An iterator that returns each chunk once.
    public struct Iterator: AsyncIteratorProtocol {
        let document: CutDocument

        /// Returns the next chunk; `nil` at the end.
        public mutating func next() async -> ArraySlice<UInt8>? { document.next() }
    }
}

/// A sequence that returns one chunk, waits until its task is cancelled, and then ends without an error.
public struct EndlessDocument: AsyncSequence, AsyncIteratorProtocol, Sendable {
    /// A chunk.
    public typealias Element = [UInt8]

    private var bytes: [UInt8]?

    /// Creates a sequence.
    ///
    /// - Parameter bytes: the only chunk.
    public init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Returns the chunk on the first call. Later calls wait until the task is cancelled.
    public mutating func next() async -> [UInt8]? {
        if let chunk = bytes {
            bytes = nil
            return chunk
        }
        try? await Task.sleep(for: .seconds(600))
        return nil
    }

    /// Returns the sequence itself, which begins with the chunk.
    public func makeAsyncIterator() -> EndlessDocument { self }
}
