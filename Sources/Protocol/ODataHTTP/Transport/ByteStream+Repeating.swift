import ODataService

extension ByteStream {
    /// Whether the bytes can be read again, as from memory or a file. The request can then be repeated after a
    /// challenge or a lost connection.
    public var isRepeatable: Bool { length == 0 || slice(0..<0) != nil }

    /// Returns the same bytes from the start, even if some were read; `nil` if they cannot be read again.
    public func fromStart() -> ByteStream? {
        guard let length else { return nil }
        return slice(0..<length)
    }

    /// Returns the same stream with an observer of the chunks. It can be read again if this one can.
    ///
    /// - Parameter observe: receives each chunk, and `nil` at the end. An error that it throws ends the stream.
    public func observed(_ observe: @escaping @Sendable ([UInt8]?) async throws -> Void) -> ByteStream {
        let again: @Sendable (Range<Int64>) -> ByteStream = { (slice($0) ?? ByteStream([])).observed(observe) }
        return ByteStream(length: length, part: isRepeatable ? again : nil) {
            let chunk = try await next()
            try await observe(chunk)
            return chunk
        }
    }
}
