import GRDB
import ODataStore

/// Relations that a link table holds.
struct Relations {
    let mapping: StorageMapping

    /// Two rows that a link table relates, from whichever of them that is asked for or done.
    struct Pair: Hashable {
        /// The link table.
        let table: String
        /// The rows, by the columns that hold them.
        let rows: [String: Int64]
    }

    /// The two rows that a navigation property relates; `nil` where no link table holds that.
    func pair(_ entitySet: String, _ navigation: String, from source: Int64, to target: Int64) -> Pair? {
        guard
            case .link(_, let table, let sourceColumn, let targetColumn)? =
                mapping.tables[entitySet]?.navigation[navigation]
        else { return nil }
        return Pair(table: table, rows: [sourceColumn: source, targetColumn: target])
    }

    /// The two rows that a queued request relates, or takes apart; `nil` for any other request.
    func pair(of request: QueuedRequest) -> Pair? {
        guard !request.isWithoutPlace, let navigation = request.detail.navigation,
            let source = request.detail.sourceRow, let target = request.detail.targetRow
        else { return nil }
        return pair(request.entitySet, navigation, from: source, to: target)
    }

    /// Takes a queued relation back, or restores one whose end was queued; nothing for any other request.
    func revert(_ request: QueuedRequest, in database: Database) throws {
        guard let pair = pair(of: request) else { return }
        try set(request.kind == .unlink, pair, in: database)
    }

    /// Makes a relation or takes it away.
    func set(_ isRelated: Bool, _ pair: Pair, in database: Database) throws {
        let table = pair.table.quotedDatabaseIdentifier
        let ends = pair.rows.sorted { $0.key < $1.key }
        let columns = ends.map { $0.key.quotedDatabaseIdentifier }
        try database.execute(
            sql: isRelated
                ? "INSERT OR IGNORE INTO \(table)(\(columns.joined(separator: ", "))) VALUES (?, ?)"
                : "DELETE FROM \(table) WHERE \(columns.joined(separator: " = ? AND ")) = ?",
            arguments: StatementArguments(ends.map { $0.value }))
    }
}
