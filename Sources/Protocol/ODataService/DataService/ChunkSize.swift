import ErrorCodes

/// How many bytes a chunk of a streamed body has at most.
public struct ChunkSize: Hashable, Sendable {
    /// 102,400 bytes.
    public static let standard = ChunkSize(unchecked: 102_400)
    /// 204,800 bytes, the most there may be.
    public static let maximum = ChunkSize(unchecked: 204_800)

    /// The bytes.
    public let bytes: Int

    /// Makes a size.
    ///
    /// - Parameter bytes: from 1 to 204,800.
    /// - Throws: ``ChunkSizeError``.
    public init(_ bytes: Int) throws(ChunkSizeError) {
        guard (1...Self.maximum.bytes).contains(bytes) else { throw ChunkSizeError(bytes: bytes) }
        self.bytes = bytes
    }

    private init(unchecked bytes: Int) { self.bytes = bytes }
}

/// A chunk size outside its range.
public struct ChunkSizeError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The size that was asked for.
    public let bytes: Int

    /// Makes an error.
    public init(bytes: Int) { self.bytes = bytes }

    /// The size and the range.
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
