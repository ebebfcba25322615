import GRDB
import ODataModel
import ODataQuery
import ODataService

/// `nest` and `addnested` (OData Data Aggregation 4.0, 3.4.2 and 3.5.1): rows that become a collection within a
/// row.
///
/// SQLite creates the collection as JSON text in the form of a response, so that the inner rows need neither
/// separate statements nor memory.
extension StatementBuilder {
    /// Applies `nest`: one row with the result of each item's transformations of the rows.
    func nest(_ items: [BoundNest]) throws {
        try settle()
        try apart(
            items.map { item in
                Part(name: item.name, empty: "'[]'") { rows in try rows.gathered(item.transformations) }
            }, [])
        order = []
        expands = []
        variants = nil
        limit = nil
        identity = .values([])
        compiler.scopes[variable] = scope
    }

    /// Applies `addnested`: each row with the result of each item's transformations of its related rows.
    func addNested(_ path: BoundPath, _ items: [BoundNest]) throws {
        try settle()
        let shared = numbered()
        let outer = shared.fork()
        for item in items {
            let related = try related(along: path, of: shared, as: variable)
            guard related.scope.table != nil else {
                throw ODataError.notImplemented("addnested to values that are no entities")
            }
            let (select, made) = try related.gathered(item.transformations)
            let alias = compiler.newAlias()
            outer.scope.from = """
                \(outer.scope.from) LEFT JOIN (\(select)) AS \(name: alias) \
                ON \(column: "$p.0", of: alias) = \(column: "$r", of: outer.scope.alias)
                """
            var result = made.moved(to: "coalesce(\(column: "$a", of: alias), '[]')")
            result.isNullable = false
            outer.scope.computed[item.name] = result
        }
        adopt(outer)
        names += items.map(\.name)
        changeKinds { $0.names += items.map(\.name) }
    }

    /// The maximum number of collections that one statement nests, which bounds the depth of their JSON.
    private static let maxNested = 32

    /// Returns the rows of each partition as a JSON array with the name `$a`.
    ///
    /// - Throws: ``ODataError`` 400 beyond ``maxNested``.
    private func gathered(_ transformations: [BoundTransformation]) throws -> (SQLFragment, Operand) {
        compiler.nested += 1
        guard compiler.nested <= Self.maxNested else { throw ODataError.tooComplex }
        for transformation in transformations { try apply(transformation) }
        try settle()
        var columns = partition.enumerated().map { "\($1.sortable) AS \(name: "$p.\($0)")" as SQLFragment }
        let keys = columns.indices.map { "\(name: "$p.\($0)")" as SQLFragment }
        columns.append("\(try rowText()) AS \(name: "$j")")
        let terms = keys + totalOrder.map(\.fragment)
        let sorting: SQLFragment = terms.isEmpty ? "" : " ORDER BY \(list: terms)"
        var select: SQLFragment = """
            SELECT \(list: keys + ["'[' || coalesce(group_concat(\(name: "$j"), ','), '') || ']' AS \(name: "$a")"]) \
            FROM (SELECT \(list: columns) FROM \(scope.fromClause)\(ExpressionCompiler.whereClause(conditions))\(sorting))
            """
        if !keys.isEmpty { select += " GROUP BY \(list: keys)" }
        return (select, Operand(sql: "", type: .untyped("Edm.Untyped"), codec: .json, isNullable: false))
    }
}
