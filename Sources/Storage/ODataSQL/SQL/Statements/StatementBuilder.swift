import GRDB
import ODataModel
import ODataQuery
import ODataService

/// Builds one SELECT with source, transformations, conditions, order and result columns.
///
/// The state describes the current rows. Some transformations are impossible within the same SELECT, such as a
/// condition on the rows of `top`. The rows are then moved to a derived table with the same columns
/// (``wrap(adding:)``).
///
/// Within `groupby`, the rows are *partitioned*, and each transformation applies to every partition separately. An
/// `aggregate` groups by the ``partition`` columns, and `top` numbers the rows of each partition (OData Data
/// Aggregation 4.0, 3.2.3.1).
package final class StatementBuilder {
    let compiler: ExpressionCompiler
    /// The range variable of transformations.
    var variable = 0
    var scope: SQLScope
    var conditions: [SQLFragment] = []
    var order: [CompiledQuery.SortTerm] = []
    /// The names of computed, grouped and aggregated values in the order of the result.
    var names: [String] = []
    /// The values that identify a row.
    var identity = Identity.key
    /// The pending limit of a `top` or `skip`, which is not yet part of the SELECT.
    var limit: (count: Int?, offset: Int?)?
    /// The columns that determine the partition of a row.
    var partition: [Operand] = []
    /// All partitions, including those that have lost all rows; `nil` if no partition can have lost them.
    var allPartitions: SQLFragment?
    /// Whether transformations may have removed all rows of a partition.
    var mayHaveLostPartitions = false
    /// The variants of rows, if rows differ, and the column with the index of a row's variant.
    var variants: (column: SQLFragment, kinds: [Variant])?
    /// The items of `expand` transformations.
    var expands: [BoundExpand] = []

    /// The values that identify a row.
    enum Identity {
        /// The key of the table.
        case key
        /// The computed values with these names.
        case values([String])
        /// Rows cannot be identified.
        case nothing
    }

    /// A variant of rows in a result with different rows (`concat`, `rollup`).
    struct Variant: Hashable {
        /// The names of computed, grouped and aggregated values.
        var names: [String]
        /// Whether the rows are entities of the table.
        var isEntity: Bool
        /// The names of attached rows that only other variants have.
        var lacking: Set<String> = []
    }

    package init(compiler: ExpressionCompiler, scope: SQLScope, conditions: [SQLFragment] = []) {
        self.compiler = compiler
        self.scope = scope
        self.conditions = conditions
    }

    /// Builds the statement of a query on the rows that a resource path addresses.
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

    /// Returns all combinations of the rows in several sets (`$crossjoin`), each under the name of its set; `nil`
    /// for a path, which has one set.
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
                // No property has such a name, so that no request can select it.
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

    /// Builds the statement after its source.
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
        // Paging compares sort values, so that a limit must be applied before.
        try settle()
        return try finish(query)
    }

    /// Changes each variant, if rows differ.
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

    /// Returns an operand in a form with the order of its values.
    func sortable(_ operand: Operand, for purpose: String) throws -> Operand {
        let operand = operand.codec.isComparable || operand.codec == .json ? operand : try compiler.normalized(operand)
        if operand.codec == .json { throw ODataError.notImplemented("\(purpose) of \(operand.type)") }
        return operand
    }

    /// The values that identify a row, as sort terms.
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

    /// The order of the rows, including the values that identify a row.
    var totalOrder: [CompiledQuery.SortTerm] { order(with: keyTerms) }

    private func order(with keys: [CompiledQuery.SortTerm]) -> [CompiledQuery.SortTerm] {
        if order.isEmpty { return keys }
        return order + keys.filter { key in !order.contains { $0.sql.sql == key.sql.sql && key.sql.arguments.isEmpty } }
    }

    // MARK: Result

    /// Returns the items of `$expand` and the additional items of `expand` transformations.
    func expanded(_ query: BoundQuery) -> [BoundExpand] {
        if expands.isEmpty { return query.expand }
        return query.expand
            + expands.filter { item in
                !query.expand.contains { $0.path == item.path && $0.navigation == item.navigation }
            }
    }

    /// Whether there is at most one row, as after `aggregate` without groups.
    private var isSingleRow: Bool {
        if case .values(let names) = identity { names.isEmpty } else { false }
    }

    private func finish(_ query: BoundQuery) throws -> CompiledQuery {
        try compiler.checkReferences()
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
    /// The term in ORDER BY. SQLite sorts NULL before all values, as OData requires.
    package var fragment: SQLFragment { isDescending ? "\(sql) DESC" : sql }
}
