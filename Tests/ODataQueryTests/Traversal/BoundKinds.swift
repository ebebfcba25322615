@testable import ODataQuery

/// The kinds of nodes of the bound tree, corresponding to ``SyntaxKind``.
enum BoundKind: String, CaseIterable {
    case constant, path, unary, binary, membership, function, cast, isOf, any, all, count, isOfValue, isDefined, search
    case list, aggregate, custom, hierarchyTest, subquery
    case stepProperty, stepNavigation, stepCast, stepDynamic, stepComputed, stepEntitySet, stepSingleton, stepKey
    case stepFilter, stepAnnotation
    case filterRows, aggregateRows, groupBy, compute, orderBy, top, skip, identity, searchRows, ranked, concat
    case groupByApplying, groupByNode, expandRows, join, nest, addNested, hierarchy, traverse
    case boundPath, boundAggregate, reference, expand, query, selection

    init(_ node: BoundNode) {
        switch node {
        case .expression(let expression), .condition(let expression, _): self = Self.kind(of: expression)
        case .path: self = .boundPath
        case .step(let step): self = Self.kind(of: step)
        case .aggregate: self = .boundAggregate
        case .hierarchy: self = .reference
        case .transformation(let transformation): self = Self.kind(of: transformation)
        case .expand: self = .expand
        case .query: self = .query
        case .selection: self = .selection
        }
    }

    private static func kind(of expression: BoundExpression) -> BoundKind {
        switch expression {
        case .constant: .constant
        case .path: .path
        case .unary: .unary
        case .binary: .binary
        case .membership: .membership
        case .function: .function
        case .cast: .cast
        case .isOf: .isOf
        case .any: .any
        case .all: .all
        case .count: .count
        case .isOfValue: .isOfValue
        case .isDefined: .isDefined
        case .search: .search
        case .list: .list
        case .aggregate: .aggregate
        case .custom: .custom
        case .hierarchyTest: .hierarchyTest
        case .subquery: .subquery
        }
    }

    private static func kind(of step: BoundStep) -> BoundKind {
        switch step {
        case .property: .stepProperty
        case .navigation: .stepNavigation
        case .cast: .stepCast
        case .dynamic: .stepDynamic
        case .computed: .stepComputed
        case .entitySet: .stepEntitySet
        case .singleton: .stepSingleton
        case .key: .stepKey
        case .filter: .stepFilter
        case .annotation: .stepAnnotation
        }
    }

    private static func kind(of transformation: BoundTransformation) -> BoundKind {
        switch transformation {
        case .filter: .filterRows
        case .aggregate: .aggregateRows
        case .groupBy: .groupBy
        case .compute: .compute
        case .orderBy: .orderBy
        case .top: .top
        case .skip: .skip
        case .identity: .identity
        case .search: .searchRows
        case .ranked: .ranked
        case .concat: .concat
        case .groupByApplying: .groupByApplying
        case .groupByNode: .groupByNode
        case .expand: .expandRows
        case .join: .join
        case .nest: .nest
        case .addNested: .addNested
        case .hierarchy: .hierarchy
        case .traverse: .traverse
        }
    }
}

/// The kinds of segments of a resource.
enum BoundSegmentKind: String, CaseIterable {
    case entitySet, singleton, key, navigation, property, cast, alternateKey, filter, each, operation

    init(_ segment: BoundSegment) {
        switch segment {
        case .entitySet: self = .entitySet
        case .singleton: self = .singleton
        case .key: self = .key
        case .navigation: self = .navigation
        case .property: self = .property
        case .cast: self = .cast
        case .alternateKey: self = .alternateKey
        case .filter: self = .filter
        case .each: self = .each
        case .operation: self = .operation
        }
    }
}
