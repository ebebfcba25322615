import GRDB
import ODataStore

/// Relations that a link table holds.
struct Relations {
    let mapping: StorageMapping

    /// Takes a queued relation back, or restores one whose end was queued; nothing for any other request.
    func revert(_ request: QueuedRequest, in database: Database) throws {
        guard let navigation = request.detail.navigation, let source = request.detail.sourceRow,
            let target = request.detail.targetRow
        else { return }
        switch request.kind {
        case .link: try set(false, request.entitySet, navigation, from: source, to: target, in: database)
        case .unlink: try set(true, request.entitySet, navigation, from: source, to: target, in: database)
        default: return
        }
    }

    /// Makes a relation or takes it away.
    ///
    /// - Returns: whether that changed anything.
    @discardableResult
    func set(
        _ isRelated: Bool, _ entitySet: String, _ navigation: String, from source: Int64, to target: Int64,
        in database: Database
    ) throws -> Bool {
        guard
            case .link(_, let name, let sourceColumn, let targetColumn)? =
                mapping.tables[entitySet]?.navigation[navigation]
        else { return false }
        let table = name.quotedDatabaseIdentifier
        let (from, to) = (sourceColumn.quotedDatabaseIdentifier, targetColumn.quotedDatabaseIdentifier)
        try database.execute(
            sql: isRelated
                ? "INSERT OR IGNORE INTO \(table)(\(from), \(to)) VALUES (?, ?)"
                : "DELETE FROM \(table) WHERE \(from) = ? AND \(to) = ?", arguments: [source, target])
        return database.changesCount > 0
    }
}
