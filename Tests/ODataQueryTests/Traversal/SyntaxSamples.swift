import ODataModel

@testable import ODataQuery

/// A sample of each kind of node of the syntax tree, with distinct numbers at all places for expressions.
struct SyntaxSamples {
    private var last: Int64 = 0

    private mutating func number() -> CommonExpression {
        last += 1
        return .literal(Literal(.integer(last), at: Int(last)))
    }

    private mutating func argument() -> CommonExpression.NamedArgument { .init(name: "A", value: number()) }
    private mutating func compute() -> ComputeItem { ComputeItem(number(), as: "C") }
    private mutating func order() -> OrderItem { OrderItem(number(), isDescending: true) }
    private mutating func sequence() -> [Transformation] { [.filter(number()), .skip(number())] }

    private mutating func item() -> AggregateItem {
        AggregateItem(
            .expression(number(), with: "sum"), from: [.init(path: ["B"], others: [["C"]], method: "max")], as: "D")
    }

    private mutating func expressions() -> [CommonExpression] {
        [
            number(), .path([.name("A"), .filter(number()), .any(variable: "x", predicate: number())]), .alias("A"),
            .unary(.not, number()), .binary(.add, number(), number()), .membership(number(), in: number()),
            .call("F", [number(), number()]), .namedCall("N.F", [argument(), argument()]),
            .typeTest(.cast, number(), "T"), .typeTest(.isOf, nil, "T"), .list([number(), number()]), .json("{}"),
        ]
    }

    private mutating func steps() -> [PathStep] {
        [
            .name("A"), .variable("$it"), .count(filter: number(), search: .word("w")),
            .count(filter: nil, search: nil), .any(variable: "x", predicate: number()),
            .any(variable: nil, predicate: nil), .all(variable: "x", predicate: number()), .key(.single(number())),
            .key(.compound([argument(), argument()])), .call("N.F", [argument()]), .filter(number()),
            .aggregate(item()),
        ]
    }

    private mutating func segments() -> [PathSegment] {
        [
            .name("A", .none), .name("A", .empty), .name("A", .key(.single(number()))),
            .name("A", .named([argument(), argument()])), .metadata, .batch, .entity, .all, .crossJoin(["A", "B"]),
            .count, .value, .reference, .links, .each, .query, .filter(number()),
            .key(.compound([argument(), argument()])), .literal("1"),
        ]
    }

    private mutating func transformations() -> [Transformation] {
        [
            .aggregate([item(), AggregateItem(.count(path: ["A"]), as: "N"), AggregateItem(.custom("C"), as: nil)]),
            .groupBy(
                [
                    .path(["A"]), .rollup([nil, ["B"]]),
                    .recursiveRollup(
                        .init(root: number(), qualifier: "Q", node: ["ID"], restriction: sequence())),
                ], then: sequence()),
            .filter(number()), .orderBy([order(), order()]), .search(.word("w")), .compute([compute(), compute()]),
            .top(number()), .skip(number()), .ranked("topcount", number(), number()), .identity,
            .concat([sequence(), sequence()]), .expand(ExpandItem(path: ["A"], options: plain()), filter: number()),
            .join(["A"], as: "B", then: sequence(), outer: true), .nest([.init(sequence(), as: "A")]),
            .addNested(["A"], [.init(sequence(), as: "B"), .init(sequence(), as: "C")]),
            .hierarchy(
                "ancestors",
                .init(
                    root: number(), qualifier: "Q", node: ["ID"], start: sequence(), distance: 2, keepStart: true)),
            .traverse(
                .init(
                    root: number(), qualifier: "Q", node: ["ID"], isPreorder: true, start: sequence(),
                    orderBy: [order()])),
            .custom("N.T", [argument()]),
        ]
    }

    /// Returns options that contain expressions without nesting.
    private mutating func plain() -> QueryOptions {
        var options = QueryOptions()
        options.filter = number()
        options.orderBy = [order(), order()]
        options.compute = [compute()]
        options.top = 1
        return options
    }

    private mutating func options() -> QueryOptions {
        var options = plain()
        options.select = [SelectItem(.all), SelectItem(.path(["A"]), options: plain())]
        options.expand = [ExpandItem(path: ["A"], form: .count, options: plain()), ExpandItem(path: ["B"])]
        options.apply = transformations()
        options.temporal = ["$from": number(), "$at": number(), "$to": number()]
        options.aliases = ["b": number(), "a": number(), "c": number()]
        options.search = .not(.phrase("w"))
        options.custom = [.init(name: "x", value: "y")]
        return options
    }

    /// Returns a URL with all samples.
    static func url() -> ODataURL {
        var samples = SyntaxSamples()
        let segments = samples.segments()
        var options = samples.options()
        options.filter = .list(samples.expressions() + [.path(samples.steps())])
        return ODataURL(path: ResourcePath(segments), options: options, fragment: "f")
    }
}
