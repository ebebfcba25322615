import GRDB

/// The trace of the SQL statements of a store, to find out why something is slow.
///
/// Keys and passphrases are never in a statement: the file is encrypted below SQLite.
///
/// ```swift
/// var options = OfflineStore.Options()
/// options.runtime.trace = .statements { statement in print(statement) }
/// ```
public enum SQLTrace: Sendable {
    /// Each statement with `?` for its values: no value of an entity is shown.
    case statements(@Sendable (String) -> Void)
    /// Each statement with the values of entities. Other values of the app are not shown: header fields of queued
    /// requests, which may contain credentials, and values of parameters, including those in links of the
    /// service.
    case withValues(@Sendable (String) -> Void)

    /// Starts the trace of a connection.
    func begin(in database: Database) {
        database.trace { event in
            switch self {
            case .statements(let tell): tell(event.description)
            case .withValues(let tell):
                let statement = event.description
                tell(Self.secretTables.contains { statement.contains($0) } ? statement : event.expandedDescription)
            }
        }
    }

    /// The tables of the engine with hidden values.
    private static let secretTables = [QueueTable.name, "outpost_query", "outpost_shelf", "outpost_setting"]
}
