import GRDB
import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataSQL

/// Checks that binary32 numbers keep their shortest text, and equal themselves in any location.
@Suite("Edm.Single")
struct SingleTests {
    let mapping: StorageMapping
    let queue: DatabaseQueue

    init() throws {
        let name = QualifiedName("S", "Thing")
        let single = TypeReference.primitive(.single)
        let thing = StructuredType(
            name: name, kind: .entity, key: [.init(path: "ID")],
            properties: [
                Property(name: "ID", type: .primitive(.int32), isNullable: false),
                Property(name: "Weight", type: single), Property(name: "Rates", type: .collection(single)),
                Property(name: "Text", type: .primitive(.string)),
            ])
        let container = EntityContainer(
            name: QualifiedName("S", "Container"), entitySets: [EntitySet(name: "Things", type: name)])
        let model = try EntityDataModel(schemas: [
            ODataSchema(namespace: "S", structuredTypes: [thing], container: container)
        ])
        let shape = try #require(model.shape(name))
        func column(_ name: String, _ type: TypeReference, _ codec: ColumnCodec) -> PropertyStorage {
            .column(ColumnStorage(name: name, type: type, codec: codec))
        }
        mapping = StorageMapping(
            model: model,
            tables: [
                TableStorage(
                    set: "Things", shape: shape, table: "thing", rowID: "id",
                    properties: [
                        column("id", .primitive(.int32), .integer), column("weight", single, .single),
                        column("rates", .collection(single), .json), column("text", .primitive(.string), .string),
                    ], etag: .none)
            ])
        var configuration = Configuration()
        configuration.prepareDatabase { StoreFunctions.register(in: $0) }
        queue = try DatabaseQueue(configuration: configuration)
        try queue.write { database in
            try database.execute(sql: "CREATE TABLE thing(id INTEGER PRIMARY KEY, weight, rates, text)")
            let rows: [(Int, Float?, [Float], String?)] = [
                (1, 0.1, [0.1], "0.1"), (2, 16_777_216, [0.25, .infinity], "16777217"), (3, nil, [.nan, -0.3], "x"),
            ]
            for (id, weight, rates, text) in rows {
                try database.execute(
                    sql: "INSERT INTO thing VALUES (?, ?, ?, ?)",
                    arguments: [
                        id, try ColumnCodec.single.encode(weight.map { .single($0) } ?? .null),
                        try ColumnCodec.json.encode(.collection(rates.map { .single($0) })), text,
                    ])
            }
        }
    }

    private func page(_ url: String) async throws -> EntityPage {
        let parsed = try ODataURL(parsing: url)
        let reader = StoreReader(
            mapping: mapping, configuration: .init(now: { ODataDateTimeOffset(seconds: 0) }))
        let response = try await reader.read(
            try Binder(model: mapping.model).bind(parsed), request: ODataRequest(.read, parsed), in: queue)
        guard case .page(let page) = response.body else { throw ODataError.notFound(url) }
        return page
    }

    @Test(
        "Values are compared as themselves in columns, collections and casts",
        arguments: [
            ("Weight eq 0.1", "1"), ("Weight gt 0.1", "2"), ("Rates/any(r:r eq 0.1)", "1"),
            ("Rates/any(r:r ge 0.1)", "1 2"), ("Rates/any(r:r lt 0)", "3"), ("Rates/any(r:r eq INF)", "2"),
            ("Rates/any(r:r eq $it/Weight)", "1"), ("cast(Weight,Edm.Decimal) eq 0.1", "1"),
            ("cast(Text,Edm.Single) eq 0.1", "1"), ("cast(Text,Edm.Single) eq Weight", "1 2 3"),
            ("cast(Text,Edm.Double) eq 0.1", "1"), ("cast(Weight,Edm.String) eq '0.1'", "1"),
            ("cast(Weight,Edm.String) eq '16777216'", "2"), ("cast(Text,Edm.Single) eq null", "3"),
            ("Weight in (0.1,0.5)", "1"), ("cast(cast(Weight,Edm.String),Edm.Single) eq Weight", "1 2 3"),
        ])
    func comparisons(filter: String, expected: String) async throws {
        let entities = try await page("Things?$filter=\(filter)").entities
        #expect(entities.map { $0["ID"]?.lexicalText ?? "" }.joined(separator: " ") == expected)
    }

    @Test("A computed text is the shortest form of its number")
    func texts() async throws {
        let things = try await page("Things?$compute=cast(Weight,Edm.String) as T,cast(Weight,Edm.Decimal) as D")
            .entities
        #expect(things.map { $0["T"] } == [.string("0.1"), .string("16777216"), .null])
        #expect(things.first?["D"] == .decimal(try #require(ODataDecimal("0.1"))))
    }
}
