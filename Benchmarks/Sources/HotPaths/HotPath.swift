import GRDB
import GRDBSQLite
import HTTPTypes
import ODataFormat
import ODataHTTP
import ODataModel
import ODataQuery
import ODataSQL
import ODataService
import SampleOrders

/// A path that everything goes through, as a function: short, and the same work each time, so that it can be counted.
public struct HotPath: Sendable {
    /// The name of the path in `limits.json`.
    public let name: String
    /// Goes the path once.
    public let run: @Sendable () async throws -> Void

    init(_ name: String, _ run: @escaping @Sendable () async throws -> Void) {
        self.name = name
        self.run = run
    }

    /// How many rows the paths of payloads and downloads have in each run.
    public static let rows = 100

    /// Every path.
    public static func all() throws -> [HotPath] {
        let model = try CSDLReader.read(xml: Array(SampleOrder.metadata.utf8))
        let page = Array((SampleOrder.page(0, of: 1, size: rows) + "}").utf8)
        return try formats(model, page) + queries(model) + requests(model) + store(model, page)
            + downloads(model, page)
    }

    /// Reading and writing documents and payloads.
    private static func formats(_ model: EntityDataModel, _ page: [UInt8]) throws -> [HotPath] {
        let entities = try read(page, model)
        return [
            HotPath("metadata to model") { _ = try CSDLReader.read(xml: Array(SampleOrder.metadata.utf8)) },
            HotPath("read 100 typed values from JSON") {
                var sink = TypedRows()
                var reader = CollectionPayloadReader(model: model, type: TypedOrder.typeName)
                reader.append(page)
                reader.finish()
                try reader.read(into: &sink)
                try expect(sink.values.count == rows)
            },
            HotPath("read 100 entities from JSON") { try expect(try read(page, model).count == rows) },
            HotPath("write 100 entities as JSON") {
                var writer = CollectionPayloadWriter(EntityPayloadWriter(model: model), type: TypedOrder.typeName)
                writer.begin(context: "$metadata#Orders")
                for entity in entities { writer.entity(entity) }
                writer.end()
                try expect(writer.json.bytes.count > rows * 100)
            },
        ]
    }

    private static func read(_ page: [UInt8], _ model: EntityDataModel) throws -> [ODataEntity] {
        var reader = CollectionPayloadReader(model: model, type: TypedOrder.typeName)
        reader.append(page)
        reader.finish()
        var entities: [ODataEntity] = []
        while let element = try reader.next() { if case .entity(let entity) = element { entities.append(entity) } }
        return entities
    }

    private static let query =
        "Orders?$filter=Freight gt 50.5 and startswith(ShipCity,'R') and Paid eq true&$orderby=Placed desc"
        + "&$select=ID,ShipCity,Freight,Placed&$top=50&$count=true"

    /// From a URL to a statement.
    private static func queries(_ model: EntityDataModel) throws -> [HotPath] {
        let layout = OfflineLayout(model: model)
        let binder = Binder(model: model)
        let compiler = SQLCompiler(
            mapping: layout.mapping, options: .init(now: ODataDateTimeOffset(seconds: 1_700_000_000)))
        let url = try ODataURL(parsing: query)
        guard let bound = try binder.bind(url).query else { throw ODataError.notFound(query) }
        let steps = try binder.bind(url).resource.steps
        return [
            HotPath("parse a URL") { _ = try ODataURL(parsing: query) },
            HotPath("bind a URL") { _ = try binder.bind(url) },
            HotPath("compile a query") { _ = try compiler.compile(bound, at: steps) },
        ]
    }

    /// From an HTTP message to the request of a provider.
    private static func requests(_ model: EntityDataModel) throws -> [HotPath] {
        let decoder = RequestDecoder(serviceRoot: try ServiceRoot("http://localhost/"), model: model)
        var fields = HTTPFields()
        for (name, value) in SampleFields.all {
            if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
        }
        let path = "/" + (try ODataURL(parsing: query).urlEncoded())
        let message = HTTPRequest(
            method: .get, scheme: "http", authority: "localhost", path: path, headerFields: fields)
        return [
            HotPath("decode a request that is known") {
                try expect(try await decoder.decode(message, body: ByteStream([])).request.method == .read)
            }
        ]
    }

    /// In and out of tables in memory.
    private static func store(_ model: EntityDataModel, _ page: [UInt8]) throws -> [HotPath] {
        let layout = OfflineLayout(model: model)
        var configuration = Configuration()
        configuration.prepareDatabase { StoreFunctions.register(in: $0) }
        let database = try DatabaseQueue(configuration: configuration)
        let entities = try read(page, model)
        try database.write { try layout.create(in: $0) }
        @Sendable func load(_ entities: [ODataEntity]) throws {
            try database.write { database in
                let loader = try BulkLoader(set: "Orders", mapping: layout.mapping, in: database)
                for entity in entities { _ = try loader.load(entity, owner: 1) }
            }
        }
        try load(entities)
        let changed = try read(pageOfChanges(), model)
        let provider = StoreProvider(database: database, mapping: layout.mapping)
        let service = DataService(provider)
        let generated = SampleService(provider)
        let url = try ODataURL(parsing: query)
        let all = try ODataURL(parsing: "Orders")
        let one = try ODataURL(parsing: "Orders(7)")
        let format = ResponseFormat(metadata: .minimal, version: .v401)
        @Sendable func answer(_ url: ODataURL, atLeast count: Int) async throws {
            let response = try await provider.execute(ODataRequest(.read, url, format: format))
            switch response.body {
            case .encoded(let stream, _): try expect(try await stream.collect(limit: 1 << 24).count >= count)
            case .entity: break
            default: throw Failure()
            }
        }
        return [
            HotPath("find a compiled query") { _ = try provider.statement(for: url) },
            HotPath("answer one entity") { try await answer(one, atLeast: 100) },
            HotPath("answer a filtered page") { try await answer(url, atLeast: 1_000) },
            HotPath("answer 100 rows") { try await answer(all, atLeast: rows * 100) },
            HotPath("load 100 rows that are known") { try load(entities) },
            HotPath("load 100 new rows") {
                try await database.write { try $0.execute(sql: "DELETE FROM \"Orders\"") }
                try load(entities)
            },
            HotPath("load 100 rows that changed, and back") {
                try load(changed)
                try load(entities)
            },
            HotPath("read 100 typed values from the store") {
                try expect(try await service.fetch(TypedOrder.self).count == rows)
            },
            HotPath("read 100 entities of a generated type from the store") {
                let orders = try await generated.orders.all()
                try expect(orders.reduce(0) { $0 + values(of: $1) } == orders.count * 12 && orders.count == rows)
            },
        ]
    }

    /// Reads each property of an order.
    ///
    /// - Returns: how many have a value.
    private static func values(of order: Order) -> Int {
        func one(_ value: (some Any)?) -> Int { value == nil ? 0 : 1 }
        return one(order.id) + one(order.customer) + one(order.employee) + one(order.placed) + one(order.required)
            + one(order.freight) + one(order.shipName) + one(order.shipAddress) + one(order.shipCity)
            + one(order.shipCountry) + one(order.paid) + one(order.weight)
    }

    /// The page with each row changed once.
    private static func pageOfChanges() -> [UInt8] {
        let changes = (0..<rows).map { SampleOrder(id: $0).json(version: 1) }
        return Array("{\"@odata.context\":\"$metadata#Orders\",\"value\":[\(changes.joined(separator: ","))]}".utf8)
    }

    /// A page of a first download, from its bytes into a table: in memory, and in an encrypted file.
    private static func downloads(_ model: EntityDataModel, _ page: [UInt8]) throws -> [HotPath] {
        let layout = OfflineLayout(model: model)
        var configuration = Configuration()
        configuration.prepareDatabase { StoreFunctions.register(in: $0) }
        let memory = try DatabaseQueue(configuration: configuration)
        try memory.write { try layout.create(in: $0) }
        let file = EncryptedStore()
        @Sendable func download(into database: Database) throws {
            try database.execute(sql: "DELETE FROM \"Orders\"")
            var sink = LoadingRows(loader: try BulkLoader(set: "Orders", mapping: layout.mapping, in: database))
            var reader = CollectionPayloadReader(model: model, type: TypedOrder.typeName)
            reader.append(page)
            reader.finish()
            try reader.read(into: &sink)
            try expect(sink.count == rows)
        }
        return [
            HotPath("download 100 rows") { try await memory.write { try download(into: $0) } },
            HotPath("download 100 rows into an encrypted file") {
                try await file.opened(layout).bulkWrite { try download(into: $0) }
            },
        ]
    }

    /// Something else than the work was done.
    struct Failure: Error {}

    private static func expect(_ condition: Bool) throws { if !condition { throw Failure() } }
}

private struct TypedRows: CollectionSink {
    var values: [TypedOrder] = []

    mutating func row(_ row: borrowing JSONRow) throws { values.append(try TypedOrder(row: row)) }

    mutating func element(_ element: CollectionPayloadReader.Element) throws {
        if case .entity(let entity) = element { values.append(try TypedOrder(row: entity)) }
    }
}

/// Puts rows straight from the text into a table, several at once.
private struct LoadingRows: CollectionSink {
    let loader: BulkLoader
    /// How many were new.
    var count = 0

    mutating func row(_ row: borrowing JSONRow) throws {
        try loader.load(row, owner: 1) { note($0) }
    }

    mutating func endOfRows() throws {
        try loader.loadWaiting { note($0) }
    }

    mutating func element(_ element: CollectionPayloadReader.Element) throws {}

    private mutating func note(_ outcome: BulkLoader.Outcome) {
        if outcome.change == .inserted { count += 1 }
    }
}
