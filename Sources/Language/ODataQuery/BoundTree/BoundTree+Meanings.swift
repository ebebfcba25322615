/// Questions that authorization, change tracking and the SQL compiler ask about the bound tree.
extension BoundTree {
    /// The names of the entity sets and singletons that the nodes below lead to, without those that these contain.
    package var entitySets: Set<String> {
        children.reduce(into: []) { sets, child in
            if let set = child.entitySet { sets.insert(set) }
            sets.formUnion(child.entitySets)
        }
    }
}

extension BoundNode {
    /// The entity set or singleton that the node itself leads to.
    fileprivate var entitySet: String? {
        switch self {
        case .step(.navigation(_, _, let set)): set?.name
        case .step(.entitySet(let set, _)): set.name
        case .step(.singleton(let singleton, _)): singleton.name
        case .query(let query): query.set?.name
        case .step, .expression, .condition, .path, .aggregate, .hierarchy, .transformation, .expand: nil
        }
    }

    /// The expression that the node is.
    fileprivate var expression: BoundExpression? {
        switch self {
        case .expression(let expression), .condition(let expression, _): expression
        case .path, .step, .aggregate, .hierarchy, .transformation, .expand, .query: nil
        }
    }
}

extension BoundExpression {
    /// Whether it holds a search, an aggregation or a function of the app's own: its paths alone do not say which rows and
    /// properties its value depends on.
    package var isOpaque: Bool {
        holds { expression in
            switch expression {
            case .search, .aggregate, .custom: true
            default: false
            }
        }
    }

    /// Whether a function is called anywhere in it.
    package func calls(_ wanted: CanonicalFunction) -> Bool {
        holds { if case .function(wanted, _, _) = $0 { true } else { false } }
    }

    /// Whether nothing of a row is in it.
    package var isSameForAllRows: Bool {
        !isOpaque && !contains { if case .path = $0 { true } else { false } }
    }

    private func holds(_ isWanted: (BoundExpression) -> Bool) -> Bool {
        isWanted(self) || contains { $0.expression.map(isWanted) ?? false }
    }
}
