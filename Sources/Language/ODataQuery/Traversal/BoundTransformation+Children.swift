extension BoundTransformation: BoundTree {
    package var children: [BoundNode] {
        switch self {
        case .top, .skip, .identity, .search: []
        case .filter(let condition, _): [condition.node]
        case .aggregate(let items, _): items.nodes
        case .groupBy(let paths, let items, _): paths.nodes + items.nodes
        case .compute(let items, _): items.map(\.expression.node)
        case .orderBy(let items, _): items.map(\.expression.node)
        case .ranked(_, let amount, let rank, _): [amount.node, rank.node]
        case .concat(let branches, _): branches.flatMap(\.nodes)
        case .groupByApplying(let paths, let then, _): paths.nodes + then.nodes
        case .groupByNode(let grouping, _):
            [grouping.reference.node] + grouping.input.children + grouping.restriction.nodes + grouping.then.nodes
        case .expand(let item, _): [item.node]
        case .join(let join, _): [join.path.node] + join.then.nodes
        case .nest(let items, _): items.flatMap(\.transformations.nodes)
        case .addNested(let path, let items, _): [path.node] + items.flatMap(\.transformations.nodes)
        case .hierarchy(let hierarchy, _):
            [hierarchy.reference.node] + hierarchy.input.children + hierarchy.start.nodes
        case .traverse(let traversal, _):
            [traversal.reference.node] + traversal.input.children + traversal.start.nodes
                + traversal.orderBy.map(\.expression.node)
        }
    }

    package func mapChildren<Failure: Error>(
        _ transform: (BoundNode) throws(Failure) -> BoundNode
    ) throws(Failure) -> BoundTransformation {
        switch self {
        case .top, .skip, .identity, .search: return self
        case .filter(let condition, let shape): return .filter(try condition.mapped(transform), shape: shape)
        case .aggregate(let items, let shape): return .aggregate(try items.mapped(transform), shape: shape)
        case .groupBy(let paths, let items, let shape):
            return .groupBy(try paths.mapped(transform), try items.mapped(transform), shape: shape)
        case .compute(let items, let shape): return .compute(try items.mapExpressions(transform), shape: shape)
        case .orderBy(let items, let shape): return .orderBy(try items.mapExpressions(transform), shape: shape)
        case .ranked(let method, let amount, let rank, let shape):
            return .ranked(method, try amount.mapped(transform), by: try rank.mapped(transform), shape: shape)
        case .concat(let branches, let shape):
            let mapped = try branches.map { branch throws(Failure) in try branch.mapped(transform) }
            return .concat(mapped, shape: shape)
        case .groupByApplying(let paths, let then, let shape):
            return .groupByApplying(try paths.mapped(transform), try then.mapped(transform), shape: shape)
        case .groupByNode(var grouping, let shape):
            grouping.reference = try grouping.reference.mapped(transform)
            grouping.input = try grouping.input.mapChildren(transform)
            grouping.restriction = try grouping.restriction.mapped(transform)
            grouping.then = try grouping.then.mapped(transform)
            return .groupByNode(grouping, shape: shape)
        case .expand(let item, let shape): return .expand(try item.mapped(transform), shape: shape)
        case .join(var join, let shape):
            join.path = try join.path.mapped(transform)
            join.then = try join.then.mapped(transform)
            return .join(join, shape: shape)
        case .nest(let items, let shape): return .nest(try items.mapTransformations(transform), shape: shape)
        case .addNested(let path, let items, let shape):
            let path = try path.mapped(transform)
            return .addNested(path, try items.mapTransformations(transform), shape: shape)
        case .hierarchy(var hierarchy, let shape):
            hierarchy.reference = try hierarchy.reference.mapped(transform)
            hierarchy.input = try hierarchy.input.mapChildren(transform)
            hierarchy.start = try hierarchy.start.mapped(transform)
            return .hierarchy(hierarchy, shape: shape)
        case .traverse(var traversal, let shape):
            traversal.reference = try traversal.reference.mapped(transform)
            traversal.input = try traversal.input.mapChildren(transform)
            traversal.start = try traversal.start.mapped(transform)
            traversal.orderBy = try traversal.orderBy.mapExpressions(transform)
            return .traverse(traversal, shape: shape)
        }
    }
}

extension BoundAggregate: BoundTree {
    package var children: [BoundNode] {
        var children: [BoundNode] = []
        if let members {
            children.append(members.path.node)
            if let expression { children.append(.condition(expression, members.variable)) }
        } else {
            children += expression.nodes
        }
        return children + owner.nodes + from.flatMap(\.paths.nodes)
    }

    package func mapChildren<Failure: Error>(
        _ transform: (BoundNode) throws(Failure) -> BoundNode
    ) throws(Failure) -> BoundAggregate {
        var result = self
        if let members {
            result.members = Members(of: try members.path.mapped(transform), variable: members.variable)
            if let expression { result.expression = try expression.mapped(on: members.variable, transform) }
        } else {
            result.expression = try expression.mapped(transform)
        }
        result.owner = try owner.mapped(transform)
        for index in from.indices { result.from[index].paths = try from[index].paths.mapped(transform) }
        return result
    }
}

extension HierarchyReference: BoundTree {
    package var children: [BoundNode] { [nodes.node, nodeProperty.node] }

    package func mapChildren<Failure: Error>(
        _ transform: (BoundNode) throws(Failure) -> BoundNode
    ) throws(Failure) -> HierarchyReference {
        var result = self
        result.nodes = try nodes.mapped(transform)
        result.nodeProperty = try nodeProperty.mapped(transform)
        return result
    }
}

extension NodePath: BoundTree {
    package var children: [BoundNode] { (members?.path).nodes + [identifier.node] }

    package func mapChildren<Failure: Error>(
        _ transform: (BoundNode) throws(Failure) -> BoundNode
    ) throws(Failure) -> NodePath {
        let members = try members.map { members throws(Failure) in
            BoundAggregate.Members(of: try members.path.mapped(transform), variable: members.variable)
        }
        return NodePath(try identifier.mapped(transform), of: members)
    }
}

extension [BoundNest] {
    fileprivate func mapTransformations<Failure: Error>(
        _ transform: (BoundNode) throws(Failure) -> BoundNode
    ) throws(Failure) -> Self {
        try map { item throws(Failure) in BoundNest(try item.transformations.mapped(transform), as: item.name) }
    }
}
