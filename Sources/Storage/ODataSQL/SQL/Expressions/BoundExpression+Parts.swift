import ODataQuery

extension BoundExpression {
    /// The expressions right below this one, the conditions of lambdas left out.
    private var operands: [BoundExpression] {
        switch self {
        case .constant, .path, .isOf, .any, .all, .count, .isDefined, .search, .aggregate: []
        case .unary(_, let operand, _), .cast(let operand, _), .isOfValue(let operand, _): [operand]
        case .binary(_, let left, let right, _): [left, right]
        case .membership(let operand, let others): [operand] + others
        case .function(_, let arguments, _), .list(let arguments, _), .custom(_, let arguments): arguments
        case .hierarchyTest(let test): [test.node] + (test.other.map { [$0] } ?? [])
        }
    }

    /// All paths in it, those of collections included, the conditions of lambdas left out.
    package var paths: [BoundPath] {
        switch self {
        case .path(let path), .isOf(let path, _), .isDefined(let path), .aggregate(let path, _): [path]
        case .any(let path, _, _), .all(let path, _, _), .count(let path, _, _): [path]
        case .hierarchyTest(let test): [test.reference.nodes] + operands.flatMap(\.paths)
        default: operands.flatMap(\.paths)
        }
    }

    /// All lambdas in it, nested ones left out.
    package var lambdas: [(path: BoundPath, variable: RangeVariable, condition: BoundExpression?)] {
        switch self {
        case .any(let path, let variable, let condition), .count(let path, let variable, let condition):
            [(path, variable, condition)]
        case .all(let path, let variable, let condition): [(path, variable, condition)]
        default: operands.flatMap(\.lambdas)
        }
    }

    /// All aggregations in it, those in the conditions of lambdas left out.
    var aggregates: [BoundAggregate] {
        if case .aggregate(_, let aggregate) = self { return [aggregate] }
        return operands.flatMap(\.aggregates)
    }

    /// Whether it holds a search, an aggregation or a function of the app's own: what their values hang on is not
    /// told by its paths.
    package var isOpaque: Bool {
        switch self {
        case .search, .aggregate, .custom: true
        default: operands.contains(where: \.isOpaque) || lambdas.contains { $0.condition?.isOpaque ?? false }
        }
    }

    /// Whether a function is called anywhere in it.
    package func calls(_ wanted: CanonicalFunction) -> Bool {
        if case .function(wanted, _, _) = self { return true }
        return operands.contains { $0.calls(wanted) } || lambdas.contains { $0.condition?.calls(wanted) ?? false }
    }
}
