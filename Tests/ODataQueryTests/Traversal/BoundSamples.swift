import ODataModel
import TestModels
import Testing

@testable import ODataQuery

/// A sample of each kind of node of the bound tree, with distinct numbers and names at all places for nodes.
///
/// The samples need not be consistent, since traversal ignores types.
struct BoundSamples {
    private var last: Int64 = 0
    private let shape: TypeShape
    private let set: EntitySet
    private let singleton: Singleton
    private let navigation: NavigationProperty
    private let boolean = TypeReference.primitive(.boolean)

    private init() throws {
        let model = try ShopModel.make()
        shape = try #require(model.shape(ofSet: "Orders"))
        set = try #require(model.entitySet("Orders"))
        singleton = try #require(model.singleton("Me"))
        navigation = try #require(shape.navigationProperty("Customer"))
    }

    private mutating func number() -> BoundExpression {
        last += 1
        return .constant(.integer(last), .primitive(.int64))
    }

    private mutating func variable() -> RangeVariable {
        last += 1
        return RangeVariable(name: "v\(last)", identifier: Int(last), shape: shape, type: boolean)
    }

    private mutating func path() -> BoundPath {
        last += 1
        return BoundPath(variable: variable(), steps: [.dynamic("p\(last)")], type: boolean)
    }

    private mutating func reference() -> HierarchyReference {
        HierarchyReference(nodes: path(), qualifier: "Q", nodeProperty: path(), parentNavigation: navigation)
    }

    private mutating func input() -> NodePath { NodePath(path(), of: .init(of: path(), variable: variable())) }

    private mutating func aggregate() -> BoundAggregate {
        var aggregate = BoundAggregate(
            number(), method: .sum, as: "A", type: boolean, members: .init(of: path(), variable: variable()),
            from: [.init([path(), path()], method: .max), .init([path()], method: .min)])
        aggregate.owner = path()
        return aggregate
    }

    private mutating func sequence() -> [BoundTransformation] {
        [.filter(number(), shape: shape), .ranked(.topCount, number(), by: number(), shape: shape)]
    }

    private mutating func nest() -> BoundNest { BoundNest(sequence(), as: "N") }
    private mutating func order() -> BoundOrder { BoundOrder(number(), isDescending: true) }
    private mutating func compute() -> BoundCompute { BoundCompute(number(), as: "C") }

    private mutating func expressions() -> [BoundExpression] {
        let function = ScalarFunction("App.F", [boolean, boolean], returns: boolean) { _ in .null }
        let whole = path()
        var test = BoundHierarchyTest(.isAncestor, in: reference(), node: number(), other: number(), distance: 2)
        test.includesSelf = true
        return [
            number(), .path(path()), .unary(.not, number(), boolean), .binary(.add, number(), number(), boolean),
            .membership(number(), in: [number(), number()]), .function(.concat, [number(), number()], boolean),
            .cast(number(), boolean), .isOf(path(), shape.name), .any(path(), variable: variable(), number()),
            .any(path(), variable: variable(), nil), .all(path(), variable: variable(), number()),
            .count(path(), variable: variable(), filter: number()), .isOfValue(number(), boolean), .isDefined(path()),
            .search(.word("w"), variable()), .list([number(), number()], boolean), .aggregate(path(), aggregate()),
            .aggregate(path(), BoundAggregate(number(), method: .min, as: "M", type: boolean)),
            .aggregate(path(), BoundAggregate(nil, method: .count, as: "N", type: boolean)),
            .custom(function, [number(), number()]), .hierarchyTest(test), .subquery(.exists(selection())),
            .subquery(.value(plainSelection())),
            .subquery(.contains(number(), equals: number(), in: plainSelection())),
            .path(BoundPath(variable: variable(), steps: steps() + whole.steps, type: boolean)),
        ]
    }

    private mutating func plainSelection() -> BoundSelection {
        BoundSelection(
            sources: [.init(rows: .entities(set, shape), variable: variable())],
            columns: [.init(name: "c", expression: number())],
            isDistinct: false, combinations: [], order: [], result: variable())
    }

    private mutating func selection() -> BoundSelection {
        var selection = plainSelection()
        selection.sources.append(
            .init(rows: .selection(plainSelection()), variable: variable(), condition: number()))
        selection.filter = number()
        selection.grouping = .init(
            keys: [number(), number()], aggregates: [aggregate(), aggregate()], variable: variable(), having: number())
        selection.columns.append(.init(name: "d", expression: number()))
        selection.combinations = [
            .init(symbol: .union, selection: plainSelection()), .init(symbol: .except, selection: plainSelection()),
        ]
        selection.order = [order(), order()]
        return selection
    }

    private mutating func steps() -> [BoundStep] {
        [
            .property(shape.properties[0], ordinal: 0, of: shape), .navigation(navigation, of: shape, set: set),
            .cast(shape), .dynamic("d"), .computed("c", boolean), .entitySet(set, shape), .singleton(singleton, shape),
            .key(EntityKey("OrderID", .integer(1))), .filter(number(), variable()), .annotation("N.T"),
        ]
    }

    private mutating func transformations() -> [BoundTransformation] {
        [
            .filter(number(), shape: shape), .aggregate([aggregate(), aggregate()], shape: shape),
            .groupBy([path(), path()], [aggregate()], shape: shape), .compute([compute(), compute()], shape: shape),
            .orderBy([order(), order()], shape: shape), .top(1, shape: shape), .skip(1, shape: shape),
            .identity(shape: shape), .search(.word("w"), shape: shape),
            .ranked(.topSum, number(), by: number(), shape: shape), .concat([sequence(), sequence()], shape: shape),
            .groupByApplying([path()], sequence(), shape: shape),
            .groupByNode(
                BoundNodeGrouping(
                    reference: reference(), input: input(), nodes: shape, restriction: sequence(), injection: .nothing,
                    then: sequence()), shape: shape),
            .expand(expand(), shape: shape),
            .join(
                BoundJoin(path: path(), name: "J", then: sequence(), isOuter: true, variable: variable()), shape: shape),
            .nest([nest(), nest()], shape: shape), .addNested(path(), [nest(), nest()], shape: shape),
            .hierarchy(
                BoundHierarchy(
                    isAncestors: true, reference: reference(), input: input(), start: sequence(), distance: 1,
                    keepsStart: true), shape: shape),
            .traverse(
                BoundTraversal(
                    reference: reference(), input: NodePath(path()), isPreorder: true, start: sequence(),
                    orderBy: [order()]), shape: shape),
            .traverse(
                BoundTraversal(
                    reference: reference(), input: input(), isPreorder: true, start: sequence(), orderBy: [order()]),
                shape: shape),
        ]
    }

    private mutating func plain() -> BoundQuery {
        var query = BoundQuery(shape: shape, set: set, variable: variable())
        query.filter = number()
        query.orderBy = [order()]
        query.top = 1
        return query
    }

    private mutating func expand() -> BoundExpand {
        var item = BoundExpand(
            path: [.cast(shape), .dynamic("e")], navigation: navigation, form: .count, levels: nil, query: plain())
        item.refersToOutermost = true
        return item
    }

    private mutating func query() -> BoundQuery {
        var query = plain()
        query.apply = transformations()
        query.compute = [compute(), compute()]
        query.orderBy = expressions().map { BoundOrder($0, isDescending: false) }
        query.nestedQueries = [3: plain(), 1: plain(), 2: plain()]
        query.expand = [expand(), expand()]
        query.expandedStreams = [[.dynamic("s1")], [.dynamic("s2"), .dynamic("s3")]]
        return query
    }

    private mutating func segments() throws -> [BoundSegment] {
        let operation = try #require(ShopModel.make().operations(QualifiedName("Shop", "Nearby")).first)
        return [
            .entitySet(set, shape), .singleton(singleton, shape), .key(EntityKey("OrderID", .integer(1))),
            .navigation(navigation, set: set, shape), .property(shape.properties[0], ordinal: 0, of: shape),
            .cast(shape), .alternateKey(EntityKey("A", .integer(1)), number(), variable()),
            .filter(number(), variable()), .each, .operation(operation, ["b": number(), "a": number()]),
        ]
    }

    /// Returns a resolved URL with all samples.
    static func url() throws -> BoundURL {
        var samples = try BoundSamples()
        let segments = try samples.segments()
        return BoundURL(resource: BoundResource(steps: segments, target: .service), query: samples.query())
    }
}
