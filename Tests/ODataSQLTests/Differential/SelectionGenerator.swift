import ODataModel
import ODataQuery
import TestCorpus

@testable import ODataSQL

/// Random dynamic queries over a ``Sample``.
struct SelectionGenerator {
    let sample: Sample
    var random: SeededGenerator
    private var aliases = 0

    init(sample: Sample, seed: UInt64) {
        self.sample = sample
        random = SeededGenerator(seed: seed &* 31 &+ 7)
    }

    /// A value with its type.
    struct Typed {
        var operand: QueryOperand
        var type: TypeReference

        var attribute: QueryAttribute? { if case .attribute(let attribute) = operand { attribute } else { nil } }
    }

    /// A query with the types of its columns.
    struct Made {
        var selection: Selection
        var types: [TypeReference]
    }

    mutating func chance(_ one: Int, in all: Int) -> Bool { Int.random(in: 0..<all, using: &random) < one }
    private mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: 0..<elements.count, using: &random)]
    }

    private mutating func newAlias() -> String {
        aliases += 1
        return "s\(aliases)"
    }

    // MARK: Queries

    /// Returns a query with an order over all columns, so that a range of its rows is determined.
    mutating func selection() -> Selection {
        aliases = 0
        var made = query(depth: 3, outer: [])
        if chance(1, in: 6) {
            for _ in 0..<Int.random(in: 1...2, using: &random) {
                let other = self.other(made.types)
                made.selection.combinations.append(.init(pick(Selection.Combination.Operator.allCases), other))
            }
        }
        addRange(&made.selection)
        return made.selection
    }

    private mutating func addRange(_ selection: inout Selection) {
        guard !selection.columns.isEmpty, chance(1, in: 2) else { return }
        for (index, column) in selection.columns.enumerated() {
            let key: Selection.Order.Key =
                chance(3, in: 4) ? .column(column.name ?? "c\(index)") : .operand(column.operand)
            selection.order.append(.init(key, isDescending: chance(1, in: 3)))
        }
        if chance(1, in: 2) { selection.take = Int.random(in: 0...6, using: &random) }
        if chance(1, in: 3) { selection.skip = Int.random(in: 0...3, using: &random) }
    }

    /// Returns a query with columns of given types.
    private mutating func other(_ types: [TypeReference]) -> Selection {
        let (source, values) = entities(newAlias(), set: pick(["As", "Bs"]))
        var selection = Selection(source)
        if chance(1, in: 2) { selection.test = test(values, depth: 1, outer: []) }
        for (index, type) in types.enumerated() {
            let fitting = values.filter { $0.type == type }
            let operand: QueryOperand =
                fitting.isEmpty ? constant(type, isText: false) : pick(fitting).operand
            selection.columns.append(.init(operand, as: "d\(index)"))
        }
        selection.isDistinct = chance(1, in: 4)
        if chance(1, in: 6) { addRange(&selection) }
        return selection
    }

    private mutating func query(depth: Int, outer: [Typed], columns wanted: Int? = nil) -> Made {
        let count = depth < 3 ? (chance(1, in: 4) ? 2 : 1) : pick([1, 1, 2, 2, 3])
        var selection: Selection?
        var values: [Typed] = []
        for _ in 0..<count {
            let alias = newAlias()
            var source: Selection.Source
            let own: [Typed]
            if depth > 1, chance(1, in: 7) {
                let inner = query(depth: 0, outer: outer)
                source = .init(.selection(inner.selection), as: alias)
                own = zip(inner.selection.columns, inner.types).enumerated().map { index, column in
                    let name = column.0.name ?? "c\(index)"
                    return Typed(operand: .attribute(QueryAttribute(alias: alias, path: [name])), type: column.1)
                }
            } else {
                (source, own) = entities(alias, set: pick(["As", "Bs"]))
            }
            if selection != nil, chance(7, in: 8) { source.condition = join(values, own, depth: depth) }
            values += own
            if selection == nil { selection = Selection(source) } else { selection?.sources.append(source) }
        }
        var result = selection ?? Selection(.init(.entities("As"), as: "a"))
        if chance(2, in: 3) { result.test = test(values, depth: min(depth, 3), outer: outer) }
        var types: [TypeReference] = []
        if chance(1, in: 3) {
            types = group(&result, values, depth: depth, outer: outer, columns: wanted)
        } else {
            for index in 0..<(wanted ?? Int.random(in: 1...4, using: &random)) {
                let value = column(values, depth: depth)
                result.columns.append(.init(value.operand, as: "c\(index)"))
                types.append(value.type)
            }
            if depth == 3, chance(1, in: 20) {
                result.columns = []
                types = []
            }
        }
        result.isDistinct = chance(1, in: 5)
        return Made(selection: result, types: types)
    }

    private mutating func column(_ values: [Typed], depth: Int) -> Typed {
        if depth > 1, chance(1, in: 12) { return scalar(values, depth: depth) }
        if chance(1, in: 12) {
            let type = pick([PrimitiveType.string, .int32, .boolean, .decimal])
            let operand = constant(.primitive(type), isText: false)
            return Typed(operand: operand, type: .primitive(type == .int32 ? .int32 : type))
        }
        return pick(values)
    }

    /// Returns a query with one row as a value.
    private mutating func scalar(_ outer: [Typed], depth: Int) -> Typed {
        let (source, values) = entities(newAlias(), set: pick(["As", "Bs"]))
        var selection = Selection(source)
        if chance(3, in: 4) { selection.test = test(values, depth: 1, outer: outer) }
        let value = aggregate(values)
        selection.columns = [.init(value.operand, as: "v")]
        return Typed(operand: .selection(selection), type: value.type)
    }

    private mutating func group(
        _ selection: inout Selection, _ values: [Typed], depth: Int, outer: [Typed], columns wanted: Int?
    ) -> [TypeReference] {
        var keys: [Typed] = []
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            let key = pick(values)
            if let attribute = key.attribute, !selection.groups.contains(attribute) {
                selection.groups.append(attribute)
                keys.append(key)
            }
        }
        var results = keys
        for _ in 0..<Int.random(in: 1...3, using: &random) { results.append(aggregate(values)) }
        if chance(1, in: 2) { selection.having = test(results, depth: min(depth, 2), outer: outer, isGrouped: true) }
        let chosen = wanted.map { Array(results.suffix($0)) } ?? results
        for (index, value) in chosen.enumerated() { selection.columns.append(.init(value.operand, as: "c\(index)")) }
        return chosen.map(\.type)
    }

    private mutating func aggregate(_ values: [Typed]) -> Typed {
        if chance(1, in: 5) { return Typed(operand: .count, type: .primitive(.int64)) }
        for _ in 0..<10 {
            let value = pick(values)
            guard let attribute = value.attribute else { continue }
            let type = value.type.primitive
            let isNumber = type?.isNumeric == true
            switch pick(QueryAggregate.allCases) {
            case .count: return Typed(operand: .count(attribute), type: .primitive(.int64))
            case .minimum where type != nil && type != .boolean && type != .guid:
                return Typed(operand: .minimum(attribute), type: value.type)
            case .maximum where type != nil && type != .boolean && type != .guid:
                return Typed(operand: .maximum(attribute), type: value.type)
            case .sum where isNumber:
                let result: PrimitiveType =
                    type?.isInteger == true ? .int64 : type == .single ? .double : type ?? .int64
                return Typed(operand: .sum(attribute), type: .primitive(result))
            case .average where isNumber:
                let result: PrimitiveType =
                    type?.isInteger == true ? .decimal : type == .single ? .double : type ?? .decimal
                return Typed(operand: .average(attribute), type: .primitive(result))
            default: continue
            }
        }
        return Typed(operand: .count, type: .primitive(.int64))
    }

    // MARK: Sources

    private mutating func entities(_ alias: String, set: String) -> (Selection.Source, [Typed]) {
        func value(_ path: String..., type: TypeReference) -> Typed {
            let names = path.flatMap { $0.split(separator: "/").map(String.init) }
            return Typed(operand: .attribute(QueryAttribute(alias: alias, path: names)), type: type)
        }
        let int = TypeReference.primitive(.int32)
        let string = TypeReference.primitive(.string)
        var values = [value("ID", type: int)]
        if set == "As" {
            values += [
                value("NextID", type: int), value("Place/City", type: string), value("Place/Code", type: int),
                value("Kind", type: .enumeration(Sample.name("Kind"))), value("Next/ID", type: int),
                value("Next/Place/City", type: string), value("Place/Top/ID", type: int), value("S.AX/X", type: int),
            ]
        } else {
            values += [value("AID", type: int), value("A/ID", type: int), value("A/Place/City", type: string)]
            if let column = sample.columns["As"]?.randomElement(using: &random) {
                values.append(value("A/\(column.name)", type: .primitive(column.type)))
            }
        }
        for column in sample.columns[set] ?? [] { values.append(value(column.name, type: .primitive(column.type))) }
        return (.init(.entities(set), as: alias), values)
    }

    private mutating func join(_ left: [Typed], _ right: [Typed], depth: Int) -> QueryTest {
        let pairs = left.flatMap { a in right.filter { $0.type == a.type }.map { (a, $0) } }
        guard !pairs.isEmpty, chance(5, in: 6) else { return test(left + right, depth: 1, outer: []) }
        let (a, b) = pick(pairs)
        let symbol: QueryOperator = chance(4, in: 5) ? .equal : pick([.lessThan, .greaterEqual, .notEqual])
        return .test(a.operand, isOrdered(a.type) ? symbol : .equal, b.operand)
    }

    // MARK: Tests

    private func isOrdered(_ type: TypeReference) -> Bool { type.primitive.map { $0 != .binary } ?? false }

    private mutating func test(_ values: [Typed], depth: Int, outer: [Typed], isGrouped: Bool = false) -> QueryTest {
        if depth > 0 {
            switch Int.random(in: 0..<14, using: &random) {
            case 0, 1: return .all(tests(values, depth: depth, outer: outer, isGrouped: isGrouped))
            case 2, 3: return .any(tests(values, depth: depth, outer: outer, isGrouped: isGrouped))
            case 4, 5: return .not(test(values, depth: depth - 1, outer: outer, isGrouped: isGrouped))
            case 6:
                let inner = query(depth: depth - 1, outer: attributes(values + outer)).selection
                return .test(nil, chance(1, in: 2) ? .exists : .notExists, .selection(inner))
            case 7:
                let made = query(depth: depth - 1, outer: attributes(values + outer), columns: 1)
                let fitting = values.filter { value in made.types.first.map { isSimilar(value.type, $0) } ?? false }
                guard !fitting.isEmpty else { break }
                return .test(pick(fitting).operand, chance(1, in: 2) ? .in : .notIn, .selection(made.selection))
            case 8:
                let value = scalar(attributes(values + outer), depth: depth)
                let fitting = values.filter { isSimilar($0.type, value.type) && isOrdered($0.type) }
                guard !fitting.isEmpty else { break }
                return .test(pick(fitting).operand, comparison(), value.operand)
            default: break
            }
        }
        return simple(values, outer: outer)
    }

    private mutating func tests(_ values: [Typed], depth: Int, outer: [Typed], isGrouped: Bool) -> [QueryTest] {
        (0..<Int.random(in: 0...3, using: &random)).map { _ in
            test(values, depth: depth - 1, outer: outer, isGrouped: isGrouped)
        }
    }

    /// Returns the values that a query within this one can refer to.
    private func attributes(_ values: [Typed]) -> [Typed] { values.filter { $0.attribute != nil } }

    private func isSimilar(_ left: TypeReference, _ right: TypeReference) -> Bool {
        if left == right { return true }
        guard let first = left.primitive, let second = right.primitive else { return false }
        return first.isNumeric && second.isNumeric
    }

    private mutating func comparison() -> QueryOperator {
        pick([.equal, .notEqual, .lessThan, .lessEqual, .greaterThan, .greaterEqual])
    }

    private mutating func simple(_ values: [Typed], outer: [Typed]) -> QueryTest {
        let value = pick(values)
        if chance(1, in: 8) { return .test(value.operand, chance(1, in: 2) ? .isNull : .notNull, nil) }
        if value.type.primitive == .string, chance(1, in: 2) { return text(value) }
        if chance(1, in: 6) {
            let list = (0..<Int.random(in: 0...4, using: &random)).map { _ in
                chance(1, in: 8) ? ODataValue.null : element(value.type)
            }
            return .test(value.operand, chance(1, in: 2) ? .in : .notIn, .list(list))
        }
        let symbol = isOrdered(value.type) ? comparison() : pick([.equal, .notEqual])
        let others = (outer + values).filter { isSimilar($0.type, value.type) }
        if chance(1, in: 3), !others.isEmpty { return .test(value.operand, symbol, pick(others).operand) }
        if chance(1, in: 12) { return .test(value.operand, symbol, .value(.null)) }
        let constant = constant(value.type, isText: chance(1, in: 5))
        return chance(1, in: 6) ? .test(constant, symbol, value.operand) : .test(value.operand, symbol, constant)
    }

    private mutating func text(_ value: Typed) -> QueryTest {
        let symbols: [QueryOperator] = [
            .like, .notLike, .contains, .startsWith, .endsWith, .notContains, .notStartsWith, .notEndsWith,
        ]
        let symbol = pick(symbols)
        if symbol == .like || symbol == .notLike {
            let pieces = ["%", "_", "a", "b", "A", "ß", "'", " ", "%", "_"]
            let pattern = (0..<Int.random(in: 0...5, using: &random)).map { _ in pick(pieces) }.joined()
            return .test(value.operand, symbol, .value(.string(pattern)))
        }
        return .test(value.operand, symbol, .value(.string(pick(["", "a", "A", "ß", "b'", " c", "zz"]))))
    }

    private mutating func element(_ type: TypeReference) -> ODataValue {
        guard let primitive = type.primitive else { return .string(pick(Sample.kinds)) }
        return Sample.value(primitive, &random)
    }

    private mutating func constant(_ type: TypeReference, isText: Bool) -> QueryOperand {
        let value = element(type)
        guard isText, let text = value.lexicalText else { return .value(value) }
        return .value(.string(text))
    }
}
