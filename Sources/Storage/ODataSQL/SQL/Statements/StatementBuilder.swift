import GRDB
import ODataModel
import ODataQuery
import ODataService

/// Builds one SELECT: source, transformations, conditions, order and result columns.
///
/// The state is that of the rows so far. What cannot be said of them within one SELECT, such as a condition on
/// what `top` has left over, first makes them a derived table with the same columns (``wrap(adding:)``).
///
/// Within `groupby` the rows are *partitioned*: each transformation then acts on every partition by itself, an
/// `aggregate` groups by the ``partition`` columns, a `top` numbers rows within them (OData Data Aggregation 4.0,
/// 3.2.3.1).
package final class StatementBuilder {
    let compiler: ExpressionCompiler
    /// The range variable that transformations are about.
    var variable = 0
    var scope: SQLScope
    var conditions: [SQLFragment] = []
    var order: [CompiledQuery.SortTerm] = []
    /// The names of computed, grouped and aggregated values in the order of the result.
    var names: [String] = []
    /// What tells the rows apart.
    var identity = Identity.key
    /// What rows a `top` or `skip` has left over; not yet part of the SELECT.
    var limit: (count: Int?, offset: Int?)?
    /// The columns by which the rows are partitioned.
    var partition: [Operand] = []
    /// All partitions, also those whose rows have been lost since; `nil` when none can have been.
    var allPartitions: SQLFragment?
    /// Whether transformations within a partition may have taken all its rows.
    var mayHaveLostPartitions = false
    /// The kinds of rows where they are not all alike, and the column that tells which a row is of.
    var variants: (column: SQLFragment, kinds: [Variant])?
    /// What `expand` transformations have asked for.
    var expands: [BoundExpand] = []

    /// What tells rows apart.
    enum Identity {
        /// The key of the table.
        case key
        /// These computed values.
        case values([String])
        /// Nothing.
        case nothing
    }

    /// One kind of rows of a result whose rows are not all alike (`concat`, `rollup`).
    struct Variant: Hashable {
        /// The computed, grouped and aggregated values.
        var names: [String]
        /// Whether the rows are those of the table.
        var isEntity: Bool
        /// The names of attached rows that only other kinds have.
        var lacking: Set<String> = []
    }

    package init(compiler: ExpressionCompiler, scope: SQLScope, conditions: [SQLFragment] = []) {
        self.compiler = compiler
        self.scope = scope
        self.conditions = conditions
    }

    /// The statement of a query over the rows that a resource path addresses.
    static func build(
        _ query: BoundQuery, at segments: [BoundSegment], mapping: StorageMapping, options: SQLCompiler.Options,
        literals: [ODataValue]
    ) throws -> CompiledQuery {
        let compiler = ExpressionCompiler(mapping: mapping, options: options, literals: literals)
        if let crossed = try crossJoin(segments, compiler, variable: query.variable.identifier) {
            return try crossed.build(query)
        }
        let (scope, conditions) = try ResourceChain(segments, mapping: mapping).source(compiler)
        if options.loadedData != nil, let rowID = scope.table?.rowID {
            let rows: SQLFragment =
                "SELECT \(scope.sql(rowID)) FROM \(scope.fromClause)\(ExpressionCompiler.whereClause(conditions))"
            compiler.addressed = (scope.alias, rows)
        }
        return try StatementBuilder(compiler: compiler, scope: scope, conditions: conditions).build(query)
    }

    /// All combinations of the rows of several sets (`$crossjoin`), each under its set's name; `nil` for a path, which
    /// has one set at most.
    private static func crossJoin(
        _ segments: [BoundSegment], _ compiler: ExpressionCompiler, variable: Int
    ) throws -> StatementBuilder? {
        guard segments.count > 1, case .entitySet? = segments.first, case .entitySet? = segments.last else {
            return nil
        }
        var tables: [SQLFragment] = []
        let scope = SQLScope(alias: compiler.newAlias(), source: .derived, from: "")
        let builder = StatementBuilder(compiler: compiler, scope: scope)
        var keys: [String] = []
        for segment in segments {
            guard case .entitySet(let set, _) = segment, let table = compiler.mapping.tables[set.name] else {
                throw ODataError.notImplemented("$crossjoin here")
            }
            let alias = compiler.newAlias()
            let from: SQLFragment = "\(name: table.table) AS \(name: alias)"
            let member = SQLScope(alias: alias, source: .table(table), from: from, root: scope)
            tables.append(from)
            scope.attach(member, as: set.name, names: [], presence: "1", isInline: false)
            for column in table.keyColumns {
                // No property has such a name, so that it is never asked for.
                keys.append("\(set.name)/$\(column.name)")
                scope.computed[keys[keys.count - 1]] = member.column(column, isNullable: false)
            }
            if let visible = try compiler.visibility(of: table, alias: alias) { builder.conditions.append(visible) }
            try compiler.requireLoaded(table)
        }
        scope.from = "\(list: tables, by: " CROSS JOIN ")"
        builder.identity = .values(keys)
        return builder
    }

    /// Everything after the source.
    func build(_ query: BoundQuery) throws -> CompiledQuery {
        variable = query.variable.identifier
        compiler.scopes[variable] = scope
        if let table = scope.table, query.shape != table.shape,
            !compiler.mapping.model.isType(table.shape.name, query.shape.name)
        {
            conditions.append(try compiler.typeCondition(scope, table, name: query.shape.name))
        }
        for transformation in query.apply { try apply(transformation) }
        for item in query.compute { try compute(item) }
        if let search = query.search {
            try settle()
            try keep(try compiler.search(search, scope))
        }
        if let condition = query.filter { try filter(condition) }
        if !query.orderBy.isEmpty {
            try settle()
            order = try query.orderBy.map(term)
        }
        // Paging compares sort values, which must see what `top` left over.
        try settle()
        return try finish(query)
    }

    /// Changes each kind of rows, where they are not all alike.
    func changeKinds(_ change: (inout Variant) -> Void) {
        guard let kinds = variants?.kinds else { return }
        variants?.kinds = kinds.map { kind in
            var kind = kind
            change(&kind)
            return kind
        }
    }

    // MARK: Terms

    package func term(_ item: BoundOrder) throws -> CompiledQuery.SortTerm {
        let operand = try sortable(try compiler.value(item.expression), for: "$orderby")
        return CompiledQuery.SortTerm(
            sql: operand.order, isNullable: operand.isNullable, isDescending: item.isDescending)
    }

    /// An operand in a form whose stored order is the values' order.
    func sortable(_ operand: Operand, for purpose: String) throws -> Operand {
        let operand = operand.codec.isComparable || operand.codec == .json ? operand : try compiler.normalized(operand)
        if operand.codec == .json { throw ODataError.notImplemented("\(purpose) of \(operand.type)") }
        return operand
    }

    /// What tells rows apart as sort terms.
    var keyTerms: [CompiledQuery.SortTerm] {
        switch identity {
        case .nothing: return []
        case .values(let names):
            return names.compactMap { name in
                scope.computed[name].map {
                    CompiledQuery.SortTerm(sql: $0.sortable, isNullable: $0.isNullable, isDescending: false)
                }
            }
        case .key:
            guard let table = scope.table else { return [] }
            let columns = table.keyColumns
            if columns.isEmpty, let rowID = table.rowID {
                return [CompiledQuery.SortTerm(sql: scope.sql(rowID), isNullable: false, isDescending: false)]
            }
            return columns.map {
                CompiledQuery.SortTerm(
                    sql: scope.column($0, isNullable: false).sortable, isNullable: false, isDescending: false)
            }
        }
    }

    /// The order of the rows down to what tells them apart.
    var totalOrder: [CompiledQuery.SortTerm] { order(with: keyTerms) }

    private func order(with keys: [CompiledQuery.SortTerm]) -> [CompiledQuery.SortTerm] {
        if order.isEmpty { return keys }
        return order + keys.filter { key in !order.contains { $0.sql.sql == key.sql.sql && key.sql.arguments.isEmpty } }
    }

    // MARK: Result

    /// `$expand`, and what `expand` transformations have asked for besides.
    func expanded(_ query: BoundQuery) -> [BoundExpand] {
        if expands.isEmpty { return query.expand }
        return query.expand
            + expands.filter { item in
                !query.expand.contains { $0.path == item.path && $0.navigation == item.navigation }
            }
    }

    /// Whether there is one row at most: an `aggregate` without groups.
    private var isSingleRow: Bool {
        if case .values(let names) = identity { names.isEmpty } else { false }
    }

    private func finish(_ query: BoundQuery) throws -> CompiledQuery {
        var select = SelectList()
        var plan = try ResultPlanBuilder(builder: self, declared: query.shape).plan(query, &select)
        let keys = keyTerms
        let all = order(with: keys)
        plan.sort = all.map { select.index(of: $0.sql) }
        return CompiledQuery(
            plan: plan, top: query.top, skip: query.skip, canResume: !keys.isEmpty,
            isSingleRow: isSingleRow,
            expand: scope.table == nil ? [] : expanded(query),
            usesNow: compiler.usesNow, usesSearch: compiler.usesSearch, requirements: compiler.requirements,
            common: compiler.common, columns: select.items, from: scope.fromClause, conditions: conditions, order: all)
    }
}

extension CompiledQuery.SortTerm {
    /// The term as it stands in ORDER BY; SQLite sorts NULL before all values, as OData does.
    package var fragment: SQLFragment { isDescending ? "\(sql) DESC" : sql }
}
