import ODataModel
import ODataQuery

/// The way in which a filter compares a property, as restricted by `FilterExpressionType` of the Capabilities
/// vocabulary.
extension CommonExpression {
    /// Returns whether a filter compares a property only in the ways that an expression type allows.
    ///
    /// The operands of `and` are the clauses of the filter. A clause that also names another property is never
    /// allowed.
    func compares(_ path: String, as type: FilterExpressionType) -> Bool {
        let clauses = operands(of: .and).filter { $0.namedPaths.contains(path) }
        guard let first = clauses.first else { return true }
        guard clauses.allSatisfy({ $0.namedPaths == [path] }) else { return false }
        let alternatives = clauses.count == 1 ? first.operands(of: .or) : []
        switch type {
        case .singleValue: return clauses.count == 1 && first.isValue(of: path)
        case .multiValue: return !alternatives.isEmpty && alternatives.allSatisfy { $0.isValues(of: path) }
        case .singleRange: return Self.isInterval(clauses, of: path)
        case .multiRange:
            return Self.isInterval(clauses, of: path)
                || !alternatives.isEmpty && alternatives.allSatisfy { $0.isInterval(of: path) }
        case .searchExpression: return !alternatives.isEmpty && alternatives.allSatisfy { $0.isSearch(of: path) }
        case .multiRangeOrSearchExpression:
            return Self.isInterval(clauses, of: path)
                || !alternatives.isEmpty
                    && alternatives.allSatisfy { $0.isInterval(of: path) || $0.isSearch(of: path) }
        }
    }

    private func operands(of combining: BinaryOperator) -> [CommonExpression] {
        guard case .binary(combining, let left, let right) = self else { return [self] }
        return left.operands(of: combining) + right.operands(of: combining)
    }

    private func isProperty(_ path: String) -> Bool {
        guard case .path(let steps) = self, namedPaths == [path] else { return false }
        return steps.count == path.split(separator: "/").count
    }

    /// Returns the operator of a comparison between the property and a value, as if the property were the left
    /// operand. Returns `nil` for any other expression.
    private func comparison(of path: String) -> BinaryOperator? {
        guard case .binary(let symbol, let left, let right) = self else { return nil }
        if left.isProperty(path), right.namedPaths.isEmpty { return symbol }
        guard right.isProperty(path), left.namedPaths.isEmpty else { return nil }
        switch symbol {
        case .less: return .greater
        case .lessOrEqual: return .greaterOrEqual
        case .greater: return .less
        case .greaterOrEqual: return .lessOrEqual
        default: return symbol
        }
    }

    private func isValue(of path: String) -> Bool { comparison(of: path) == .equal }

    private func isValues(of path: String) -> Bool {
        if case .membership(let operand, in: let values) = self {
            return operand.isProperty(path) && values.namedPaths.isEmpty
        }
        return isValue(of: path)
    }

    private func isInterval(of path: String) -> Bool { Self.isInterval(operands(of: .and), of: path) }

    /// Returns whether the conditions form one interval: a single comparison, or a lower and an upper bound.
    private static func isInterval(_ conditions: [CommonExpression], of path: String) -> Bool {
        let lower: Set<BinaryOperator> = [.greater, .greaterOrEqual]
        let upper: Set<BinaryOperator> = [.less, .lessOrEqual]
        let symbols = conditions.map { $0.comparison(of: path) }
        switch symbols.count {
        case 1: return symbols[0].map { $0 == .equal || lower.contains($0) || upper.contains($0) } ?? false
        case 2:
            guard let first = symbols[0], let second = symbols[1] else { return false }
            return lower.contains(first) && upper.contains(second) || upper.contains(first) && lower.contains(second)
        default: return false
        }
    }

    private func isSearch(of path: String) -> Bool {
        guard case .call(let name, let arguments) = self, arguments.count == 2 else { return false }
        switch name.text.lowercased() {
        case "startswith", "endswith", "contains":
            return arguments[0].isProperty(path) && arguments[1].namedPaths.isEmpty
        // The V2 function has the substring as its first argument.
        case "substringof": return arguments[1].isProperty(path) && arguments[0].namedPaths.isEmpty
        default: return false
        }
    }
}

extension FilterExpressionType {
    /// A description of the allowed expressions for error messages.
    var allowed: String {
        switch self {
        case .singleValue: "a single eq"
        case .multiValue: "eq and in, combined by or"
        case .singleRange: "a single interval"
        case .multiRange: "intervals, combined by or"
        case .searchExpression: "startswith, endswith and contains"
        case .multiRangeOrSearchExpression: "intervals, startswith, endswith and contains, combined by or"
        }
    }
}
