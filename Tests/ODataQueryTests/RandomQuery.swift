import ODataModel
import TestCorpus

@testable import ODataQuery

/// A generator of syntax trees that the grammar can express.
struct RandomQuery {
    var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func pick<T>(_ items: [T]) -> T { items[Int.random(in: 0..<items.count, using: &generator)] }

    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }

    mutating func name() -> Identifier {
        // Words of the language can be names too.
        let words = ["not", "NOT", "in", "eq", "and", "has", "add", "desc", "as"]
        let names = ["Freight", "Straße", "_x", "Name", "Größe1", "null_", "trueish", "notable", "Anyone", "b"]
        return Identifier(pick(chance(10) ? words : names))
    }

    mutating func string() -> String {
        let pieces = [
            "O'Neil", "a/b", "100%", "x&y=z", "#1", "a+b", "日本", "\"q\"", ";", "(", ")", " ", "?", "🙂", "\\", "",
            "\u{301}",
            "\u{600}", "'",
        ]
        return (0..<Int.random(in: 0...3, using: &generator)).map { _ in pick(pieces) }.joined()
    }

    mutating func literal() -> Literal {
        let digits = UInt64.random(in: 0...UInt64.max, using: &generator)
        switch Int.random(in: 0..<15, using: &generator) {
        case 0: return Literal(.null)
        case 1: return Literal(.boolean(chance(50)), type: .boolean)
        case 2: return Literal(.integer(Int64(bitPattern: digits)))
        case 3: return Literal(.integer(Int64.random(in: -99...99, using: &generator)))
        case 4:
            // A decimal literal has a point with a digit after it.
            let value = ODataDecimal(
                isNegative: chance(50), magnitude: UInt128(digits), scale: Int.random(in: 1...30, using: &generator))
            return Literal(.decimal(value ?? ODataDecimal(1)), type: .decimal)
        case 5:
            let double = Double(bitPattern: digits)
            return Literal(.double(double.isNaN ? .infinity : double), type: .double)
        case 6: return Literal(.string(string()), type: .string)
        case 7:
            return Literal(
                .binary(
                    (0..<Int.random(in: 0...5, using: &generator)).map { _ in
                        UInt8.random(in: 0...255, using: &generator)
                    }), type: .binary)
        case 8: return Literal(.guid(.random(using: &generator)), type: .guid)
        case 9:
            return Literal(
                .date(ODataDate(daysSinceEpoch: Int64.random(in: -900_000...2_000_000, using: &generator))), type: .date
            )
        case 10:
            let time = ODataTimeOfDay(picoseconds: Int64.random(in: 0..<86_400_000_000_000_000, using: &generator))
            return time.map { Literal(.timeOfDay($0), type: .timeOfDay) } ?? Literal(.null)
        case 11:
            let instant = ODataDateTimeOffset(
                seconds: Int64.random(in: -60_000_000_000...200_000_000_000, using: &generator),
                picoseconds: Int64.random(in: 0..<1_000_000_000_000, using: &generator),
                offsetMinutes: Int.random(in: -840...840, using: &generator))
            return Literal(.dateTimeOffset(instant), type: .dateTimeOffset)
        case 12:
            return Literal(
                .duration(
                    ODataDuration(seconds: Int64.random(in: -1_000_000...1_000_000, using: &generator), picoseconds: 5)),
                type: .duration)
        case 13:
            return Literal(.string("Red,Blue"), enumeration: .init(type: "Ns.Colour", members: "Red,Blue"))
        default:
            return Literal(.geo(GeoValue(.geography, .point(.init(x: 1.5, y: -2)))), type: .geographyPoint)
        }
    }

    mutating func expression(depth: Int) -> CommonExpression {
        guard depth > 0 else { return chance(50) ? .literal(literal()) : .path([.name(name())]) }
        switch Int.random(in: 0..<14, using: &generator) {
        case 0: return .literal(literal())
        case 1: return path(depth: depth)
        case 2: return .alias(name())
        case 3: return .unary(.not, expression(depth: depth - 1))
        case 4: return .unary(.negate, expression(depth: depth - 1))
        case 5, 6, 7, 8:
            return .binary(pick(BinaryOperator.allCases), expression(depth: depth - 1), expression(depth: depth - 1))
        case 9:
            let items = (0..<Int.random(in: 0...3, using: &generator)).map { _ in expression(depth: depth - 1) }
            return .membership(expression(depth: depth - 1), in: .list(items))
        case 10:
            return .call(
                Identifier(pick(["concat", "substring", "geo.distance", "NoFunction"])),
                [expression(depth: depth - 1), expression(depth: depth - 1)])
        case 11 where chance(30):
            return .call("App.Function", [expression(depth: depth - 1), expression(depth: depth - 1)])
        case 11:
            let arguments = ["p", "q"].map {
                CommonExpression.NamedArgument(name: Identifier($0), value: expression(depth: depth - 1))
            }
            return .namedCall("Ns.Function", chance(50) ? arguments : [])
        case 12:
            let type = Identifier(pick(["Edm.String", "Ns.Type"]))
            return .typeTest(chance(50) ? .cast : .isOf, chance(80) ? expression(depth: depth - 1) : nil, type)
        default:
            guard chance(50) else { return .list([expression(depth: depth - 1)]) }
            // A number and a colon that look like hours and minutes.
            guard chance(80) else {
                let number = CommonExpression.literal(Literal(.integer(Int64.random(in: 0...60, using: &generator))))
                return .call("case", [.binary(.equal, path(depth: depth - 1), number), number])
            }
            return .call("case", [expression(depth: depth - 1), expression(depth: depth - 1)])
        }
    }

    mutating func path(depth: Int) -> CommonExpression {
        var steps: [PathStep] = [
            chance(20) ? .variable(Identifier(pick(["$it", "$this", "@a"]))) : .name(name()), .name(name()),
        ]
        if chance(20) { steps.append(.name("Ns.Derived")) }
        if chance(10) { steps += [.name(name()), .key(.single(.literal(literal())))] }
        if chance(10) { steps.append(.filter(expression(depth: depth - 1))) }
        if chance(10) { steps.append(.call("Ns.Bound", [])) }
        if chance(10) { steps.append(.name("@Ns.Term#q")) }
        if chance(10) {
            let value = CommonExpression.literal(literal())
            steps = [.variable("$root"), .name("Orders"), .key(.single(value)), .name(name())]
        }
        if chance(10) {
            let aggregate = AggregateItem(.expression(expression(depth: depth - 1), with: "max"), as: nil)
            return .path([chance(50) ? .variable("$these") : .name(name()), .aggregate(aggregate)])
        }
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: steps.append(.any(variable: nil, predicate: nil))
        case 1: steps.append(.any(variable: "v", predicate: expression(depth: depth - 1)))
        case 2: steps.append(.all(variable: "v", predicate: expression(depth: depth - 1)))
        case 3: steps.append(.count(filter: chance(50) ? expression(depth: depth - 1) : nil, search: nil))
        default: break
        }
        return .path(steps)
    }

    mutating func search(depth: Int) -> SearchExpression {
        guard depth > 0 else {
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: return .word(pick(["red", "a'b", "08/15", "x;y", "AND", "NOT", "OR", "ä&b", "#1", "1+1"]))
            default: return .phrase("p" + string())
            }
        }
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: return .not(search(depth: depth - 1))
        case 1: return .and(search(depth: depth - 1), search(depth: depth - 1))
        case 2: return .or(search(depth: depth - 1), search(depth: depth - 1))
        default: return search(depth: 0)
        }
    }

    mutating func options(depth: Int, isNested: Bool = false) -> QueryOptions {
        var options = QueryOptions()
        if chance(50) { options.filter = expression(depth: 2) }
        if chance(30) {
            options.orderBy = [
                OrderItem(expression(depth: 1), isDescending: chance(50)), OrderItem(expression(depth: 0)),
            ]
        }
        if chance(30) { options.top = Int.random(in: 0...99, using: &generator) }
        if chance(30) { options.skip = Int.random(in: 0...99, using: &generator) }
        if chance(30) { options.count = chance(50) }
        if chance(30) { options.search = search(depth: 2) }
        if chance(30) { options.compute = [ComputeItem(expression(depth: 2), as: name())] }
        if chance(30) { options.aliases["p"] = expression(depth: 2) }
        if chance(40) {
            options.select = [
                SelectItem(
                    pick([
                        .all, .path([name(), "City"]), .path([name()]), .operations("Ns"),
                        .path(["Ns.Derived", name()]),
                        .operation(["Ns.Function"], parameters: ["a", "b"]),
                    ]))
            ]
        }
        if chance(30) { options.apply = [transformation(depth: depth), transformation(depth: depth)] }
        if depth > 0, chance(60) {
            var item = ExpandItem(path: [name()], options: self.options(depth: depth - 1, isNested: true))
            if chance(20) { item.options.levels = chance(50) ? .max : .exactly(3) }
            options.expand = [item, ExpandItem(path: ["Nav"], form: pick([.references, .count, .entities, .value]))]
        }
        if !isNested {
            if chance(20) {
                options.custom = [.init(name: "odd=name&", value: string()), .init(name: "straße", value: "1=2")]
            }
            if chance(20) { options.skipToken = "x" + string() }
            if chance(20) { options.format = "application/json;odata.metadata=full" }
        }
        return options
    }

    mutating func transformation(depth: Int) -> Transformation {
        switch Int.random(in: 0..<17, using: &generator) {
        case 0: return .filter(expression(depth: 2))
        case 1: return .identity
        case 2:
            return .aggregate([
                AggregateItem(.expression(expression(depth: 1), with: "sum"), as: "A"),
                AggregateItem(.count(path: []), as: "B"),
            ])
        case 3:
            return .groupBy([.path([name(), name()]), .rollup([nil, [name()]])], then: chance(50) ? [.identity] : [])
        case 4: return .compute([ComputeItem(expression(depth: 1), as: "C")])
        case 5: return .orderBy([OrderItem(expression(depth: 1), isDescending: true)])
        case 6: return .top(.literal(Literal(3)))
        case 7: return .ranked("topcount", .literal(Literal(2)), expression(depth: 1))
        case 8:
            return .join(
                [name()], as: "J", then: chance(50) ? [.identity, transformation(depth: depth)] : [], outer: chance(50))
        case 9: return .nest([.init([transformation(depth: depth)], as: "N"), .init([.identity], as: "M")])
        case 10: return .addNested([name(), "Ns.Derived"], [.init([.identity], as: "N")])
        case 11:
            return .hierarchy(
                pick(["ancestors", "descendants"]),
                .init(
                    root: .path([.variable("$root"), .name("Orders")]), qualifier: "H", node: [name(), "ID"],
                    start: [.filter(expression(depth: 1))], distance: chance(50) ? 3 : nil, keepStart: chance(50)))
        case 12:
            return .traverse(
                .init(
                    root: .path([.variable("$root"), .name("Orders")]), qualifier: "H", node: ["ID"],
                    isPreorder: chance(50), start: chance(50) ? [.filter(expression(depth: 1))] : [],
                    orderBy: chance(50) ? [OrderItem(.path([.name(name())]), isDescending: true)] : []))
        case 13: return .custom("Ns.Transform", [.init(name: "p", value: expression(depth: 1))])
        case 14:
            return .expand(ExpandItem(path: [name()]), filter: chance(50) ? expression(depth: 1) : nil)
        case 15:
            return .aggregate([
                AggregateItem(
                    .expression(expression(depth: 1), with: "Ns.median"),
                    from: [.init(path: [name()], others: [[name(), "X"]], method: "max")], as: "A"),
                AggregateItem(.custom("Budget"), as: nil), AggregateItem(.count(path: [name(), "Items"]), as: "B"),
            ])
        default: return .concat([[.identity], [.search(search(depth: 1)), .skip(.literal(Literal(1)))]])
        }
    }

    mutating func url() -> ODataURL {
        var path = ResourcePath([.name("Orders", chance(50) ? .key(.single(.literal(literal()))) : .none)])
        if chance(30) { path.segments.append(.literal(Identifier("7" + string()))) }
        if chance(30) { path.segments.append(.filter(expression(depth: 1))) }
        if chance(30) {
            path.segments.append(
                .name(
                    "Ns.Function",
                    .named([.init(name: "p", value: .literal(literal())), .init(name: "q", value: .alias("a"))])))
        }
        if chance(30) { path.segments.append(.count) }
        return ODataURL(path: path, options: options(depth: 2))
    }
}
