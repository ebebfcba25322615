import Foundation
import GRDB
import ODataModel
import ODataQuery
import TestCorpus

@testable import ODataSQL

/// A model with rows in memory and in a database, generated from a seed.
///
/// There are two sets. `As` has a complex property, collections, a derived type, a reference to another entity of
/// `As`, and links to several `Bs`. Each entity of `Bs` refers to at most one entity of `As`. The further
/// properties, their types and the stored forms of their columns are random.
struct Sample {
    /// A random property of the sample.
    struct Column {
        var name: String
        var type: PrimitiveType
        var codec: ColumnCodec
    }

    let model: EntityDataModel
    let mapping: StorageMapping
    let columns: [String: [Column]]
    var data: MemoryData

    static let namespace = "S"
    static func name(_ name: String) -> QualifiedName { QualifiedName(namespace, name) }

    private static let choices: [(PrimitiveType, [ColumnCodec])] = [
        (.string, [.string]), (.int32, [.integer]), (.int64, [.integer]),
        (.decimal, [.scaledDecimal(scale: 2), .decimalBytes, .numericDecimal]), (.double, [.double]),
        (.boolean, [.boolean]), (.date, [.date, .dateText]), (.dateTimeOffset, [.dateTimeOffset]),
        (.timeOfDay, [.timeOfDay, .timeText]), (.duration, [.duration]), (.guid, [.guid, .guidText]),
    ]

    init(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var columns: [String: [Column]] = [:]
        for set in ["As", "Bs"] {
            // The most common types always occur, so that every kind of query has operands.
            var chosen: [(PrimitiveType, [ColumnCodec])] = [Self.choices[0], Self.choices[1], Self.choices[3]]
            for _ in 0..<Int.random(in: 2...5, using: &random) {
                chosen.append(Self.choices[Int.random(in: 0..<Self.choices.count, using: &random)])
            }
            columns[set] = chosen.enumerated().map { index, choice in
                Column(
                    name: "\(set.prefix(1))\(index)", type: choice.0,
                    codec: choice.1[Int.random(in: 0..<choice.1.count, using: &random)])
            }
        }
        // A separate generator does not change the samples of known failures.
        var beside = SeededGenerator(seed: ~seed)
        for set in ["As", "Bs"] {
            columns[set] = (columns[set] ?? []).map { column in
                guard column.type == .double, Bool.random(using: &beside) else { return column }
                return Column(name: column.name, type: .single, codec: .single)
            }
        }
        self.columns = columns
        model = try Self.model(columns)
        mapping = try Self.mapping(model, columns)
        data = try Self.data(model, columns, &random, &beside)
    }

    // MARK: Model

    /// The members of the enumeration, with the values 1, 2 and 4.
    static let kinds = ["Red", "Green", "Blue"]

    private static func model(_ columns: [String: [Column]]) throws -> EntityDataModel {
        func own(_ set: String) -> [Property] {
            (columns[set] ?? []).map { Property(name: $0.name, type: .primitive($0.type)) }
        }
        let place = StructuredType(
            name: name("Place"), kind: .complex,
            properties: [
                Property(name: "City", type: .primitive(.string)), Property(name: "Code", type: .primitive(.int32)),
            ], navigationProperties: [NavigationProperty(name: "Top", target: name("A"), isCollection: false)])
        let a = StructuredType(
            name: name("A"), kind: .entity, isOpen: true, key: [.init(path: "ID")],
            properties: [
                Property(name: "ID", type: .primitive(.int32), isNullable: false),
                Property(name: "NextID", type: .primitive(.int32)),
                Property(name: "Place", type: .complex(name("Place"))),
                Property(name: "Tags", type: .collection(.primitive(.string))),
                Property(name: "Nums", type: .collection(.primitive(.int32))),
                Property(name: "Kind", type: .enumeration(name("Kind"))),
                Property(name: "Spot", type: .primitive(.geographyPoint)),
            ] + own("As"),
            navigationProperties: [
                NavigationProperty(name: "Next", target: name("A"), isCollection: false),
                NavigationProperty(name: "Bs", target: name("B"), isCollection: true),
                NavigationProperty(name: "Links", target: name("B"), isCollection: true),
            ],
            annotations: [
                Annotation(
                    term: "Org.OData.Aggregation.V1.RecursiveHierarchy", qualifier: "H",
                    value: .record(
                        type: nil,
                        properties: [
                            .init(name: "NodeProperty", value: .path(kind: "PropertyPath", text: "ID")),
                            .init(
                                name: "ParentNavigationProperty",
                                value: .path(kind: "NavigationPropertyPath", text: "Next")),
                        ]))
            ])
        let derived = StructuredType(
            name: name("AX"), kind: .entity, baseType: name("A"),
            properties: [Property(name: "X", type: .primitive(.int32))])
        let b = StructuredType(
            name: name("B"), kind: .entity, key: [.init(path: "ID")],
            properties: [
                Property(name: "ID", type: .primitive(.int32), isNullable: false),
                Property(name: "AID", type: .primitive(.int32)),
            ] + own("Bs"),
            navigationProperties: [NavigationProperty(name: "A", target: name("A"), isCollection: false)])
        let container = EntityContainer(
            name: name("Container"),
            entitySets: [
                EntitySet(
                    name: "As", type: name("A"),
                    bindings: [
                        .init(path: "Next", target: "As"), .init(path: "Bs", target: "Bs"),
                        .init(path: "Links", target: "Bs"), .init(path: "Place/Top", target: "As"),
                    ]),
                EntitySet(name: "Bs", type: name("B"), bindings: [.init(path: "A", target: "As")]),
            ])
        return try EntityDataModel(schemas: [
            ODataSchema(
                namespace: namespace, structuredTypes: [place, a, derived, b],
                enumTypes: [
                    EnumType(
                        name: name("Kind"), isFlags: true,
                        members: zip(kinds, [1, 2, 4]).map { .init(name: $0, value: $1) })
                ], container: container)
        ])
    }

    private static func mapping(_ model: EntityDataModel, _ columns: [String: [Column]]) throws -> StorageMapping {
        func column(_ name: String, _ type: TypeReference, _ codec: ColumnCodec) -> PropertyStorage {
            .column(ColumnStorage(name: name, type: type, codec: codec))
        }
        func own(_ set: String) -> [PropertyStorage] {
            (columns[set] ?? []).map { column($0.name, .primitive($0.type), $0.codec) }
        }
        guard let a = model.shape(name("A")), let b = model.shape(name("B")), let place = model.shape(name("Place"))
        else { throw ModelMissing() }
        let int = TypeReference.primitive(.int32)
        let tableA = TableStorage(
            set: "As", shape: a, table: "a", rowID: "_id",
            properties: [
                column("ID", int, .integer), column("NextID", int, .integer),
                .complex(
                    place,
                    [column("Place.City", .primitive(.string), .string), column("Place.Code", int, .integer)],
                    presence: "Place.$"),
                column("Tags", .collection(.primitive(.string)), .json), column("Nums", .collection(int), .json),
                column("Kind", .enumeration(name("Kind")), .integer),
                column("Spot", .primitive(.geographyPoint), .json),
            ] + own("As"),
            derivedProperties: [name("AX"): [column("X", int, .integer)]], discriminator: "_type",
            navigation: [
                "Next": .join(target: "As", pairs: [.init(source: "NextID", target: "ID")]),
                "Place/Top": .join(target: "As", pairs: [.init(source: "Place.Code", target: "ID")]),
                "Bs": .join(target: "Bs", pairs: [.init(source: "ID", target: "AID")]),
                "Links": .link(target: "Bs", table: "link", sourceColumn: "s", targetColumn: "t"),
            ], etag: .none, dynamicProperties: "_dynamic")
        let tableB = TableStorage(
            set: "Bs", shape: b, table: "b", rowID: "_id",
            properties: [column("ID", int, .integer), column("AID", int, .integer)] + own("Bs"),
            navigation: ["A": .join(target: "As", pairs: [.init(source: "AID", target: "ID")])], etag: .none)
        return StorageMapping(model: model, tables: [tableA, tableB])
    }

    struct ModelMissing: Error {}

    // MARK: Rows

    private static func data(
        _ model: EntityDataModel, _ columns: [String: [Column]], _ random: inout SeededGenerator,
        _ beside: inout SeededGenerator
    ) throws -> MemoryData {
        let countA = Int.random(in: 3...9, using: &random)
        let countB = Int.random(in: 0...14, using: &random)
        guard let place = model.shape(name("Place")) else { throw ModelMissing() }
        func maybe(_ value: ODataValue, _ random: inout SeededGenerator) -> ODataValue {
            Int.random(in: 0..<4, using: &random) == 0 ? .null : value
        }
        func small(_ random: inout SeededGenerator) -> ODataValue { .integer(Int64.random(in: -3...9, using: &random)) }
        var a: [Record] = []
        for id in 1...countA {
            var values: [String: ODataValue] = ["ID": .integer(Int64(id))]
            // References lead only to earlier entities, so that there are no cycles.
            values["NextID"] =
                id == 1 ? .null : maybe(.integer(Int64.random(in: 1..<Int64(id), using: &random)), &random)
            var complex = ODataEntity(shape: place)
            complex["City"] = maybe(value(.string, &random), &random)
            complex["Code"] = maybe(small(&random), &random)
            values["Place"] = maybe(.complex(complex), &random)
            values["Tags"] = maybe(
                .collection((0..<Int.random(in: 0...3, using: &random)).map { _ in value(.string, &random) }), &random)
            values["Nums"] = maybe(
                .collection((0..<Int.random(in: 0...3, using: &random)).map { _ in small(&random) }), &random)
            values["Kind"] = maybe(.enumeration(Int64.random(in: 1...7, using: &random)), &random)
            let spot = GeoValue.Position(
                x: Double(Int.random(in: 0...3, using: &random)), y: Double(Int.random(in: 0...3, using: &random)))
            values["Spot"] = maybe(.geo(GeoValue(.geography, .point(spot))), &random)
            if Int.random(in: 0..<2, using: &random) == 0 { values["D"] = dynamic(small(&random), &beside) }
            for column in columns["As"] ?? [] { values[column.name] = maybe(value(column.type, &random), &random) }
            let isDerived = Int.random(in: 0..<3, using: &random) == 0
            if isDerived { values["X"] = maybe(small(&random), &random) }
            a.append(Record(type: name(isDerived ? "AX" : "A"), values: values))
        }
        var b: [Record] = []
        for id in 0..<countB {
            var values: [String: ODataValue] = ["ID": .integer(Int64(id + 1))]
            values["AID"] = maybe(.integer(Int64.random(in: 1...Int64(countA + 1), using: &random)), &random)
            for column in columns["Bs"] ?? [] { values[column.name] = maybe(value(column.type, &random), &random) }
            b.append(Record(type: name("B"), values: values))
        }
        var links: Set<[Int]> = []
        for _ in 0..<(countB == 0 ? 0 : Int.random(in: 0...8, using: &random)) {
            links.insert([Int.random(in: 1...countA, using: &random), Int.random(in: 1...countB, using: &random)])
        }
        return MemoryData(records: ["As": a, "Bs": b], links: links.sorted { $0.lexicographicallyPrecedes($1) })
    }

    /// Returns a value for a property without a declared type: usually a number, otherwise a value of another type.
    private static func dynamic(_ number: ODataValue, _ random: inout SeededGenerator) -> ODataValue {
        let others: [ODataValue] = [.string("a"), .string("XL"), .boolean(true), .double(0.25), .double(4)]
        let pick = Int.random(in: 0..<10, using: &random)
        return others.indices.contains(pick) ? others[pick] : number
    }

    /// Returns one of few values, so that equal values are common.
    static func value(_ type: PrimitiveType, _ random: inout SeededGenerator) -> ODataValue {
        let pick = Int.random(in: 0..<5, using: &random)
        switch type {
        case .string: return .string(["", "a", "Ab", "äß c", "b'"][pick])
        case .int32, .int64: return .integer([-2, 0, 1, 5, 40][pick])
        case .decimal:
            return .decimal(ODataDecimal(["-1.5", "0", "0.25", "3", "19.99"][pick]) ?? ODataDecimal(0))
        case .double: return .double([-1.5, 0, 0.1, 2, 1e10][pick])
        case .single: return .single([-1.5, 0, 0.1, 2, 1e10][pick])
        case .boolean: return .boolean(pick % 2 == 0)
        case .date: return .date(ODataDate(daysSinceEpoch: [-1, 0, 59, 19_000, 19_001][pick]))
        case .dateTimeOffset:
            return .dateTimeOffset(
                ODataDateTimeOffset(
                    seconds: [0, 1_700_000_000, 1_700_000_000, 1_700_000_001, -5][pick],
                    picoseconds: pick == 3 ? 500_000_000_000 : 0, offsetMinutes: pick == 2 ? 60 : 0))
        case .timeOfDay:
            return ODataTimeOfDay(picoseconds: [0, 1, 3600, 86_399, 43_200][pick] * 1_000_000_000_000)
                .map { .timeOfDay($0) } ?? .null
        case .duration: return .duration(ODataDuration(seconds: [0, 60, 3600, -90, 90_000][pick], picoseconds: 0))
        default:
            return .guid(ODataGuid(high: UInt64(pick) << 62 | UInt64(pick), low: UInt64(pick)))
        }
    }

    // MARK: Database

    /// Returns an in-memory database with the rows.
    func database() throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.prepareDatabase { StoreFunctions.register(in: $0) }
        let queue = try DatabaseQueue(configuration: configuration)
        try queue.write { database in
            for table in mapping.tables.values.sorted(by: { $0.set < $1.set }) {
                var names = ["_id"] + table.columns.map(\.name)
                if table.discriminator != nil { names += ["_type", "Place.$", "_dynamic"] }
                // Columns without types convert nothing, so that numbers of existing databases keep their storage
                // class.
                let list = names.map { $0 == "_id" ? "\"_id\" INTEGER PRIMARY KEY" : $0.sqlIdentifier }
                try database.execute(sql: "CREATE TABLE \(table.table) (\(list.joined(separator: ", ")))")
                try database.execute(sql: "CREATE INDEX \"key_\(table.table)\" ON \(table.table)(\"ID\")")
                for record in data.records[table.set] ?? [] {
                    // Links refer to this number, which must not change if other rows are removed.
                    var values: [DatabaseValue] = [try ColumnCodec.integer.encode(record.stored("ID"))]
                    for column in table.columns { values.append(try column.codec.encode(record.stored(column.name))) }
                    if table.discriminator != nil {
                        values.append(
                            record.type == Self.name("AX") ? record.type.description.databaseValue : .null)
                        values.append((record.values["Place"]?.isNull == false ? 1 : 0).databaseValue)
                        let dynamic = record.values["D"].flatMap { StoredJSON.encode($0) }
                        values.append((dynamic.map { "{\"D\":\($0)}" } ?? "{}").databaseValue)
                    }
                    try database.execute(
                        sql: "INSERT INTO \(table.table) VALUES (\(databaseQuestionMarks(count: values.count)))",
                        arguments: StatementArguments(values))
                }
            }
            try database.execute(sql: "CREATE TABLE link (s INTEGER, t INTEGER, PRIMARY KEY (s, t))")
            for link in data.links {
                try database.execute(sql: "INSERT INTO link VALUES (?, ?)", arguments: [link[0], link[1]])
            }
        }
        return queue
    }
}

/// The values of a row.
struct Record: Sendable {
    var type: QualifiedName
    var values: [String: ODataValue]

    /// Returns the value of a column by name.
    func stored(_ column: String) -> ODataValue {
        guard column.hasPrefix("Place.") else { return values[column] ?? .null }
        guard case .complex(let place)? = values["Place"] else { return .null }
        return place[String(column.dropFirst(6))] ?? .null
    }
}

/// The rows of a sample in memory, for the evaluator.
final class MemoryData: EvaluationSource {
    let records: [String: [Record]]
    /// The links as pairs of the ids of an A and a B.
    let links: [[Int]]

    init(records: [String: [Record]], links: [[Int]]) {
        self.records = records
        self.links = links
    }

    func rows(of set: String) -> [any EvaluationRow] {
        (records[set] ?? []).map { MemoryRow(record: $0, data: self) }
    }

    func singleton(_ name: String) -> (any EvaluationRow)? { nil }
}

/// A row with access to related rows.
struct MemoryRow: EvaluationRow {
    let record: Record
    let data: MemoryData

    var typeName: QualifiedName { record.type }
    var dynamicPropertyNames: [String] { record.values["D"] == nil ? [] : ["D"] }
    var key: EntityKey? { EntityKey([.init(name: "ID", value: record.values["ID"] ?? .null)]) }
    func property(_ name: String) -> ODataValue? { record.values[name] }

    func related(through path: String) -> [any EvaluationRow] {
        func rows(_ set: String, where column: String, is value: ODataValue?) -> [any EvaluationRow] {
            guard let value, !value.isNull else { return [] }
            return (data.records[set] ?? []).filter { $0.values[column] == value }
                .map { MemoryRow(record: $0, data: data) }
        }
        switch path {
        case "Next": return rows("As", where: "ID", is: record.values["NextID"])
        case "Place/Top": return rows("As", where: "ID", is: record.stored("Place.Code"))
        case "Bs": return rows("Bs", where: "AID", is: record.values["ID"])
        case "A": return rows("As", where: "ID", is: record.values["AID"])
        case "Links":
            guard case .integer(let id)? = record.values["ID"] else { return [] }
            return data.links.filter { $0[0] == Int(id) }.flatMap {
                rows("Bs", where: "ID", is: .integer(Int64($0[1])))
            }
        default: return []
        }
    }
}
