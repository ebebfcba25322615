/// A node of the bound tree.
package indirect enum BoundNode: Hashable, Sendable {
    /// An expression on the same instance as its parent.
    case expression(BoundExpression)
    /// An expression on each member of the collection at the preceding path, with the variable for the member.
    case condition(BoundExpression, RangeVariable)
    case path(BoundPath)
    case step(BoundStep)
    case aggregate(BoundAggregate)
    case hierarchy(HierarchyReference)
    case transformation(BoundTransformation)
    case expand(BoundExpand)
    case query(BoundQuery)
    case selection(BoundSelection)
}

/// A part of a bound request.
///
/// ``children`` and ``mapChildren(_:)`` are the only recursion over the bound tree besides the evaluator and the
/// SQL compiler. Each is an exhaustive switch, so that a new kind of node does not compile until its children are
/// listed.
package protocol BoundTree {
    /// The direct children, in the order in which the part declares them.
    var children: [BoundNode] { get }

    /// Returns the part with its ``children`` replaced.
    ///
    /// - Parameter transform: receives the children in order and returns a node of the same kind. A node of another
    ///   kind is ignored.
    func mapChildren<Failure: Error>(
        _ transform: (BoundNode) throws(Failure) -> BoundNode
    ) throws(Failure) -> Self
}

extension BoundTree {
    /// Returns whether a descendant satisfies a condition.
    package func contains(_ isWanted: (BoundNode) -> Bool) -> Bool {
        children.contains { isWanted($0) || $0.contains(isWanted) }
    }
}

extension BoundNode: BoundTree {
    package var children: [BoundNode] {
        switch self {
        case .expression(let expression), .condition(let expression, _): expression.children
        case .path(let path): path.children
        case .step(let step): step.children
        case .aggregate(let aggregate): aggregate.children
        case .hierarchy(let hierarchy): hierarchy.children
        case .transformation(let transformation): transformation.children
        case .expand(let item): item.children
        case .query(let query): query.children
        case .selection(let selection): selection.children
        }
    }

    package func mapChildren<Failure: Error>(
        _ transform: (BoundNode) throws(Failure) -> BoundNode
    ) throws(Failure) -> BoundNode {
        switch self {
        case .expression(let expression): .expression(try expression.mapChildren(transform))
        case .condition(let expression, let variable): .condition(try expression.mapChildren(transform), variable)
        case .path(let path): .path(try path.mapChildren(transform))
        case .step(let step): .step(try step.mapChildren(transform))
        case .aggregate(let aggregate): .aggregate(try aggregate.mapChildren(transform))
        case .hierarchy(let hierarchy): .hierarchy(try hierarchy.mapChildren(transform))
        case .transformation(let transformation): .transformation(try transformation.mapChildren(transform))
        case .expand(let item): .expand(try item.mapChildren(transform))
        case .query(let query): .query(try query.mapChildren(transform))
        case .selection(let selection): .selection(try selection.mapChildren(transform))
        }
    }
}

/// A type that can be converted to a node of the bound tree and back.
protocol BoundNodeConvertible {
    var node: BoundNode { get }
    /// Creates a value from a node; `nil` if the node is of another kind.
    init?(_ node: BoundNode)
}

extension BoundNodeConvertible {
    func mapped<Failure: Error>(
        _ transform: (BoundNode) throws(Failure) -> BoundNode
    ) throws(Failure) -> Self {
        Self(try transform(node)) ?? self
    }
}

extension Array where Element: BoundNodeConvertible {
    var nodes: [BoundNode] { map(\.node) }

    func mapped<Failure: Error>(
        _ transform: (BoundNode) throws(Failure) -> BoundNode
    ) throws(Failure) -> Self {
        try map { element throws(Failure) in try element.mapped(transform) }
    }
}

extension Optional where Wrapped: BoundNodeConvertible {
    var nodes: [BoundNode] { map { [$0.node] } ?? [] }

    func mapped<Failure: Error>(
        _ transform: (BoundNode) throws(Failure) -> BoundNode
    ) throws(Failure) -> Self {
        try map { wrapped throws(Failure) in try wrapped.mapped(transform) }
    }
}

extension BoundExpression: BoundNodeConvertible {
    var node: BoundNode { .expression(self) }

    init?(_ node: BoundNode) {
        guard case .expression(let expression) = node else { return nil }
        self = expression
    }

    /// Transforms the expression as a condition on a member of a collection.
    func mapped<Failure: Error>(
        on variable: RangeVariable, _ transform: (BoundNode) throws(Failure) -> BoundNode
    ) throws(Failure) -> BoundExpression {
        guard case .condition(let condition, _) = try transform(.condition(self, variable)) else { return self }
        return condition
    }
}

extension BoundPath: BoundNodeConvertible {
    var node: BoundNode { .path(self) }

    init?(_ node: BoundNode) {
        guard case .path(let path) = node else { return nil }
        self = path
    }
}

extension BoundStep: BoundNodeConvertible {
    var node: BoundNode { .step(self) }

    init?(_ node: BoundNode) {
        guard case .step(let step) = node else { return nil }
        self = step
    }
}

extension BoundAggregate: BoundNodeConvertible {
    var node: BoundNode { .aggregate(self) }

    init?(_ node: BoundNode) {
        guard case .aggregate(let aggregate) = node else { return nil }
        self = aggregate
    }
}

extension HierarchyReference: BoundNodeConvertible {
    var node: BoundNode { .hierarchy(self) }

    init?(_ node: BoundNode) {
        guard case .hierarchy(let hierarchy) = node else { return nil }
        self = hierarchy
    }
}

extension BoundTransformation: BoundNodeConvertible {
    var node: BoundNode { .transformation(self) }

    init?(_ node: BoundNode) {
        guard case .transformation(let transformation) = node else { return nil }
        self = transformation
    }
}

extension BoundExpand: BoundNodeConvertible {
    var node: BoundNode { .expand(self) }

    init?(_ node: BoundNode) {
        guard case .expand(let item) = node else { return nil }
        self = item
    }
}

extension BoundQuery: BoundNodeConvertible {
    var node: BoundNode { .query(self) }

    init?(_ node: BoundNode) {
        guard case .query(let query) = node else { return nil }
        self = query
    }
}
