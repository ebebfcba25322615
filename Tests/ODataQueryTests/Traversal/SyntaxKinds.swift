@testable import ODataQuery

/// The kinds of nodes of the syntax tree.
///
/// A new case of an enumeration does not compile until it has a kind here. A new kind fails
/// ``SyntaxTraversalTests`` until there is a sample of it.
enum SyntaxKind: String, CaseIterable {
    case literal, path, alias, unary, binary, membership, call, namedCall, typeTest, list, json
    case stepName, stepVariable, stepCount, stepAny, stepAll, stepKey, stepCall, stepFilter, stepAggregate
    case singleKey, compoundKey
    case noArguments, emptyArguments, keyArguments, namedArguments
    case segmentName, segmentMetadata, segmentBatch, segmentEntity, segmentAll, segmentCrossJoin, segmentCount
    case segmentValue, segmentReference, segmentLinks, segmentEach, segmentQuery, segmentFilter, segmentKey
    case segmentLiteral
    case aggregate, groupBy, filter, orderBy, search, compute, top, skip, ranked, identity, concat, expand, join, nest
    case addNested, hierarchy, traverse, custom
    case aggregateCount, aggregateExpression, aggregateCustom
    case groupPath, groupRollup, groupRecursiveRollup
    case expandItem, options, resourcePath, url

    init?(_ node: any SyntaxNode) {
        switch node {
        case let node as CommonExpression: self = Self.kind(of: node)
        case let node as PathStep: self = Self.kind(of: node)
        case let node as KeyPredicate: self = Self.kind(of: node)
        case let node as PathArguments: self = Self.kind(of: node)
        case let node as PathSegment: self = Self.kind(of: node)
        case let node as Transformation: self = Self.kind(of: node)
        case let node as AggregateItem: self = Self.kind(of: node)
        case let node as GroupItem: self = Self.kind(of: node)
        case is ExpandItem: self = .expandItem
        case is QueryOptions: self = .options
        case is ResourcePath: self = .resourcePath
        case is ODataURL: self = .url
        default: return nil
        }
    }

    private static func kind(of expression: CommonExpression) -> SyntaxKind {
        switch expression {
        case .literal: .literal
        case .path: .path
        case .alias: .alias
        case .unary: .unary
        case .binary: .binary
        case .membership: .membership
        case .call: .call
        case .namedCall: .namedCall
        case .typeTest: .typeTest
        case .list: .list
        case .json: .json
        }
    }

    private static func kind(of step: PathStep) -> SyntaxKind {
        switch step {
        case .name: .stepName
        case .variable: .stepVariable
        case .count: .stepCount
        case .any: .stepAny
        case .all: .stepAll
        case .key: .stepKey
        case .call: .stepCall
        case .filter: .stepFilter
        case .aggregate: .stepAggregate
        }
    }

    private static func kind(of key: KeyPredicate) -> SyntaxKind {
        switch key {
        case .single: .singleKey
        case .compound: .compoundKey
        }
    }

    private static func kind(of arguments: PathArguments) -> SyntaxKind {
        switch arguments {
        case .none: .noArguments
        case .empty: .emptyArguments
        case .key: .keyArguments
        case .named: .namedArguments
        }
    }

    private static func kind(of segment: PathSegment) -> SyntaxKind {
        switch segment {
        case .name: .segmentName
        case .metadata: .segmentMetadata
        case .batch: .segmentBatch
        case .entity: .segmentEntity
        case .all: .segmentAll
        case .crossJoin: .segmentCrossJoin
        case .count: .segmentCount
        case .value: .segmentValue
        case .reference: .segmentReference
        case .links: .segmentLinks
        case .each: .segmentEach
        case .query: .segmentQuery
        case .filter: .segmentFilter
        case .key: .segmentKey
        case .literal: .segmentLiteral
        }
    }

    private static func kind(of transformation: Transformation) -> SyntaxKind {
        switch transformation {
        case .aggregate: .aggregate
        case .groupBy: .groupBy
        case .filter: .filter
        case .orderBy: .orderBy
        case .search: .search
        case .compute: .compute
        case .top: .top
        case .skip: .skip
        case .ranked: .ranked
        case .identity: .identity
        case .concat: .concat
        case .expand: .expand
        case .join: .join
        case .nest: .nest
        case .addNested: .addNested
        case .hierarchy: .hierarchy
        case .traverse: .traverse
        case .custom: .custom
        }
    }

    private static func kind(of item: AggregateItem) -> SyntaxKind {
        switch item.operand {
        case .count: .aggregateCount
        case .expression: .aggregateExpression
        case .custom: .aggregateCustom
        }
    }

    private static func kind(of item: GroupItem) -> SyntaxKind {
        switch item {
        case .path: .groupPath
        case .rollup: .groupRollup
        case .recursiveRollup: .groupRecursiveRollup
        }
    }
}
