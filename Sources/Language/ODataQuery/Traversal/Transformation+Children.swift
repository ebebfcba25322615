extension Transformation: SyntaxNode {
    package var children: [CommonExpression] {
        switch self {
        case .identity, .search: []
        case .aggregate(let items): items.flatMap(\.children)
        case .groupBy(let items, let then): items.flatMap(\.children) + then.flatMap(\.children)
        case .filter(let condition): [condition]
        case .orderBy(let items): items.map(\.expression)
        case .compute(let items): items.map(\.expression)
        case .top(let number), .skip(let number): [number]
        case .ranked(_, let amount, let rank): [amount, rank]
        case .concat(let branches): branches.joined().flatMap(\.children)
        case .expand(let item, let filter): item.children + (filter.map { [$0] } ?? [])
        case .join(_, _, let then, _): then.flatMap(\.children)
        case .nest(let items), .addNested(_, let items): items.flatMap(\.transformations).flatMap(\.children)
        case .hierarchy(_, let arguments): [arguments.root] + arguments.start.flatMap(\.children)
        case .traverse(let arguments):
            [arguments.root] + arguments.start.flatMap(\.children) + arguments.orderBy.map(\.expression)
        case .custom(_, let arguments): arguments.map(\.value)
        }
    }

    package func mapChildren<Failure: Error>(
        _ transform: (CommonExpression) throws(Failure) -> CommonExpression
    ) throws(Failure) -> Transformation {
        switch self {
        case .identity, .search: return self
        case .aggregate(let items):
            return .aggregate(try items.map { item throws(Failure) in try item.mapChildren(transform) })
        case .groupBy(let items, let then):
            let items = try items.map { item throws(Failure) in try item.mapChildren(transform) }
            return .groupBy(items, then: try then.mapExpressions(transform))
        case .filter(let condition): return .filter(try transform(condition))
        case .orderBy(let items): return .orderBy(try items.mapExpressions(transform))
        case .compute(let items): return .compute(try items.mapExpressions(transform))
        case .top(let number): return .top(try transform(number))
        case .skip(let number): return .skip(try transform(number))
        case .ranked(let method, let amount, let rank):
            return .ranked(method, try transform(amount), try transform(rank))
        case .concat(let branches):
            return .concat(try branches.map { branch throws(Failure) in try branch.mapExpressions(transform) })
        case .expand(let item, let filter):
            return .expand(try item.mapChildren(transform), filter: try filter.map(transform))
        case .join(let path, let name, let then, let isOuter):
            return .join(path, as: name, then: try then.mapExpressions(transform), outer: isOuter)
        case .nest(let items): return .nest(try items.mapExpressions(transform))
        case .addNested(let path, let items): return .addNested(path, try items.mapExpressions(transform))
        case .hierarchy(let name, var arguments):
            arguments.root = try transform(arguments.root)
            arguments.start = try arguments.start.mapExpressions(transform)
            return .hierarchy(name, arguments)
        case .traverse(var arguments):
            arguments.root = try transform(arguments.root)
            arguments.start = try arguments.start.mapExpressions(transform)
            arguments.orderBy = try arguments.orderBy.mapExpressions(transform)
            return .traverse(arguments)
        case .custom(let name, let arguments): return .custom(name, try arguments.mapValues(transform))
        }
    }
}

extension AggregateItem: SyntaxNode {
    package var children: [CommonExpression] {
        switch operand {
        case .count, .custom: []
        case .expression(let expression, _): [expression]
        }
    }

    package func mapChildren<Failure: Error>(
        _ transform: (CommonExpression) throws(Failure) -> CommonExpression
    ) throws(Failure) -> AggregateItem {
        var result = self
        switch operand {
        case .count, .custom: break
        case .expression(let expression, let method):
            result.operand = .expression(try transform(expression), with: method)
        }
        return result
    }
}

extension GroupItem: SyntaxNode {
    package var children: [CommonExpression] {
        switch self {
        case .path, .rollup: []
        case .recursiveRollup(let rollup): [rollup.root] + rollup.restriction.flatMap(\.children)
        }
    }

    package func mapChildren<Failure: Error>(
        _ transform: (CommonExpression) throws(Failure) -> CommonExpression
    ) throws(Failure) -> GroupItem {
        switch self {
        case .path, .rollup: return self
        case .recursiveRollup(var rollup):
            rollup.root = try transform(rollup.root)
            rollup.restriction = try rollup.restriction.mapExpressions(transform)
            return .recursiveRollup(rollup)
        }
    }
}

extension [Transformation] {
    func mapExpressions<Failure: Error>(
        _ transform: (CommonExpression) throws(Failure) -> CommonExpression
    ) throws(Failure) -> Self {
        try map { transformation throws(Failure) in try transformation.mapChildren(transform) }
    }
}

extension [Transformation.NestItem] {
    fileprivate func mapExpressions<Failure: Error>(
        _ transform: (CommonExpression) throws(Failure) -> CommonExpression
    ) throws(Failure) -> Self {
        try map { item throws(Failure) in
            .init(try item.transformations.mapExpressions(transform), as: item.name)
        }
    }
}
