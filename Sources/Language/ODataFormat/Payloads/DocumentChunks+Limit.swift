import ODataModel

extension AsyncSequence where Element: Collection<UInt8> {
    /// Calls a function for each chunk of a document of limited size.
    ///
    /// - Parameters:
    ///   - maxBytes: the maximum size of the document, in bytes.
    ///   - read: the function that reads a chunk. After an error, no further chunk is requested.
    /// - Throws: ``PayloadError/tooLarge(limit:)``; `CancellationError`; errors of the sequence and of `read`.
    func forEachDocumentChunk(maxBytes: Int, _ read: (Element) throws -> Void) async throws {
        var size = DocumentSize(limit: maxBytes)
        try await forEachChunk { chunk in
            guard size.add(chunk.count) else { throw PayloadError.tooLarge(limit: maxBytes) }
            try read(chunk)
        }
    }

    /// Returns the bytes of a document of limited size.
    ///
    /// - Parameter maxBytes: the maximum size of the document, in bytes.
    /// - Throws: ``PayloadError/tooLarge(limit:)``; `CancellationError`; errors of the sequence.
    func documentBytes(maxBytes: Int) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        try await forEachDocumentChunk(maxBytes: maxBytes) { bytes += $0 }
        return bytes
    }
}
