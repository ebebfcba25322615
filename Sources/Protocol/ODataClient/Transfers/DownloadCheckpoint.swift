/// The progress of a download and the version of the resource; sufficient to resume the download in a later
/// process.
public struct DownloadCheckpoint: Sendable, Hashable, Codable {
    /// The URL of the resource.
    public let url: String
    /// The strong ETag or the date of the version, as sent in `If-Range`; `nil` if the service stated none, so
    /// that the download cannot be resumed.
    public let validator: String?
    /// The number of bytes that the target contains.
    public var received: Int64
    /// The total number of bytes, if it is known.
    public let total: Int64?

    /// Creates a checkpoint.
    public init(url: String, validator: String?, received: Int64, total: Int64?) {
        self.url = url
        self.validator = validator
        self.received = received
        self.total = total
    }
}

/// The destination of a download and of its checkpoint. ``DownloadFile`` is a file; other implementations can
/// use a store or a vault.
public protocol DownloadTarget: Sendable {
    /// Returns the last checkpoint, or `nil` if there is none.
    func checkpoint() async throws -> DownloadCheckpoint?
    /// Saves a checkpoint; all bytes written before must be durable. `nil` removes the last checkpoint.
    func keep(_ checkpoint: DownloadCheckpoint?) async throws
    /// Removes all bytes after the first `count`. Later bytes are appended there.
    func truncate(to count: Int64) async throws
    /// Appends bytes at the end.
    func append(_ bytes: [UInt8]) async throws
}
