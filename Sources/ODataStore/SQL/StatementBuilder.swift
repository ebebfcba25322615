import GRDB
import ODataModel
import ODataQuery
import ODataService

/// Builds one SELECT: source, transformations, conditions, order and result columns.
final class StatementBuilder {
    let compiler: ExpressionCompiler
    private(set) var scope: SQLScope
    private(set) var conditions: [SQLFragment] = []
    private(set) var order: [CompiledQuery.SortTerm] = []
    /// The names of computed, grouped and aggregated values in the order of the result.
    private(set) var names: [String] = []
    /// The grouped values, which tell the rows of a `groupby` apart.
    private var groupTerms: [CompiledQuery.SortTerm]?
    private var limit: Int?
    private var offset: Int?

    init(mapping: StorageMapping, options: SQLCompiler.Options) {
        compiler = ExpressionCompiler(mapping: mapping, options: options)
        scope = SQLScope(alias: "", source: .derived, from: "")
    }

    /// Starts from a scope that somebody else has put together: the rows of an expanded property.
    func start(_ scope: SQLScope, conditions: [SQLFragment]) {
        self.scope = scope
        self.conditions = conditions
    }

    func build(_ query: BoundQuery, at segments: [BoundSegment]) throws -> CompiledQuery {
        let (scope, conditions) = try ResourceChain(segments, mapping: compiler.mapping).source(compiler)
        start(scope, conditions: conditions)
        return try build(query)
    }

    /// Everything after the source.
    func build(_ query: BoundQuery) throws -> CompiledQuery {
        if query.search != nil { throw ODataError.notImplemented("$search") }
        let variable = query.variable.identifier
        compiler.scopes[variable] = scope
        if let table = scope.table, query.shape != table.shape,
            !compiler.mapping.model.isType(table.shape.name, query.shape.name)
        {
            conditions.append(try compiler.typeCondition(scope, table, query.shape.name))
        }
        for transformation in query.apply { try apply(transformation, variable) }
        for item in query.compute { try compute(item) }
        if let filter = query.filter {
            if limit != nil || offset != nil { try wrap(variable) }
            conditions.append(try compiler.condition(filter))
        }
        if !query.orderBy.isEmpty {
            if limit != nil || offset != nil { try wrap(variable) }
            order = try query.orderBy.map(term)
        }
        // Paging compares sort values, which must see what `top` left over.
        if limit != nil || offset != nil { try wrap(variable) }
        return try finish(query)
    }

    private func term(_ item: BoundOrder) throws -> CompiledQuery.SortTerm {
        var operand = try compiler.value(item.expression)
        if operand.codec == .guidText { operand = try compiler.normalized(operand) }
        if operand.codec == .json { throw ODataError.notImplemented("$orderby of \(operand.type)") }
        return CompiledQuery.SortTerm(
            sql: operand.sortable, isNullable: operand.isNullable, isDescending: item.isDescending)
    }

    // MARK: Transformations

    private func apply(_ transformation: BoundTransformation, _ variable: Int) throws {
        switch transformation {
        case .identity: break
        case .filter(let filter, _):
            if limit != nil || offset != nil { try wrap(variable) }
            conditions.append(try compiler.condition(filter))
        case .compute(let items, _):
            if limit != nil || offset != nil { try wrap(variable) }
            for item in items { try compute(item) }
        case .orderBy(let items, _):
            if limit != nil || offset != nil { try wrap(variable) }
            order = try items.map(term)
        case .top(let count, _):
            if limit != nil || offset != nil { try wrap(variable) }
            limit = count
        case .skip(let count, _):
            if limit != nil || offset != nil { try wrap(variable) }
            offset = count
        case .aggregate(let items, _): try group(by: [], items, variable)
        case .groupBy(let paths, let items, _): try group(by: paths, items, variable)
        default: throw ODataError.notImplemented("The transformation \(transformation.name)")
        }
    }

    private func compute(_ item: BoundCompute) throws {
        let operand = try compiler.value(item.expression)
        if scope.computed[item.name] == nil { names.append(item.name) }
        scope.computed[item.name] = operand
    }

    private func group(by paths: [BoundPath], _ items: [BoundAggregate], _ variable: Int) throws {
        if items.contains(where: { $0.members != nil || !$0.from.isEmpty || $0.function != nil }) {
            throw ODataError.notImplemented("aggregate over a collection, with from or with a method of the app's own")
        }
        if limit != nil || offset != nil { try wrap(variable) }
        var columns: [SQLFragment] = []
        var groups: [SQLFragment] = []
        var results: [(name: String, column: String, operand: Operand)] = []
        for (index, path) in paths.enumerated() {
            let name = ExpressionCompiler.name(of: path.steps)
            var operand = try compiler.scalar(path)
            if !operand.codec.isComparable { operand = try compiler.normalized(operand) }
            if operand.codec == .json { throw ODataError.notImplemented("groupby of \(operand.type)") }
            columns.append("\(operand.sql) AS \(name: "g\(index)")")
            groups.append(operand.sortable)
            results.append((name, "g\(index)", operand))
        }
        for (index, item) in items.enumerated() {
            let operand = try aggregate(item)
            columns.append("\(operand.sql) AS \(name: "a\(index)")")
            results.append((item.name, "a\(index)", operand))
        }
        var select: SQLFragment =
            "SELECT \(list: columns) FROM \(scope.fromClause)\(ExpressionCompiler.whereClause(conditions))"
        if !groups.isEmpty { select += " GROUP BY \(list: groups)" }
        let alias = compiler.newAlias()
        let grouped = SQLScope(alias: alias, source: .derived, from: "(\(select)) AS \(name: alias)")
        names = []
        for (name, column, operand) in results {
            var visible = operand
            visible.sql = "\(column: column, of: alias)"
            visible.constant = nil
            grouped.computed[name] = visible
            names.append(name)
        }
        groupTerms = results.prefix(paths.count).compactMap { result in
            grouped.computed[result.name].map {
                CompiledQuery.SortTerm(sql: $0.sortable, isNullable: $0.isNullable, isDescending: false)
            }
        }
        replace(grouped, variable)
        order = []
    }

    private func replace(_ new: SQLScope, _ variable: Int) {
        scope = new
        compiler.scopes[variable] = new
        conditions = []
        limit = nil
        offset = nil
    }

    /// Puts what there is so far into a derived table with the same columns, so that what follows works on the
    /// rows that a limit left over.
    private func wrap(_ variable: Int) throws {
        let alias = compiler.newAlias()
        var columns: [SQLFragment] = []
        if let table = scope.table {
            columns.append("\(name: scope.alias).*")
            // A rowid that is no declared column is not among the star's.
            if let rowID = table.rowID, ["rowid", "_rowid_", "oid"].contains(rowID.lowercased()) {
                columns.append("\(column: rowID, of: scope.alias) AS \(name: rowID)")
            }
        }
        var computed: [String: Operand] = [:]
        for (index, name) in scope.computed.keys.sorted().enumerated() {
            guard var operand = scope.computed[name] else { continue }
            columns.append("\(operand.sql) AS \(name: "c.\(index)")")
            operand.sql = "\(column: "c.\(index)", of: alias)"
            operand.constant = nil
            computed[name] = operand
        }
        var terms: [CompiledQuery.SortTerm] = []
        for (index, term) in order.enumerated() {
            columns.append("\(term.sql) AS \(name: "o.\(index)")")
            terms.append(
                CompiledQuery.SortTerm(
                    sql: "\(column: "o.\(index)", of: alias)", isNullable: term.isNullable,
                    isDescending: term.isDescending))
        }
        var select: SQLFragment =
            "SELECT \(list: columns) FROM \(scope.fromClause)\(ExpressionCompiler.whereClause(conditions))"
        // Which rows a limit takes must not change from one page to the next.
        let sorting = (order + keyTerms()).map { $0.isDescending ? "\($0.sql) DESC" : $0.sql as SQLFragment }
        if !sorting.isEmpty { select += " ORDER BY \(list: sorting)" }
        select += " LIMIT \(bind: (limit ?? -1).databaseValue) OFFSET \(bind: (offset ?? 0).databaseValue)"
        let wrapped = SQLScope(alias: alias, source: scope.source, from: "(\(select)) AS \(name: alias)")
        wrapped.computed = computed
        if groupTerms != nil, scope.table == nil {
            let count = groupTerms?.count ?? 0
            groupTerms = names.prefix(count).compactMap { name in
                computed[name].map {
                    CompiledQuery.SortTerm(sql: $0.sortable, isNullable: $0.isNullable, isDescending: false)
                }
            }
        }
        replace(wrapped, variable)
        order = terms
    }

    // MARK: Result

    /// What tells rows apart: the key, or the grouped values.
    private func keyTerms() -> [CompiledQuery.SortTerm] {
        guard let table = scope.table else { return groupTerms ?? [] }
        let columns = table.keyColumns
        if columns.isEmpty, let rowID = table.rowID {
            return [
                CompiledQuery.SortTerm(
                    sql: "\(column: rowID, of: scope.alias)", isNullable: false, isDescending: false)
            ]
        }
        return columns.map {
            CompiledQuery.SortTerm(
                sql: scope.column($0, isNullable: false).sortable, isNullable: false, isDescending: false)
        }
    }

    private func finish(_ query: BoundQuery) throws -> CompiledQuery {
        var select = SelectList()
        var plan = try ResultPlanBuilder(compiler: compiler, scope: scope, names: names).plan(query, &select)
        let keys = keyTerms()
        let all = order + keys.filter { key in !order.contains { $0.sql.sql == key.sql.sql } }
        plan.sort = all.map { select.index(of: $0.sql) }
        return CompiledQuery(
            plan: plan, top: query.top, skip: query.skip, canResume: !keys.isEmpty,
            columns: select.items, from: scope.fromClause, conditions: conditions, order: all)
    }
}
