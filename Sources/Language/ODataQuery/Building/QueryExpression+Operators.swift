import ODataModel

/// Swift operators for the operators of OData (OData URL Conventions 4.01, 5.1.1.1 and 5.1.1.2).
extension QueryExpression {
    private static func binary(
        _ symbol: BinaryOperator, left: QueryExpression, right: QueryExpression
    ) -> QueryExpression {
        QueryExpression(.binary(symbol, left.expression, right.expression))
    }

    /// Compares with `eq`.
    public static func == (left: QueryExpression, right: QueryExpression) -> QueryExpression {
        binary(.equal, left: left, right: right)
    }
    /// Compares with `ne`.
    public static func != (left: QueryExpression, right: QueryExpression) -> QueryExpression {
        binary(.notEqual, left: left, right: right)
    }
    /// Compares with `lt`.
    public static func < (left: QueryExpression, right: QueryExpression) -> QueryExpression {
        binary(.less, left: left, right: right)
    }
    /// Compares with `le`.
    public static func <= (left: QueryExpression, right: QueryExpression) -> QueryExpression {
        binary(.lessOrEqual, left: left, right: right)
    }
    /// Compares with `gt`.
    public static func > (left: QueryExpression, right: QueryExpression) -> QueryExpression {
        binary(.greater, left: left, right: right)
    }
    /// Compares with `ge`.
    public static func >= (left: QueryExpression, right: QueryExpression) -> QueryExpression {
        binary(.greaterOrEqual, left: left, right: right)
    }
    /// Combines two conditions with `and`.
    public static func && (left: QueryExpression, right: QueryExpression) -> QueryExpression {
        binary(.and, left: left, right: right)
    }
    /// Combines two conditions with `or`.
    public static func || (left: QueryExpression, right: QueryExpression) -> QueryExpression {
        binary(.or, left: left, right: right)
    }
    /// Adds with `add`.
    public static func + (left: QueryExpression, right: QueryExpression) -> QueryExpression {
        binary(.add, left: left, right: right)
    }
    /// Subtracts with `sub`.
    public static func - (left: QueryExpression, right: QueryExpression) -> QueryExpression {
        binary(.subtract, left: left, right: right)
    }
    /// Multiplies with `mul`.
    public static func * (left: QueryExpression, right: QueryExpression) -> QueryExpression {
        binary(.multiply, left: left, right: right)
    }
    /// Divides with `div`, which truncates the quotient of integers. ``divided(by:)`` keeps the fraction.
    public static func / (left: QueryExpression, right: QueryExpression) -> QueryExpression {
        binary(.divide, left: left, right: right)
    }
    /// Returns the remainder with `mod`.
    public static func % (left: QueryExpression, right: QueryExpression) -> QueryExpression {
        binary(.modulo, left: left, right: right)
    }
    /// Negates a condition with `not`.
    public static prefix func ! (operand: QueryExpression) -> QueryExpression {
        QueryExpression(.unary(.not, operand.expression))
    }
    /// Negates a number.
    public static prefix func - (operand: QueryExpression) -> QueryExpression {
        QueryExpression(.unary(.negate, operand.expression))
    }

    /// Divides with `divby`, which gives a decimal quotient of integers.
    public func divided(by divisor: QueryExpression) -> QueryExpression {
        Self.binary(.divideBy, left: self, right: divisor)
    }

    /// Returns whether an enumeration value has flags (`has`).
    public func has(_ flags: QueryExpression) -> QueryExpression { Self.binary(.has, left: self, right: flags) }

    /// Returns whether the value is in a list (`in`).
    public func isIn(_ values: [QueryExpression]) -> QueryExpression {
        QueryExpression(.membership(expression, in: .list(values.map(\.expression))))
    }

    /// Returns whether the value is in a list (`in`).
    public func isIn(_ values: QueryExpression...) -> QueryExpression { isIn(values) }

    /// Returns whether the value is in a collection-valued property (`in`).
    public func isIn(collection path: String) -> QueryExpression {
        QueryExpression(.membership(expression, in: .path(Self.steps(path))))
    }

    /// Combines conditions with `and`; `true` for an empty list. A long list becomes a balanced tree.
    public static func all(of conditions: [QueryExpression]) -> QueryExpression {
        guard !conditions.isEmpty else { return true }
        return QueryExpression(CommonExpression.joined(conditions.map(\.expression)[...], by: .and))
    }

    /// Combines conditions with `or`; `false` for an empty list. A long list becomes a balanced tree.
    public static func any(of conditions: [QueryExpression]) -> QueryExpression {
        guard !conditions.isEmpty else { return false }
        return QueryExpression(CommonExpression.joined(conditions.map(\.expression)[...], by: .or))
    }
}
