import ODataQuery

/// The names in an expression that capabilities may restrict.
extension CommonExpression {
    /// The property paths in the expression, without those in lambda expressions over other entities.
    var namedPaths: Set<String> {
        guard case .path(let steps) = self else { return children.reduce(into: []) { $0.formUnion($1.namedPaths) } }
        var names: [String] = []
        for step in steps {
            guard case .name(let name) = step else { break }
            names.append(name.text)
        }
        return names.isEmpty ? [] : [names.joined(separator: "/")]
    }

    /// The names of the called canonical functions, in lower case.
    var calledFunctions: Set<String> {
        let names = ([self] + descendants).compactMap { expression -> String? in
            if case .call(let name, _) = expression { name.text.lowercased() } else { nil }
        }
        return Set(names)
    }

    /// The expression with `in` over a list replaced by a chain of `eq` (OData URL Conventions 4.01,
    /// 5.1.1.1.12).
    var withoutMembership: CommonExpression {
        let expression = mapChildren(\.withoutMembership)
        guard case .membership(let operand, .list(let items)) = expression, !items.isEmpty else { return expression }
        let tests = items.map { CommonExpression.binary(.equal, operand, $0) }
        return tests.dropFirst().reduce(tests[0]) { .binary(.or, $0, $1) }
    }
}
