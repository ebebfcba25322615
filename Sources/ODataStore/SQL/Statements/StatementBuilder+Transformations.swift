import GRDB
import ODataModel
import ODataQuery
import ODataService

/// The transformations of `$apply` (OData Data Aggregation 4.0, 3). Each is SQL or refused by its name (rule 22).
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
            // Rows that the new order does not tell apart keep the order that they had.
            order = try items.map(term) + order
        case .top(let count, _):
            try settle()
            limit = (count, nil)
        case .skip(let count, _):
            try settle()
            limit = (nil, count)
        case .ranked(let method, let amount, let expression, _): try rank(method, amount, expression)
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
        // Names are looked up for columns, where a constant would not be found again.
        operand.constant = nil
        if scope.computed[item.name] == nil {
            names.append(item.name)
            if let kinds = variants?.kinds {
                variants?.kinds = kinds.map { Variant(names: $0.names + [item.name], isEntity: $0.isEntity) }
            }
        }
        scope.computed[item.name] = operand
    }

    // MARK: Ranks

    /// `topcount` and its like (3.3.1): rows are considered by rank until the condition is met, and come by rank. Sums
    /// end with the row that reaches the amount.
    private func rank(_ method: RankedMethod, _ amount: BoundExpression, _ expression: BoundExpression) throws {
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
            // What a row would add counts only while no row before it has reached the amount.
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
                    .multiply, try compiler.exactOrReal(limit, sum.codec), total, sum.type)
                wanted = try compiler.arithmetic(
                    .divideBy, wanted, try .constant(.integer(100), .primitive(.int32)), sum.type)
            }
            let isBelow = try compiler.compare(.less, reached, wanted, isCondition: true)
            conditions.append("\(reached.sql) IS NULL OR \(isBelow)")
            rankOrder()
        }
    }

    /// The order of the column that has the rows' ranks.
    private func rankOrder() {
        let rank: SQLFragment = "\(column: "$n", of: scope.alias)"
        order = [CompiledQuery.SortTerm(sql: rank, isNullable: false, isDescending: false)]
    }

    /// The exact sum of a number as a function of a window.
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

    // MARK: concat

    /// `concat` (3.2.2): the rows of each sequence over the same input, one after the other.
    func concat(_ sequences: [[BoundTransformation]]) throws {
        try settle()
        let shared = share()
        let branches = try sequences.map { sequence in
            let branch = shared.fork()
            compiler.scopes[variable] = branch.scope
            for transformation in sequence { try branch.apply(transformation) }
            try branch.settle()
            return branch
        }
        try unite(branches)
    }

    /// Makes the rows of several builders, one after the other, those of this one.
    private func unite(_ branches: [StatementBuilder]) throws {
        let tables = branches.compactMap(\.scope.table)
        if let first = tables.first, tables.contains(where: { $0.set != first.set }) {
            throw ODataError.notImplemented("concat of rows of different sets")
        }
        guard branches.allSatisfy({ $0.scope.shownAttachments.isEmpty }) else {
            throw ODataError.notImplemented("concat after join")
        }
        var all: [String] = []
        for branch in branches { all += branch.scope.computed.keys.sorted().filter { !all.contains($0) } }
        // A value that only some branches name may be a property of the table in the others.
        var values: [String: [Operand?]] = [:]
        for name in all {
            values[name] = try unified(
                try branches.map { branch in
                    try branch.scope.computed[name] ?? compiler.operand(named: name, in: branch.scope)
                }, name)
        }
        let alias = compiler.newAlias()
        var kinds: [Variant] = []
        var selects: [SQLFragment] = []
        for (index, branch) in branches.enumerated() {
            var columns: [SQLFragment] = []
            for column in tables.first?.statementColumns ?? [] {
                columns.append("\(branch.scope.table == nil ? "NULL" : branch.scope.sql(column)) AS \(name: column)")
            }
            for (position, name) in all.enumerated() {
                columns.append("\(values[name]?[index]?.sortable ?? "NULL") AS \(name: "$c.\(position)")")
            }
            for (position, operand) in branch.partition.enumerated() {
                columns.append("\(operand.sortable) AS \(name: "$p.\(position)")")
            }
            if let (column, own) = branch.variants {
                columns.append("(\(column) + \(.number(kinds.count))) AS \(name: "$v")")
                kinds += own
            } else {
                columns.append("\(.number(kinds.count)) AS \(name: "$v")")
                kinds.append(Variant(names: branch.names, isEntity: branch.scope.table != nil))
            }
            columns.append("\(.number(index)) AS \(name: "$o.0")")
            let terms = branch.totalOrder.map(\.fragment)
            let over: SQLFragment = terms.isEmpty ? "" : "ORDER BY \(list: terms)"
            columns.append("ROW_NUMBER() OVER (\(over)) AS \(name: "$o.1")")
            selects.append(
                """
                SELECT \(list: columns) FROM \(branch.scope.fromClause)\
                \(ExpressionCompiler.whereClause(branch.conditions))
                """)
        }
        let source: SQLScope.Source = tables.first.map { .table($0) } ?? .derived
        let united = SQLScope(
            alias: alias, source: source, from: "(\(list: selects, by: " UNION ALL ")) AS \(name: alias)")
        for (position, name) in all.enumerated() {
            guard let operand = values[name]?.compactMap({ $0 }).first else { continue }
            var moved = operand.moved(to: "\(column: "$c.\(position)", of: alias)")
            moved.isNullable = true
            united.computed[name] = moved
        }
        let last = branches[branches.count - 1]
        scope = united
        conditions = []
        limit = nil
        order = ["$o.0", "$o.1"].map {
            CompiledQuery.SortTerm(sql: "\(column: $0, of: alias)", isNullable: false, isDescending: false)
        }
        partition = last.partition.enumerated().map { $1.moved(to: "\(column: "$p.\($0)", of: alias)") }
        var seen: Set<String> = []
        names = kinds.flatMap(\.names).filter { seen.insert($0).inserted }
        let alike = Set(kinds.map { "\($0.isEntity) \($0.names)" }).count == 1
        variants = alike ? nil : ("\(column: "$v", of: alias)", kinds)
        for name in names where !alike {
            let with = kinds.indices.filter { kinds[$0].names.contains(name) }
            united.defined[name] = "\(column: "$v", of: alias) IN (\(list: with.map { .number($0) }))"
        }
        identity = .nothing
        expands = branches.flatMap(\.expands)
        if branches.contains(where: \.mayHaveLostPartitions) { mayHaveLostPartitions = true }
        compiler.scopes[variable] = united
    }

    /// The operands of one name in one form.
    private func unified(_ operands: [Operand?], _ name: String) throws -> [Operand?] {
        let known = operands.compactMap { $0 }
        guard let first = known.first, known.contains(where: { $0.codec != first.codec }) else { return operands }
        let canonical = try known.map { try compiler.normalized($0) }
        if canonical.allSatisfy({ $0.codec == canonical[0].codec }) {
            return try operands.map { try $0.map { try compiler.normalized($0) } }
        }
        guard canonical.allSatisfy(\.codec.isNumeric) else {
            throw ODataError.notImplemented("concat of values of different types under the name \(name)")
        }
        let common: ColumnCodec = canonical.contains { $0.codec.isFloating } ? .double : .decimalBytes
        return try operands.map { try $0.map { try compiler.converted($0, to: common) } }
    }
}

extension SQLFragment {
    /// A number of this program's own as text.
    static func number(_ value: Int) -> SQLFragment { "\(bind: value.databaseValue)" }
}

extension ExpressionCompiler {
    /// A number in the form that another is written in, exact or floating.
    func exactOrReal(_ operand: Operand, _ codec: ColumnCodec) throws -> Operand {
        try converted(operand, to: codec.isFloating ? .double : .decimalBytes)
    }
}
