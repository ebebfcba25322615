import GRDB
import ODataModel
import ODataQuery
import ODataService

/// Compiles a dynamic query to one SELECT. Each source is a table or a derived table with an alias of its own.
struct SelectionCompiler {
    let compiler: ExpressionCompiler

    /// The parts of a SELECT.
    struct Parts {
        /// The values of the columns.
        var columns: [Operand]
        var from: SQLFragment
        var conditions: [SQLFragment]
        /// The values by which rows are grouped, if the groups are formed in the same SELECT.
        var groups: [Operand] = []
        var having: SQLFragment?
        var order: [CompiledQuery.SortTerm] = []

        /// The SELECT without order, in which the columns are named `c0` and so on.
        ///
        /// - Parameter isDistinct: whether equal rows are returned once.
        func select(isDistinct: Bool = false) -> SQLFragment {
            let items = columns.enumerated().map { "\($1.sortable) AS \(name: "c\($0)")" as SQLFragment }
            let keyword: SQLFragment = isDistinct ? "SELECT DISTINCT" : "SELECT"
            var sql: SQLFragment =
                "\(keyword) \(list: items) FROM \(from)\(ExpressionCompiler.whereClause(conditions))"
            if !groups.isEmpty { sql += " GROUP BY \(list: groups.map(\.sortable))" }
            if let having { sql += " HAVING \(having)" }
            return sql
        }
    }

    /// Returns the statement of a whole query.
    func statement(of selection: BoundSelection) throws -> CompiledQuery {
        compiler.reads = ReadColumns()
        let parts = try parts(of: selection, groupsWithin: true)
        try compiler.requireReadColumns()
        let columns = zip(selection.columns, parts.columns)
        guard let shape = selection.result.shape else { throw ExpressionCompiler.unsupported("this query") }
        let fields = columns.enumerated().map { index, column in
            let storage = ColumnStorage(name: column.0.name, type: column.1.type, codec: column.1.codec)
            return ResultPlan.Field.value(
                name: column.0.name, ordinal: index, ResultPlan.Slot(index: index, storage: storage))
        }
        let plan = ResultPlan(
            set: nil, table: "", shape: shape, fields: fields, derivedFields: [:], key: [], hasKeyInFields: false,
            etag: .none, sort: [], expandSources: [])
        return CompiledQuery(
            plan: plan, top: selection.take, skip: selection.skip, canResume: false, isSingleRow: false, expand: [],
            usesNow: compiler.usesNow, usesSearch: false, requirements: compiler.requirements,
            common: compiler.common, columns: parts.columns.map(\.sortable), from: parts.from,
            conditions: parts.conditions, order: parts.order)
    }

    /// Returns a query as a derived table with its columns.
    func derived(_ selection: BoundSelection) throws -> (from: SQLFragment, scope: SQLScope, columns: [Operand]) {
        let (sql, columns) = try select(selection)
        return derived(sql, columns, of: selection)
    }

    /// Returns the SELECT of a query with its columns, named `c0` and so on.
    func select(_ selection: BoundSelection) throws -> (sql: SQLFragment, columns: [Operand]) {
        let parts = try parts(of: selection)
        var sql = parts.select()
        if selection.skip != nil || selection.take != nil {
            if !parts.order.isEmpty { sql += " ORDER BY \(list: parts.order.map(\.fragment))" }
            let (take, skip) = ((selection.take ?? -1).databaseValue, (selection.skip ?? 0).databaseValue)
            sql += " LIMIT \(bind: take) OFFSET \(bind: skip)"
        }
        return (sql, parts.columns)
    }

    /// Returns FROM and WHERE of the values of a query's only column that are not null, with the value.
    ///
    /// - Parameter value: returns the value; the column is the result's property.
    func values(
        _ selection: BoundSelection, _ value: () throws -> Operand
    ) throws -> (from: SQLFragment, conditions: [SQLFragment], value: Operand) {
        var plain = selection
        // Neither order nor repetition changes the set of values.
        plain.isDistinct = false
        plain.order = selection.skip == nil && selection.take == nil ? [] : selection.order
        let isPlain =
            selection.grouping == nil && selection.combinations.isEmpty && selection.skip == nil
            && selection.take == nil
        guard isPlain else {
            let (from, scope, _) = try derived(selection)
            compiler.scopes[selection.result.identifier] = scope
            return (from, [], try value())
        }
        let parts = try parts(of: plain)
        // The value may be converted to the type of the other operand.
        return (parts.from, parts.conditions, try value())
    }

    /// Returns a SELECT as a derived table, whose columns are the properties of the query's result.
    private func derived(_ sql: SQLFragment, _ columns: [Operand], of selection: BoundSelection)
        -> (from: SQLFragment, scope: SQLScope, columns: [Operand])
    {
        let alias = compiler.newAlias()
        let from: SQLFragment = "(\(sql)) AS \(name: alias)"
        let scope = SQLScope(alias: alias, source: .derived, from: from)
        let moved = columns.enumerated().map { $1.inColumn("\(column: "c\($0)", of: alias)") }
        for (column, operand) in zip(selection.columns, moved) { scope.computed[column.name] = operand }
        return (from, scope, moved)
    }

    // MARK: Parts

    /// Returns the parts of a query.
    ///
    /// - Parameter groupsWithin: whether groups are formed in a derived table; the parts then have no groups.
    private func parts(of selection: BoundSelection, groupsWithin: Bool = false) throws -> Parts {
        var (frame, conditions) = try rows(of: selection)
        var groups: (keys: [Operand], having: SQLFragment?) = ([], nil)
        if let grouping = selection.grouping {
            if !groupsWithin, !selection.comparesRows, selection.groupsAtOnce {
                groups = try groupedAtOnce(grouping)
            } else {
                (frame, conditions) = try grouped(grouping, of: frame, where: conditions)
            }
        }
        var columns = try selection.columns.map { try compiler.value($0.expression) }
        guard selection.comparesRows else {
            // The order is that of values in the same SELECT.
            let scope = SQLScope(alias: compiler.newAlias(), source: .derived, from: "")
            for (column, operand) in zip(selection.columns, columns) { scope.computed[column.name] = operand }
            compiler.scopes[selection.result.identifier] = scope
            let order = try selection.order.map(term)
            // Each path to a related entity has added a join.
            return Parts(
                columns: columns, from: frame.fromClause, conditions: conditions, groups: groups.keys,
                having: groups.having, order: order)
        }
        columns = try columns.map(comparable)
        let first = Parts(columns: columns, from: frame.fromClause, conditions: conditions)
        let (sql, compared) = try combined(first, selection)
        let (from, scope, moved) = derived(sql, compared, of: selection)
        compiler.scopes[selection.result.identifier] = scope
        return Parts(columns: moved, from: from, conditions: [], order: try selection.order.map(term))
    }

    private func term(_ item: BoundOrder) throws -> CompiledQuery.SortTerm {
        let operand = try ordered(try compiler.value(item.expression))
        return CompiledQuery.SortTerm(sql: operand.order, isNullable: true, isDescending: item.isDescending)
    }

    /// Returns a value in a form with the order of its values.
    private func ordered(_ operand: Operand) throws -> Operand {
        let operand = operand.codec.isComparable ? operand : try compiler.normalized(operand)
        guard operand.codec.isComparable else {
            throw ExpressionCompiler.unsupported("a comparison of \(operand.type)")
        }
        return operand
    }

    /// Returns a value in a form that is identical for equal values; instants are in UTC.
    private func comparable(_ operand: Operand) throws -> Operand {
        var operand = try ordered(operand)
        if operand.codec == .dateTimeOffset { operand.sql = "outpost_utc(\(operand.sql))" }
        operand.anyTextColumn = nil
        return operand
    }

    // MARK: Sources and groups

    /// Returns the rows of a query before its columns: the scope that gathers its joins, and the conditions.
    private func rows(of selection: BoundSelection) throws -> (SQLScope, [SQLFragment]) {
        let frame = SQLScope(alias: compiler.newAlias(), source: .derived, from: "")
        var conditions: [SQLFragment] = []
        for (index, source) in selection.sources.enumerated() {
            let table = try self.source(source, in: frame, adding: &conditions)
            noteConditions(on: source, of: selection)
            frame.from = index == 0 ? table : "\(frame.from) JOIN \(table)"
            guard let condition = source.condition else { continue }
            let before = frame.joins.count
            let sql = try compiler.condition(condition)
            if frame.joins.count == before {
                frame.from += " ON (\(sql))"
            } else {
                // The tables of paths follow all sources, so that only WHERE can use them.
                conditions.append(sql)
            }
        }
        if let filter = selection.filter { conditions.append(try compiler.condition(filter)) }
        return (frame, conditions)
    }

    /// Adds the scope of a source, and returns its table with its alias.
    private func source(
        _ source: BoundSelection.Source, in frame: SQLScope, adding conditions: inout [SQLFragment]
    ) throws -> SQLFragment {
        switch source.rows {
        case .selection(let selection):
            let (from, scope, _) = try derived(selection)
            compiler.scopes[source.variable.identifier] = scope
            return from
        case .entities(let set, let shape):
            guard let table = compiler.mapping.tables[set.name] else {
                throw ExpressionCompiler.unsupported("a dynamic query over \(set.name)")
            }
            let alias = compiler.newAlias()
            let from: SQLFragment = "\(name: table.table) AS \(name: alias)"
            let scope = SQLScope(alias: alias, source: .table(table), from: from, root: frame, isOptional: false)
            compiler.scopes[source.variable.identifier] = scope
            if let visible = try compiler.visibility(of: table, alias: alias) { conditions.append(visible) }
            if table.shape != shape, !compiler.mapping.model.isType(table.shape.name, shape.name) {
                conditions.append(try compiler.typeCondition(scope, table, name: shape.name))
            }
            try compiler.requireLoaded(table)
            return from
        }
    }

    /// Notes the conditions that each row of a source satisfies.
    private func noteConditions(on source: BoundSelection.Source, of selection: BoundSelection) {
        guard let scope = compiler.scopes[source.variable.identifier], let table = scope.table else { return }
        let conditions = [selection.filter] + selection.sources.map(\.condition)
        compiler.reads?.add(
            conditions.flatMap { $0?.conditions(on: source.variable) ?? [] }, on: source.variable, table,
            alias: scope.alias)
    }

    private func grouped(
        _ grouping: BoundSelection.Grouping, of frame: SQLScope, where conditions: [SQLFragment]
    ) throws -> (SQLScope, [SQLFragment]) {
        let keys = try grouping.keys.map { try comparable(try compiler.value($0)) }
        let aggregates = try grouping.aggregates.map(aggregated)
        var columns = keys.enumerated().map { "\($1.sortable) AS \(name: "g\($0)")" as SQLFragment }
        columns += aggregates.enumerated().map { "\($1.sql) AS \(name: "a\($0)")" }
        // An aggregate makes one group of all rows, even if there are none.
        if columns.isEmpty { columns = ["COUNT(*) AS \(name: "a")"] }
        var select: SQLFragment =
            "SELECT \(list: columns) FROM \(frame.fromClause)\(ExpressionCompiler.whereClause(conditions))"
        if !keys.isEmpty { select += " GROUP BY \(list: keys.map(\.sortable))" }
        let alias = compiler.newAlias()
        let scope = SQLScope(alias: alias, source: .derived, from: "(\(select)) AS \(name: alias)")
        for (index, key) in keys.enumerated() {
            scope.computed["g\(index)"] = key.inColumn("\(column: "g\(index)", of: alias)")
        }
        for (index, aggregate) in aggregates.enumerated() {
            scope.computed["a\(index)"] = aggregate.inColumn("\(column: "a\(index)", of: alias)")
        }
        compiler.scopes[grouping.variable.identifier] = scope
        return (scope, try grouping.having.map { [try compiler.condition($0)] } ?? [])
    }

    /// Forms groups in the SELECT of their rows, which is less deep than a derived table.
    private func groupedAtOnce(_ grouping: BoundSelection.Grouping) throws -> (keys: [Operand], having: SQLFragment?) {
        let scope = SQLScope(alias: compiler.newAlias(), source: .derived, from: "")
        let keys = try grouping.keys.map { try comparable(try compiler.value($0)) }
        for (index, key) in keys.enumerated() { scope.computed["g\(index)"] = key }
        for (index, item) in grouping.aggregates.enumerated() { scope.computed["a\(index)"] = try aggregated(item) }
        compiler.scopes[grouping.variable.identifier] = scope
        return (keys, try grouping.having.map { try compiler.condition($0) })
    }

    private func aggregated(_ item: BoundAggregate) throws -> Operand {
        guard item.method == .count, let expression = item.expression else { return try compiler.aggregated(item) }
        let value = try compiler.value(expression)
        return Operand(sql: "COUNT(\(value.sql))", type: item.type, codec: .integer, isNullable: false)
    }

    // MARK: Sets of rows

    /// Returns the SELECT of distinct and combined rows, with its columns in their common forms.
    private func combined(_ first: Parts, _ selection: BoundSelection) throws -> (SQLFragment, [Operand]) {
        if selection.combinations.isEmpty { return (first.select(isDistinct: true), first.columns) }
        var others: [Parts] = []
        for combination in selection.combinations {
            let (from, _, columns) = try derived(combination.selection)
            others.append(Parts(columns: try columns.map(comparable), from: from, conditions: []))
        }
        var first = first
        for index in first.columns.indices {
            let codec = first.columns[index].codec
            if others.allSatisfy({ $0.columns[index].codec == codec }) { continue }
            let common = Operand.canonicalCodec(first.columns[index].type)
            first.columns[index] = try compiler.converted(first.columns[index], to: common)
            for other in others.indices {
                others[other].columns[index] = try compiler.converted(others[other].columns[index], to: common)
            }
        }
        var sql = first.select(isDistinct: selection.isDistinct)
        for (combination, other) in zip(selection.combinations, others) {
            sql += " \(combination.symbol.keyword) \(other.select())"
        }
        var columns = first.columns
        for index in columns.indices {
            columns[index].isNullable =
                columns[index].isNullable || others.contains { $0.columns[index].isNullable }
            columns[index].comparesBytes =
                columns[index].comparesBytes && others.allSatisfy { $0.columns[index].comparesBytes }
        }
        return (sql, columns)
    }
}

extension Operand {
    /// Returns the same value in a column of a derived table.
    fileprivate func inColumn(_ sql: SQLFragment) -> Operand {
        var result = moved(to: sql)
        result.anyTextColumn = nil
        return result
    }
}

extension BoundSelection {
    /// A query with a row if this one has a row, which reads no values for its columns.
    fileprivate var withoutValues: BoundSelection {
        guard grouping == nil, combinations.isEmpty, !isDistinct || skip == nil else { return self }
        var result = self
        for index in result.columns.indices {
            result.columns[index].expression = .constant(.boolean(true), .primitive(.boolean))
        }
        result.isDistinct = false
        result.order = []
        return result
    }

    /// Whether the groups can be formed in the SELECT of their rows.
    ///
    /// A query within the columns would take an aggregate of its enclosing query for its own.
    fileprivate var groupsAtOnce: Bool {
        guard let grouping else { return false }
        if grouping.keys.isEmpty, grouping.having != nil || grouping.aggregates.isEmpty { return false }
        func holdsQuery(_ expression: BoundExpression) -> Bool {
            if case .subquery = expression { return true }
            return expression.contains { node in
                if case .selection = node { true } else { false }
            }
        }
        let expressions = columns.map(\.expression) + order.map(\.expression) + (grouping.having.map { [$0] } ?? [])
        return !expressions.contains(where: holdsQuery)
    }
}

extension Selection.Combination.Operator {
    fileprivate var keyword: SQLFragment {
        switch self {
        case .union: "UNION"
        case .unionAll: "UNION ALL"
        case .except: "EXCEPT"
        case .intersect: "INTERSECT"
        }
    }
}

extension ExpressionCompiler {
    /// Returns the value of a query within an expression.
    func value(of subquery: BoundSubquery) throws -> Operand {
        let selections = SelectionCompiler(compiler: self)
        switch subquery {
        case .exists(let selection):
            return boolean("EXISTS (\(try selections.select(selection.withoutValues).sql))")
        case .value(let selection):
            // Only a group of all rows is known to be a single row.
            if selection.grouping?.keys.isEmpty == true, selection.grouping?.having == nil, !selection.comparesRows,
                selection.skip == nil, selection.take == nil
            {
                let (sql, columns) = try selections.select(selection)
                guard let column = columns.first else { throw Self.unsupported("a query without columns") }
                return column.inColumn("(\(sql))")
            }
            let (from, _, columns) = try selections.derived(selection)
            guard let column = columns.first else { throw Self.unsupported("a query without columns") }
            var value = column.inColumn("(SELECT outpost_only(1, \(column.sql)) FROM \(from))")
            value.isNullable = true
            return value
        case .contains(let own, let other, let selection):
            var left = try value(Self.peeled(own))
            var (from, conditions, right) = try selections.values(selection) {
                let (first, second) = try aligned(left, value(Self.peeled(other)))
                left = first
                return second
            }
            guard left.codec != .json else { throw Self.unsupported("a comparison of \(left.type)") }
            if left.codec == .dateTimeOffset {
                (left.sql, right.sql) = (left.order, right.order)
                (left.codec, right.codec) = (.dateTime, .dateTime)
            }
            var known = conditions + ["(\(right.sql)) IS NOT NULL"]
            // NaN is stored as a BLOB, and equals nothing.
            if left.codec.isFloating { known.append("typeof(\(right.sql)) <> 'blob'") }
            let found: SQLFragment =
                "\(left.sortable) IN (SELECT \(right.sortable) FROM \(from)\(Self.whereClause(known)))"
            guard left.isNullable else { return boolean(found) }
            guard right.isNullable else { return boolean("coalesce(\(found), 0)") }
            return boolean(
                """
                CASE WHEN (\(left.sql)) IS NULL THEN EXISTS (SELECT 1 FROM \(from)\(Self.whereClause(
                    conditions + ["(\(right.sql)) IS NULL"]))) ELSE \(found) END
                """)
        }
    }
}
