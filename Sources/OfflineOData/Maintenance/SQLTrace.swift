import GRDB

/// What is told of the SQL statements that a store runs, to find out why something is slow.
///
/// Keys and passphrases are never in a statement: the file is encrypted below SQLite.
public enum SQLTrace: Sendable {
    /// Each statement with `?` for its values: no value of an entity is shown.
    case statements(@Sendable (String) -> Void)
    /// Each statement with its values, which may be anybody's secrets.
    case withValues(@Sendable (String) -> Void)

    /// Tells of each statement of a connection from now on.
    func begin(in database: Database) {
        database.trace { event in
            switch self {
            case .statements(let tell): tell(event.description)
            case .withValues(let tell): tell(event.expandedDescription)
            }
        }
    }
}
