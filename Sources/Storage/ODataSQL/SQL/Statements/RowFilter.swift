import GRDB
import ODataModel
import ODataQuery
import ODataService

/// The condition for the rows that are visible to a caller.
package struct RowFilter: Sendable {
    /// The condition, which refers to ``variable``.
    package let condition: BoundExpression
    /// The variable of the row.
    let variable: RangeVariable?

    /// A filter that no row satisfies.
    package static let nothing = RowFilter(
        condition: .constant(.boolean(false), .primitive(.boolean)), variable: nil)

    private init(condition: BoundExpression, variable: RangeVariable?) {
        self.condition = condition
        self.variable = variable
    }

    /// Parses a `$filter` expression.
    ///
    /// - Throws: ``ODataError`` 500, because the error is in the service.
    package init(_ text: String, shape: TypeShape, set: EntitySet?, binder: Binder) throws {
        do throws(QueryError) {
            var options = QueryOptions()
            options.filter = try CommonExpression(parsing: text)
            let query = try binder.bindQuery(options, shape: shape, set: set)
            condition = query.filter ?? .constant(.boolean(true), .primitive(.boolean))
            variable = query.variable
        } catch {
            throw ODataError(
                status: 500, code: "InvalidRowFilter", message: "The row filter of \(shape) is wrong: \(error)")
        }
    }

    /// Returns whether a row satisfies the condition.
    ///
    /// - Parameter now: the value of `now()`.
    package func matches(
        _ rowID: Int64, of table: TableStorage, mapping: StorageMapping, now: ODataDateTimeOffset,
        in database: Database
    ) throws -> Bool {
        let compiler = ExpressionCompiler(mapping: mapping, options: SQLCompiler.Options(now: now))
        let fragment: SQLFragment =
            "SELECT \(try compiler.exists(self, of: table, rowID: "\(bind: rowID.databaseValue)"))"
        return try Bool.fetchOne(
            database, sql: fragment.sql, arguments: StatementArguments(fragment.arguments)) ?? false
    }
}

extension ExpressionCompiler {
    /// Returns the condition that a row of a table is visible to the caller; `nil` if all rows are visible.
    func authorization(of table: TableStorage, alias: String) throws -> SQLFragment? {
        // Within a row filter, all rows are visible, because the service evaluates it.
        guard !isWithinRowFilter, let filter = try options.rowFilter?(table.set), let rowID = table.rowID else {
            return nil
        }
        return try exists(filter, of: table, rowID: "\(column: rowID, of: alias)")
    }

    /// Returns whether the row with an id satisfies a filter. The subquery keeps the joins of the filter separate.
    func exists(_ filter: RowFilter, of table: TableStorage, rowID: SQLFragment) throws -> SQLFragment {
        guard let variable = filter.variable, let column = table.rowID else {
            return try condition(filter.condition)
        }
        let alias = newAlias()
        let scope = SQLScope(
            alias: alias, source: .table(table), from: "\(name: table.table) AS \(name: alias)")
        let (outer, wasWithin) = (scopes[variable.identifier], isWithinRowFilter)
        scopes[variable.identifier] = scope
        isWithinRowFilter = true
        defer {
            scopes[variable.identifier] = outer
            isWithinRowFilter = wasWithin
        }
        let condition = try condition(filter.condition)
        return """
            EXISTS (SELECT 1 FROM \(scope.fromClause) WHERE \(column: column, of: alias) = \(rowID) AND (\(condition)))
            """
    }
}
