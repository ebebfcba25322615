import ODataModel
import ODataQuery

/// How a filter compares a property: enough to hold it against what a service lets filters say of it (Capabilities
/// vocabulary, `FilterExpressionType`).
extension CommonExpression {
    /// Whether a filter says nothing of a property but what a type of expressions allows.
    ///
    /// The clauses of the filter are what `and` combines. A clause that names another property besides is none of a type's.
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

    /// What an associative operator combines.
    private func operands(of combining: BinaryOperator) -> [CommonExpression] {
        guard case .binary(combining, let left, let right) = self else { return [self] }
        return left.operands(of: combining) + right.operands(of: combining)
    }

    /// Whether this is the property itself.
    private func isProperty(_ path: String) -> Bool {
        guard case .path(let steps) = self, namedPaths == [path] else { return false }
        return steps.count == path.split(separator: "/").count
    }

    /// The operator of a comparison of the property with a value, as if the property stood first; `nil` for anything else.
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

    /// Whether all of some conditions are those of one interval: one comparison, or a lower and an upper bound.
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
        // The function of V2 has the part first.
        case "substringof": return arguments[1].isProperty(path) && arguments[0].namedPaths.isEmpty
        default: return false
        }
    }
}

extension FilterExpressionType {
    /// What is allowed, in words.
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
