import GRDB
import ODataModel

/// One thing that happened to the store.
///
/// ```swift
/// for event in try await store.observe.events() { show(event.kind, event.text) }
/// ```
public struct SyncEvent: Hashable, Sendable, Identifiable {
    /// The number, growing.
    public let id: Int64
    /// The time; `nil` if the store is damaged there.
    public let at: ODataDateTimeOffset?
    /// What kind of thing: `created`, `download`, `upload`, `accepted`, `failed`, …
    public let kind: String
    /// What happened, without values of entities.
    public let text: String
    /// Which defining queries or categories it was about; `nil` for all.
    public var details: String?
    /// How many rows or requests it was about, where that is a number.
    public var requests: Int?
    /// How many of them failed.
    public var failures: Int?
    /// How many bytes went over the wire, where somebody counted.
    public var bytes: Int64?

    /// The kind as the event log has it: `Download`, `Upload`.
    var type: String { kind.prefix(1).uppercased() + kind.dropFirst() }
}

/// The store's diary, bounded.
enum Events {
    /// How many events are kept.
    static let limit = 10_000

    /// What an event says besides its text.
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
