import GRDB

/// Two rows that a link table relates, without a direction.
public struct RelatedRows: Hashable, Sendable {
    /// The link table.
    public let table: String
    /// The row ids by column.
    public let rows: [String: Int64]

    /// Creates a relation between two rows.
    package init(table: String, rows: [String: Int64]) {
        self.table = table
        self.rows = rows
    }
}

/// One end of the relations in a link table, which corresponds to one column.
package struct LinkEnd: Hashable, Sendable {
    /// The set of the rows in the column.
    package var set: String
    /// Whether each row is related to at most one row.
    package var isSingle: Bool

    /// Returns the ends of all link tables, by table and column.
    static func all(of tables: some Sequence<TableStorage>) -> [String: [String: LinkEnd]] {
        var ends: [String: [String: LinkEnd]] = [:]
        for table in tables {
            for case (let path, .link(let target, let link, let source, let column)) in table.navigation {
                ends[link, default: [:]][source, default: LinkEnd(set: table.set, isSingle: false)].isSingle =
                    table.singleLinks.contains(path)
                // Whether the other end is single is declared by the partner property, if there is one.
                if ends[link]?[column] == nil { ends[link]?[column] = LinkEnd(set: target, isSingle: false) }
            }
        }
        return ends
    }
}

/// Relations in link tables. If a navigation property leads to a single entity, a new relation replaces the
/// existing one (OData Protocol 4.01, 11.4.6.3).
extension StorageMapping {
    /// Returns the two rows that a navigation property relates; `nil` if the property has no link table.
    package func relatedRows(
        _ set: String, _ navigation: String, from source: Int64, to target: Int64
    ) -> RelatedRows? {
        guard case .link(_, let table, let sourceColumn, let targetColumn)? = tables[set]?.navigation[navigation]
        else { return nil }
        return RelatedRows(table: table, rows: [sourceColumn: source, targetColumn: target])
    }

    /// Returns whether two relations exclude each other, because a row at a single-valued end would have both.
    package func excludes(_ relation: RelatedRows, _ other: RelatedRows) -> Bool {
        guard relation != other, relation.table == other.table else { return false }
        return singleColumns(relation.table).contains { relation.rows[$0] == other.rows[$0] }
    }

    /// Adds a relation and removes the relations that exclude it.
    ///
    /// - Returns: The removed relations; also the relation itself if it existed already.
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

    /// Removes a relation.
    package func unrelate(_ relation: RelatedRows, in database: Database) throws {
        let columns = relation.rows.keys.sorted()
        let condition = columns.map { "\($0.sqlIdentifier) = ?" }.joined(separator: " AND ")
        try database.cachedStatement(
            sql: "DELETE FROM \(relation.table.sqlIdentifier) WHERE \(condition)"
        ).execute(arguments: StatementArguments(columns.compactMap { relation.rows[$0] }))
    }

    /// Returns the relations that exclude the given one, and the relation itself if it exists.
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

    /// Returns the columns of a link table that contain each row at most once.
    private func singleColumns(_ table: String) -> [String] {
        (linkEnds[table] ?? [:]).filter { $0.value.isSingle }.keys.sorted()
    }
}
