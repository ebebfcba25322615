/// The visibility of a feed (`mobile-server.md` 5.2).
public enum FeedVisibility: String, Hashable, Sendable, Codable, CaseIterable {
    /// One feed for all users, read by a technical user.
    case shared
    /// One feed with rows in parts, read by a technical user. A user sees the parts of his rights.
    case partitioned
    /// A feed for each user, read with the user's credentials.
    case user
    /// No feed: each request goes to the back end.
    case passthrough
}

/// The state of a feed.
public enum FeedState: String, Hashable, Sendable, Codable {
    /// The feed is not filled yet.
    case filling
    /// The feed serves its rows and is refreshed.
    case active
    /// The feed serves its rows and is not refreshed: an operator decides about a suspicious refresh.
    case suspended
    /// Another configuration has replaced the feed, which serves deltas to its last head.
    case frozen
}

/// A feed: the tracked rows of one defining query for one audience.
public struct FeedRecord: Hashable, Sendable {
    /// The number of the feed, which is never given again.
    public var id: RecordNumber
    /// The key of 32 bytes, a digest of all that decides about the rows (`mobile-server.md` 5.1). Tokens name its first
    /// 8 bytes.
    public var key: [UInt8]
    /// The number of the application.
    public var application: RecordNumber
    /// The name of the destination.
    public var destination: String
    /// The name of the defining query.
    public var query: String
    /// The version of the configuration.
    public var configuration: Int
    /// The visibility.
    public var visibility: FeedVisibility
    /// The way of tracking: `link`, `etag`, `modified`, `compare`.
    public var tracking: String
    /// The state.
    public var state: FeedState
    /// The reason of a suspension, for the operator.
    public var note: String?
    /// The highest sequence number; 0 before the first refresh.
    public var head: ChangeNumber
    /// The highest sequence number of pruned removals.
    public var floor: ChangeNumber
    /// The random tag of the head (`design-review.md` 3); 0 before the first refresh.
    public var tag: UInt64
    /// The fence of the last lease.
    public var fence: Fence
    /// The time of the rows: the beginning of the last refresh that succeeded.
    public var checkedAt: ServerInstant?
    /// The last time at which rows changed.
    public var changedAt: ServerInstant?
    /// The last time at which a device asked, to the hour.
    public var askedAt: ServerInstant?
    /// The delta link of the back end; sealed in the state.
    public var link: [UInt8]?
    /// The highest value of the property that tells modifications.
    public var watermark: [UInt8]?
    /// The number of live rows.
    public var rowCount: Int64

    /// Creates a feed that is not stored yet; the state gives it a number.
    public init(
        key: [UInt8], application: RecordNumber, destination: String, query: String, configuration: Int,
        visibility: FeedVisibility, tracking: String, state: FeedState = .filling
    ) {
        id = 0
        self.key = key
        self.application = application
        self.destination = destination
        self.query = query
        self.configuration = configuration
        self.visibility = visibility
        self.tracking = tracking
        self.state = state
        head = 0
        floor = 0
        tag = 0
        fence = 0
        rowCount = 0
    }
}

/// A row of a feed as devices get it.
public struct FeedRow: Hashable, Sendable {
    /// The key: the canonical `@id` of the entity.
    public var key: [UInt8]
    /// The part; empty without parts.
    public var part: [UInt8]
    /// The sequence number.
    public var seq: ChangeNumber
    /// The JSON object text; `nil` for a removed row.
    public var body: [UInt8]?
    /// The reason of the removal.
    public var removal: FeedRemoval?

    /// Creates a row.
    public init(
        key: [UInt8], part: [UInt8] = [], seq: ChangeNumber = 0, body: [UInt8]?, removal: FeedRemoval? = nil
    ) {
        self.key = key
        self.part = part
        self.seq = seq
        self.body = body
        self.removal = removal
    }
}

/// The reason of a removal in a delta (OData JSON Format 4.01, 15.3).
public enum FeedRemoval: String, Hashable, Sendable, Codable {
    /// The entity no longer belongs to the result.
    case changed
    /// The entity was deleted.
    case deleted
}

/// A request for one page of one part of a feed.
public struct FeedPageRequest: Hashable, Sendable {
    /// The greatest number of rows of a page.
    public static let rowLimit = 1000
    /// The greatest size of the bodies of a page, in bytes; the first row is always there (`design-review.md` 33).
    public static let byteLimit = 4 << 20

    /// The kind of a read.
    public enum Kind: Hashable, Sendable {
        /// All live rows of the part.
        case full
        /// Rows and removals. A removal is left out if another present part has a live row of the key
        /// (`design-review.md` 2).
        case delta(presentParts: [[UInt8]])
        /// All rows of a part that the user has lost, as removals: live ones, and those removed after a number. `to` is
        /// ignored, because a row that is edited meanwhile must not stay on the device.
        case revoked(presentParts: [[UInt8]], removedAfter: ChangeNumber)
    }

    /// The number of the feed.
    public var feed: RecordNumber
    /// The part.
    public var part: [UInt8]
    /// The kind.
    public var kind: Kind
    /// Rows with higher sequence numbers only. The first page of a full read begins at 0.
    public var after: ChangeNumber
    /// Rows up to this sequence number only.
    public var to: ChangeNumber
    /// The head that the reader has seen, with its tag; `nil` at the first page of a full read. It is looked up in the
    /// snapshot of the page.
    public var witness: FeedWitness?
    /// The greatest number of rows.
    public var limit: Int

    /// Creates a request.
    public init(
        feed: RecordNumber, part: [UInt8] = [], kind: Kind, after: ChangeNumber, to: ChangeNumber,
        witness: FeedWitness? = nil, limit: Int = rowLimit
    ) {
        self.feed = feed
        self.part = part
        self.kind = kind
        self.after = after
        self.to = to
        self.witness = witness
        self.limit = limit
    }
}

/// A head of a feed with its random tag, which shows that no commit before it was lost.
public struct FeedWitness: Hashable, Sendable {
    /// The head.
    public var head: ChangeNumber
    /// The tag.
    public var tag: UInt64

    /// Creates a witness.
    public init(head: ChangeNumber, tag: UInt64) {
        self.head = head
        self.tag = tag
    }
}

/// A page of a feed: the feed's row and the rows are of one snapshot (`design-review.md` 5).
public struct FeedPage: Hashable, Sendable {
    /// The feed in the snapshot.
    public var feed: FeedRecord
    /// Whether the witness of the request is known. Without one, `true`.
    public var isWitnessKnown: Bool
    /// The rows in the order of their sequence numbers.
    public var rows: [FeedRow]
    /// Whether the part has further rows in the range.
    public var hasMore: Bool
    /// The sequence number of the last row that was looked at, also if it was left out: the next page begins behind it.
    public var position: ChangeNumber

    /// Creates a page.
    public init(
        feed: FeedRecord, isWitnessKnown: Bool, rows: [FeedRow], hasMore: Bool, position: ChangeNumber
    ) {
        self.feed = feed
        self.isWitnessKnown = isWitnessKnown
        self.rows = rows
        self.hasMore = hasMore
        self.position = position
    }
}

/// The key and the digest of a live row.
public struct FeedDigest: Hashable, Sendable {
    /// The key.
    public var key: [UInt8]
    /// The digest of 16 bytes.
    public var digest: [UInt8]

    /// Creates a digest.
    public init(key: [UInt8], digest: [UInt8]) {
        self.key = key
        self.digest = digest
    }
}

/// A row that a refresh writes.
public struct FeedWrite: Hashable, Sendable {
    /// The key.
    public var key: [UInt8]
    /// The part.
    public var part: [UInt8]
    /// The digest of 16 bytes; ignored for a removal.
    public var digest: [UInt8]
    /// The JSON object text; `nil` removes the row.
    public var body: [UInt8]?
    /// The reason, if the row is removed.
    public var removal: FeedRemoval?

    /// Creates a write.
    public init(
        key: [UInt8], part: [UInt8] = [], digest: [UInt8], body: [UInt8]?, removal: FeedRemoval? = nil
    ) {
        self.key = key
        self.part = part
        self.digest = digest
        self.body = body
        self.removal = removal
    }
}

/// A step of a refresh. A row with the stored digest gets no new number.
public struct RefreshBatch: Hashable, Sendable {
    /// The number of the feed.
    public var feed: RecordNumber
    /// The writes, at most 50,000 in a step. Of several writes of one part and key, the last one counts.
    public var writes: [FeedWrite]
    /// Whether this is the last step: link, watermark and the time of the check go with it, and a feed that was
    /// filling becomes active.
    public var isLast: Bool
    /// The new delta link of the back end; `nil` for none.
    public var link: [UInt8]?
    /// The new watermark; `nil` for none.
    public var watermark: [UInt8]?
    /// The moment at which the read of the back end began, which becomes the time of the check; `nil` for the moment of
    /// the commit.
    public var readAt: ServerInstant?

    /// Creates a step.
    public init(
        feed: RecordNumber, writes: [FeedWrite], isLast: Bool = true, link: [UInt8]? = nil,
        watermark: [UInt8]? = nil, readAt: ServerInstant? = nil
    ) {
        self.feed = feed
        self.writes = writes
        self.isLast = isLast
        self.link = link
        self.watermark = watermark
        self.readAt = readAt
    }
}

/// The head of a feed after a commit.
public struct FeedHead: Hashable, Sendable {
    /// The head.
    public var head: ChangeNumber
    /// The tag of the head.
    public var tag: UInt64
    /// The number of rows that were changed or removed.
    public var changed: Int
    /// The number of live rows.
    public var rowCount: Int64

    /// Creates a head.
    public init(head: ChangeNumber, tag: UInt64, changed: Int, rowCount: Int64) {
        self.head = head
        self.tag = tag
        self.changed = changed
        self.rowCount = rowCount
    }
}

/// A step of the digests of packed feeds (visibility `user`), sorted by the hash of the key.
public struct PackedChunk: Hashable, Sendable {
    /// The number of the chunk, from 0.
    public var number: Int
    /// The number of rows.
    public var rowCount: Int
    /// The packed rows.
    public var data: [UInt8]

    /// Creates a chunk.
    public init(number: Int, rowCount: Int, data: [UInt8]) {
        self.number = number
        self.rowCount = rowCount
        self.data = data
    }
}
