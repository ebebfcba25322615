/// A large attribute that holds text in UTF-8. Sizes and positions are bytes at which a character begins.
///
/// ```swift
/// let notes = crm.large(\.notes, of: customer)
/// try await notes.write { writer in try await writer.write("Grüße aus Dublin") }
/// let reader = try await notes.openForReading()
/// while let text = try await reader.read(upTo: 1024) { print(text) }
/// ```
public struct LargeText: Sendable {
    /// The same value as bytes.
    public let bytes: LargeAttribute

    init(_ bytes: LargeAttribute) { self.bytes = bytes }

    /// Opens the text for reading; see ``LargeAttribute/openForReading()``.
    public func openForReading() async throws -> LargeTextReader {
        LargeTextReader(bytes: try await bytes.openForReading())
    }

    /// Opens the text for writing; see ``LargeAttribute/openForWriting(byteCount:contentType:)``.
    ///
    /// - Parameter byteCount: the number of bytes in UTF-8 that will be written; `nil` if it is not known.
    public func openForWriting(byteCount: Int64? = nil) async throws -> LargeTextWriter {
        LargeTextWriter(bytes: try await bytes.openForWriting(byteCount: byteCount))
    }

    /// Writes the text in a closure, and publishes it if the closure succeeds; see
    /// ``LargeAttribute/write(byteCount:contentType:_:)``.
    public func write(
        byteCount: Int64? = nil, _ body: @Sendable (LargeTextWriter) async throws -> Void
    ) async throws {
        try await bytes.write(byteCount: byteCount) { try await body(LargeTextWriter(bytes: $0)) }
    }

    /// Returns whether the database has the text; see ``LargeAttribute/isLoaded()``.
    public func isLoaded() async throws -> Bool { try await bytes.isLoaded() }

    /// Loads the text from the service; see ``LargeAttribute/load()``.
    @discardableResult
    public func load() async throws -> Bool { try await bytes.load() }

    /// Sets the attribute to null; see ``LargeAttribute/remove()``.
    public func remove() async throws { try await bytes.remove() }

    /// Replaces the text with the content of a file in UTF-8; see ``LargeAttribute/copy(fromFile:contentType:)``.
    public func copy(fromFile path: String) async throws { try await bytes.copy(fromFile: path) }

    /// Writes the text to a file; see ``LargeAttribute/copy(toFile:)``.
    public func copy(toFile path: String) async throws { try await bytes.copy(toFile: path) }
}

/// Reads a large text in pieces; see ``LargeText/openForReading()``.
public struct LargeTextReader: Sendable {
    let bytes: LargeAttributeReader

    /// The position of the next character in bytes.
    ///
    /// - Throws: ``ObjectError/streamNotOpen(attribute:)`` after ``close()``.
    public var position: Int64 { get async throws { try await bytes.position } }

    /// Returns the next characters; `nil` at the end.
    ///
    /// - Parameter count: the number of bytes at most. A character that is longer is returned as a whole.
    /// - Throws: ``ObjectError/streamNotOpen(attribute:)`` after ``close()``. Bytes that are no UTF-8 become U+FFFD.
    public func read(upTo count: Int) async throws -> String? {
        let read = try await bytes.attribute.read(upTo: count, .characters, in: bytes.session)
        return read.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns the next character; `nil` at the end.
    public func readCharacter() async throws -> Unicode.Scalar? { try await read(upTo: 1)?.unicodeScalars.first }

    /// Goes on at another position.
    ///
    /// - Parameter offset: the position in bytes; 0 is the start.
    /// - Throws: ``ObjectError/notAtCharacter(attribute:position:)``; the position stays then.
    ///   ``ObjectError/streamNotOpen(attribute:)`` after ``close()``.
    public func seek(to offset: Int64) async throws {
        try await bytes.attribute.seek(to: offset, .characters, in: bytes.session)
    }

    /// Closes the text; see ``LargeAttributeReader/close()``.
    public func close() async throws { try await bytes.close() }
}

/// Writes a large text in pieces; see ``LargeText/openForWriting(byteCount:)``.
public struct LargeTextWriter: Sendable {
    let bytes: LargeAttributeWriter

    /// Appends text; see ``LargeAttributeWriter/write(_:)``.
    public func write(_ text: some StringProtocol) async throws { try await bytes.write(Array(text.utf8)) }

    /// Hands the text that was written so far to the database; see ``LargeAttributeWriter/flush()``.
    public func flush() async throws { try await bytes.flush() }

    /// Closes the text and publishes it; see ``LargeAttributeWriter/close()``.
    public func close() async throws { try await bytes.close() }

    /// Closes the text without publishing it.
    public func discard() async { await bytes.discard() }
}
