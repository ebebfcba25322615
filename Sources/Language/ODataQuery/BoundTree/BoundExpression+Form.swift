import ODataModel

extension BoundExpression {
    /// Returns whether two expressions differ only in the values of constants.
    ///
    /// The types of constants, the conversions by promotion and everything else must be the same. The type of a
    /// literal depends on its value: 3.0 can be compared with an integer, 3.5 cannot. Expressions with the same
    /// notation may therefore have different forms.
    package func hasForm(of other: BoundExpression) -> Bool {
        switch (self, other) {
        case (.constant(let value, let type), .constant(let otherValue, let otherType)):
            return type == otherType && value.isNull == otherValue.isNull
        case (.unary(let symbol, let inner, let type), .unary(let otherSymbol, let otherInner, let otherType)):
            return symbol == otherSymbol && type == otherType && inner.hasForm(of: otherInner)
        case (
            .binary(let symbol, let left, let right, let type), .binary(let other, let first, let second, let otherType)
        ):
            return symbol == other && type == otherType && left.hasForm(of: first) && right.hasForm(of: second)
        case (.membership(let operand, let members), .membership(let otherOperand, let otherMembers)):
            return operand.hasForm(of: otherOperand) && members.haveForms(of: otherMembers)
        case (.function(let name, let arguments, let type), .function(let otherName, let otherArguments, let otherType)):
            return name == otherName && type == otherType && arguments.haveForms(of: otherArguments)
        case (.cast(let inner, let type), .cast(let otherInner, let otherType)):
            return type == otherType && inner.hasForm(of: otherInner)
        case (.any(let path, let variable, let predicate), .any(let otherPath, let otherVariable, let otherPredicate)):
            return path == otherPath && variable == otherVariable && predicate.hasForm(of: otherPredicate)
        case (.all(let path, let variable, let predicate), .all(let otherPath, let otherVariable, let otherPredicate)):
            return path == otherPath && variable == otherVariable && predicate.hasForm(of: otherPredicate)
        case (.count(let path, let variable, let filter), .count(let otherPath, let otherVariable, let otherFilter)):
            return path == otherPath && variable == otherVariable && filter.hasForm(of: otherFilter)
        default: return self == other
        }
    }
}

extension Optional<BoundExpression> {
    /// Returns whether both expressions are missing, or both have the same form.
    package func hasForm(of other: BoundExpression?) -> Bool {
        guard let self, let other else { return self == nil && other == nil }
        return self.hasForm(of: other)
    }
}

extension [BoundExpression] {
    fileprivate func haveForms(of others: [BoundExpression]) -> Bool {
        count == others.count && zip(self, others).allSatisfy { $0.hasForm(of: $1) }
    }
}

extension BoundQuery {
    /// Returns whether two queries differ only in the values of constants in `$filter` and `$orderby`.
    package func hasForm(of other: BoundQuery) -> Bool {
        filter.hasForm(of: other.filter) && orderBy.count == other.orderBy.count
            && zip(orderBy, other.orderBy).allSatisfy {
                $0.isDescending == $1.isDescending && $0.expression.hasForm(of: $1.expression)
            }
    }
}
