/// How far a download has come, and of which version of what: enough to go on after the process has ended.
public struct DownloadCheckpoint: Sendable, Hashable, Codable {
    /// What is downloaded.
    public let url: String
    /// The strong entity tag or the date of the version, as `If-Range` sends it; `nil` when the service gave none, and
    /// then nothing can be resumed.
    public let validator: String?
    /// The bytes that the target has.
    public var received: Int64
    /// The bytes in all, where known.
    public let total: Int64?

    /// Makes a checkpoint.
    public init(url: String, validator: String?, received: Int64, total: Int64?) {
        self.url = url
        self.validator = validator
        self.received = received
        self.total = total
    }
}

/// Where a download goes, and where its checkpoint is kept. ``DownloadFile`` is a file; a store or a vault may be
/// another.
public protocol DownloadTarget: Sendable {
    /// The last checkpoint that was kept; `nil` for none.
    func checkpoint() async throws -> DownloadCheckpoint?
    /// Keeps a checkpoint; what was written before it must be durable. `nil` forgets the last one.
    func keep(_ checkpoint: DownloadCheckpoint?) async throws
    /// Lets only the first bytes stand; what follows is written behind them.
    func truncate(to count: Int64) async throws
    /// Writes bytes behind those there are.
    func append(_ bytes: [UInt8]) async throws
}
