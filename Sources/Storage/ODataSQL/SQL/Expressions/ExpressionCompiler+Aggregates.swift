import GRDB
import ODataModel
import ODataQuery
import ODataService

/// The aggregation methods (OData Data Aggregation 4.0, 3.2.1.3). They ignore nulls.
extension ExpressionCompiler {
    /// Returns an aggregate of the selected rows.
    func aggregated(_ item: BoundAggregate) throws -> Operand {
        guard let expression = item.expression, item.method != .count else {
            return count("COUNT(*)", item)
        }
        return try aggregated(item, of: try value(expression))
    }

    /// Returns the values of an expression as a table, with one row for each entity in each group (3.2.1.1).
    ///
    /// - Parameters:
    ///   - owner: the path to the entity.
    ///   - keys: the values that identify the group; their columns are `$p.0` and so on.
    ///   - rows: returns FROM and WHERE with an additional condition; called when all joins are known.
    func values(
        of expression: BoundExpression, once owner: BoundPath, for keys: [Operand],
        rows: (SQLFragment) throws -> SQLFragment
    ) throws -> (table: SQLFragment, value: Operand, alias: String) {
        let value = try value(expression)
        guard case .entity(let scope, _, _) = try resolve(owner), let table = scope.table else {
            throw Self.unsupported("aggregate over \(Self.name(of: owner.steps))")
        }
        let identity = table.rowID.map { [$0] } ?? table.keyColumns.map(\.name)
        guard let first = identity.first else {
            throw Self.unsupported("aggregate over \(table.set), which has no key")
        }
        var columns = keys.enumerated().map { "\($1.sortable) AS \(name: "$p.\($0)")" as SQLFragment }
        columns += identity.enumerated().map { "\(scope.sql($1)) AS \(name: "$k.\($0)")" }
        columns.append("\(value.sql) AS \(name: "$x")")
        let alias = newAlias()
        let select: SQLFragment = "SELECT DISTINCT \(list: columns) \(try rows("\(scope.sql(first)) IS NOT NULL"))"
        return ("(\(select)) AS \(name: alias)", value.moved(to: "\(column: "$x", of: alias)"), alias)
    }

    /// Returns an aggregate of an operand.
    func aggregated(_ item: BoundAggregate, of operand: Operand) throws -> Operand {
        var operand = operand
        switch item.method {
        case .custom: return try custom(item, operand)
        case .count:
            return count("COUNT(*)", item)
        case .countDistinct:
            if !operand.codec.isComparable { operand = try normalized(operand) }
            if operand.codec == .dateTimeOffset { operand.sql = "substr(\(operand.sql), 1, 16)" }
            return count("COUNT(DISTINCT \(operand.sortable))", item)
        case .min, .max:
            // Numeric text of an existing column sorts after all numbers, so that it is converted first.
            if !operand.codec.isComparable { operand = try normalized(operand) }
            if operand.codec == .json { throw ODataError.notImplemented("\(item.method.rawValue) of \(operand.type)") }
            var result = operand
            result.sql = item.method == .min ? "MIN(\(operand.sortable))" : "MAX(\(operand.sortable))"
            result.type = item.type
            result.isNullable = true
            result.constant = nil
            return result
        case .sum: return try sum(operand, item)
        case .average: return try average(operand, item)
        }
    }

    /// Returns a number of rows. A decimal result is stored as an integer.
    private func count(_ sql: SQLFragment, _ item: BoundAggregate) -> Operand {
        let isDecimal = item.type.primitive == .decimal
        return Operand(
            sql: sql, type: item.type, codec: isDecimal ? .scaledDecimal(scale: 0) : .integer, isNullable: false)
    }

    private func sum(_ operand: Operand, _ item: BoundAggregate) throws -> Operand {
        let wanted = Operand.canonicalCodec(item.type)
        switch operand.codec {
        case .integer:
            if wanted == .integer { return made("outpost_int_sum(\(operand.sql))", .integer, item: item) }
            return try fitted(made("outpost_scaled_sum(\(operand.sql), 0)", .decimalBytes, item: item), wanted)
        case .scaledDecimal(let scale):
            let bound: SQLFragment = "\(bind: scale.databaseValue)"
            return try fitted(made("outpost_scaled_sum(\(operand.sql), \(bound))", .decimalBytes, item: item), wanted)
        case .decimalBytes:
            return try fitted(made("outpost_dec_sum(\(operand.sql))", .decimalBytes, item: item), wanted)
        case .numericDecimal:
            let label: SQLFragment = "\(bind: operand.place.databaseValue)"
            return try fitted(made("outpost_number_sum(\(operand.sql), \(label))", .decimalBytes, item: item), wanted)
        case .double, .single: return made("outpost_real_sum(\(operand.sql))", .double, item: item)
        case .duration: return made("outpost_duration_sum(\(operand.sql))", .duration, item: item)
        default: throw ODataError.notImplemented("sum of \(operand.type)")
        }
    }

    private func average(_ operand: Operand, _ item: BoundAggregate) throws -> Operand {
        let wanted = Operand.canonicalCodec(item.type)
        switch operand.codec {
        case .integer where wanted.isFloating, .double, .single:
            return made("outpost_real_avg(\(operand.sql))", .double, item: item)
        case .integer: return made("outpost_scaled_avg(\(operand.sql), 0)", .decimalBytes, item: item)
        case .scaledDecimal(let scale):
            let bound: SQLFragment = "\(bind: scale.databaseValue)"
            return try fitted(made("outpost_scaled_avg(\(operand.sql), \(bound))", .decimalBytes, item: item), wanted)
        case .decimalBytes:
            return try fitted(made("outpost_dec_avg(\(operand.sql))", .decimalBytes, item: item), wanted)
        case .numericDecimal:
            let label: SQLFragment = "\(bind: operand.place.databaseValue)"
            return try fitted(made("outpost_number_avg(\(operand.sql), \(label))", .decimalBytes, item: item), wanted)
        case .duration: return made("outpost_duration_avg(\(operand.sql))", .duration, item: item)
        default: throw ODataError.notImplemented("average of \(operand.type)")
        }
    }

    /// Calls a registered aggregation method (3.2.1.3.6) with its values and their type.
    private func custom(_ item: BoundAggregate, _ operand: Operand) throws -> Operand {
        guard let function = item.function, let type = operand.type.primitive else {
            throw ODataError.notImplemented("\(item.function?.name ?? "an aggregation method") of \(operand.type)")
        }
        let value = try normalized(operand)
        return Operand(
            sql: """
                \(name: AppFunctions.sqlName(function.name))(\(value.sql), \(bind: type.rawValue.databaseValue))
                """, type: item.type, codec: Operand.canonicalCodec(item.type))
    }

    private func made(_ sql: SQLFragment, _ codec: ColumnCodec, item: BoundAggregate) -> Operand {
        Operand(sql: sql, type: item.type, codec: codec)
    }

    /// Converts an exact result to the form of the declared type.
    private func fitted(_ operand: Operand, _ codec: ColumnCodec) throws -> Operand {
        switch codec {
        case .double, .single: return try converted(operand, to: .double)
        case .integer: return try cast(operand, to: .primitive(.int64))
        default: return operand
        }
    }
}
