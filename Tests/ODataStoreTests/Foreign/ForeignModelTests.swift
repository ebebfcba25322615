import Foundation
import GRDB
import ODataModel
import Testing

@testable import ODataStore

/// The sample database of the project where it is there; read-only, so that no test can change it.
enum Northwind {
    static let path: String = {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        return root.appendingPathComponent("../shared/data/northwind.db").standardized.path
    }()

    static var isThere: Bool { FileManager.default.fileExists(atPath: path) }

    static func open() throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.readonly = true
        return try DatabaseQueue(path: path, configuration: configuration)
    }
}

@Suite("The model of a foreign database")
struct ForeignModelTests {
    private func model(_ sql: String, keys: [String: [String]] = [:]) throws -> ForeignModel {
        let queue = try DatabaseQueue()
        try queue.write { try $0.execute(sql: sql) }
        return try queue.read { try ForeignModel(reading: $0, namespace: "Test", keys: keys) }
    }

    @Test("of Northwind has its sets, types and relations under readable names", .enabled(if: Northwind.isThere))
    func northwind() throws {
        let foreign = try Northwind.open().read { try ForeignModel(reading: $0, namespace: "Northwind") }
        let sets = foreign.model.container.entitySets.map(\.name)
        #expect(sets.contains("Order_Details"))
        #expect(sets.count == 13)
        let orders = try #require(foreign.model.shape(ofSet: "Orders"))
        #expect(orders.name.name == "Order")
        #expect(orders.property("OrderDate")?.type == .primitive(.dateTimeOffset))
        #expect(orders.property("Freight")?.type == .primitive(.decimal))
        #expect(orders.property("OrderID")?.type == .primitive(.int64))
        #expect(Set(orders.navigationProperties.map(\.name)) == ["Customer", "Employee", "Shipper", "Order_Details"])
        let employees = try #require(foreign.model.shape(ofSet: "Employees"))
        #expect(employees.property("BirthDate")?.type == .primitive(.date))
        #expect(employees.property("Photo")?.type == .primitive(.binary))
        #expect(employees.navigationProperty("ReportsToEmployee")?.isCollection == false)
        #expect(employees.navigationProperty("Employees_ReportsTo")?.isCollection == true)
        let details = try #require(foreign.model.shape(ofSet: "Order_Details"))
        #expect(details.key.map(\.path) == ["OrderID", "ProductID"])
        #expect(
            foreign.model.entitySet("Order_Details")?.annotations.annotation(ForeignModel.originalNameTerm)?.value?
                .string == "Order Details")
        #expect(foreign.views.count == 16)
        #expect(foreign.model.operationImports("Invoices").count == 1)
        #expect(foreign.mapping.tables["Order_Details"]?.table == "Order Details")
    }

    @Test("takes every written form of dates, and a string where values do not parse")
    func dates() throws {
        let foreign = try model(
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY, a DATE, b DATETIME, c TIMESTAMP, d DATETIME, e DATE, f TIME,
              g BOOLEAN, h UUID, i VARCHAR(3), j INTEGER, k DATETIME, l, m VARCHAR(3));
            INSERT INTO t VALUES (1, '2020-01-02', '2020-01-02T03:04:05.123Z', 1600000000, '2020-01-02 03:04:05',
              'yesterday', '10:00:00', 1, '00000000-0000-0001-0000-000000000002', 'abc', 'x', 1600000000000, 1.5, 'abcd');
            """)
        let table = try #require(foreign.mapping.tables["t"])
        func codec(_ name: String) -> ColumnCodec? { table.column(at: name)?.codec }
        #expect(codec("a") == .dateText)
        #expect(codec("b") == .dateTimeText(.init(separator: "T", fractionDigits: 3, suffix: "Z")))
        #expect(codec("c") == .unixTime(unitsPerSecond: 1))
        #expect(codec("d") == .dateTimeText(.init(separator: " ", fractionDigits: 0, suffix: "")))
        #expect(codec("e") == .string)
        #expect(codec("f") == .timeText)
        #expect(codec("g") == .boolean)
        #expect(codec("h") == .guidText)
        #expect(table.shape.property("i")?.facets.maxLength == 3)
        #expect(codec("j") == .string)
        #expect(codec("k") == .unixTime(unitsPerSecond: 1000))
        #expect(codec("l") == .double)
        #expect(table.shape.property("m")?.facets.maxLength == nil)
        #expect(foreign.warnings.map(\.column) == ["e", "j", "m"])
    }

    @Test("uses the row id of a table without a primary key")
    func rowID() throws {
        let foreign = try model("CREATE TABLE t (rowid TEXT, x)")
        let table = try #require(foreign.mapping.tables["t"])
        #expect(table.rowID == "_rowid_")
        #expect(table.shape.key.map(\.path) == ["_rowid"])
        #expect(table.shape.properties.map(\.name) == ["_rowid", "rowid", "x"])
    }

    @Test("makes a view an entity set only with a key")
    func views() throws {
        let sql = "CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT); CREATE VIEW v AS SELECT id, x FROM t"
        let function = try model(sql)
        #expect(function.model.entitySet("v") == nil)
        #expect(function.model.operationImports("v").count == 1)
        let set = try model(sql, keys: ["v": ["id"]])
        #expect(set.model.entitySet("v") != nil)
        #expect(set.mapping.tables["v"]?.isReadOnly == true)
        #expect(throws: StoreError.self) { try model(sql, keys: ["v": ["nothing"]]) }
        #expect(throws: StoreError.self) { try model(sql, keys: ["w": ["id"]]) }
    }

    @Test("tells several references between the same tables apart")
    func relations() throws {
        let foreign = try model(
            """
            CREATE TABLE address (id INTEGER PRIMARY KEY);
            CREATE TABLE person (id INTEGER PRIMARY KEY, home_id REFERENCES address, work_id REFERENCES address,
              best UNIQUE REFERENCES gone);
            CREATE TABLE composite (a, b, PRIMARY KEY (a, b)) WITHOUT ROWID;
            CREATE TABLE child (id INTEGER PRIMARY KEY, x, y, FOREIGN KEY (x, y) REFERENCES composite ON DELETE CASCADE);
            """)
        let person = try #require(foreign.model.shape(ofSet: "person"))
        #expect(person.navigationProperties.map(\.name) == ["home", "work"])
        let address = try #require(foreign.model.shape(ofSet: "address"))
        #expect(address.navigationProperties.map(\.name) == ["person_home_id", "person_work_id"])
        let child = try #require(foreign.mapping.tables["child"])
        #expect(
            child.navigation["composite"]
                == .join(
                    target: "composite", pairs: [.init(source: "x", target: "a"), .init(source: "y", target: "b")]))
        #expect(foreign.model.shape(ofSet: "composite")?.navigationProperties.first?.onDelete == .cascade)
        #expect(foreign.mapping.tables["composite"]?.rowID == nil)
        #expect(foreign.warnings.contains { $0.table == "person" && $0.column == "best" })
    }

    @Test(
        "makes singulars only where they are plain",
        arguments: [
            ("Customers", "Customer"), ("Categories", "Category"), ("Boxes", "Box"), ("Addresses", "Address"),
            ("Series", "Series"), ("Status", "Status"), ("Glass", "Glass"), ("Data", "Data"), ("x", "x"),
        ])
    func singulars(plural: String, singular: String) {
        #expect(LegalName.singular(plural) == singular)
    }

    @Test(
        "makes legal names",
        arguments: [("Order Details", "Order_Details"), ("2nd", "_2nd"), ("", "_"), ("größe", "größe"), ("a-b", "a_b")])
    func names(name: String, legal: String) { #expect(LegalName.identifier(name) == legal) }
}
