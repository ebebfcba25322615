import GRDB

/// One thing that happened to the store.
public struct SyncEvent: Hashable, Sendable {
    /// When, as an ISO 8601 instant.
    public let at: String
    /// What kind of thing: `created`, `download`, `accepted`, `failed`, …
    public let kind: String
    /// What happened, without values of entities.
    public let text: String
}

/// The store's diary, bounded.
enum Events {
    /// How many events are kept.
    static let limit = 10_000

    static func add(_ kind: String, _ text: String, _ environment: Environment, in database: Database) throws {
        try database.execute(
            sql: "INSERT INTO outpost_event(at, kind, text) VALUES (?, ?, ?)",
            arguments: [environment.instant.description, kind, text])
        try database.execute(
            sql: "DELETE FROM outpost_event WHERE id <= ?", arguments: [database.lastInsertedRowID - Int64(limit)])
    }

    /// The newest events, newest first.
    static func newest(_ count: Int, in database: Database) throws -> [SyncEvent] {
        try Row.fetchAll(
            database, sql: "SELECT at, kind, text FROM outpost_event ORDER BY id DESC LIMIT ?", arguments: [count]
        ).map { SyncEvent(at: $0[0], kind: $0[1], text: $0[2]) }
    }
}
