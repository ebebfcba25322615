/// Properties of the bound tree for authorization, change tracking and the SQL compiler.
extension BoundTree {
    /// The names of the entity sets and singletons that the descendants refer to, without contained entities.
    package var entitySets: Set<String> {
        children.reduce(into: []) { sets, child in
            if let set = child.entitySet { sets.insert(set) }
            if case .selection(let selection) = child { sets.formUnion(selection.sourceSets) }
            sets.formUnion(child.entitySets)
        }
    }
}

extension BoundSelection {
    /// The names of the entity sets that the query and all queries within it read.
    package var allEntitySets: Set<String> { sourceSets.union(entitySets) }

    /// The names of the entity sets among the sources.
    fileprivate var sourceSets: Set<String> {
        Set(
            sources.compactMap { source in
                if case .entities(let set, _) = source.rows { set.name } else { nil }
            })
    }
}

extension BoundNode {
    /// The entity set or singleton that the node itself refers to.
    fileprivate var entitySet: String? {
        switch self {
        case .step(.navigation(_, _, let set)): set?.name
        case .step(.entitySet(let set, _)): set.name
        case .step(.singleton(let singleton, _)): singleton.name
        case .query(let query): query.set?.name
        case .step, .expression, .condition, .path, .aggregate, .hierarchy, .transformation, .expand, .selection: nil
        }
    }

    /// The expression in the node.
    fileprivate var expression: BoundExpression? {
        switch self {
        case .expression(let expression), .condition(let expression, _): expression
        case .path, .step, .aggregate, .hierarchy, .transformation, .expand, .query, .selection: nil
        }
    }
}

extension BoundExpression {
    /// Whether the expression contains a search, an aggregation or a registered function. Its value may then depend
    /// on rows and properties that its paths do not name.
    package var isOpaque: Bool {
        holds { expression in
            switch expression {
            case .search, .aggregate, .custom: true
            default: false
            }
        }
    }

    /// Returns whether the expression calls a function.
    package func calls(_ wanted: CanonicalFunction) -> Bool {
        holds { if case .function(wanted, _, _) = $0 { true } else { false } }
    }

    /// Whether the expression does not depend on a row.
    package var isSameForAllRows: Bool {
        !isOpaque && !contains { if case .path = $0 { true } else { false } }
    }

    private func holds(_ isWanted: (BoundExpression) -> Bool) -> Bool {
        isWanted(self) || contains { $0.expression.map(isWanted) ?? false }
    }
}
