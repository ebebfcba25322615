import Foundation
import Logging
import ODataModel
import ODataService
import ServerState
import Synchronization

/// Brings feeds up to date with their back ends, one node at a time under a fence, and makes readers wait for rows that
/// are new enough (`mobile-server.md` 5.6 and 5.10).
struct FeedRefresher: JobWorker {
    /// The longest wait of a reader.
    static let wait = Duration.seconds(10)
    /// The number of changes of one commit.
    static let stepSize = 50_000
    /// The number of removals up to which a refresh never counts as suspicious.
    static let harmlessRemovals = 100
    /// The time without readers after which a feed is not refreshed.
    static let restAfter = Duration.seconds(14 * 86_400)

    let state: any ServerState
    let logger: Logger
    /// The refreshes that this node carries out or waits for.
    let flights: FeedFlights
    /// Returns the definition of a feed and the reader of its back end; `nil` if the configuration no longer has it.
    let resolve: @Sendable (FeedRecord) async throws -> (FeedDefinition, any ODataProvider)?

    // MARK: Readers

    /// Returns a feed that may be served. A feed that is empty or too old is refreshed first; others wait.
    ///
    /// - Parameter isFirstPage: Whether the reader may wait; the later pages of a read never wait.
    /// - Throws: 503 if the rows are too old after ``wait``.
    func current(_ definition: FeedDefinition, isFirstPage: Bool) async throws -> FeedRecord {
        guard let feed = try await state.feeds.feed(definition.record.key, makingWith: definition.record) else {
            throw DestinationFailure.unavailable()
        }
        let now = try await state.now()
        if feed.askedAt.map({ now - $0 > .seconds(3600) }) ?? true { try await state.feeds.noteAsked(feed.id, at: now) }
        guard isFirstPage else { return feed }
        if feed.state == .suspended || feed.state == .frozen { return feed }
        let oldest = now - definition.configuration.maxStale
        if feed.state == .active, let checked = feed.checkedAt, checked >= oldest {
            if now - checked > definition.configuration.refreshInterval { try await join(feed, since: oldest, now) }
            return feed
        }
        try await join(feed, since: oldest, now)
        return try await waiting(for: feed, checkedSince: oldest)
    }

    /// Joins a refresh that brings rows of a moment or later, or asks for one.
    private func join(_ feed: FeedRecord, since moment: ServerInstant, _ now: ServerInstant) async throws {
        guard flights.lacks(feed.id, since: moment, now) else { return }
        do {
            try await demand(feed)
        } catch {
            flights.end(feed.id)
            throw error
        }
    }

    /// Makes the refresh of a feed due now.
    func demand(_ feed: FeedRecord) async throws {
        try await state.jobs.add(NewJob(kind: .refresh, target: String(feed.id)))
        await state.signal.send([.jobs])
    }

    /// Waits until the rows of a feed were read at a moment or later.
    private func waiting(for feed: FeedRecord, checkedSince moment: ServerInstant) async throws -> FeedRecord {
        let end = ContinuousClock.now + Self.wait
        var pause = Duration.milliseconds(5)
        while ContinuousClock.now < end {
            guard let now = try await state.feeds.feed(feed.id) else { throw DestinationFailure.unavailable() }
            if now.state == .suspended { return now }
            if now.state == .active, let checked = now.checkedAt, checked >= moment { return now }
            try await Task.sleep(for: pause)
            pause = min(pause * 2, .milliseconds(100))
        }
        throw DestinationFailure.unavailable()
    }

    // MARK: Worker

    func run(_ job: LeasedJob) async throws -> JobOutcome {
        guard let id = RecordNumber(job.target) else { return .done }
        defer { flights.end(id) }
        guard let feed = try await state.feeds.feed(id) else { return .done }
        guard feed.state != .frozen, let (definition, provider) = try await resolve(feed) else { return .done }
        if feed.state == .suspended { return .done }
        let now = try await state.now()
        if let asked = feed.askedAt, now - asked > Self.restAfter { return .done }
        guard let claim = try await state.feeds.begin(feed.id, fence: job.fence) else { return .done }
        flights.begin(feed.id, at: now)
        try await refresh(
            feed, definition, source: FeedSource(provider: provider, definition: definition),
            lease: FeedLease(fence: job.fence, claim: claim, begun: now),
            acceptsRemovals: job.payload == Self.acceptingRemovals)
        return .again(at: try await state.now() + definition.configuration.refreshInterval)
    }

    /// The payload of a job after an operator has decided that the rows are gone.
    static let acceptingRemovals = Array("accept-removals".utf8)

    /// Refreshes a feed under a lease.
    ///
    /// - Parameter acceptsRemovals: Whether an operator has decided that many rows may go.
    /// - Throws: Errors of the back end; the feed is unchanged then.
    func refresh(
        _ feed: FeedRecord, _ definition: FeedDefinition, source: FeedSource, lease: FeedLease,
        acceptsRemovals: Bool = false
    ) async throws {
        CrashPoint.pass("refresh-begun")
        let mayLink =
            ["auto", "link"].contains(definition.configuration.tracking) && definition.url.options.expand.isEmpty
        if mayLink, !acceptsRemovals, feed.state == .active,
            let link = feed.link.map({ String(decoding: $0, as: UTF8.self) })
        {
            do {
                return try await follow(link, feed, definition: definition, source: source, lease: lease)
            } catch let error as ODataError where error.status == 410 || error.status == 404 {
                // The back end has forgotten the link: everything is compared once.
                logger.info("feed \(definition.name): the delta link has expired, all rows are compared")
            }
        }
        try await compare(
            feed, definition, source: source, wantsLink: mayLink, lease: lease, acceptsRemovals: acceptsRemovals)
    }

    /// Takes the changes since the back end's delta link.
    private func follow(
        _ link: String, _ feed: FeedRecord, definition: FeedDefinition, source: FeedSource, lease: FeedLease
    ) async throws {
        var writes: [FeedWrite] = []
        let end = try await source.readChanges(since: link) { page in
            for item in page.items {
                switch item {
                case .entity(let entity):
                    guard let key = entity.key else { throw FeedRowCodec.NoKey() }
                    // A delta may contain the changed properties alone (OData JSON Format 4.01, 15.2).
                    let whole = isWhole(entity, definition) ? entity : try await source.entity(key)
                    if let whole {
                        writes.append(try definition.codec.row(of: whole))
                    } else {
                        writes.append(Self.removal(definition.codec.id(of: key), .deleted))
                    }
                case .removed(let removed):
                    guard let id = Self.id(of: removed, definition) else {
                        throw FeedSource.Unreliable(description: "The key of a removed row cannot be read.")
                    }
                    writes.append(Self.removal(id, removed.reason == .changed ? .changed : .deleted))
                case .link: break
                }
            }
        }
        CrashPoint.pass("refresh-read")
        try await commit(writes, to: feed, link: end.deltaLink, lease: lease)
    }

    private func isWhole(_ entity: ODataEntity, _ definition: FeedDefinition) -> Bool {
        let selected = definition.url.options.select
        guard selected.isEmpty else { return false }
        return entity.values.allSatisfy { $0 != nil }
    }

    /// Compares all rows of the back end with those of the feed.
    private func compare(
        _ feed: FeedRecord, _ definition: FeedDefinition, source: FeedSource, wantsLink: Bool, lease: FeedLease,
        acceptsRemovals: Bool
    ) async throws {
        let stored = try await digests(of: feed)
        var seen: Set<[UInt8]> = []
        var writes: [[UInt8]: FeedWrite] = [:]
        func take(_ entity: ODataEntity) throws {
            let row = try definition.codec.row(of: entity)
            seen.insert(row.key)
            // Of two versions of a row that moved between two pages, the later one counts.
            writes[row.key] = stored[row.key] == row.digest ? nil : row
        }
        let end = try await source.readAll(wantsLink: wantsLink) { for entity in $0 { try take(entity) } }
        CrashPoint.pass("refresh-read")
        var missing = stored.keys.filter { !seen.contains($0) }
        if !missing.isEmpty {
            let share = missing.count * 100 / max(stored.count, 1)
            if !acceptsRemovals, missing.count > Self.harmlessRemovals, share > definition.configuration.removalGuard {
                let note = "\(missing.count) of \(stored.count) rows are gone. Resume the feed if that is right."
                _ = try await state.feeds.setState(.suspended, note: note, feed: feed.id)
                logger.warning("feed \(definition.name) is suspended: \(note)")
                return
            }
            missing.sort { $0.lexicographicallyPrecedes($1) }
            let keys = missing.compactMap { definition.codec.key(of: String(decoding: $0, as: UTF8.self)) }
            for entity in try await source.confirmed(keys) { try take(entity) }
            missing.removeAll { seen.contains($0) }
        }
        let reason: FeedRemoval = definition.isFiltered ? .changed : .deleted
        let changed = writes.values.sorted { $0.key.lexicographicallyPrecedes($1.key) }
        let gone = missing.map {
            Self.removal(String(decoding: $0, as: UTF8.self), reason)
        }
        try await commit(changed + gone, to: feed, link: end.deltaLink, lease: lease)
    }

    /// Commits writes in steps of ``stepSize``.
    private func commit(_ writes: [FeedWrite], to feed: FeedRecord, link: String?, lease: FeedLease) async throws {
        var start = 0
        repeat {
            let end = min(start + Self.stepSize, writes.count)
            let isLast = end == writes.count
            let batch = RefreshBatch(
                feed: feed.id, writes: Array(writes[start..<end]), isLast: isLast,
                link: isLast ? link.map { Array($0.utf8) } : nil, readAt: lease.begun)
            guard try await state.feeds.commit(batch, fence: lease.fence, claim: lease.claim) != nil else {
                // Another node has the feed.
                return
            }
            CrashPoint.pass("refresh-committed")
            start = end
        } while start < writes.count
        await state.signal.send([.feed(feed.id)])
    }

    private func digests(of feed: FeedRecord) async throws -> [[UInt8]: [UInt8]] {
        var all: [[UInt8]: [UInt8]] = [:]
        var last: [UInt8]?
        while true {
            let chunk = try await state.feeds.digests(of: feed.id, part: [], after: last)
            guard let end = chunk.last else { return all }
            for row in chunk { all[row.key] = row.digest }
            last = end.key
        }
    }

    private static func removal(_ id: String, _ reason: FeedRemoval) -> FeedWrite {
        FeedWrite(key: Array(id.utf8), digest: [], body: nil, removal: reason)
    }

    /// Returns the id of a removed row in the form of the codec.
    private static func id(of removed: RemovedEntity, _ definition: FeedDefinition) -> String? {
        if let key = removed.key { return definition.codec.id(of: key) }
        var id = removed.id
        // The id may be absolute.
        let set = "/\(definition.codec.set.name)("
        if let place = id.range(of: set, options: .backwards) { id = String(id[id.index(after: place.lowerBound)...]) }
        return definition.codec.key(of: id).map { definition.codec.id(of: $0) }
    }
}

/// The right to write a feed: the fence of the job, and the random name that the feed gave for it. A restored database
/// gives a fence again. It never gives a name again.
struct FeedLease: Hashable, Sendable {
    let fence: Fence
    let claim: UInt64
    /// The moment at which the read began: the rows are as old as that, however long the read takes.
    let begun: ServerInstant
}

/// The refreshes that a node carries out or waits for now. A reader joins one that brings rows of its age, so that it
/// asks for no second one.
final class FeedFlights: Sendable {
    private let begun = Mutex<[RecordNumber: ServerInstant]>([:])

    func begin(_ feed: RecordNumber, at moment: ServerInstant) { begun.withLock { $0[feed] = moment } }

    func end(_ feed: RecordNumber) { begun.withLock { $0[feed] = nil } }

    /// Returns whether no refresh has begun, nor was asked for, at a moment or later. The caller asks for one then, and
    /// others join it.
    func lacks(_ feed: RecordNumber, since moment: ServerInstant, _ now: ServerInstant) -> Bool {
        begun.withLock { begun in
            if let known = begun[feed], known >= moment { return false }
            begun[feed] = now
            return true
        }
    }
}

/// Places at which a test ends the process, as a crash would. Nothing happens in a
/// release build, nor without the environment variable `OUTPOST_CRASH_AT`.
///
/// Each name stands in `CrashTests`.
enum CrashPoint {
    #if DEBUG
        private static let wanted = ProcessInfo.processInfo.environment["OUTPOST_CRASH_AT"]
    #endif

    /// Ends the process at once if its place was asked for.
    static func pass(_ name: String) {
        #if DEBUG
            if let wanted, wanted == name { kill(getpid(), SIGKILL) }
        #endif
    }
}
