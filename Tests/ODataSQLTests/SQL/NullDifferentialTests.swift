import GRDB
import ODataModel
import ODataQuery
import ODataService
import TestCorpus
import Testing

@testable import ODataSQL

/// Compares random conditions on nullable columns, compiled to SQL, with a direct implementation of the standard
/// (OData URL Conventions 4.01, 5.1.1.1). Both must select the same rows.
@Suite("Comparisons with nulls, against a naive evaluator")
struct NullDifferentialTests {
    struct Item {
        let id: Int64
        let number: Int64?
        let amount: ODataDecimal?
        let text: String?
        let flag: Bool?
    }

    static let shapeName = QualifiedName("D", "Row")

    private func model() throws -> EntityDataModel {
        let type = StructuredType(
            name: Self.shapeName, kind: .entity, key: [.init(path: "ID")],
            properties: [
                Property(name: "ID", type: .primitive(.int64), isNullable: false),
                Property(name: "Number", type: .primitive(.int64)),
                Property(name: "Amount", type: .primitive(.decimal)),
                Property(name: "Text", type: .primitive(.string)), Property(name: "Flag", type: .primitive(.boolean)),
            ])
        let container = EntityContainer(
            name: QualifiedName("D", "C"), entitySets: [EntitySet(name: "Rows", type: Self.shapeName)])
        return try EntityDataModel(schemas: [ODataSchema(namespace: "D", structuredTypes: [type], container: container)]
        )
    }

    @Test("LIKE and a range of the index select the same rows", arguments: 1...12 as ClosedRange<UInt64>)
    func differential(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let model = try model()
        let shape = try #require(model.shape(Self.shapeName))
        let codecs: [ColumnCodec] = [
            .integer, .integer, [.scaledDecimal(scale: 1), .decimalBytes, .numericDecimal][Int(seed % 3)], .string,
            .boolean,
        ]
        let columns = zip(shape.properties, codecs).map {
            PropertyStorage.column(ColumnStorage(name: $0.name, type: $0.type, codec: $1))
        }
        let table = TableStorage(
            set: "Rows", shape: shape, table: "rows", rowID: "ID", properties: columns, etag: .none)
        let mapping = StorageMapping(model: model, tables: [table])
        var configuration = Configuration()
        configuration.prepareDatabase { StoreFunctions.register(in: $0) }
        let queue = try DatabaseQueue(configuration: configuration)
        let items = (1...40).map { id in
            Item(
                id: Int64(id),
                number: Bool.random(using: &generator) ? Int64.random(in: -2...2, using: &generator) : nil,
                amount: Bool.random(using: &generator)
                    ? ODataDecimal(
                        isNegative: Bool.random(using: &generator),
                        magnitude: UInt128(Int.random(in: 0...25, using: &generator)), scale: 1) : nil,
                text: Bool.random(using: &generator) ? ["", "a", "b", "ä"].randomElement(using: &generator) : nil,
                flag: Bool.random(using: &generator) ? Bool.random(using: &generator) : nil)
        }
        try await queue.write { database in
            try database.execute(
                sql: "CREATE TABLE rows(ID INTEGER PRIMARY KEY, Number INTEGER, Amount, Text TEXT, Flag)")
            for item in items {
                let values = Self.values(of: item)
                let stored = try zip(codecs, values).map { try $0.encode($1) }
                try database.execute(sql: "INSERT INTO rows VALUES (?,?,?,?,?)", arguments: StatementArguments(stored))
            }
        }
        let compiler = SQLCompiler(mapping: mapping, options: .init(now: ODataDateTimeOffset(seconds: 0)))
        let variable = RangeVariable(name: "$it", identifier: 0, shape: shape, type: .entity(shape.name))
        for _ in 0..<150 {
            let condition = Self.condition(depth: 3, shape, variable, &generator)
            var query = BoundQuery(shape: shape, set: model.entitySet("Rows"), variable: variable)
            query.filter = condition
            let compiled = try compiler.compile(query)
            let found = try await queue.read { database in
                try Row.fetchAll(database, sql: compiled.sql, arguments: compiled.arguments).map { $0[0] as Int64 }
            }
            let expected = items.filter { Self.truth(condition, Self.values(of: $0)) == true }.map(\.id)
            #expect(found == expected, "seed \(seed): \(condition)\n\(compiled.sql)")
        }
    }

    private static func values(of item: Item) -> [ODataValue] {
        [
            .integer(item.id), item.number.map { .integer($0) } ?? .null, item.amount.map { .decimal($0) } ?? .null,
            item.text.map { .string($0) } ?? .null, item.flag.map { .boolean($0) } ?? .null,
        ]
    }

    // MARK: Making conditions

    private static func condition(
        depth: Int, _ shape: TypeShape, _ variable: RangeVariable, _ generator: inout SeededGenerator
    ) -> BoundExpression {
        let boolean = TypeReference.primitive(.boolean)
        switch Int.random(in: 0...(depth > 0 ? 7 : 3), using: &generator) {
        case 4:
            return .binary(
                .and, condition(depth: depth - 1, shape, variable, &generator),
                condition(depth: depth - 1, shape, variable, &generator), boolean)
        case 5:
            return .binary(
                .or, condition(depth: depth - 1, shape, variable, &generator),
                condition(depth: depth - 1, shape, variable, &generator), boolean)
        case 6, 7: return .unary(.not, condition(depth: depth - 1, shape, variable, &generator), boolean)
        case 0: return path(4, shape, variable)
        case 1:
            let ordinal = Int.random(in: 1...3, using: &generator)
            let members = (0...2).map { _ in constant(ordinal, shape, &generator) }
            return .membership(path(ordinal, shape, variable), in: members)
        default:
            let operators: [BinaryOperator] = [.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual]
            let op = operators.randomElement(using: &generator) ?? .equal
            let ordinal = Int.random(in: 1...4, using: &generator)
            let left = path(ordinal, shape, variable)
            switch Int.random(in: 0...4, using: &generator) {
            case 0: return .binary(op, left, left, boolean)
            case 1 where ordinal == 2:
                return .binary(op, left, .cast(path(1, shape, variable), .primitive(.decimal)), boolean)
            case 2: return .binary(op, constant(ordinal, shape, &generator), left, boolean)
            default: return .binary(op, left, constant(ordinal, shape, &generator), boolean)
            }
        }
    }

    private static func path(_ ordinal: Int, _ shape: TypeShape, _ variable: RangeVariable) -> BoundExpression {
        let property = shape.properties[ordinal]
        return .path(
            BoundPath(
                variable: variable, steps: [.property(property, ordinal: ordinal, of: shape)], type: property.type))
    }

    private static func constant(
        _ ordinal: Int, _ shape: TypeShape, _ generator: inout SeededGenerator
    ) -> BoundExpression {
        let type = shape.properties[ordinal].type
        if Int.random(in: 0...3, using: &generator) == 0 { return .constant(.null, type) }
        switch ordinal {
        case 1: return .constant(.integer(Int64.random(in: -2...2, using: &generator)), type)
        case 2:
            let digits = UInt128(Int.random(in: 0...250, using: &generator))
            let value = ODataDecimal(isNegative: Bool.random(using: &generator), magnitude: digits, scale: 2)
            return .constant(value.map { .decimal($0) } ?? .null, type)
        case 3: return .constant(.string(["", "a", "b", "ä"].randomElement(using: &generator) ?? ""), type)
        default: return .constant(.boolean(Bool.random(using: &generator)), type)
        }
    }

    // MARK: The naive evaluator

    /// Returns true, false or `nil` for null.
    private static func truth(_ expression: BoundExpression, _ row: [ODataValue]) -> Bool? {
        switch expression {
        case .binary(.and, let left, let right, _):
            let (a, b) = (truth(left, row), truth(right, row))
            return a == false || b == false ? false : a == nil || b == nil ? nil : true
        case .binary(.or, let left, let right, _):
            let (a, b) = (truth(left, row), truth(right, row))
            return a == true || b == true ? true : a == nil || b == nil ? nil : false
        case .binary(let op, let left, let right, _): return compare(op, value(left, row), value(right, row))
        case .unary(.not, let operand, _): return truth(operand, row).map { !$0 }
        case .membership(let operand, let members):
            let tested = value(operand, row)
            return members.contains { compare(.equal, tested, value($0, row)) }
        default:
            guard case .boolean(let flag) = value(expression, row) else { return nil }
            return flag
        }
    }

    private static func value(_ expression: BoundExpression, _ row: [ODataValue]) -> ODataValue {
        switch expression {
        case .constant(let value, _): return value
        case .path(let path):
            guard case .property(_, let ordinal, _) = path.steps.first else { return .null }
            return row[ordinal]
        case .cast(let operand, _):
            guard case .integer(let number) = value(operand, row) else { return .null }
            return .decimal(ODataDecimal(number))
        default: return .null
        }
    }

    private static func compare(_ op: BinaryOperator, _ left: ODataValue, _ right: ODataValue) -> Bool {
        let bothNull = left.isNull && right.isNull
        let oneNull = left.isNull != right.isNull
        switch op {
        case .equal: return bothNull || (!oneNull && order(left, right) == 0)
        case .notEqual: return oneNull || (!bothNull && order(left, right) != 0)
        case .less: return !bothNull && !oneNull && order(left, right) < 0
        case .lessOrEqual: return bothNull || (!oneNull && order(left, right) <= 0)
        case .greater: return !bothNull && !oneNull && order(left, right) > 0
        default: return bothNull || (!oneNull && order(left, right) >= 0)
        }
    }

    private static func order(_ left: ODataValue, _ right: ODataValue) -> Int {
        switch (left, right) {
        case (.integer(let a), .integer(let b)): a == b ? 0 : a < b ? -1 : 1
        case (.decimal(let a), .decimal(let b)): a == b ? 0 : a < b ? -1 : 1
        case (.string(let a), .string(let b)): a == b ? 0 : a.utf8.lexicographicallyPrecedes(b.utf8) ? -1 : 1
        case (.boolean(let a), .boolean(let b)): a == b ? 0 : b ? -1 : 1
        default: 0
        }
    }
}
