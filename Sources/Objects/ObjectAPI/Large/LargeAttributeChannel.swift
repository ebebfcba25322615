import ODataService

/// Hands the bytes of a writer over to the store, one piece at a time. A writer waits until its piece is taken, so that
/// a large value is never in memory as a whole.
actor LargeAttributeChannel {
    private var piece: [UInt8]?
    private var isFinished = false
    private var failure: (any Error)?
    private var writer: CheckedContinuation<Void, any Error>?
    private var reader: CheckedContinuation<[UInt8]?, any Error>?

    /// The bytes for the store.
    nonisolated var bytes: ByteStream { ByteStream { try await self.next() } }

    /// Hands a piece over and waits until it is taken.
    ///
    /// - Throws: the error of the store.
    func send(_ bytes: [UInt8]) async throws {
        guard !bytes.isEmpty else { return }
        if let failure { throw failure }
        if let reader {
            self.reader = nil
            return reader.resume(returning: bytes)
        }
        piece = bytes
        try await withCheckedThrowingContinuation { writer = $0 }
    }

    private func next() async throws -> [UInt8]? {
        if let failure { throw failure }
        if let piece {
            self.piece = nil
            writer?.resume()
            writer = nil
            return piece
        }
        if isFinished { return nil }
        return try await withCheckedThrowingContinuation { reader = $0 }
    }

    /// Ends the bytes.
    func finish() {
        isFinished = true
        reader?.resume(returning: nil)
        reader = nil
    }

    /// Ends both sides with an error.
    func fail(_ error: any Error) {
        guard failure == nil else { return }
        failure = error
        piece = nil
        reader?.resume(throwing: error)
        writer?.resume(throwing: error)
        reader = nil
        writer = nil
    }
}
