import ODataService

extension ByteStream {
    /// Whether the bytes can be had again: in memory, or in a file. A request with such a body can be sent again
    /// after a challenge or a lost connection.
    public var isRepeatable: Bool { length == 0 || slice(0..<0) != nil }

    /// The same bytes from the start, whatever was taken of this stream; `nil` when they cannot be had again.
    public func fromStart() -> ByteStream? {
        guard let length else { return nil }
        return slice(0..<length)
    }

    /// The same stream, which tells of each chunk that is taken; it can be had again if this one can.
    ///
    /// - Parameter observe: gets the chunk, `nil` at the end; what it throws ends the stream.
    public func observed(_ observe: @escaping @Sendable ([UInt8]?) async throws -> Void) -> ByteStream {
        let again: @Sendable (Range<Int64>) -> ByteStream = { (slice($0) ?? ByteStream([])).observed(observe) }
        return ByteStream(length: length, part: isRepeatable ? again : nil) {
            let chunk = try await next()
            try await observe(chunk)
            return chunk
        }
    }
}
