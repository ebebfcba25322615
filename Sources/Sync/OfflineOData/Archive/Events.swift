import GRDB
import ODataModel

/// One event of the store.
///
/// ```swift
/// for event in try await store.observe.events() { show(event.kind, event.text) }
/// ```
public struct SyncEvent: Hashable, Sendable, Identifiable {
    /// The number, which grows with each event.
    public let id: Int64
    /// The time; `nil` if the store is damaged there.
    public let at: ODataDateTimeOffset?
    /// The kind of event: `created`, `download`, `upload`, `accepted`, `failed`, …
    public let kind: String
    /// A description without values of entities.
    public let text: String
    /// The defining queries or categories of the event; `nil` for all.
    public var details: String?
    /// The number of rows or requests, if the event has one.
    public var requests: Int?
    /// The number of failed requests.
    public var failures: Int?
    /// The number of transferred bytes, if they were counted.
    public var bytes: Int64?

    /// The kind as it appears in the event log: `Download`, `Upload`.
    var type: String { kind.prefix(1).uppercased() + kind.dropFirst() }
}

/// The event log of a store, with a limited length.
enum Events {
    /// The number of events that are kept.
    static let limit = 10_000

    /// The figures of an event.
    struct Figures: Sendable {
        var details: String?
        var requests: Int?
        var failures: Int?
        var bytes: Int64?
    }

    static func add(
        _ kind: String, _ text: String, environment: EngineEnvironment, figures: Figures = Figures(),
        in database: Database
    ) throws {
        try database.execute(
            sql: """
                INSERT INTO outpost_event(at, kind, text, details, requests, failures, bytes)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                environment.instant.description, kind, text, figures.details, figures.requests, figures.failures,
                figures.bytes,
            ])
        try database.execute(
            sql: "DELETE FROM outpost_event WHERE id <= ?", arguments: [database.lastInsertedRowID - Int64(limit)])
    }

    /// The newest events, newest first.
    static func newest(_ count: Int, in database: Database) throws -> [SyncEvent] {
        try Row.fetchAll(
            database, sql: "SELECT * FROM outpost_event ORDER BY id DESC LIMIT ?", arguments: [count]
        ).map(decode)
    }

    /// All events, oldest first.
    static func all(in database: Database) throws -> [SyncEvent] {
        try Row.fetchAll(database, sql: "SELECT * FROM outpost_event ORDER BY id").map(decode)
    }

    private static func decode(_ row: Row) -> SyncEvent {
        SyncEvent(
            id: row["id"], at: ODataDateTimeOffset(row["at"] as String), kind: row["kind"], text: row["text"],
            details: row["details"],
            requests: row["requests"], failures: row["failures"], bytes: row["bytes"])
    }
}
