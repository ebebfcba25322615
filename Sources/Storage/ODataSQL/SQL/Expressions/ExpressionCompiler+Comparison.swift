import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataService

/// Comparisons. Null equals only null, and is neither less nor greater than any value (OData URL Conventions 4.01,
/// 5.1.1.1.1 to 5.1.1.1.6). The result is never null.
extension ExpressionCompiler {
    /// Returns a comparison. In a condition, its value may be NULL instead of false.
    func compare(
        _ op: BinaryOperator, left: BoundExpression, right: BoundExpression, isCondition: Bool
    ) throws -> SQLFragment {
        let (left, right) = (Self.peeled(left), Self.peeled(right))
        if Self.isStructured(left.type) || Self.isStructured(right.type), !left.isNullConstant, !right.isNullConstant {
            let equal = try areEqual(left, right)
            return op == .notEqual ? "NOT \(equal)" : equal
        }
        if case .constant(let value, _) = right {
            return try compare(op, left, with: value, other: right, isCondition: isCondition)
        }
        if case .constant(let value, _) = left {
            return try compare(Self.mirrored(op), right, with: value, other: left, isCondition: isCondition)
        }
        return try compare(op, left: value(left), right: value(right), isCondition: isCondition)
    }

    /// Returns the operand of a lossless cast. A comparison without the cast can use an index of the column.
    static func peeled(_ expression: BoundExpression) -> BoundExpression {
        guard case .cast(let operand, let type) = expression, let to = type.primitive,
            let from = operand.type.primitive
        else { return expression }
        if let own = from.integerRange, let range = to.integerRange {
            let isWider = range.contains(own.lowerBound) && range.contains(own.upperBound)
            return isWider ? peeled(operand) : expression
        }
        switch (from, to) {
        case (_, _) where from == to: return peeled(operand)
        case (.byte, _) where to.isNumeric, (.sbyte, _) where to.isNumeric, (.int16, _) where to.isNumeric,
            (.int32, _) where to.isNumeric && to != .single, (.int64, .decimal), (.int64, .double), (.single, .double):
            return peeled(operand)
        default: return expression
        }
    }

    private static func mirrored(_ op: BinaryOperator) -> BinaryOperator {
        switch op {
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        default: op
        }
    }

    // MARK: With a constant

    private func compare(
        _ op: BinaryOperator, _ expression: BoundExpression, with constant: ODataValue, other: BoundExpression,
        isCondition: Bool
    ) throws -> SQLFragment {
        if constant.isNull { return try compareWithNull(op, expression) }
        var operand = try value(expression)
        if let dynamic = operand.dynamic { operand = try typed(dynamic, as: other.type, place: operand.place) }
        switch constant {
        case .double(let number) where number.isNaN: return op == .notEqual ? "1" : "0"
        case .single(let number) where number.isNaN: return op == .notEqual ? "1" : "0"
        default: break
        }
        if operand.codec == .dateTimeOffset, let instant = ColumnCodec.instant(constant) {
            return compareInstant(op, operand, instant: instant, isCondition: isCondition)
        }
        // SQLite's `lower()` supports only ASCII letters, which is sufficient for GUIDs.
        if operand.codec == .guidText, case .guid(let guid) = constant {
            operand.sql = "lower(\(operand.sql))"
            return finish(op, operand, stored: "\(bind: guid.description.databaseValue)", isCondition: isCondition)
        }
        if operand.codec == .timeText { operand = try normalized(operand) }
        switch ComparisonForm.of(constant, in: operand.codec) {
        case .exact(let stored):
            return finish(
                op, operand, stored: bound(stored, constant, type: other.type, codec: operand.codec),
                isCondition: isCondition)
        case .above(let lesser):
            switch op {
            case .equal: return "0"
            case .notEqual: return "1"
            case .less, .lessOrEqual:
                return finish(.lessOrEqual, operand, stored: "\(bind: lesser)", isCondition: isCondition)
            default: return finish(.greater, operand, stored: "\(bind: lesser)", isCondition: isCondition)
            }
        case .belowAll: return always(op == .greater || op == .greaterOrEqual, op, operand: operand)
        case .aboveAll: return always(op == .less || op == .lessOrEqual, op, operand: operand)
        case .none:
            return try compare(op, left: operand, right: .constant(constant, other.type), isCondition: isCondition)
        }
    }

    /// Returns the comparison with a constant outside of all values: true for all values except null, or never
    /// true.
    private func always(_ isTrue: Bool, _ op: BinaryOperator, operand: Operand) -> SQLFragment {
        if op == .notEqual { return "1" }
        return isTrue ? "\(operand.sortable) IS NOT NULL" : "0"
    }

    private func compareWithNull(_ op: BinaryOperator, _ expression: BoundExpression) throws -> SQLFragment {
        let isNull: SQLFragment
        if case .path(let path) = expression {
            switch try resolve(path) {
            // NOT has a low precedence and would negate the whole test without the parentheses.
            case .scalar(let operand): isNull = "(\(operand.sql)) IS NULL"
            case .complex(_, _, let presence, _): isNull = "coalesce(\(presence), 0) = 0"
            case .entity(let scope, _, _):
                guard let table = scope.table else { throw Self.unsupported("a comparison with null") }
                isNull = "NOT (\(try exists(scope, table)))"
            case .collection: throw Self.unsupported("a comparison of the collection \(Self.name(of: path.steps))")
            }
        } else {
            isNull = "(\(try value(expression).sql)) IS NULL"
        }
        switch op {
        case .equal, .lessOrEqual, .greaterOrEqual: return "(\(isNull))"
        case .notEqual: return "NOT (\(isNull))"
        default: return "0"
        }
    }

    /// Compares instants without their offsets by the first sixteen bytes, like `$orderby`, so that one index
    /// serves both.
    private func compareInstant(
        _ op: BinaryOperator, _ operand: Operand, instant: ODataDateTime, isCondition: Bool
    ) -> SQLFragment {
        let key = InstantKey.encode(seconds: instant.seconds, picoseconds: instant.picoseconds)
        var instants = operand
        instants.sql = operand.order
        instants.codec = .dateTime
        return finish(op, instants, stored: "\(bind: ColumnCodec.blob(key))", isCondition: isCondition)
    }

    /// Returns a comparison with a value that is not null and has the form of the operand.
    private func finish(
        _ op: BinaryOperator, _ operand: Operand, stored: SQLFragment, isCondition: Bool
    ) -> SQLFragment {
        let left = operand.sortable
        let sql: SQLFragment
        switch op {
        case .equal:
            sql =
                if let column = operand.anyTextColumn {
                    .column(column, isServedAs: stored)
                } else {
                    "\(left) = \(stored)"
                }
        case .notEqual: return operand.isNullable ? "\(left) IS NOT \(stored)" : "\(left) <> \(stored)"
        case .less: sql = "\(left) < \(stored)"
        case .lessOrEqual: sql = "\(left) <= \(stored)"
        default:
            let comparison: SQLFragment = op == .greater ? "\(left) > \(stored)" : "\(left) >= \(stored)"
            // NaN is stored as a BLOB, which SQLite sorts after all numbers, although NaN is not greater than any
            // number.
            sql =
                operand.codec.isFloating
                ? "(\(comparison) AND \(left) <= \(bind: Double.infinity.databaseValue))" : comparison
        }
        return isCondition || !operand.isNullable ? sql : "coalesce(\(sql), 0)"
    }

    // MARK: Of two operands

    func compare(
        _ op: BinaryOperator, left: Operand, right: Operand, isCondition: Bool
    ) throws -> SQLFragment {
        var (left, right) = (left, right)
        switch (left.dynamic, right.dynamic) {
        case (let one?, let other?): return compare(op, left: one, right: other)
        case (let dynamic?, nil) where Operand.canonicalCodec(right.type) != .json:
            left = try typed(dynamic, as: right.type, place: left.place)
            return mixed(
                op, dynamic, typed: left,
                comparison: try compare(op, left: left, right: right, isCondition: isCondition))
        case (nil, let dynamic?) where Operand.canonicalCodec(left.type) != .json:
            right = try typed(dynamic, as: left.type, place: right.place)
            return mixed(
                op, dynamic, typed: right,
                comparison: try compare(op, left: left, right: right, isCondition: isCondition))
        default: break
        }
        (left, right) = try aligned(left, right)
        if left.codec == .json, left.type.isCollection, right.codec == .json, op == .equal || op == .notEqual {
            let type = try memberType(left.type).sql
            let equal: SQLFragment = """
                coalesce(outpost_members_equal(\(left.sql), \(right.sql), \(type)), \
                \(left.sql) IS NULL AND \(right.sql) IS NULL)
                """
            return op == .equal ? equal : "NOT \(equal)"
        }
        if left.codec == .json { throw Self.unsupported("a comparison of \(left.type)") }
        if left.codec == .dateTimeOffset {
            left.sql = "substr(\(left.sql), 1, 16)"
            right.sql = "substr(\(right.sql), 1, 16)"
        }
        let (a, b) = (left.sortable, right.codec == .boolean ? right.sortable : right.sql)
        let isNullable = left.isNullable || right.isNullable
        let bothNullable = left.isNullable && right.isNullable
        switch op {
        case .equal:
            let isNumber: SQLFragment = left.codec.isFloating ? " AND typeof(\(a)) <> 'blob'" : ""
            if !isNullable { return "(\(a) = \(b)\(isNumber))" }
            // Two nulls are equal, and IS never returns NULL.
            return bothNullable || !isCondition ? "(\(a) IS \(b)\(isNumber))" : "(\(a) = \(b)\(isNumber))"
        case .notEqual:
            let isNaN: SQLFragment = left.codec.isFloating ? " OR typeof(\(a)) = 'blob'" : ""
            return "(\(a) IS NOT \(b)\(isNaN))"
        default: break
        }
        var sql: SQLFragment
        switch op {
        case .less: sql = "\(a) < \(b)"
        case .lessOrEqual: sql = "\(a) <= \(b)"
        case .greater: sql = "\(a) > \(b)"
        default: sql = "\(a) >= \(b)"
        }
        if left.codec.isFloating { sql = "(\(sql) AND typeof(\(a)) <> 'blob' AND typeof(\(b)) <> 'blob')" }
        if isNullable, !isCondition { sql = "coalesce(\(sql), 0)" }
        if bothNullable, op == .lessOrEqual || op == .greaterOrEqual {
            // According to "See rules for gt and eq", null is equal to null.
            sql = "(\(sql) OR ((\(left.sql)) IS NULL AND (\(right.sql)) IS NULL))"
        }
        return sql
    }

    /// Returns both operands in a common form with the order of their values.
    func aligned(_ left: Operand, _ right: Operand) throws -> (Operand, Operand) {
        if left.codec == right.codec, left.codec.isComparable { return (left, right) }
        var (a, b) = (try normalized(left), try normalized(right))
        if a.codec == b.codec { return (a, b) }
        if a.codec.isNumeric, b.codec.isNumeric {
            let common: ColumnCodec = a.codec.isFloating || b.codec.isFloating ? .double : .decimalBytes
            a = try converted(a, to: common)
            b = try converted(b, to: common)
            return (a, b)
        }
        // V2 literals have no offset, but columns of existing databases may have one.
        if a.codec == .dateTime, b.codec == .dateTimeOffset { return (try converted(a, to: .dateTimeOffset), b) }
        if a.codec == .dateTimeOffset, b.codec == .dateTime { return (a, try converted(b, to: .dateTimeOffset)) }
        throw Self.unsupported("a comparison of \(a.type) with \(b.type)")
    }
}

extension BoundExpression {
    fileprivate var isNullConstant: Bool {
        if case .constant(.null, _) = self { true } else { false }
    }
}

extension ColumnCodec {
    /// Whether values are binary floating-point numbers, which include NaN.
    var isFloating: Bool { self == .double || self == .single }

    /// Whether values are numbers in a canonical form.
    var isNumeric: Bool { isFloating || self == .integer || self == .decimalBytes }

    /// Whether stored values of the codec compare in the same way as the values themselves.
    var isComparable: Bool {
        switch self {
        // Numeric text, optional seconds and letter case allow several forms of the same value.
        case .json, .numericDecimal, .timeText, .guidText: false
        default: true
        }
    }
}
