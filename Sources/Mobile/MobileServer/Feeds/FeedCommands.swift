import ErrorCodes
import Foundation
import ODataClient
import ODataService
import Secrets
import ServerState

/// The work of `outpost-server feed`: to list, show, refresh, resume and check feeds.
///
/// ```swift
/// let feeds = FeedCommands(destinations: destinations)
/// for feed in try await feeds.list(application: "shop") { print(feed.query, feed.rows) }
/// ```
public struct FeedCommands: Sendable {
    private let destinations: DestinationsPart

    /// Creates the commands.
    public init(destinations: DestinationsPart) { self.destinations = destinations }

    private var state: any ServerState { destinations.state }

    /// Returns the feeds of an application, or of all.
    ///
    /// - Throws: ``FeedCommandError``, ``ServerStateError``.
    public func list(application: String? = nil) async throws -> [FeedSummary] {
        var names: [RecordNumber: String] = [:]
        for record in try await state.applications.all() { names[record.id] = record.name }
        var wanted: RecordNumber?
        if let application {
            guard let found = names.first(where: { $0.value == application }) else {
                throw FeedCommandError.unknownApplication(application)
            }
            wanted = found.key
        }
        return try await state.feeds.feeds(of: wanted).map { FeedSummary($0, application: names[$0.application] ?? "") }
    }

    /// Returns a feed by number.
    ///
    /// - Throws: ``FeedCommandError/unknownFeed(_:)``.
    public func show(_ id: RecordNumber) async throws -> FeedSummary {
        guard let feed = try await list().first(where: { $0.id == id }) else { throw FeedCommandError.unknownFeed(id) }
        return feed
    }

    /// Makes the refresh of a feed due now. A node carries it out.
    ///
    /// - Throws: ``FeedCommandError``.
    public func refresh(_ id: RecordNumber) async throws {
        guard let feed = try await state.feeds.feed(id) else { throw FeedCommandError.unknownFeed(id) }
        guard feed.state != .suspended else { throw FeedCommandError.suspended(id, feed.note ?? "") }
        try await state.feeds.noteAsked(id, at: try await state.now())
        try await destinations.refresher.demand(feed)
    }

    /// Lets a suspended feed go on, as an operator has decided. The next refresh removes the missing rows.
    ///
    /// - Throws: ``FeedCommandError``.
    public func resume(_ id: RecordNumber) async throws {
        guard let feed = try await state.feeds.feed(id) else { throw FeedCommandError.unknownFeed(id) }
        guard feed.state == .suspended else { throw FeedCommandError.notSuspended(id) }
        _ = try await state.feeds.setState(feed.head == 0 ? .filling : .active, note: nil, feed: id)
        try await state.feeds.noteAsked(id, at: try await state.now())
        try await state.jobs.add(
            NewJob(kind: .refresh, target: String(id), payload: FeedRefresher.acceptingRemovals))
        await state.signal.send([.jobs])
    }

    /// Reads the query of a feed as several users, and compares the results. A difference suspends the feed
    /// (`mobile-server.md` 5.2).
    ///
    /// - Parameters:
    ///   - id: The number of the feed.
    ///   - credentials: The values of `Authorization` of two or more users.
    /// - Returns: Whether all users see the same rows.
    /// - Throws: ``FeedCommandError``; errors of the back end.
    public func checkShared(_ id: RecordNumber, as credentials: [Secret<String>]) async throws -> Bool {
        guard credentials.count > 1 else { throw FeedCommandError.tooFewUsers }
        guard let feed = try await state.feeds.feed(id) else { throw FeedCommandError.unknownFeed(id) }
        guard let (definition, root) = try await destinations.origin(of: feed) else {
            throw FeedCommandError.unknownFeed(id)
        }
        var first: [[UInt8]: [UInt8]]?
        for value in credentials {
            let authorization = value.reveal()
            let client = try ODataClient(
                serviceRoot: root, transport: destinations.transport,
                authentication: Authentication { $0.headerFields[.authorization] = authorization })
            var rows: [[UInt8]: [UInt8]] = [:]
            _ = try await FeedSource(provider: client, definition: definition).readAll(wantsLink: false) { entities in
                for entity in entities {
                    let row = try definition.codec.row(of: entity)
                    rows[row.key] = row.digest
                }
            }
            guard let known = first else {
                first = rows
                continue
            }
            if known != rows {
                let note = "Two users see different rows, so the query cannot be shared."
                _ = try await state.feeds.setState(.suspended, note: note, feed: id)
                return false
            }
        }
        return true
    }
}

/// A feed as the commands show it.
public struct FeedSummary: Hashable, Sendable, Codable {
    /// The number.
    public var id: RecordNumber
    /// The name of the application.
    public var application: String
    /// The name of the destination.
    public var destination: String
    /// The name of the query.
    public var query: String
    /// The state: `filling`, `active`, `suspended` or `frozen`.
    public var state: String
    /// The reason of a suspension.
    public var note: String?
    /// `link` if the back end gives delta links, else `compare`; empty before the first refresh.
    public var tracking: String
    /// The number of rows.
    public var rows: Int64
    /// The last successful refresh.
    public var checkedAt: Date?
    /// The last change of a row.
    public var changedAt: Date?

    init(_ feed: FeedRecord, application: String) {
        id = feed.id
        self.application = application
        destination = feed.destination
        query = feed.query
        state = feed.state.rawValue
        note = feed.note
        tracking = feed.checkedAt == nil ? "" : feed.link == nil ? "compare" : "link"
        rows = feed.rowCount
        checkedAt = feed.checkedAt?.date
        changedAt = feed.changedAt?.date
    }
}

/// The reason why a command about feeds fails.
public enum FeedCommandError: Error, Hashable, Sendable {
    /// No application has the name.
    case unknownApplication(String)
    /// No feed has the number, or the configuration no longer has its query.
    case unknownFeed(RecordNumber)
    /// The feed is suspended, with the reason.
    case suspended(RecordNumber, String)
    /// The feed is not suspended.
    case notSuspended(RecordNumber)
    /// A comparison needs two users.
    case tooFewUsers
}

extension FeedCommandError: CustomStringConvertible {
    /// A description of the problem.
    public var description: String {
        switch self {
        case .unknownApplication(let name): "There is no application '\(name)'."
        case .unknownFeed(let id): "There is no feed \(id)."
        case .suspended(let id, let note): "The feed \(id) is suspended: \(note) Resume it with 'feed resume \(id)'."
        case .notSuspended(let id): "The feed \(id) is not suspended."
        case .tooFewUsers: "Name the credentials of two users."
        }
    }
}

extension FeedCommandError: CodedError {
    /// The code `feed.…` with the name of the reason.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .unknownApplication: "unknown-application"
            case .unknownFeed: "unknown"
            case .suspended: "suspended"
            case .notSuspended: "not-suspended"
            case .tooFewUsers: "too-few-users"
            }
        return ErrorCode(rawValue: "feed.\(name)")
    }

    /// The kind of remedy.
    public var failureKind: FailureKind {
        switch self {
        case .unknownApplication, .unknownFeed: .missing
        case .suspended, .notSuspended: .conflict
        case .tooFewUsers: .request
        }
    }

    /// The name or number as `value`, and the reason as `reason`.
    public var errorArguments: [String: String] {
        switch self {
        case .unknownApplication(let name): ["value": name]
        case .unknownFeed(let id), .notSuspended(let id): ["value": String(id)]
        case .suspended(let id, let note): ["value": String(id), "reason": note]
        case .tooFewUsers: [:]
        }
    }
}
