import GRDB

/// What is told of the SQL statements that a store runs, to find out why something is slow.
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
    /// Each statement with its values, which are those of the entities. What the app gives beside them is not shown: the
    /// header fields of queued requests, which may be of an authentication, and the values of parameters, also where the
    /// service repeats them in its links.
    case withValues(@Sendable (String) -> Void)

    /// Tells of each statement of a connection from now on.
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

    /// Tables of the engine whose values are not shown.
    private static let secretTables = [QueueTable.name, "outpost_query", "outpost_shelf", "outpost_setting"]
}
