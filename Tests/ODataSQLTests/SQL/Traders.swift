import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataService

@testable import ODataSQL

/// A small database similar to Northwind with every codec, join and null that the queries need.
struct Traders {
    let model: EntityDataModel
    let mapping: StorageMapping
    let queue: DatabaseQueue

    static let namespace = "NW"
    static func name(_ name: String) -> QualifiedName { QualifiedName(namespace, name) }

    init() throws {
        model = try Self.model()
        mapping = try Self.mapping(model)
        var configuration = Configuration()
        configuration.prepareDatabase { StoreFunctions.register(in: $0) }
        queue = try DatabaseQueue(configuration: configuration)
        try queue.write { try Self.fill($0) }
    }

    // MARK: Requests

    func bind(_ url: String) throws -> BoundURL { try Binder(model: model).bind(ODataURL(parsing: url)) }

    func compile(_ url: String) throws -> CompiledQuery {
        let bound = try bind(url)
        guard let query = bound.query else { throw ODataError.notFound(url) }
        let options = SQLCompiler.Options(now: ODataDateTimeOffset(seconds: 1_700_000_000))
        return try SQLCompiler(mapping: mapping, options: options).compile(query, at: bound.resource.steps)
    }

    func reader(maxExpandedRows: Int? = nil) -> StoreReader {
        StoreReader(
            mapping: mapping,
            configuration: .init(maxExpandedRows: maxExpandedRows, now: { ODataDateTimeOffset(seconds: 1_700_000_000) })
        )
    }

    func response(_ url: String, page: Int? = nil, format: ResponseFormat? = nil) async throws -> ODataResponse {
        var request = ODataRequest(.read, try ODataURL(parsing: url), format: format)
        request.preferences.maxPageSize = page
        return try await reader().read(try bind(url), request: request, in: queue)
    }

    func page(_ url: String, page: Int? = nil) async throws -> EntityPage {
        guard case .page(let result) = try await response(url, page: page).body else {
            throw ODataError.notFound("a page at \(url)")
        }
        return result
    }

    /// Returns the keys of a collection's entities, in order.
    func keys(_ url: String) async throws -> [String] {
        try await page(url).entities.map { entity in
            entity.key?.parts.map { $0.value.lexicalText ?? "?" }.joined(separator: ",") ?? "?"
        }
    }

    func json(_ url: String, format: ResponseFormat = ResponseFormat(serviceRoot: "http://nw/")) async throws -> String
    {
        guard case .encoded(let stream, _) = try await response(url, format: format).body else {
            throw ODataError.notFound("bytes at \(url)")
        }
        return String(decoding: try await stream.collect(limit: 1 << 26), as: UTF8.self)
    }

    /// Returns the query plan of SQLite.
    func plan(_ fragment: SQLFragment) throws -> [String] {
        try queue.read { database in
            try Row.fetchAll(
                database, sql: "EXPLAIN QUERY PLAN \(fragment.sql)", arguments: StatementArguments(fragment.arguments)
            ).map { $0["detail"] }
        }
    }

    // MARK: Model

    private static func model() throws -> EntityDataModel {
        func property(_ name: String, _ type: PrimitiveType, nullable: Bool = true) -> Property {
            Property(name: name, type: .primitive(type), isNullable: nullable)
        }
        let address = StructuredType(
            name: name("Address"), kind: .complex,
            properties: [property("City", .string), property("Zip", .string)])
        let phone = StructuredType(
            name: name("Phone"), kind: .complex,
            properties: [property("Kind", .string), property("Rate", .decimal), property("Since", .date)])
        let customer = StructuredType(
            name: name("Customer"), kind: .entity, isOpen: true, key: [.init(path: "ID")],
            properties: [
                property("ID", .string, nullable: false), property("Name", .string), property("Country", .string),
                Property(name: "Address", type: .complex(name("Address"))),
                Property(name: "Tags", type: .collection(.primitive(.string))),
                Property(name: "Phones", type: .collection(.complex(name("Phone")))),
            ],
            navigationProperties: [
                NavigationProperty(name: "Orders", target: name("Order"), isCollection: true, partner: "Customer"),
                NavigationProperty(name: "Friends", target: name("Customer"), isCollection: true),
            ])
        let vip = StructuredType(
            name: name("Vip"), kind: .entity, baseType: name("Customer"), properties: [property("Discount", .decimal)])
        let order = StructuredType(
            name: name("Order"), kind: .entity, key: [.init(path: "OrderID")],
            properties: [
                property("OrderID", .int32, nullable: false), property("CustomerID", .string),
                property("OrderDate", .date), property("Freight", .decimal), property("Placed", .dateTimeOffset),
                property("Rating", .double), property("Took", .duration), property("Weight", .decimal),
                property("Shipped", .boolean), property("Seen", .dateTimeOffset), property("Token", .guid),
            ],
            navigationProperties: [
                NavigationProperty(name: "Customer", target: name("Customer"), isCollection: false, partner: "Orders"),
                NavigationProperty(name: "Items", target: name("Item"), isCollection: true),
            ])
        let item = StructuredType(
            name: name("Item"), kind: .entity, key: [.init(path: "OrderID"), .init(path: "Line")],
            properties: [
                property("OrderID", .int32, nullable: false), property("Line", .int16, nullable: false),
                property("Price", .decimal), property("Quantity", .int32),
            ])
        let employee = StructuredType(
            name: name("Employee"), kind: .entity, key: [.init(path: "ID")],
            properties: [property("ID", .int32, nullable: false), property("Boss", .int32)],
            navigationProperties: [
                NavigationProperty(name: "Manager", target: name("Employee"), isCollection: false),
                NavigationProperty(name: "Reports", target: name("Employee"), isCollection: true),
            ],
            annotations: [
                Annotation(
                    term: "Org.OData.Aggregation.V1.RecursiveHierarchy", qualifier: "Staff",
                    value: .record(
                        type: nil,
                        properties: [
                            .init(name: "NodeProperty", value: .path(kind: "PropertyPath", text: "ID")),
                            .init(
                                name: "ParentNavigationProperty",
                                value: .path(kind: "NavigationPropertyPath", text: "Manager")),
                        ]))
            ])
        let container = EntityContainer(
            name: name("Container"),
            entitySets: [
                EntitySet(name: "Customers", type: name("Customer")), EntitySet(name: "Orders", type: name("Order")),
                EntitySet(name: "Items", type: name("Item")), EntitySet(name: "Employees", type: name("Employee")),
            ])
        return try EntityDataModel(schemas: [
            ODataSchema(
                namespace: namespace, structuredTypes: [address, phone, customer, vip, order, item, employee],
                container: container)
        ])
    }

    private static func mapping(_ model: EntityDataModel) throws -> StorageMapping {
        func shape(_ type: String) throws -> TypeShape {
            guard let shape = model.shape(name(type)) else { throw ODataError.notFound(type) }
            return shape
        }
        func column(_ name: String, _ type: PrimitiveType, _ codec: ColumnCodec) -> PropertyStorage {
            .column(ColumnStorage(name: name, type: .primitive(type), codec: codec))
        }
        func collection(_ name: String, _ type: TypeReference) -> PropertyStorage {
            .column(ColumnStorage(name: name, type: .collection(type), codec: .json))
        }
        let customers = TableStorage(
            set: "Customers", shape: try shape("Customer"), table: "customer", rowID: "_id",
            properties: [
                column("id", .string, .string), column("name", .string, .string), column("country", .string, .string),
                .complex(
                    try shape("Address"), [column("city", .string, .string), column("zip", .string, .string)],
                    presence: "address"),
                collection("tags", .primitive(.string)), collection("phones", .complex(name("Phone"))),
            ],
            derivedProperties: [name("Vip"): [column("discount", .decimal, .scaledDecimal(scale: 2))]],
            discriminator: "type",
            navigation: [
                "Orders": .join(target: "Orders", pairs: [.init(source: "id", target: "customer_id")]),
                "Friends": .link(target: "Customers", table: "friend", sourceColumn: "a", targetColumn: "b"),
            ],
            etag: .column("etag"), dynamicProperties: "more", notLoaded: "missing")
        let orders = TableStorage(
            set: "Orders", shape: try shape("Order"), table: "orders", rowID: "rowid",
            properties: [
                column("id", .int32, .integer), column("customer_id", .string, .string),
                column("date", .date, .dateText), column("freight", .decimal, .numericDecimal),
                column("placed", .dateTimeOffset, .dateTimeOffset), column("rating", .double, .double),
                column("took", .duration, .duration), column("weight", .decimal, .decimalBytes),
                column("shipped", .boolean, .boolean),
                column("seen", .dateTimeOffset, .unixTime(unitsPerSecond: 1)), column("token", .guid, .guidText),
            ],
            navigation: [
                "Customer": .join(target: "Customers", pairs: [.init(source: "customer_id", target: "id")]),
                "Items": .join(target: "Items", pairs: [.init(source: "id", target: "order_id")]),
            ],
            etag: .contentDigest)
        let items = TableStorage(
            set: "Items", shape: try shape("Item"), table: "item", rowID: nil,
            properties: [
                column("order_id", .int32, .integer), column("line", .int16, .integer),
                column("price", .decimal, .scaledDecimal(scale: 2)), column("quantity", .int32, .integer),
            ], etag: .none)
        let employees = TableStorage(
            set: "Employees", shape: try shape("Employee"), table: "employee", rowID: "id",
            properties: [column("id", .int32, .integer), column("boss", .int32, .integer)],
            navigation: [
                "Manager": .join(target: "Employees", pairs: [.init(source: "boss", target: "id")]),
                "Reports": .join(target: "Employees", pairs: [.init(source: "id", target: "boss")]),
            ], etag: .none)
        return StorageMapping(model: model, tables: [customers, orders, items, employees])
    }

    // MARK: Rows

    private static func fill(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE customer(_id INTEGER PRIMARY KEY, id TEXT UNIQUE, name TEXT, country TEXT COLLATE NOCASE, \
                city TEXT, zip TEXT, address INTEGER, tags TEXT, phones TEXT, discount INTEGER, type TEXT, etag TEXT, \
                more TEXT, missing BLOB);
                CREATE INDEX customer_country ON customer(country COLLATE BINARY, id);
                CREATE TABLE orders(id INTEGER PRIMARY KEY, customer_id TEXT, date TEXT, freight NUMERIC, placed BLOB, \
                rating REAL, took BLOB, weight BLOB, shipped INTEGER, seen INTEGER, token TEXT);
                CREATE INDEX orders_customer ON orders(customer_id);
                CREATE INDEX orders_date ON orders(date, id);
                CREATE TABLE item(order_id INTEGER, line INTEGER, price INTEGER, quantity INTEGER, \
                PRIMARY KEY (order_id, line)) WITHOUT ROWID;
                CREATE TABLE employee(id INTEGER PRIMARY KEY, boss INTEGER);
                CREATE INDEX employee_boss ON employee(boss);
                CREATE TABLE friend(a INTEGER, b INTEGER, PRIMARY KEY (a, b)) WITHOUT ROWID;
                """)
        try database.execute(
            sql: """
                INSERT INTO customer VALUES
                (1,'A','Älpler','Germany','Berlin','10115',1,'["new","big"]',
                 '[{"Kind":"home","Rate":"0.10","Since":"2020-01-02"},{"Kind":"work","Rate":"12.5","Since":null}]',
                 NULL,NULL,'"a1"','{"Size":5,"Note":"x"}',NULL),
                (2,'B','Bär & Söhne','germany',NULL,NULL,0,'[]',NULL,NULL,NULL,'"b1"',NULL,NULL),
                (3,'C',NULL,NULL,NULL,NULL,1,NULL,'[]',1550,'NW.Vip','"c1"',NULL,X'04'),
                (4,'D','O''Neil','USA','Boise','83720',1,'["big"]',NULL,NULL,NULL,'"d1"',NULL,NULL);
                INSERT INTO friend VALUES (1,2),(1,4),(4,1);
                INSERT INTO employee VALUES (1,NULL),(2,1),(3,1),(4,2);
                INSERT INTO item VALUES (1,1,1000,3),(1,2,250,1),(2,1,1999,10),(4,1,NULL,2);
                """)
        let orders: [(Int, String?, String?, String?, String?, Double?, String?, String?, Bool?, Int?)] = [
            (1, "A", "2024-01-15", "32.38", "2024-01-15T10:00:00+02:00", 1.5, "PT1H", "0.1", true, 1_700_000_000),
            (2, "A", "2024-03-01", "11.61", "2024-01-15T08:00:00Z", nil, "PT90M", "0.20", false, 1_700_000_001),
            (3, "B", nil, "65", "2024-01-15T08:00:01Z", .nan, nil, "12345678901234567890.5", nil, nil),
            (4, "D", "1999-12-31", nil, nil, -2, "P1D", nil, true, 0),
            (5, nil, "2024-01-15", "0.1", nil, 0, nil, "-1", nil, -1),
        ]
        for (id, customer, date, freight, placed, rating, took, weight, shipped, seen) in orders {
            func stored(_ text: String?, _ codec: ColumnCodec, _ read: (String) -> ODataValue?) throws -> DatabaseValue
            {
                try codec.encode(text.flatMap(read) ?? .null)
            }
            let values: [DatabaseValue] = [
                id.databaseValue, customer?.databaseValue ?? .null, date?.databaseValue ?? .null,
                try stored(freight, .numericDecimal) { ODataDecimal($0).map { .decimal($0) } },
                try stored(placed, .dateTimeOffset) { ODataDateTimeOffset($0).map { .dateTimeOffset($0) } },
                try ColumnCodec.double.encode(rating.map { .double($0) } ?? .null),
                try stored(took, .duration) { ODataDuration($0).map { .duration($0) } },
                try stored(weight, .decimalBytes) { ODataDecimal($0).map { .decimal($0) } },
                try ColumnCodec.boolean.encode(shipped.map { .boolean($0) } ?? .null), seen?.databaseValue ?? .null,
                id == 1 ? "0F8FAD5B-D9CB-469F-A165-70867728950E".databaseValue : .null,
            ]
            try database.execute(
                sql: "INSERT INTO orders VALUES (?,?,?,?,?,?,?,?,?,?,?)", arguments: StatementArguments(values))
        }
    }
}
