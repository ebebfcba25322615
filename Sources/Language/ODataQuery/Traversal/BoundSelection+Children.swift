extension BoundSelection: BoundTree {
    package var children: [BoundNode] {
        var children: [BoundNode] = []
        for source in sources {
            if case .selection(let selection) = source.rows { children.append(selection.node) }
            children += source.condition.nodes
        }
        children += filter.nodes
        if let grouping {
            children += grouping.keys.nodes
            children += grouping.aggregates.nodes
            children += grouping.having.nodes
        }
        children += columns.map(\.expression.node)
        children += combinations.map(\.selection.node)
        children += order.map(\.expression.node)
        return children
    }

    package func mapChildren<Failure: Error>(
        _ transform: (BoundNode) throws(Failure) -> BoundNode
    ) throws(Failure) -> BoundSelection {
        var result = self
        for index in sources.indices {
            if case .selection(let selection) = sources[index].rows {
                result.sources[index].rows = .selection(try selection.mapped(transform))
            }
            result.sources[index].condition = try sources[index].condition.mapped(transform)
        }
        result.filter = try filter.mapped(transform)
        if let grouping {
            result.grouping?.keys = try grouping.keys.mapped(transform)
            result.grouping?.aggregates = try grouping.aggregates.mapped(transform)
            result.grouping?.having = try grouping.having.mapped(transform)
        }
        for index in columns.indices {
            result.columns[index].expression = try columns[index].expression.mapped(transform)
        }
        for index in combinations.indices {
            result.combinations[index].selection = try combinations[index].selection.mapped(transform)
        }
        result.order = try order.mapExpressions(transform)
        return result
    }
}

extension BoundSelection: BoundNodeConvertible {
    var node: BoundNode { .selection(self) }

    init?(_ node: BoundNode) {
        guard case .selection(let selection) = node else { return nil }
        self = selection
    }
}

extension BoundSubquery: BoundTree {
    package var children: [BoundNode] {
        switch self {
        case .exists(let selection), .value(let selection): [selection.node]
        case .contains(let value, let other, let selection):
            [value.node, selection.node, .condition(other, selection.result)]
        }
    }

    package func mapChildren<Failure: Error>(
        _ transform: (BoundNode) throws(Failure) -> BoundNode
    ) throws(Failure) -> BoundSubquery {
        switch self {
        case .exists(let selection): return .exists(try selection.mapped(transform))
        case .value(let selection): return .value(try selection.mapped(transform))
        case .contains(let value, let other, let selection):
            let value = try value.mapped(transform)
            let mapped = try selection.mapped(transform)
            return .contains(value, equals: try other.mapped(on: selection.result, transform), in: mapped)
        }
    }
}
