import GRDB
import ODataModel
import ODataQuery
import ODataService

/// Arithmetic on numbers, dates and durations (OData URL Conventions 4.01, 5.1.1.2).
extension ExpressionCompiler {
    func negate(_ operand: Operand, _ type: TypeReference) throws -> Operand {
        let value = try normalized(operand)
        switch value.codec {
        case .integer: return result("outpost_int_neg(\(value.sql))", type, codec: .integer, operands: value)
        case .double, .single:
            return result("outpost_real_neg(\(value.sql))", type, codec: value.codec, operands: value)
        case .decimalBytes: return result("outpost_dec_neg(\(value.sql))", type, codec: .decimalBytes, operands: value)
        case .duration: return result("outpost_duration_neg(\(value.sql))", type, codec: .duration, operands: value)
        default: throw Self.unsupported("negation of \(operand.type)")
        }
    }

    func arithmetic(_ op: BinaryOperator, left: Operand, right: Operand, type: TypeReference) throws -> Operand {
        let (a, b) = (try normalized(left), try normalized(right))
        if a.codec.isNumeric, b.codec.isNumeric { return try numeric(op, left: a, right: b, type: type) }
        return try temporal(op, left: a, right: b, type: type)
    }

    private func numeric(_ op: BinaryOperator, left: Operand, right: Operand, type: TypeReference) throws
        -> Operand
    {
        var codec = Operand.canonicalCodec(type)
        if !codec.isNumeric {
            codec = left.codec.isFloating || right.codec.isFloating ? .double : .decimalBytes
        }
        if op == .divideBy, codec == .integer { codec = .decimalBytes }
        let operands: ColumnCodec = codec == .single ? .double : codec
        if codec == .integer, left.codec != .integer || right.codec != .integer { throw Self.unsupported(op.rawValue) }
        let a = try converted(left, to: operands).sql
        let b = try converted(right, to: operands).sql
        let sql: SQLFragment
        switch (operands, op) {
        case (.integer, .add): sql = "outpost_int_add(\(a), \(b))"
        case (.integer, .subtract): sql = "outpost_int_sub(\(a), \(b))"
        case (.integer, .multiply): sql = "outpost_int_mul(\(a), \(b))"
        case (.integer, .divide): sql = "outpost_int_div(\(a), \(b))"
        case (.integer, .modulo): sql = "outpost_int_mod(\(a), \(b))"
        case (.double, .add): sql = "outpost_real_add(\(a), \(b))"
        case (.double, .subtract): sql = "outpost_real_sub(\(a), \(b))"
        case (.double, .multiply): sql = "outpost_real_mul(\(a), \(b))"
        case (.double, .divide), (.double, .divideBy): sql = "outpost_real_div(\(a), \(b))"
        case (.double, .modulo): sql = "outpost_real_mod(\(a), \(b))"
        case (.decimalBytes, .add): sql = "outpost_dec_add(\(a), \(b))"
        case (.decimalBytes, .subtract): sql = "outpost_dec_sub(\(a), \(b))"
        case (.decimalBytes, .multiply): sql = "outpost_dec_mul(\(a), \(b))"
        case (.decimalBytes, .divide), (.decimalBytes, .divideBy): sql = "outpost_dec_div(\(a), \(b))"
        case (.decimalBytes, .modulo): sql = "outpost_dec_mod(\(a), \(b))"
        default: throw Self.unsupported(op.rawValue)
        }
        // Division by zero is null.
        var value = result(
            codec == .single ? "outpost_real_single(\(sql))" : sql, type, codec: codec, operands: left, right)
        if op == .divide || op == .divideBy || op == .modulo { value.isNullable = true }
        return value
    }

    private func temporal(
        _ op: BinaryOperator, left: Operand, right: Operand, type: TypeReference
    ) throws -> Operand {
        let (a, b) = (left.sql, right.sql)
        switch (left.codec, op, right.codec) {
        case (.dateTimeOffset, .add, .duration), (.dateTime, .add, .duration), (.duration, .add, .duration):
            return result("outpost_instant_add(\(a), \(b))", type, codec: left.codec, operands: left, right)
        case (.duration, .add, .dateTimeOffset), (.duration, .add, .dateTime):
            return result("outpost_instant_add(\(b), \(a))", type, codec: right.codec, operands: left, right)
        case (.dateTimeOffset, .subtract, .duration), (.dateTime, .subtract, .duration),
            (.duration, .subtract, .duration):
            return result("outpost_instant_sub(\(a), \(b))", type, codec: left.codec, operands: left, right)
        case (.dateTimeOffset, .subtract, .dateTimeOffset), (.dateTime, .subtract, .dateTime):
            return result("outpost_instant_diff(\(a), \(b))", type, codec: .duration, operands: left, right)
        case (.date, .add, .duration):
            return result("outpost_date_add(\(a), \(b))", type, codec: .date, operands: left, right)
        case (.duration, .add, .date):
            return result("outpost_date_add(\(b), \(a))", type, codec: .date, operands: left, right)
        case (.date, .subtract, .duration):
            return result("outpost_date_sub(\(a), \(b))", type, codec: .date, operands: left, right)
        case (.date, .subtract, .date):
            return result("outpost_date_diff(\(a), \(b))", type, codec: .duration, operands: left, right)
        case (.duration, .multiply, _) where right.codec.isNumeric:
            let factor = try converted(right, to: .decimalBytes).sql
            return result("outpost_duration_mul(\(a), \(factor))", type, codec: .duration, operands: left, right)
        case (_, .multiply, .duration) where left.codec.isNumeric:
            let factor = try converted(left, to: .decimalBytes).sql
            return result("outpost_duration_mul(\(b), \(factor))", type, codec: .duration, operands: left, right)
        case (.duration, .divide, _) where right.codec.isNumeric, (.duration, .divideBy, _) where right.codec.isNumeric:
            let factor = try converted(right, to: .decimalBytes).sql
            var value = result("outpost_duration_div(\(a), \(factor))", type, codec: .duration, operands: left, right)
            value.isNullable = true
            return value
        default: throw Self.unsupported("\(op.rawValue) of \(left.type) and \(right.type)")
        }
    }

    /// Returns the result of a function that is null if an operand is null.
    func result(_ sql: SQLFragment, _ type: TypeReference, codec: ColumnCodec, operands: Operand...) -> Operand {
        Operand(sql: sql, type: type, codec: codec, isNullable: operands.contains { $0.isNullable })
    }
}
