/// Reads a large attribute in pieces; see ``LargeAttribute/openForReading()``.
public struct LargeAttributeReader: Sendable {
    let attribute: LargeAttribute
    let session: Int

    /// The position of the next byte, from 0.
    ///
    /// - Throws: ``ObjectError/streamNotOpen(attribute:)`` after ``close()``.
    public var position: Int64 { get async throws { try await attribute.position(session) } }

    /// The number of bytes of the value; `nil` if it is not known.
    ///
    /// - Throws: ``ObjectError/streamNotOpen(attribute:)`` after ``close()``.
    public var byteCount: Int64? { get async throws { try await attribute.byteCount(session) } }

    /// Returns the next bytes; `nil` at the end.
    ///
    /// - Parameter count: the number of bytes at most, 1 or more. At the end, there are fewer.
    /// - Throws: ``ObjectError/streamNotOpen(attribute:)`` after ``close()``; `ODataError` 410 if the value was
    ///   replaced.
    public func read(upTo count: Int) async throws -> [UInt8]? {
        try await attribute.read(upTo: count, .bytes, in: session)
    }

    /// Returns the next byte; `nil` at the end.
    public func readByte() async throws -> UInt8? { try await read(upTo: 1)?.first }

    /// Goes on at another position.
    ///
    /// - Parameter offset: the position in bytes; 0 is the start. A position behind the end is the end.
    /// - Throws: ``ObjectError/streamNotOpen(attribute:)`` after ``close()``.
    public func seek(to offset: Int64) async throws { try await attribute.seek(to: offset, .bytes, in: session) }

    /// Closes the value.
    ///
    /// - Throws: ``ObjectError/streamNotOpen(attribute:)`` if it is closed.
    public func close() async throws { try await attribute.close(session) }
}

/// Writes a large attribute in pieces; see ``LargeAttribute/openForWriting(byteCount:contentType:)``.
public struct LargeAttributeWriter: Sendable {
    let attribute: LargeAttribute
    let session: Int

    /// Appends bytes.
    ///
    /// - Throws: ``ObjectError/overLength(attribute:announced:)`` for more bytes than announced;
    ///   ``ObjectError/streamNotOpen(attribute:)`` after ``close()``; `StoreError`.
    public func write(_ bytes: [UInt8]) async throws { try await attribute.write(bytes, session) }

    /// Hands the bytes that were written so far to the database.
    ///
    /// - Throws: ``ObjectError/streamNotOpen(attribute:)`` after ``close()``; `StoreError`.
    public func flush() async throws { try await attribute.flush(session) }

    /// Closes the value and publishes it.
    ///
    /// - Throws: ``ObjectError/overLength(attribute:announced:)`` for fewer bytes than announced;
    ///   ``ObjectError/streamNotOpen(attribute:)`` if it is closed; `StoreError`. The former value stays then.
    public func close() async throws { try await attribute.close(session) }

    /// Closes the value without publishing it.
    public func discard() async { await attribute.discard(session) }
}
