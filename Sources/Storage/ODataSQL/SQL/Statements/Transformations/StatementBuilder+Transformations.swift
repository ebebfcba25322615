import GRDB
import ODataModel
import ODataQuery
import ODataService

/// The transformations of `$apply` (OData Data Aggregation 4.0, 3). Each is compiled to SQL or refused with its
/// name.
extension StatementBuilder {
    func apply(_ transformation: BoundTransformation) throws {
        switch transformation {
        case .identity: break
        case .filter(let condition, _):
            try filter(condition)
        case .search(let search, _):
            try settle()
            try keep(try compiler.search(search, scope))
        case .compute(let items, _):
            try settle()
            for item in items { try compute(item) }
        case .orderBy(let items, _):
            try settle()
            // Rows that the new order does not distinguish keep their previous order.
            order = try items.map(term) + order
        case .top(let count, _):
            try settle()
            limit = (count, nil)
        case .skip(let count, _):
            try settle()
            limit = (nil, count)
        case .ranked(let method, let amount, let expression, _): try rank(method, amount, expression: expression)
        case .aggregate(let items, _): try aggregate(items, by: [])
        case .groupBy(let paths, let items, _): try aggregate(items, by: paths)
        case .groupByApplying(let paths, let transformations, _): try group(by: paths, transformations)
        case .concat(let branches, _): try concat(branches)
        case .expand(let item, _): expands.append(item)
        case .join(let join, _): try self.join(join)
        case .hierarchy(let hierarchy, _): try relatives(hierarchy)
        case .traverse(let traversal, _): try traverse(traversal)
        case .groupByNode(let grouping, _): try group(byNodes: grouping)
        case .nest(let items, _): try nest(items)
        case .addNested(let path, let items, _): try addNested(path, items)
        }
    }

    func compute(_ item: BoundCompute) throws {
        var operand = try compiler.value(item.expression)
        // Names refer to columns, which constants do not have.
        operand.constant = nil
        if scope.computed[item.name] == nil {
            names.append(item.name)
            changeKinds { $0.names.append(item.name) }
        }
        scope.computed[item.name] = operand
    }

    // MARK: Ranks

    /// Applies `topcount` and the related transformations (3.3.1), which select rows by rank until the condition is
    /// met, in the order of rank. For sums, the row that reaches the amount is the last one.
    private func rank(_ method: RankedMethod, _ amount: BoundExpression, expression: BoundExpression) throws {
        try settle()
        let value = try compiler.value(expression)
        let ranked = try sortable(value, for: method.rawValue)
        let before = totalOrder
        let byRank =
            [
                CompiledQuery.SortTerm(
                    sql: ranked.order, isNullable: ranked.isNullable, isDescending: method.isTop)
            ] + before
        if !partition.isEmpty { mayHaveLostPartitions = true }
        let position: SQLFragment = "ROW_NUMBER() OVER (\(window(byRank)))"
        let limit = try compiler.value(amount)
        switch method {
        case .topCount, .bottomCount:
            wrap(adding: [("$n", position)])
            conditions.append("\(column: "$n", of: scope.alias) <= \(limit.sql)")
            rankOrder()
        case .topSum, .bottomSum, .topPercent, .bottomPercent:
            let sum = try summed(ranked, as: method.rawValue)
            let rows: SQLFragment =
                "\(sum.sql) OVER (\(window(byRank)) ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
            let whole: SQLFragment = "\(sum.sql) OVER (\(window([])))"
            wrap(adding: [("$n", position), ("$b", rows), ("$t", "coalesce(\(whole), \(sum.zero))")])
            let alias = scope.alias
            // A row is selected only if no row before it has reached the amount.
            let byPosition = CompiledQuery.SortTerm(
                sql: "\(column: "$n", of: alias)", isNullable: false, isDescending: false)
            let most: SQLFragment = "MAX(\(column: "$b", of: alias)) OVER (\(window([byPosition])))"
            let total: SQLFragment = "\(column: "$t", of: alias)"
            wrap(adding: [("$n", byPosition.sql), ("$m", most), ("$t", total)])
            let reached = Operand(sql: "\(column: "$m", of: scope.alias)", type: sum.type, codec: sum.codec)
            var wanted = limit
            if method == .topPercent || method == .bottomPercent {
                let total = Operand(sql: "\(column: "$t", of: scope.alias)", type: sum.type, codec: sum.codec)
                wanted = try compiler.arithmetic(
                    .multiply, left: try compiler.exactOrReal(limit, sum.codec), right: total, type: sum.type)
                wanted = try compiler.arithmetic(
                    .divideBy, left: wanted, right: try .constant(.integer(100), .primitive(.int32)), type: sum.type)
            }
            let isBelow = try compiler.compare(.less, left: reached, right: wanted, isCondition: true)
            conditions.append("\(reached.sql) IS NULL OR \(isBelow)")
            rankOrder()
        }
    }

    /// Sorts by the column with the rank.
    private func rankOrder() {
        let rank: SQLFragment = "\(column: "$n", of: scope.alias)"
        order = [CompiledQuery.SortTerm(sql: rank, isNullable: false, isDescending: false)]
    }

    /// Returns the exact sum of a number as a window function.
    private func summed(_ operand: Operand, as name: String) throws -> (
        sql: SQLFragment, zero: SQLFragment, type: TypeReference, codec: ColumnCodec
    ) {
        let zero = ODataDecimal(0)
        let decimalZero = try Operand.constant(.decimal(zero), .primitive(.decimal)).sql
        switch operand.codec {
        case .integer:
            return ("outpost_scaled_sum(\(operand.sql), 0)", decimalZero, .primitive(.decimal), .decimalBytes)
        case .scaledDecimal(let scale):
            return (
                "outpost_scaled_sum(\(operand.sql), \(bind: scale.databaseValue))", decimalZero,
                .primitive(.decimal), .decimalBytes
            )
        case .decimalBytes:
            return ("outpost_dec_sum(\(operand.sql))", decimalZero, .primitive(.decimal), .decimalBytes)
        case .double, .single: return ("outpost_real_sum(\(operand.sql))", "0.0", .primitive(.double), .double)
        default: throw ODataError.notImplemented("\(name) of \(operand.type)")
        }
    }
}

extension SQLFragment {
    /// Returns a number of this program as an argument.
    static func number(_ value: Int) -> SQLFragment { "\(bind: value.databaseValue)" }
}

extension ExpressionCompiler {
    /// Converts a number to exact or floating-point form, depending on the codec of another number.
    func exactOrReal(_ operand: Operand, _ codec: ColumnCodec) throws -> Operand {
        try converted(operand, to: codec.isFloating ? .double : .decimalBytes)
    }
}
