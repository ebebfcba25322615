extension AsyncSequence where Element: Collection<UInt8> {
    /// Calls a function for each chunk of a document, until the sequence ends or the function throws.
    ///
    /// - Parameter read: the function that reads a chunk. After an error, no further chunk is requested.
    /// - Throws: `CancellationError` if the task is cancelled, even if the sequence then ends without an error; errors
    ///   of the sequence and of `read`.
    package func forEachChunk(_ read: (Element) throws -> Void) async throws {
        var iterator = makeAsyncIterator()
        try Task.checkCancellation()
        while let chunk = try await iterator.next() {
            try Task.checkCancellation()
            try read(chunk)
        }
        try Task.checkCancellation()
    }
}

/// The size of a document that arrives in chunks, with a limit.
package struct DocumentSize: Sendable {
    /// The maximum size of the document, in bytes.
    package let limit: Int
    /// The number of bytes counted so far.
    package private(set) var bytes = 0

    /// Creates a size of 0.
    ///
    /// - Parameter limit: the maximum size of the document, in bytes.
    package init(limit: Int) { self.limit = limit }

    /// Adds a chunk.
    ///
    /// - Parameter count: the size of the chunk, in bytes.
    /// - Returns: whether the document with the chunk is within the limit. If it is not, the chunk is not counted.
    package mutating func add(_ count: Int) -> Bool {
        guard count <= limit - bytes else { return false }
        bytes += count
        return true
    }
}
