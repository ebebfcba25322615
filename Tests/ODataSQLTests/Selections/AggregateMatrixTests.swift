import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataSQL

@Suite("The aggregates of each type")
struct AggregateMatrixTests {
    /// The types that an aggregate takes.
    private static func types(_ aggregate: QueryAggregate) -> Set<PrimitiveType> {
        let numbers: Set<PrimitiveType> = [.byte, .sbyte, .int16, .int32, .int64, .decimal, .single, .double]
        return switch aggregate {
        case .count: Set(PrimitiveType.columns)
        case .sum, .average: numbers
        case .minimum, .maximum:
            numbers.union([.string, .binary, .date, .timeOfDay, .dateTimeOffset, .duration])
        }
    }

    /// The value of an aggregate over one, two and two nulls.
    private static func expected(_ aggregate: QueryAggregate, _ type: PrimitiveType) -> ODataValue {
        switch aggregate {
        case .count: return .integer(2)
        case .minimum: return type.samples[0]
        case .maximum: return type.samples[1]
        case .sum:
            if type.isInteger { return .integer(3) }
            return type == .decimal ? .decimal(ODataDecimal(3)) : .double(3)
        case .average:
            if type == .single || type == .double { return .double(1.5) }
            return ODataDecimal("1.5").map { .decimal($0) } ?? .null
        }
    }

    @Test("Every aggregate has its value and its type, or refuses the type", arguments: QueryAggregate.allCases)
    func matrix(aggregate: QueryAggregate) async throws {
        let shop = try SelectionShop()
        for (id, sample) in [0, 1, nil, nil].enumerated() {
            var values: [String: ODataValue] = ["ID": .integer(Int64(id))]
            for type in PrimitiveType.columns { values[type.column] = sample.map { type.samples[$0] } ?? .null }
            try await shop.add("Things", values)
        }
        let things = Selection.from("Things", as: "t")
        for type in PrimitiveType.columns {
            let operand = QueryOperand.aggregate(aggregate, of: QueryAttribute("t.\(type.column)"))
            let selection = things.select(.column(operand, as: "x"))
            guard Self.types(aggregate).contains(type) else {
                let error = #expect(throws: SelectionError.self) { try shop.bind(selection) }
                #expect(error?.kind == .aggregateType(aggregate.rawValue, type: type.rawValue))
                #expect(error?.place == "\(aggregate.rawValue)(t.\(type.column))")
                continue
            }
            #expect(try await shop.rows(selection) == [[Self.expected(aggregate, type)]], "\(aggregate) of \(type)")
            // Neither nulls nor an empty group have a value, and an empty group of a key does not exist.
            let empty: ODataValue = aggregate == .count ? .integer(0) : .null
            let none = selection.where(.attribute("t.ID", .greaterThan, 1))
            #expect(try await shop.rows(none) == [[empty]], "\(aggregate) of nulls of \(type)")
            let nothing = selection.where(.attribute("t.ID", .lessThan, 0))
            #expect(try await shop.rows(nothing) == [[empty]], "\(aggregate) of no \(type)")
            #expect(try await shop.rows(nothing.groupBy("t.Group")) == [])
        }
        let grade = things.select(.column(.aggregate(aggregate, of: "t.Grade"), as: "x"))
        if aggregate == .count {
            #expect(try await shop.rows(grade) == [[.integer(0)]])
        } else {
            #expect(throws: SelectionError.self) { try shop.bind(grade) }
        }
    }

    @Test("An integer sum beyond 64 bits is an error, and a decimal sum is exact")
    func exact() async throws {
        let shop = try SelectionShop()
        for id in 0...1 as ClosedRange<Int64> {
            try await shop.add(
                "Things",
                [
                    "ID": .integer(id), "Int64": .integer(.max),
                    "Decimal": .decimal(ODataDecimal("0.1") ?? ODataDecimal(0)),
                ])
        }
        let things = Selection.from("Things", as: "t")
        await #expect(throws: ODataError.self) {
            _ = try await shop.provider.select(things.select(.column(.sum("t.Int64"), as: "x")))
        }
        #expect(try await shop.texts(things.select(.column(.sum("t.Decimal"), as: "x"))) == ["0.2"])
    }
}
