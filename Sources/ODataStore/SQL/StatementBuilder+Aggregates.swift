import GRDB
import ODataModel
import ODataQuery
import ODataService

/// The aggregate methods (OData Data Aggregation 4.0, 3.1.3); nulls do not count.
extension StatementBuilder {
    func aggregate(_ item: BoundAggregate) throws -> Operand {
        guard let expression = item.expression else {
            return Operand(sql: "COUNT(*)", type: item.type, codec: .integer, isNullable: false)
        }
        var operand = try compiler.value(expression)
        switch item.method {
        case .count:
            return Operand(sql: "COUNT(*)", type: item.type, codec: .integer, isNullable: false)
        case .countDistinct:
            if !operand.codec.isComparable { operand = try compiler.normalized(operand) }
            if operand.codec == .dateTimeOffset { operand.sql = "substr(\(operand.sql), 1, 16)" }
            return Operand(
                sql: "COUNT(DISTINCT \(operand.sortable))", type: item.type, codec: .integer, isNullable: false)
        case .min, .max:
            // Foreign numeric text sorts behind all numbers, so it goes through the exact form.
            if !operand.codec.isComparable { operand = try compiler.normalized(operand) }
            if operand.codec == .json { throw ODataError.notImplemented("\(item.method.rawValue) of \(operand.type)") }
            var result = operand
            result.sql = item.method == .min ? "MIN(\(operand.sortable))" : "MAX(\(operand.sortable))"
            result.type = item.type
            result.isNullable = true
            result.constant = nil
            return result
        case .sum: return try sum(operand, item)
        case .average: return try average(operand, item)
        case .custom: throw ODataError.notImplemented("The aggregation method \(item.function?.name ?? "")")
        }
    }

    private func sum(_ operand: Operand, _ item: BoundAggregate) throws -> Operand {
        let wanted = Operand.canonicalCodec(item.type)
        switch operand.codec {
        case .integer:
            if wanted == .integer { return made("outpost_int_sum(\(operand.sql))", .integer, item) }
            return try fitted(made("outpost_scaled_sum(\(operand.sql), 0)", .decimalBytes, item), wanted)
        case .scaledDecimal(let scale):
            let bound: SQLFragment = "\(bind: scale.databaseValue)"
            return try fitted(made("outpost_scaled_sum(\(operand.sql), \(bound))", .decimalBytes, item), wanted)
        case .decimalBytes, .numericDecimal:
            let exact = try compiler.normalized(operand)
            return try fitted(made("outpost_dec_sum(\(exact.sql))", .decimalBytes, item), wanted)
        case .double, .single: return made("outpost_real_sum(\(operand.sql))", .double, item)
        case .duration: return made("outpost_duration_sum(\(operand.sql))", .duration, item)
        default: throw ODataError.notImplemented("sum of \(operand.type)")
        }
    }

    private func average(_ operand: Operand, _ item: BoundAggregate) throws -> Operand {
        let wanted = Operand.canonicalCodec(item.type)
        switch operand.codec {
        case .integer where wanted.isFloating, .double, .single:
            return made("outpost_real_avg(\(operand.sql))", .double, item)
        case .integer: return made("outpost_scaled_avg(\(operand.sql), 0)", .decimalBytes, item)
        case .scaledDecimal(let scale):
            let bound: SQLFragment = "\(bind: scale.databaseValue)"
            return try fitted(made("outpost_scaled_avg(\(operand.sql), \(bound))", .decimalBytes, item), wanted)
        case .decimalBytes, .numericDecimal:
            let exact = try compiler.normalized(operand)
            return try fitted(made("outpost_dec_avg(\(exact.sql))", .decimalBytes, item), wanted)
        default: throw ODataError.notImplemented("average of \(operand.type)")
        }
    }

    private func made(_ sql: SQLFragment, _ codec: ColumnCodec, _ item: BoundAggregate) -> Operand {
        Operand(sql: sql, type: item.type, codec: codec)
    }

    /// An exact result in the form of the type that the model gives it.
    private func fitted(_ operand: Operand, _ codec: ColumnCodec) throws -> Operand {
        switch codec {
        case .double, .single: return try compiler.converted(operand, to: .double)
        case .integer: return try compiler.cast(operand, to: .primitive(.int64))
        default: return operand
        }
    }
}
