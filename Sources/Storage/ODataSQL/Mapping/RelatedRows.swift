import GRDB

/// Two rows that a link table relates, from whichever of them that is asked for or done.
public struct RelatedRows: Hashable, Sendable {
    /// The link table.
    public let table: String
    /// The rows, by the columns that hold them.
    public let rows: [String: Int64]

    /// Names two rows.
    package init(table: String, rows: [String: Int64]) {
        self.table = table
        self.rows = rows
    }
}

/// One end of the relations that a link table holds: what one of its columns says.
package struct LinkEnd: Hashable, Sendable {
    /// The set whose rows the column holds.
    package var set: String
    /// Whether a row of it is related to one at most.
    package var isSingle: Bool

    /// The ends of all link tables, by table and column.
    static func all(of tables: some Sequence<TableStorage>) -> [String: [String: LinkEnd]] {
        var ends: [String: [String: LinkEnd]] = [:]
        for table in tables {
            for case (let path, .link(let target, let link, let source, let column)) in table.navigation {
                ends[link, default: [:]][source, default: LinkEnd(set: table.set, isSingle: false)].isSingle =
                    table.singleLinks.contains(path)
                // Only the opposite property, where there is one, says whether that end is a single one.
                if ends[link]?[column] == nil { ends[link]?[column] = LinkEnd(set: target, isSingle: false) }
            }
        }
        return ends
    }
}

/// Relations in link tables. An end that leads to a single entity has one at most: another one takes its place
/// (OData Protocol 4.01, 11.4.6.3).
extension StorageMapping {
    /// The two rows that a navigation property relates; `nil` where no link table holds that.
    package func relatedRows(
        _ set: String, _ navigation: String, from source: Int64, to target: Int64
    ) -> RelatedRows? {
        guard case .link(_, let table, let sourceColumn, let targetColumn)? = tables[set]?.navigation[navigation]
        else { return nil }
        return RelatedRows(table: table, rows: [sourceColumn: source, targetColumn: target])
    }

    /// Whether two relations cannot be at once: a row at an end that leads to a single entity has both.
    package func excludes(_ relation: RelatedRows, _ other: RelatedRows) -> Bool {
        guard relation != other, relation.table == other.table else { return false }
        return singleColumns(relation.table).contains { relation.rows[$0] == other.rows[$0] }
    }

    /// Makes a relation, in the place of those that cannot be with it.
    ///
    /// - Returns: those; and itself, where it was there already.
    @discardableResult
    package func relate(_ relation: RelatedRows, in database: Database) throws -> [RelatedRows] {
        let replaced = try relations(inPlaceOf: relation, in: database)
        guard replaced != [relation] else { return replaced }
        for other in replaced where other != relation { try unrelate(other, in: database) }
        let columns = relation.rows.keys.sorted()
        let names = columns.map { $0.sqlIdentifier }.joined(separator: ", ")
        let marks = columns.map { _ in "?" }.joined(separator: ", ")
        try database.cachedStatement(
            sql: "INSERT OR IGNORE INTO \(relation.table.sqlIdentifier) (\(names)) VALUES (\(marks))"
        ).execute(arguments: StatementArguments(columns.compactMap { relation.rows[$0] }))
        return replaced
    }

    /// Takes a relation away.
    package func unrelate(_ relation: RelatedRows, in database: Database) throws {
        let columns = relation.rows.keys.sorted()
        let condition = columns.map { "\($0.sqlIdentifier) = ?" }.joined(separator: " AND ")
        try database.cachedStatement(
            sql: "DELETE FROM \(relation.table.sqlIdentifier) WHERE \(condition)"
        ).execute(arguments: StatementArguments(columns.compactMap { relation.rows[$0] }))
    }

    /// The relations that are where one is to be: those that cannot be with it, and itself.
    package func relations(inPlaceOf relation: RelatedRows, in database: Database) throws -> [RelatedRows] {
        let columns = relation.rows.keys.sorted()
        let single = singleColumns(relation.table)
        let itself = columns.map { "\($0.sqlIdentifier) = ?" }.joined(separator: " AND ")
        let conditions = ["(\(itself))"] + single.map { "\($0.sqlIdentifier) = ?" }
        let statement = try database.cachedStatement(
            sql: "SELECT \(columns.map { $0.sqlIdentifier }.joined(separator: ", ")) "
                + "FROM \(relation.table.sqlIdentifier) WHERE \(conditions.joined(separator: " OR "))")
        let arguments = StatementArguments((columns + single).compactMap { relation.rows[$0] })
        return try Row.fetchAll(statement, arguments: arguments).map { row in
            var rows: [String: Int64] = [:]
            for (index, column) in columns.enumerated() { rows[column] = row[index] as Int64 }
            return RelatedRows(table: relation.table, rows: rows)
        }
    }

    /// The columns of a link table in which a row stands once at most.
    private func singleColumns(_ table: String) -> [String] {
        (linkEnds[table] ?? [:]).filter { $0.value.isSingle }.keys.sorted()
    }
}
