import ErrorCodes

/// The maximum size of a chunk of a streamed body.
public struct ChunkSize: Hashable, Sendable {
    /// The default size: 102,400 bytes.
    public static let standard = ChunkSize(unchecked: 102_400)
    /// The largest size: 204,800 bytes.
    public static let maximum = ChunkSize(unchecked: 204_800)

    /// The size in bytes.
    public let bytes: Int

    /// Creates a size.
    ///
    /// - Parameter bytes: a number from 1 to 204,800.
    /// - Throws: ``ChunkSizeError`` for a number outside the range.
    public init(_ bytes: Int) throws(ChunkSizeError) {
        guard (1...Self.maximum.bytes).contains(bytes) else { throw ChunkSizeError(bytes: bytes) }
        self.bytes = bytes
    }

    private init(unchecked bytes: Int) { self.bytes = bytes }
}

/// The error for a chunk size outside the valid range.
public struct ChunkSizeError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The rejected size.
    public let bytes: Int

    /// Creates an error for a size.
    public init(bytes: Int) { self.bytes = bytes }

    /// A message with the size and the valid range.
    public var description: String {
        "A chunk of \(bytes) bytes is not possible: 1 to \(ChunkSize.maximum.bytes) are."
    }
}

extension ChunkSizeError: CodedError {
    /// `transfer.chunk-size`.
    public var errorCode: ErrorCode { ErrorCode(rawValue: "transfer.chunk-size") }
    /// The size is wrong.
    public var failureKind: FailureKind { .request }
}
