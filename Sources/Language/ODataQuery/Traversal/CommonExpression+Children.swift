extension CommonExpression: SyntaxNode {
    package var children: [CommonExpression] {
        switch self {
        case .literal, .alias, .json: []
        case .path(let steps): steps.flatMap(\.children)
        case .unary(_, let operand): [operand]
        case .binary(_, let left, let right): [left, right]
        case .membership(let operand, let collection): [operand, collection]
        case .call(_, let arguments): arguments
        case .namedCall(_, let arguments): arguments.map(\.value)
        case .typeTest(_, let operand, _): operand.map { [$0] } ?? []
        case .list(let members): members
        }
    }

    package func mapChildren<Failure: Error>(
        _ transform: (CommonExpression) throws(Failure) -> CommonExpression
    ) throws(Failure) -> CommonExpression {
        switch self {
        case .literal, .alias, .json: self
        case .path(let steps):
            .path(try steps.map { step throws(Failure) in try step.mapChildren(transform) })
        case .unary(let symbol, let operand): .unary(symbol, try transform(operand))
        case .binary(let symbol, let left, let right): .binary(symbol, try transform(left), try transform(right))
        case .membership(let operand, let collection):
            .membership(try transform(operand), in: try transform(collection))
        case .call(let name, let arguments): .call(name, try arguments.map(transform))
        case .namedCall(let name, let arguments): .namedCall(name, try arguments.mapValues(transform))
        case .typeTest(let test, let operand, let type): .typeTest(test, try operand.map(transform), type)
        case .list(let members): .list(try members.map(transform))
        }
    }
}

extension PathStep: SyntaxNode {
    package var children: [CommonExpression] {
        switch self {
        case .name, .variable: []
        case .count(let filter, _): filter.map { [$0] } ?? []
        case .any(_, let predicate): predicate.map { [$0] } ?? []
        case .all(_, let predicate): [predicate]
        case .key(let key): key.children
        case .call(_, let arguments): arguments.map(\.value)
        case .filter(let condition): [condition]
        case .aggregate(let item): item.children
        }
    }

    package func mapChildren<Failure: Error>(
        _ transform: (CommonExpression) throws(Failure) -> CommonExpression
    ) throws(Failure) -> PathStep {
        switch self {
        case .name, .variable: self
        case .count(let filter, let search): .count(filter: try filter.map(transform), search: search)
        case .any(let variable, let predicate): .any(variable: variable, predicate: try predicate.map(transform))
        case .all(let variable, let predicate): .all(variable: variable, predicate: try transform(predicate))
        case .key(let key): .key(try key.mapChildren(transform))
        case .call(let name, let arguments): .call(name, try arguments.mapValues(transform))
        case .filter(let condition): .filter(try transform(condition))
        case .aggregate(let item): .aggregate(try item.mapChildren(transform))
        }
    }
}

extension KeyPredicate: SyntaxNode {
    package var children: [CommonExpression] {
        switch self {
        case .single(let value): [value]
        case .compound(let parts): parts.map(\.value)
        }
    }

    package func mapChildren<Failure: Error>(
        _ transform: (CommonExpression) throws(Failure) -> CommonExpression
    ) throws(Failure) -> KeyPredicate {
        switch self {
        case .single(let value): .single(try transform(value))
        case .compound(let parts): .compound(try parts.mapValues(transform))
        }
    }
}

extension [CommonExpression.NamedArgument] {
    func mapValues<Failure: Error>(
        _ transform: (CommonExpression) throws(Failure) -> CommonExpression
    ) throws(Failure) -> Self {
        try map { argument throws(Failure) in .init(name: argument.name, value: try transform(argument.value)) }
    }
}
