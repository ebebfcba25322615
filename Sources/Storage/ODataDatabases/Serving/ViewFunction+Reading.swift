import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

extension ForeignModel.ViewFunction {
    /// The maximum number of returned rows. The result has no key, so it cannot be divided into pages.
    static let rowLimit = 100_000

    /// Returns the handler of a function call.
    ///
    /// - Parameters:
    ///   - model: the model that contains the function.
    ///   - now: a closure that returns the value of `now()`.
    func handler(
        in model: EntityDataModel, now: @escaping @Sendable () -> ODataDateTimeOffset
    ) -> StoreProvider.OperationHandler {
        let table = TableStorage(
            set: name, shape: shape, table: view, rowID: nil, properties: columns.map { .column($0) }, etag: .none,
            isReadOnly: true)
        let mapping = StorageMapping(model: model, tables: [table])
        return { call, database in
            let query = try query(call.request.url.options, model)
            let compiler = ExpressionCompiler(mapping: mapping, options: SQLCompiler.Options(now: now()))
            let alias = compiler.newAlias()
            let scope = SQLScope(alias: alias, source: .table(table), from: "\(name: view) AS \(name: alias)")
            compiler.scopes[query.variable.identifier] = scope
            let rows = ViewRows(
                function: self, scope: scope, conditions: try query.filter.map { [try compiler.condition($0)] } ?? [],
                order: try query.orderBy.map(StatementBuilder(compiler: compiler, scope: scope).term))
            if case .count = call.resource.target { return .count(try rows.count(in: database)) }
            let values = try rows.read(query, in: database, model: model)
            if query.count { return .page(EntityPage(entities: values, count: try rows.count(in: database))) }
            return .value(.collection(values.map { .complex($0) }), .collection(.complex(shape.name)))
        }
    }

    /// Returns the query options of a call. `$format` and custom options do not affect the rows.
    ///
    /// - Throws: 501 with the name of an option that needs pages, entities or other columns.
    private func query(_ options: QueryOptions, _ model: EntityDataModel) throws -> BoundQuery {
        let query: BoundQuery
        do throws(QueryError) {
            query = try Binder(model: model).bindQuery(options, shape: shape, set: nil)
        } catch {
            throw ODataError(error)
        }
        let refused = [
            ("$apply", !query.apply.isEmpty), ("$compute", !query.compute.isEmpty), ("$search", query.search != nil),
            ("$expand", !query.expand.isEmpty), ("$skiptoken", query.skipToken != nil),
            ("$deltatoken", query.deltaToken != nil),
        ].first { $0.1 }
        if let refused {
            throw ODataError.notImplemented("\(refused.0) on the result of \(name), a view without a key,")
        }
        return query
    }
}

/// The requested rows of a view.
private struct ViewRows {
    let function: ForeignModel.ViewFunction
    let scope: SQLScope
    let conditions: [SQLFragment]
    let order: [CompiledQuery.SortTerm]

    private var source: SQLFragment { "FROM \(scope.fromClause)\(ExpressionCompiler.whereClause(conditions))" }

    /// Returns the number of rows that satisfy the conditions.
    func count(in database: Database) throws -> Int64 {
        let sql: SQLFragment = "SELECT COUNT(*) \(source)"
        return try Int64.fetchOne(database, sql: sql.sql, arguments: StatementArguments(sql.arguments)) ?? 0
    }

    /// Returns the rows in order.
    ///
    /// - Throws: 501 for more rows than ``ForeignModel/ViewFunction/rowLimit``; ``StoredValueError`` with the
    ///   row number for a value that its column cannot represent.
    func read(_ query: BoundQuery, in database: Database, model: EntityDataModel) throws -> [ODataEntity] {
        let limit = type(of: function).rowLimit
        var sql: SQLFragment = "SELECT \(list: function.columns.map { scope.sql($0.name) }) \(source)"
        if !order.isEmpty { sql += " ORDER BY \(list: order.map(\.fragment))" }
        sql += """
             LIMIT \(bind: min(query.top ?? .max, limit + 1).databaseValue) \
            OFFSET \(bind: (query.skip ?? 0).databaseValue)
            """
        var selected: Set<Int>?
        if case .some(let ordinals, _) = query.projection { selected = Set(ordinals) }
        let rows = try Row.fetchCursor(database, sql: sql.sql, arguments: StatementArguments(sql.arguments))
        var entities: [ODataEntity] = []
        while let row = try rows.next() {
            guard entities.count < limit else {
                throw ODataError(
                    status: 501, code: "TooManyRows",
                    message: """
                        \(function.name) has more than \(limit) rows; ask for fewer with $filter or $top, or give the \
                        view a key to read it in pages.
                        """, target: function.name)
            }
            var entity = ODataEntity(shape: function.shape)
            for (ordinal, column) in function.columns.enumerated() where selected?.contains(ordinal) ?? true {
                do {
                    entity.values[ordinal] = try column.decode(row[ordinal], in: model)
                } catch {
                    throw error.at(table: function.view, row: "number \(entities.count + 1)")
                }
            }
            entity.markUnchanged()
            entities.append(entity)
        }
        return entities
    }
}
