extension BoundURL: BoundTree {
    package var children: [BoundNode] { resource.children + query.nodes }

    package func mapChildren<Failure: Error>(
        _ transform: (BoundNode) throws(Failure) -> BoundNode
    ) throws(Failure) -> BoundURL {
        BoundURL(resource: try resource.mapChildren(transform), query: try query.mapped(transform))
    }
}

extension BoundQuery: BoundTree {
    package var children: [BoundNode] {
        var children = apply.nodes
        children += compute.map(\.expression.node)
        children += filter.nodes
        children += orderBy.map(\.expression.node)
        children += nestedQueries.sorted { $0.key < $1.key }.map(\.value.node)
        children += expand.nodes
        children += expandedStreams.flatMap(\.nodes)
        return children
    }

    package func mapChildren<Failure: Error>(
        _ transform: (BoundNode) throws(Failure) -> BoundNode
    ) throws(Failure) -> BoundQuery {
        var result = self
        result.apply = try apply.mapped(transform)
        result.compute = try compute.mapExpressions(transform)
        result.filter = try filter.mapped(transform)
        result.orderBy = try orderBy.mapExpressions(transform)
        for (ordinal, query) in nestedQueries.sorted(by: { $0.key < $1.key }) {
            result.nestedQueries[ordinal] = try query.mapped(transform)
        }
        result.expand = try expand.mapped(transform)
        result.expandedStreams = try expandedStreams.map { steps throws(Failure) in try steps.mapped(transform) }
        return result
    }
}

extension BoundExpand: BoundTree {
    package var children: [BoundNode] { path.nodes + [query.node] }

    package func mapChildren<Failure: Error>(
        _ transform: (BoundNode) throws(Failure) -> BoundNode
    ) throws(Failure) -> BoundExpand {
        var result = self
        result.path = try path.mapped(transform)
        result.query = try query.mapped(transform)
        return result
    }
}

extension BoundResource: BoundTree {
    package var children: [BoundNode] { steps.flatMap(\.children) }

    package func mapChildren<Failure: Error>(
        _ transform: (BoundNode) throws(Failure) -> BoundNode
    ) throws(Failure) -> BoundResource {
        let steps = try steps.map { step throws(Failure) in try step.mapChildren(transform) }
        return BoundResource(steps: steps, target: target)
    }
}

extension BoundSegment: BoundTree {
    package var children: [BoundNode] {
        switch self {
        case .entitySet, .singleton, .key, .navigation, .property, .cast, .each: []
        case .alternateKey(_, let condition, let variable), .filter(let condition, let variable):
            [.condition(condition, variable)]
        case .operation(_, let arguments): arguments.sorted { $0.key < $1.key }.map(\.value.node)
        }
    }

    package func mapChildren<Failure: Error>(
        _ transform: (BoundNode) throws(Failure) -> BoundNode
    ) throws(Failure) -> BoundSegment {
        switch self {
        case .entitySet, .singleton, .key, .navigation, .property, .cast, .each: return self
        case .alternateKey(let key, let condition, let variable):
            return .alternateKey(key, try condition.mapped(on: variable, transform), variable)
        case .filter(let condition, let variable):
            return .filter(try condition.mapped(on: variable, transform), variable)
        case .operation(let operation, var arguments):
            for (name, value) in arguments.sorted(by: { $0.key < $1.key }) {
                arguments[name] = try value.mapped(transform)
            }
            return .operation(operation, arguments)
        }
    }
}

extension [BoundOrder] {
    func mapExpressions<Failure: Error>(
        _ transform: (BoundNode) throws(Failure) -> BoundNode
    ) throws(Failure) -> Self {
        try map { item throws(Failure) in
            BoundOrder(try item.expression.mapped(transform), isDescending: item.isDescending)
        }
    }
}

extension [BoundCompute] {
    func mapExpressions<Failure: Error>(
        _ transform: (BoundNode) throws(Failure) -> BoundNode
    ) throws(Failure) -> Self {
        try map { item throws(Failure) in BoundCompute(try item.expression.mapped(transform), as: item.name) }
    }
}
