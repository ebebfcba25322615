extension BoundExpression: BoundTree {
    package var children: [BoundNode] {
        switch self {
        case .constant, .search: []
        case .path(let path), .isOf(let path, _), .isDefined(let path): [path.node]
        case .unary(_, let operand, _), .cast(let operand, _), .isOfValue(let operand, _): [operand.node]
        case .binary(_, let left, let right, _): [left.node, right.node]
        case .membership(let operand, let members): [operand.node] + members.nodes
        case .function(_, let operands, _), .list(let operands, _), .custom(_, let operands): operands.nodes
        case .any(let path, let variable, let condition), .count(let path, let variable, let condition):
            [path.node] + (condition.map { [.condition($0, variable)] } ?? [])
        case .all(let path, let variable, let condition): [path.node, .condition(condition, variable)]
        case .aggregate(let path, let aggregate): [path.node, aggregate.node]
        case .hierarchyTest(let test): [test.reference.node, test.node.node] + test.other.nodes
        case .subquery(let subquery): subquery.children
        }
    }

    package func mapChildren<Failure: Error>(
        _ transform: (BoundNode) throws(Failure) -> BoundNode
    ) throws(Failure) -> BoundExpression {
        switch self {
        case .constant, .search: return self
        case .path(let path): return .path(try path.mapped(transform))
        case .isOf(let path, let type): return .isOf(try path.mapped(transform), type)
        case .isDefined(let path): return .isDefined(try path.mapped(transform))
        case .unary(let symbol, let operand, let type): return .unary(symbol, try operand.mapped(transform), type)
        case .cast(let operand, let type): return .cast(try operand.mapped(transform), type)
        case .isOfValue(let operand, let type): return .isOfValue(try operand.mapped(transform), type)
        case .binary(let symbol, let left, let right, let type):
            return .binary(symbol, try left.mapped(transform), try right.mapped(transform), type)
        case .membership(let operand, let members):
            return .membership(try operand.mapped(transform), in: try members.mapped(transform))
        case .function(let function, let operands, let type):
            return .function(function, try operands.mapped(transform), type)
        case .list(let members, let type): return .list(try members.mapped(transform), type)
        case .custom(let function, let operands): return .custom(function, try operands.mapped(transform))
        case .any(let path, let variable, let condition):
            let path = try path.mapped(transform)
            return .any(path, variable: variable, try condition.mapped(on: variable, transform))
        case .all(let path, let variable, let condition):
            let path = try path.mapped(transform)
            return .all(path, variable: variable, try condition.mapped(on: variable, transform))
        case .count(let path, let variable, let condition):
            let path = try path.mapped(transform)
            return .count(path, variable: variable, filter: try condition.mapped(on: variable, transform))
        case .aggregate(let path, let aggregate):
            return .aggregate(try path.mapped(transform), try aggregate.mapped(transform))
        case .hierarchyTest(var test):
            test.reference = try test.reference.mapped(transform)
            test.node = try test.node.mapped(transform)
            test.other = try test.other.mapped(transform)
            return .hierarchyTest(test)
        case .subquery(let subquery): return .subquery(try subquery.mapChildren(transform))
        }
    }
}

extension BoundPath: BoundTree {
    package var children: [BoundNode] { steps.nodes }

    package func mapChildren<Failure: Error>(
        _ transform: (BoundNode) throws(Failure) -> BoundNode
    ) throws(Failure) -> BoundPath {
        BoundPath(variable: variable, steps: try steps.mapped(transform), type: type)
    }
}

extension BoundStep: BoundTree {
    package var children: [BoundNode] {
        switch self {
        case .property, .navigation, .cast, .dynamic, .computed, .entitySet, .singleton, .key, .annotation: []
        case .filter(let condition, let variable): [.condition(condition, variable)]
        }
    }

    package func mapChildren<Failure: Error>(
        _ transform: (BoundNode) throws(Failure) -> BoundNode
    ) throws(Failure) -> BoundStep {
        switch self {
        case .property, .navigation, .cast, .dynamic, .computed, .entitySet, .singleton, .key, .annotation: self
        case .filter(let condition, let variable): .filter(try condition.mapped(on: variable, transform), variable)
        }
    }
}

extension Optional<BoundExpression> {
    fileprivate func mapped<Failure: Error>(
        on variable: RangeVariable, _ transform: (BoundNode) throws(Failure) -> BoundNode
    ) throws(Failure) -> BoundExpression? {
        try map { condition throws(Failure) in try condition.mapped(on: variable, transform) }
    }
}
