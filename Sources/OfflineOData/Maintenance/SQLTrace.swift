import GRDB
import ODataStore

/// What is told of the SQL statements that a store runs, to find out why something is slow.
///
/// Keys and passphrases are never in a statement: the file is encrypted below SQLite.
public enum SQLTrace: Sendable {
    /// Each statement with `?` for its values: no value of an entity is shown.
    case statements(@Sendable (String) -> Void)
    /// Each statement with its values, which may be anybody's secrets.
    case withValues(@Sendable (String) -> Void)

    /// Options of the connections with this trace.
    static func adding(_ trace: SQLTrace?, to options: StoreDatabase.Options) -> StoreDatabase.Options {
        guard let trace else { return options }
        var options = options
        let prepare = options.prepare
        options.prepare = { database in
            try prepare?(database)
            database.trace { event in
                switch trace {
                case .statements(let tell): tell(event.description)
                case .withValues(let tell): tell(event.expandedDescription)
                }
            }
        }
        return options
    }
}
