import ODataModel

/// The members of a collection as rows: related entities, those of an entity set, or the members of JSON.
struct SQLCollection {
    /// What stands in FROM, the last one first told by ``scope``; each may refer to those before it.
    var tables: [SQLFragment]
    /// A member.
    var scope: SQLScope
    /// What ties the members to where the path starts, and the conditions on the way.
    var conditions: [SQLFragment]
    /// The type of the members.
    var shape: TypeShape?
    /// Whether there is one member at most: the one with a key.
    var isSingle = false
    /// The scopes on the way, whose joins stand in the same FROM.
    var passed: [SQLScope] = []

    /// FROM with all joins that expressions over the members have added.
    var fromClause: SQLFragment {
        // CROSS JOIN keeps the order of a path, from where it starts.
        "\(list: tables, by: " CROSS JOIN ")\(joins)"
    }

    private var joins: SQLFragment {
        let all = (passed + [scope]).flatMap(\.owner.joins)
        return all.isEmpty ? "" : " \(list: all, by: " ")"
    }

    /// Everything behind SELECT and its columns.
    func rows(where more: [SQLFragment] = []) -> SQLFragment {
        "FROM \(fromClause)\(ExpressionCompiler.whereClause(conditions + more))"
    }
}
