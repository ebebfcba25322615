extension SearchExpression {
    /// The direct operands.
    package var children: [SearchExpression] {
        switch self {
        case .word, .phrase: []
        case .not(let operand): [operand]
        case .and(let left, let right), .or(let left, let right): [left, right]
        }
    }

    /// Returns the expression with its ``children`` replaced.
    ///
    /// - Parameter transform: receives the children in order.
    package func mapChildren<Failure: Error>(
        _ transform: (SearchExpression) throws(Failure) -> SearchExpression
    ) throws(Failure) -> SearchExpression {
        switch self {
        case .word, .phrase: self
        case .not(let operand): .not(try transform(operand))
        case .and(let left, let right): .and(try transform(left), try transform(right))
        case .or(let left, let right): .or(try transform(left), try transform(right))
        }
    }
}
