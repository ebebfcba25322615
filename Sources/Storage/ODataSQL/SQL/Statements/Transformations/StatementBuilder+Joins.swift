import GRDB
import ODataModel
import ODataQuery
import ODataService

/// `join` and `outerjoin` (OData Data Aggregation 4.0, 3.5.1).
extension StatementBuilder {
    /// Joins each row with each of its related rows under a name, in the order of the rows.
    func join(_ join: BoundJoin) throws {
        try settle()
        let shared = numbered()
        let outer = shared.fork()
        let related = try related(along: join.path, of: shared, as: join.variable.identifier)
        for transformation in join.then { try related.apply(transformation) }
        try related.settle()
        guard related.scope.table != nil || !related.names.isEmpty else {
            throw ODataError.notImplemented("\(join.isOuter ? "outerjoin" : "join") of values that are no entities")
        }
        guard related.variants == nil else {
            throw ODataError.notImplemented("concat within \(join.isOuter ? "outerjoin" : "join")")
        }
        let carried = related.carried(adding: [("$r", "ROW_NUMBER() OVER (\(related.window(related.totalOrder)))")])
        let alias = compiler.newAlias()
        let word: SQLFragment = join.isOuter ? "LEFT JOIN" : "JOIN"
        outer.scope.from = """
            \(outer.scope.from) \(word) (\(carried.select)) AS \(name: alias) \
            ON \(column: "$p.0", of: alias) = \(column: "$r", of: outer.scope.alias)
            """
        let attached = carried.scope(alias: alias, root: outer.scope)
        adopt(outer)
        scope.attach(attached, as: join.name, names: related.names, presence: "\(column: "$p.0", of: alias)")
        order = [
            CompiledQuery.SortTerm(
                sql: "\(column: "$r", of: scope.alias)", isNullable: false, isDescending: false),
            CompiledQuery.SortTerm(sql: "\(column: "$r", of: alias)", isNullable: true, isDescending: false),
        ]
        identity = .nothing
        if !partition.isEmpty { mayHaveLostPartitions = true }
    }

    /// Returns the current rows with their numbers as `$r`, so that related rows can refer to them. The numbers are
    /// unique across all partitions.
    func numbered() -> (name: String, fork: () -> StatementBuilder) {
        let terms = totalOrder.map(\.fragment)
        let over: SQLFragment = terms.isEmpty ? "" : "ORDER BY \(list: terms)"
        return share(adding: [("$r", "ROW_NUMBER() OVER (\(over))")])
    }

    /// Returns the related rows along a path from numbered rows, partitioned by the numbers of these rows.
    ///
    /// - Parameter variable: the range variable of a related row in transformations.
    func related(
        along path: BoundPath, of shared: (name: String, fork: () -> StatementBuilder), as variable: Int
    ) throws -> StatementBuilder {
        let inner = shared.fork()
        compiler.scopes[self.variable] = inner.scope
        let members = try compiler.collection(path)
        let related = StatementBuilder(
            compiler: compiler,
            scope: SQLScope(
                alias: members.scope.alias, source: members.scope.source,
                from: "\(inner.scope.fromClause) CROSS JOIN \(members.fromClause)"),
            conditions: members.conditions)
        related.variable = variable
        related.partition = [
            Operand(
                sql: "\(column: "$r", of: inner.scope.alias)", type: .primitive(.int64), codec: .integer,
                isNullable: false)
        ]
        related.allPartitions = "SELECT \(name: "$r") AS \(name: "$p.0") FROM \(name: shared.name)"
        related.mayHaveLostPartitions = true
        compiler.scopes[variable] = related.scope
        return related
    }
}
