import ODataModel

/// Swift's operators for those of OData (OData URL Conventions 4.01, 5.1.1.1 and 5.1.1.2).
extension QueryExpression {
    private static func binary(
        _ symbol: BinaryOperator, left: QueryExpression, right: QueryExpression
    ) -> QueryExpression {
        QueryExpression(.binary(symbol, left.expression, right.expression))
    }

    /// `eq`.
    public static func == (left: QueryExpression, right: QueryExpression) -> QueryExpression {
        binary(.equal, left: left, right: right)
    }
    /// `ne`.
    public static func != (left: QueryExpression, right: QueryExpression) -> QueryExpression {
        binary(.notEqual, left: left, right: right)
    }
    /// `lt`.
    public static func < (left: QueryExpression, right: QueryExpression) -> QueryExpression {
        binary(.less, left: left, right: right)
    }
    /// `le`.
    public static func <= (left: QueryExpression, right: QueryExpression) -> QueryExpression {
        binary(.lessOrEqual, left: left, right: right)
    }
    /// `gt`.
    public static func > (left: QueryExpression, right: QueryExpression) -> QueryExpression {
        binary(.greater, left: left, right: right)
    }
    /// `ge`.
    public static func >= (left: QueryExpression, right: QueryExpression) -> QueryExpression {
        binary(.greaterOrEqual, left: left, right: right)
    }
    /// `and`.
    public static func && (left: QueryExpression, right: QueryExpression) -> QueryExpression {
        binary(.and, left: left, right: right)
    }
    /// `or`.
    public static func || (left: QueryExpression, right: QueryExpression) -> QueryExpression {
        binary(.or, left: left, right: right)
    }
    /// `add`.
    public static func + (left: QueryExpression, right: QueryExpression) -> QueryExpression {
        binary(.add, left: left, right: right)
    }
    /// `sub`.
    public static func - (left: QueryExpression, right: QueryExpression) -> QueryExpression {
        binary(.subtract, left: left, right: right)
    }
    /// `mul`.
    public static func * (left: QueryExpression, right: QueryExpression) -> QueryExpression {
        binary(.multiply, left: left, right: right)
    }
    /// `div`: of whole numbers, whole. ``divided(by:)`` keeps the fraction.
    public static func / (left: QueryExpression, right: QueryExpression) -> QueryExpression {
        binary(.divide, left: left, right: right)
    }
    /// `mod`.
    public static func % (left: QueryExpression, right: QueryExpression) -> QueryExpression {
        binary(.modulo, left: left, right: right)
    }
    /// `not`.
    public static prefix func ! (operand: QueryExpression) -> QueryExpression {
        QueryExpression(.unary(.not, operand.expression))
    }
    /// Negation.
    public static prefix func - (operand: QueryExpression) -> QueryExpression {
        QueryExpression(.unary(.negate, operand.expression))
    }

    /// `divby`: of whole numbers, decimal.
    public func divided(by divisor: QueryExpression) -> QueryExpression {
        Self.binary(.divideBy, left: self, right: divisor)
    }

    /// `has`: whether an enumeration value has flags.
    public func has(_ flags: QueryExpression) -> QueryExpression { Self.binary(.has, left: self, right: flags) }

    /// `in` with a list.
    public func isIn(_ values: [QueryExpression]) -> QueryExpression {
        QueryExpression(.membership(expression, in: .list(values.map(\.expression))))
    }

    /// `in` with a list.
    public func isIn(_ values: QueryExpression...) -> QueryExpression { isIn(values) }

    /// `in` with a collection-valued property.
    public func isIn(collection path: String) -> QueryExpression {
        QueryExpression(.membership(expression, in: .path(Self.steps(path))))
    }

    /// All of the conditions; `true` for none. Many conditions become a shallow tree.
    public static func all(of conditions: [QueryExpression]) -> QueryExpression {
        guard !conditions.isEmpty else { return true }
        return QueryExpression(CommonExpression.joined(conditions.map(\.expression)[...], by: .and))
    }

    /// Any of the conditions; `false` for none. Many conditions become a shallow tree.
    public static func any(of conditions: [QueryExpression]) -> QueryExpression {
        guard !conditions.isEmpty else { return false }
        return QueryExpression(CommonExpression.joined(conditions.map(\.expression)[...], by: .or))
    }
}
