extension ODataURL: SyntaxNode {
    package var children: [CommonExpression] { path.children + options.children }

    package func mapChildren<Failure: Error>(
        _ transform: (CommonExpression) throws(Failure) -> CommonExpression
    ) throws(Failure) -> ODataURL {
        var result = self
        result.path = try path.mapChildren(transform)
        result.options = try options.mapChildren(transform)
        return result
    }
}

extension ResourcePath: SyntaxNode {
    package var children: [CommonExpression] { segments.flatMap(\.children) }

    package func mapChildren<Failure: Error>(
        _ transform: (CommonExpression) throws(Failure) -> CommonExpression
    ) throws(Failure) -> ResourcePath {
        ResourcePath(try segments.map { segment throws(Failure) in try segment.mapChildren(transform) })
    }
}

extension PathSegment: SyntaxNode {
    package var children: [CommonExpression] {
        switch self {
        case .metadata, .batch, .entity, .all, .crossJoin, .count, .value, .reference, .links, .each, .query, .literal:
            []
        case .name(_, let arguments): arguments.children
        case .filter(let condition): [condition]
        case .key(let key): key.children
        }
    }

    package func mapChildren<Failure: Error>(
        _ transform: (CommonExpression) throws(Failure) -> CommonExpression
    ) throws(Failure) -> PathSegment {
        switch self {
        case .metadata, .batch, .entity, .all, .crossJoin, .count, .value, .reference, .links, .each, .query, .literal:
            self
        case .name(let name, let arguments): .name(name, try arguments.mapChildren(transform))
        case .filter(let condition): .filter(try transform(condition))
        case .key(let key): .key(try key.mapChildren(transform))
        }
    }
}

extension PathArguments: SyntaxNode {
    package var children: [CommonExpression] {
        switch self {
        case .none, .empty: []
        case .key(let key): key.children
        case .named(let arguments): arguments.map(\.value)
        }
    }

    package func mapChildren<Failure: Error>(
        _ transform: (CommonExpression) throws(Failure) -> CommonExpression
    ) throws(Failure) -> PathArguments {
        switch self {
        case .none, .empty: self
        case .key(let key): .key(try key.mapChildren(transform))
        case .named(let arguments): .named(try arguments.mapValues(transform))
        }
    }
}
