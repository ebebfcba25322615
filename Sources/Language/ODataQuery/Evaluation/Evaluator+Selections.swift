import ODataModel

/// Evaluation of dynamic queries: nested loops over the sources, and sets of rows by their values.
extension Evaluator {
    /// Evaluates a dynamic query.
    ///
    /// ```swift
    /// let bound = try Binder(model: model).bind(selection)
    /// let result = try Evaluator(model: model, source: source, now: now).evaluate(bound)
    /// ```
    ///
    /// - Throws: ``EvaluationError``, and the errors of the source.
    public func evaluate(_ selection: BoundSelection) throws -> SelectionResult {
        let columns = selection.resultColumns
        let rows = try rows(of: selection, in: Environment())
        return SelectionResult(columns: columns, rows: rows.map { SelectionRow(columns: columns, values: $0) })
    }

    /// Returns the value of a query within an expression.
    func value(of subquery: BoundSubquery, in environment: Environment) throws -> ODataValue {
        switch subquery {
        case .exists(let selection): return .boolean(try !rows(of: selection, in: environment).isEmpty)
        case .contains(let value, let other, let selection):
            return .boolean(
                try rows(of: selection, in: environment).contains { row in
                    try isEqual(value, other, in: environment.with(Self.row(row, selection.result), selection.result))
                })
        case .value(let selection):
            let rows = try rows(of: selection, in: environment)
            guard rows.count <= 1 else { throw EvaluationError.type("The result of a query", expected: "one row") }
            return rows.first?.first ?? .null
        }
    }

    /// A row of the result, with the environment of the sources from which it was made.
    private struct MadeRow {
        var values: [ODataValue]
        var environment: Environment
    }

    private func rows(of selection: BoundSelection, in outer: Environment) throws -> [[ODataValue]] {
        var environments = try joined(selection.sources, in: outer)
        if let filter = selection.filter { environments = try environments.filter { try isTrue(filter, in: $0) } }
        if let grouping = selection.grouping { environments = try grouped(environments, grouping, in: outer) }
        var made = try environments.map { environment in
            MadeRow(
                values: try selection.columns.map { try value($0.expression, in: environment) },
                environment: environment)
        }
        if selection.comparesRows {
            made = made.map { MadeRow(values: $0.values.map(Self.inUTC), environment: outer) }
        }
        if selection.isDistinct { made = Self.distinct(made) }
        for combination in selection.combinations {
            let other = try rows(of: combination.selection, in: outer).map {
                MadeRow(values: $0.map(Self.inUTC), environment: outer)
            }
            made = Self.combined(made, by: combination.symbol, with: other)
        }
        made = try sorted(made, by: selection.order) { row in
            row.environment.with(Self.row(row.values, selection.result), selection.result)
        }
        return made.dropFirst(selection.skip ?? 0).prefix(selection.take ?? .max).map(\.values)
    }

    // MARK: Sources

    private func joined(_ sources: [BoundSelection.Source], in outer: Environment) throws -> [Environment] {
        var environments = [outer]
        for source in sources {
            let members: [EvaluatedRow] =
                switch source.rows {
                case .entities(let set, let shape):
                    try self.source.rows(of: set.name).map { EvaluatedRow($0) }
                        .filter { model.isType($0.typeName, shape.name) }
                case .selection(let selection):
                    try rows(of: selection, in: outer).map { Self.row($0, selection.result) }
                }
            guard environments.count * max(members.count, 1) <= Self.maxJoinedRows else {
                throw EvaluationError.limit("maxJoinedRows")
            }
            environments = try environments.flatMap { environment in
                try members.compactMap { member in
                    let next = environment.with(member, source.variable)
                    guard let condition = source.condition else { return next }
                    return try isTrue(condition, in: next) ? next : nil
                }
            }
        }
        return environments
    }

    /// Returns a row with the columns of a result as its properties.
    private static func row(_ values: [ODataValue], _ variable: RangeVariable) -> EvaluatedRow {
        var row = EvaluatedRow(type: variable.shape?.name ?? QualifiedName("Edm", "Untyped"))
        for (property, value) in zip(variable.shape?.properties ?? [], values) { row.values[property.name] = value }
        return row
    }

    // MARK: Groups

    private func grouped(
        _ environments: [Environment], _ grouping: BoundSelection.Grouping, in outer: Environment
    ) throws -> [Environment] {
        var order: [GroupKey] = []
        var groups: [GroupKey: (keys: [ODataValue], members: [Environment])] = [:]
        for environment in environments {
            let keys = try grouping.keys.map { Self.inUTC(try value($0, in: environment)) }
            let key = GroupKey(keys)
            if groups[key] == nil { order.append(key) }
            groups[key, default: (keys, [])].members.append(environment)
        }
        if grouping.keys.isEmpty, order.isEmpty {
            order = [GroupKey()]
            groups[GroupKey()] = ([], [])
        }
        return try order.compactMap { key in
            guard let group = groups[key] else { return nil }
            let aggregates = try grouping.aggregates.map { try aggregate($0, of: group.members) }
            let row = outer.with(Self.row(group.keys + aggregates, grouping.variable), grouping.variable)
            guard let having = grouping.having else { return row }
            return try isTrue(having, in: row) ? row : nil
        }
    }

    private func aggregate(_ item: BoundAggregate, of members: [Environment]) throws -> ODataValue {
        guard let expression = item.expression else { return .integer(Int64(members.count)) }
        let values = try members.map { try value(expression, in: $0) }
        if item.method == .count { return .integer(Int64(values.count { !$0.isNull })) }
        return try aggregate(values, by: item.method, item.function)
    }

    // MARK: Sets of rows

    private static func distinct(_ rows: [MadeRow]) -> [MadeRow] {
        var seen: Set<GroupKey> = []
        return rows.filter { seen.insert(GroupKey($0.values)).inserted }
    }

    private static func combined(
        _ rows: [MadeRow], by symbol: Selection.Combination.Operator, with other: [MadeRow]
    ) -> [MadeRow] {
        switch symbol {
        case .unionAll: return rows + other
        case .union: return distinct(rows + other)
        case .except:
            let others = Set(other.map { GroupKey($0.values) })
            return distinct(rows).filter { !others.contains(GroupKey($0.values)) }
        case .intersect:
            let others = Set(other.map { GroupKey($0.values) })
            return distinct(rows).filter { others.contains(GroupKey($0.values)) }
        }
    }

    /// Returns an instant without its offset; other values are unchanged.
    private static func inUTC(_ value: ODataValue) -> ODataValue {
        guard case .dateTimeOffset(let instant) = value else { return value }
        return .dateTimeOffset(ODataDateTimeOffset(seconds: instant.seconds, picoseconds: instant.picoseconds))
    }
}

extension Evaluator.Environment {
    fileprivate func with(_ row: EvaluatedRow, _ variable: RangeVariable) -> Evaluator.Environment {
        with(row, as: variable.identifier)
    }
}
