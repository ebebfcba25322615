import ODataModel

/// Evaluation of the transformations of `$apply` (OData Data Aggregation 4.0, 3).
extension Evaluator {
    func apply(
        _ transformations: [BoundTransformation], to rows: [EvaluatedRow], in outer: Environment
    ) throws -> [EvaluatedRow] {
        try transformations.reduce(rows) { try apply($1, to: $0, in: outer) }
    }

    private func apply(
        _ transformation: BoundTransformation, to rows: [EvaluatedRow], in outer: Environment
    ) throws -> [EvaluatedRow] {
        let outer = outer.with(.rows(rows), as: RangeVariable.these)
        switch transformation {
        case .identity: return rows
        case .filter(let condition, _): return try rows.filter { try isTrue(condition, in: outer.with($0)) }
        case .search(let search, let shape): return rows.filter { matches(search, $0, shape: shape) }
        case .orderBy(let keys, _): return try sorted(rows, by: keys) { outer.with($0) }
        case .top(let count, _): return Array(rows.prefix(count))
        case .skip(let count, _): return Array(rows.dropFirst(count))
        case .compute(let items, _): return try rows.map { try computing(items, on: $0, in: outer) }
        case .aggregate(let items, let shape): return [try aggregated(items, rows, shape: shape, in: outer)]
        case .groupBy(let paths, let items, let shape):
            return try groups(of: rows, by: paths, in: outer).map { group in
                try adding(group, paths, to: aggregated(items, group.rows, shape: shape, in: outer))
            }
        case .groupByApplying(let paths, let then, _):
            return try groups(of: rows, by: paths, in: outer).flatMap { group in
                try apply(then, to: group.rows, in: outer).map { try adding(group, paths, to: $0) }
            }
        case .groupByNode(let grouping, _): return try grouped(grouping, rows, in: outer)
        case .ranked(let method, let amount, let key, _):
            return try ranked(method, amount, key: key, rows: rows, in: outer)
        case .concat(let branches, _):
            var result: [EvaluatedRow] = []
            for branch in branches {
                result += try apply(branch, to: rows, in: outer)
                // A chain of `concat` multiplies the rows.
                try source.checkEvaluation()
                guard result.count <= source.maxRows else { throw EvaluationError.limit("maxJoinedRows") }
            }
            return result
        case .expand(let item, _): return try rows.map { try expanding(item, $0, in: outer) }
        case .join(let join, _): return try joined(join, rows, in: outer)
        case .nest(let items, let shape):
            var row = EvaluatedRow(type: shape.name)
            for item in items { row.relations[item.name] = try apply(item.transformations, to: rows, in: outer) }
            row.inline = Set(items.map(\.name))
            return [row]
        case .addNested(let path, let items, _):
            return try rows.map { row in
                var result = row
                let members = try instances(path, in: outer.with(row))
                for item in items {
                    result.relations[item.name] = try apply(item.transformations, to: members, in: outer)
                    result.inline.insert(item.name)
                }
                return result
            }
        case .hierarchy(let hierarchy, _): return try related(hierarchy, rows, in: outer)
        case .traverse(let traversal, _): return try traversed(traversal, rows, in: outer)
        }
    }

    func instances(_ path: BoundPath, in environment: Environment) throws -> [EvaluatedRow] {
        try members(of: path, in: environment).compactMap { member in
            switch member {
            case .row(let row): row
            case .value(.complex(let entity)): EvaluatedRow(entity)
            default: nil
            }
        }
    }

    // MARK: groupby

    /// A group of rows with equal grouping values, and the operands of the first row.
    struct Group {
        var operands: [Operand]
        var rows: [EvaluatedRow]
    }

    func groups(of rows: [EvaluatedRow], by paths: [BoundPath], in outer: Environment) throws -> [Group] {
        var groups: [Group] = []
        var indices: [GroupKey: Int] = [:]
        for row in rows {
            let operands = try paths.map { try operand($0, in: outer.with(row)) }
            var key = GroupKey()
            for operand in operands {
                switch operand {
                case .value(let value): key.append(value)
                case .row(let row): key.append(row)
                case .rows: throw EvaluationError.type("A grouping path", expected: "a single value")
                }
            }
            if let index = indices[key] {
                groups[index].rows.append(row)
            } else {
                indices[key] = groups.count
                groups.append(Group(operands: operands, rows: [row]))
            }
        }
        return groups
    }

    /// Returns a row with the grouping values of its group, named by their paths.
    private func adding(_ group: Group, _ paths: [BoundPath], to row: EvaluatedRow) throws -> EvaluatedRow {
        var result = row
        for (path, operand) in zip(paths, group.operands) {
            let names = path.steps.compactMap(\.name)
            // A row that is still an entity already has the whole complex value.
            if names.count > 1, let base = row.base, model.shape(base.typeName)?.ordinal(of: names[0]) != nil {
                continue
            }
            let name = names.joined(separator: "/")
            switch operand {
            case .value(let value): result.values[name] = value
            case .row(let related): result.relations[name] = related.map { [$0] } ?? []
            case .rows: break
            }
        }
        return result
    }

    // MARK: topcount and its like

    /// Returns rows by rank; rows with equal values keep their order. A sum ends with the row that reaches the
    /// amount.
    private func ranked(
        _ method: RankedMethod, _ amount: BoundExpression, key: BoundExpression, rows: [EvaluatedRow],
        in outer: Environment
    ) throws -> [EvaluatedRow] {
        let order = BoundOrder(key, isDescending: method.isTop)
        let sorted = try sorted(rows, by: [order]) { outer.with($0) }
        let limit = try value(amount, in: outer)
        if method == .topCount || method == .bottomCount {
            guard case .integer(let count) = limit, count > 0 else {
                throw EvaluationError.type("The amount of \(method.rawValue)", expected: "a positive whole number")
            }
            return Array(sorted.prefix(Int(clamping: count)))
        }
        let values = try sorted.map { try value(key, in: outer.with($0)) }
        var target = limit
        if method == .topPercent || method == .bottomPercent {
            var sum = Summation()
            for value in values { try sum.add(value) }
            let total = try sum.total ?? .integer(0)
            let hundred = ODataValue.decimal(ODataDecimal(100))
            target = try NumberOperations.arithmetic(
                .divide, left: NumberOperations.arithmetic(.multiply, left: total, right: limit), right: hundred)
        }
        var sum = Summation()
        var taken: [EvaluatedRow] = []
        for (row, value) in zip(sorted, values) {
            if let reached = try sum.total, let comparison = ValueOrder.compare(reached, target), comparison != .less {
                break
            }
            try sum.add(value)
            taken.append(row)
        }
        return taken
    }

    // MARK: expand and join

    private func expanding(_ item: BoundExpand, _ row: EvaluatedRow, in outer: Environment) throws -> EvaluatedRow {
        let path = Self.path(of: item)
        var result = row
        result.relations[path] = try evaluate(item.query, over: row.rows(through: path), in: outer.with(row)).rows
        return result
    }

    private func joined(_ join: BoundJoin, _ rows: [EvaluatedRow], in outer: Environment) throws -> [EvaluatedRow] {
        var result: [EvaluatedRow] = []
        for row in rows {
            let members = try apply(join.then, to: instances(join.path, in: outer.with(row)), in: outer)
            var next = row
            next.inline.insert(join.name)
            if members.isEmpty, join.isOuter {
                next.relations[join.name] = []
                result.append(next)
            }
            for member in members {
                next.relations[join.name] = [member]
                result.append(next)
            }
            guard result.count <= source.maxRows else { throw EvaluationError.limit("maxJoinedRows") }
        }
        return result
    }
}
