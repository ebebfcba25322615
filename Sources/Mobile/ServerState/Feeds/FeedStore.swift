/// Feeds with their rows, tags and part sets.
public protocol FeedStore: Sendable {
    /// Returns the feed with a key, and makes it from a record if there is none.
    func feed(
        _ key: [UInt8], makingWith record: FeedRecord?
    ) async throws(ServerStateError) -> FeedRecord?

    /// Returns the feed whose key begins with the 8 bytes of a token, or `nil` if it was dropped.
    func feed(withPrefix prefix: [UInt8]) async throws(ServerStateError) -> FeedRecord?

    /// Returns a feed by number.
    func feed(_ id: RecordNumber) async throws(ServerStateError) -> FeedRecord?

    /// Returns the feeds of an application, or of all, in the order of their numbers.
    func feeds(of application: RecordNumber?) async throws(ServerStateError) -> [FeedRecord]

    /// Changes the state of a feed.
    ///
    /// - Throws: ``ServerStateError/missing(kind:name:)``.
    func setState(
        _ state: FeedState, note: String?, feed: RecordNumber
    ) async throws(ServerStateError) -> FeedRecord

    /// Notes that a device asked for a feed. A driver may leave the note out if the row is busy.
    func noteAsked(_ feed: RecordNumber, at: ServerInstant) async throws(ServerStateError)

    /// Begins a refresh: raises the fence of a feed, and gives the refresh a random name. Two nodes may hold the same
    /// fence after a restore without a new incarnation; their names differ.
    ///
    /// - Returns: The name; `nil` if the fence is not newer than that of the feed: another node has it.
    func begin(_ feed: RecordNumber, fence: Fence) async throws(ServerStateError) -> UInt64?

    /// Reads one page. The row of the feed, its tag and the rows are of one snapshot.
    ///
    /// - Returns: `nil` if the feed was dropped.
    func page(_ request: FeedPageRequest) async throws(ServerStateError) -> FeedPage?

    /// Returns the digests of live rows of a part in the order of their keys, at most 10,000.
    func digests(
        of feed: RecordNumber, part: [UInt8], after key: [UInt8]?
    ) async throws(ServerStateError) -> [FeedDigest]

    /// Returns the live parts of a feed, at most 10,000, behind a part.
    func parts(
        of feed: RecordNumber, after part: [UInt8]?
    ) async throws(ServerStateError) -> [[UInt8]]

    /// Commits a step of a refresh.
    ///
    /// - Parameter claim: The name that ``begin(_:fence:)`` returned.
    /// - Returns: The new head; `nil` if the fence, the name or the incarnation is an old one (`design-review.md`
    ///   14): nothing was
    ///   written.
    func commit(
        _ batch: RefreshBatch, fence: Fence, claim: UInt64
    ) async throws(ServerStateError) -> FeedHead?

    /// Returns the packed digests of a feed of visibility `user`.
    func packed(of feed: RecordNumber) async throws(ServerStateError) -> [PackedChunk]

    /// Replaces the packed digests of a feed, with a new head.
    ///
    /// - Parameter head: The head on which the digests are based. Another head writes nothing and returns `nil`.
    func commitPacked(
        _ chunks: [PackedChunk], feed: RecordNumber, head: ChangeNumber, changed: Int, rowCount: Int64
    ) async throws(ServerStateError) -> FeedHead?

    /// Removes tombstones that are older than a moment, a limited number in each call, and raises the floor.
    ///
    /// - Returns: The number of rows that were removed.
    func prune(
        _ feed: RecordNumber, removedBefore: ServerInstant, limit: Int
    ) async throws(ServerStateError) -> Int

    /// Drops a feed: its row at once, its rows in steps by further calls.
    ///
    /// - Returns: Whether rows of dropped feeds remain.
    func drop(_ feed: RecordNumber) async throws(ServerStateError) -> Bool

    /// Stores a set of parts, or notes its use, and returns its 8 bytes (`design-review.md` 16).
    func keepParts(_ parts: [[UInt8]]) async throws(ServerStateError) -> [UInt8]

    /// Returns the parts of a set; `nil` if the set is unknown or 60 days without use.
    func parts(ofSet id: [UInt8]) async throws(ServerStateError) -> [[UInt8]]?
}
