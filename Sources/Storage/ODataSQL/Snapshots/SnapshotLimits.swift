/// The limits of result snapshots, which a service keeps for later pages under snapshot isolation or for rows
/// without a unique key.
///
/// Each caller has its own share: a principal, or an address of anonymous callers (``CallerID``). If the share is
/// exceeded, the least recently read snapshot of the caller is removed. If the total is exceeded, a snapshot of the
/// caller with the most snapshots is removed.
public struct SnapshotLimits: Hashable, Sendable {
    /// The default number of snapshots of one caller: 8.
    public static let defaultCount = 8
    /// The default size of all snapshots of one caller in bytes: 256 MiB.
    public static let defaultBytes = 256 << 20
    /// The default number of snapshots of all callers: 64. Each uses up to five file descriptors.
    public static let defaultTotalCount = 64

    /// The maximum number of snapshots of one caller.
    public var count: Int
    /// The maximum size of all snapshots of one caller in bytes.
    public var bytes: Int
    /// The maximum number of snapshots of all callers.
    public var totalCount: Int

    /// Creates limits.
    public init(
        count: Int = Self.defaultCount, bytes: Int = Self.defaultBytes, totalCount: Int = Self.defaultTotalCount
    ) {
        self.count = max(1, count)
        self.bytes = bytes
        self.totalCount = max(1, totalCount)
    }
}
