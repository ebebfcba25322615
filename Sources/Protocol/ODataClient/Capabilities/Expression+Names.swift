import ODataQuery

/// What an expression names: enough to hold it against what a service says.
extension Expression {
    /// The paths of properties, without those within lambda expressions over other entities.
    var namedPaths: Set<String> {
        switch self {
        case .path(let steps):
            var names: [String] = []
            for step in steps {
                guard case .name(let name) = step else { break }
                names.append(name.text)
            }
            return names.isEmpty ? [] : [names.joined(separator: "/")]
        default: return operands.reduce(into: []) { $0.formUnion($1.namedPaths) }
        }
    }

    /// The names of canonical functions that are called, in lower case.
    var calledFunctions: Set<String> {
        var names: Set<String> = operands.reduce(into: []) { $0.formUnion($1.calledFunctions) }
        if case .call(let name, _) = self { names.insert(name.text.lowercased()) }
        return names
    }

    /// The same condition with `in` over a list as a chain of `eq` (OData URL Conventions 4.01, 5.1.1.1.12).
    var withoutMembership: Expression {
        switch self {
        case .membership(let operand, .list(let items)) where !items.isEmpty:
            let tests = items.map { Expression.binary(.equal, operand, $0) }
            return tests.dropFirst().reduce(tests[0]) { .binary(.or, $0, $1) }
        case .unary(let symbol, let operand): return .unary(symbol, operand.withoutMembership)
        case .binary(let symbol, let left, let right):
            return .binary(symbol, left.withoutMembership, right.withoutMembership)
        case .path(let steps):
            return .path(
                steps.map { step in
                    switch step {
                    case .any(let variable, let predicate):
                        .any(variable: variable, predicate: predicate?.withoutMembership)
                    case .all(let variable, let predicate):
                        .all(variable: variable, predicate: predicate.withoutMembership)
                    default: step
                    }
                })
        default: return self
        }
    }

    private var operands: [Expression] {
        switch self {
        case .unary(_, let operand): [operand]
        case .binary(_, let left, let right): [left, right]
        case .membership(let operand, let list): [operand, list]
        case .call(_, let arguments), .list(let arguments): arguments
        case .namedCall(_, let arguments): arguments.map(\.value)
        case .typeTest(_, let operand, _): operand.map { [$0] } ?? []
        case .literal, .path, .alias, .json: []
        }
    }
}
