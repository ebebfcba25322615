import ODataModel
import ODataQuery
import ODataSQL

// The names of the entity sets and singletons that parts of a query lead to, what those contain left out: a set comes as
// often as there are ways to it.

extension BoundTransformation {
    var entitySets: [String] {
        switch self {
        case .identity, .top, .skip, .search: []
        case .filter(let condition, _): condition.entitySets
        case .compute(let items, _): items.flatMap(\.expression.entitySets)
        case .orderBy(let items, _): items.flatMap(\.expression.entitySets)
        case .aggregate(let items, _): items.flatMap(\.entitySets)
        case .groupBy(let paths, let items, _): paths.flatMap(\.entitySets) + items.flatMap(\.entitySets)
        case .ranked(_, let amount, let expression, _): amount.entitySets + expression.entitySets
        case .concat(let branches, _): branches.joined().flatMap(\.entitySets)
        case .groupByApplying(let paths, let then, _): paths.flatMap(\.entitySets) + then.flatMap(\.entitySets)
        case .groupByNode(let grouping, _):
            grouping.reference.entitySets + grouping.input.entitySets + grouping.restriction.flatMap(\.entitySets)
                + grouping.then.flatMap(\.entitySets)
        case .expand(let item, _): item.entitySets
        case .join(let join, _): join.path.entitySets + join.then.flatMap(\.entitySets)
        case .nest(let items, _): items.flatMap(\.transformations).flatMap(\.entitySets)
        case .addNested(let path, let items, _):
            path.entitySets + items.flatMap(\.transformations).flatMap(\.entitySets)
        case .hierarchy(let hierarchy, _):
            hierarchy.reference.entitySets + hierarchy.input.entitySets + hierarchy.start.flatMap(\.entitySets)
        case .traverse(let traversal, _):
            traversal.reference.entitySets + traversal.input.entitySets + traversal.start.flatMap(\.entitySets)
                + traversal.orderBy.flatMap(\.expression.entitySets)
        }
    }
}

extension BoundAggregate {
    var entitySets: [String] {
        var sets = from.flatMap(\.paths).flatMap(\.entitySets)
        if let expression { sets += expression.entitySets }
        if let members { sets += members.path.entitySets }
        if let owner { sets += owner.entitySets }
        return sets
    }
}

extension BoundExpand {
    var entitySets: [String] { path.flatMap(\.entitySets) + query.entitySets }
}

extension BoundQuery {
    /// Those of the query itself and of all that its options lead to.
    var entitySets: [String] {
        var sets: [String] = []
        if let set { sets.append(set.name) }
        if let filter { sets += filter.entitySets }
        for item in orderBy { sets += item.expression.entitySets }
        for item in compute { sets += item.expression.entitySets }
        for transformation in apply { sets += transformation.entitySets }
        for item in expand { sets += item.entitySets }
        for nested in nestedQueries.values { sets += nested.entitySets }
        return sets
    }
}

extension HierarchyReference {
    var entitySets: [String] { nodes.entitySets + nodeProperty.entitySets }
}

extension NodePath {
    var entitySets: [String] { (members?.path.entitySets ?? []) + identifier.entitySets }
}

extension BoundExpression {
    var entitySets: [String] {
        let aggregates: [String] = aggregates.flatMap(\.entitySets)
        return paths.flatMap(\.entitySets) + lambdas.compactMap(\.condition).flatMap(\.entitySets) + aggregates
    }
}

extension BoundPath {
    var entitySets: [String] { steps.flatMap(\.entitySets) }
}

extension BoundStep {
    var entitySets: [String] {
        switch self {
        case .navigation(_, _, let set): set.map { [$0.name] } ?? []
        case .entitySet(let set, _): [set.name]
        case .singleton(let singleton, _): [singleton.name]
        case .filter(let condition, _): condition.entitySets
        case .property, .cast, .dynamic, .computed, .key, .annotation: []
        }
    }

    /// The name of the property that it is; `nil` for what is none.
    var ownName: String? {
        switch self {
        case .property(let property, _, _): property.name
        case .navigation(let navigation, _, _): navigation.name
        case .dynamic(let name), .computed(let name, _): name
        case .cast, .entitySet, .singleton, .key, .filter, .annotation: nil
        }
    }
}
