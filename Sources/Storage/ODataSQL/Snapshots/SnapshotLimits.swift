/// The results that a service keeps for later pages, under snapshot isolation or because nothing tells their rows apart.
///
/// Each caller has a share of its own, which others cannot use up: a principal, or an address of anonymous callers
/// (``CallerID``). Beyond the share, the caller's result that was read longest ago makes room. Beyond the total, the caller
/// with the most results makes room.
public struct SnapshotLimits: Hashable, Sendable {
    /// The results of one caller: 8.
    public static let defaultCount = 8
    /// The bytes of all results of one caller: 256 MiB.
    public static let defaultBytes = 256 << 20
    /// The results of all callers: 64. Each takes up to five file descriptors.
    public static let defaultTotalCount = 64

    /// The most results of one caller.
    public var count: Int
    /// The most bytes of all results of one caller.
    public var bytes: Int
    /// The most results of all callers.
    public var totalCount: Int

    /// Makes limits.
    public init(
        count: Int = Self.defaultCount, bytes: Int = Self.defaultBytes, totalCount: Int = Self.defaultTotalCount
    ) {
        self.count = max(1, count)
        self.bytes = bytes
        self.totalCount = max(1, totalCount)
    }
}
