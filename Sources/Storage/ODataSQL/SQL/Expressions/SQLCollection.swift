import ODataModel

/// The members of a collection as rows: related entities, entities of a set, or members of a JSON array.
struct SQLCollection {
    /// The tables in FROM; the last one belongs to ``scope``. Each table may refer to the preceding ones.
    var tables: [SQLFragment]
    var scope: SQLScope
    /// The conditions that relate the members to the start of the path, and the conditions along the path.
    var conditions: [SQLFragment]
    /// The type of the members.
    var shape: TypeShape?
    /// Whether there is at most one member, selected by its key.
    var isSingle = false
    /// The scopes along the path, whose joins are in the same FROM.
    var passed: [SQLScope] = []

    /// FROM with all joins of expressions over the members.
    var fromClause: SQLFragment {
        // CROSS JOIN preserves the order of a path from its start.
        "\(list: tables, by: " CROSS JOIN ")\(joins)"
    }

    private var joins: SQLFragment {
        let all = (passed + [scope]).flatMap(\.owner.joins)
        return all.isEmpty ? "" : " \(list: all, by: " ")"
    }

    /// Returns the SQL after SELECT and its columns.
    func rows(where more: [SQLFragment] = []) -> SQLFragment {
        "FROM \(fromClause)\(ExpressionCompiler.whereClause(conditions + more))"
    }
}
