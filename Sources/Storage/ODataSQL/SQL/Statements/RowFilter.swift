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
    package init(_ filter: AccessFilter, shape: TypeShape, set: EntitySet?, binder: Binder) throws {
        do throws(QueryError) {
            var options = QueryOptions()
            options.filter = try CommonExpression(parsing: filter.text)
            options.aliases = filter.values.mapValues { .literal(Literal(.string($0), type: .string)) }
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
        _ row: AccessControl.CheckedRow, of table: TableStorage, mapping: StorageMapping, now: ODataDateTimeOffset,
        in database: Database
    ) throws -> Bool {
        let compiler = ExpressionCompiler(mapping: mapping, options: SQLCompiler.Options(now: now))
        var identity: [(column: String, value: SQLFragment)] = []
        if let column = table.rowID, let rowID = row.rowID {
            identity = [(column, "\(bind: rowID.databaseValue)")]
        } else {
            for (part, column) in zip(table.shape.key, table.keyColumns) {
                guard let value = row.entity[part.path], let stored = try? column.codec.encode(value) else {
                    return false
                }
                identity.append((column.name, "\(bind: stored)"))
            }
        }
        guard !identity.isEmpty else { return false }
        let fragment: SQLFragment = "SELECT \(try compiler.exists(self, of: table, identity: identity))"
        return try Bool.fetchOne(
            database, sql: fragment.sql, arguments: StatementArguments(fragment.arguments)) ?? false
    }
}

extension ExpressionCompiler {
    /// Returns the condition that a row of a table is visible to the caller; `nil` if all rows are visible.
    func authorization(of table: TableStorage, alias: String) throws -> SQLFragment? {
        // Within a row filter, all rows are visible, because the service evaluates it.
        guard !isWithinRowFilter, let filter = try options.rowFilter?(table.set) else { return nil }
        let columns = table.rowID.map { [$0] } ?? table.keyColumns.map(\.name)
        return try exists(filter, of: table, identity: columns.map { ($0, "\(column: $0, of: alias)") })
    }

    /// Returns whether the row with a row id, or with a key if the table has no row ids, satisfies a filter. The
    /// subquery keeps the joins of the filter separate.
    func exists(
        _ filter: RowFilter, of table: TableStorage, identity: [(column: String, value: SQLFragment)]
    ) throws -> SQLFragment {
        guard let variable = filter.variable else { return try condition(filter.condition) }
        guard !identity.isEmpty else { throw Self.unsupported("a row filter on \(table.set), which has no key") }
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
        let same = identity.map { part -> SQLFragment in "\(column: part.column, of: alias) IS \(part.value)" }
        return "EXISTS (SELECT 1 FROM \(scope.fromClause) WHERE \(.conjunction(same)) AND (\(condition)))"
    }
}
