import GRDB
import ODataModel
import TestModels
import Testing

@testable import ODataSQL

@Suite("The offline layout")
struct OfflineLayoutTests {
    private func makeQueue() throws -> (DatabaseQueue, OfflineLayout) {
        let layout = OfflineLayout(model: try LayoutModel.make())
        let queue = try DatabaseQueue()
        try queue.write { try layout.create(in: $0) }
        return (queue, layout)
    }

    @Test("is created at once and recognised again")
    func creates() throws {
        let (queue, _) = try makeQueue()
        let presence = try queue.read { try OfflineLayout.presence(in: $0, path: "x") }
        #expect(presence == .store(version: 1))
    }

    @Test("differs from other databases and from later versions")
    func presence() throws {
        let empty = try DatabaseQueue()
        try #expect(empty.read { try OfflineLayout.presence(in: $0, path: "x") } == .empty)
        try empty.write { try $0.execute(sql: "CREATE TABLE t (x)") }
        #expect(throws: StoreError.notAStore(path: "x")) {
            try empty.read { try OfflineLayout.presence(in: $0, path: "x") }
        }
        let (queue, _) = try makeQueue()
        try queue.write { try $0.execute(sql: "PRAGMA user_version = 2") }
        #expect(throws: StoreError.newerVersion(path: "x", found: 2, supported: 1)) {
            try queue.read { try OfflineLayout.presence(in: $0, path: "x") }
        }
    }

    @Test("is identical for the same model")
    func deterministic() throws {
        let first = OfflineLayout(model: try LayoutModel.make())
        let second = OfflineLayout(model: try LayoutModel.make())
        #expect(first.statements == second.statements)
    }

    @Test("gives properties that differ only in case separate columns")
    func caseClash() throws {
        let (_, layout) = try makeQueue()
        let table = try #require(layout.mapping.tables["Customers"])
        #expect(table.column(at: "Name")?.name == "Name")
        #expect(table.column(at: "name")?.name == "name$2")
    }

    @Test("flattens complex properties, keeps collections as JSON and leaves streams out")
    func columns() throws {
        let (_, layout) = try makeQueue()
        let customers = try #require(layout.mapping.tables["Customers"])
        #expect(customers.column(at: "Address/City")?.name == "Address.City")
        #expect(customers.column(at: "Phones")?.codec == .json)
        #expect(customers.dynamicProperties == "_dynamic")
        #expect(customers.discriminator == "_type")
        #expect(customers.derivedProperties[LayoutModel.name("Vip")]?.count == 1)
        let orders = try #require(layout.mapping.tables["Orders"])
        #expect(orders.properties.last == .absent)
        #expect(orders.column(at: "Freight")?.codec == .scaledDecimal(scale: 2))
        #expect(orders.column(at: "OrderID")?.isOptionallyLoaded == false)
        #expect(orders.column(at: "CustomerID")?.isOptionallyLoaded == false)
        #expect(orders.column(at: "Freight")?.isOptionallyLoaded == true)
    }

    @Test("joins by referential constraints, by row ids for containment and by link tables")
    func navigation() throws {
        let (_, layout) = try makeQueue()
        let orders = try #require(layout.mapping.tables["Orders"])
        let customers = try #require(layout.mapping.tables["Customers"])
        #expect(
            orders.navigation["Customer"]
                == .join(target: "Customers", pairs: [.init(source: "CustomerID", target: "ID")]))
        #expect(
            customers.navigation["Orders"]
                == .join(target: "Orders", pairs: [.init(source: "ID", target: "CustomerID")]))
        #expect(
            orders.navigation["Items"]
                == .join(target: "Orders/Items", pairs: [.init(source: "_id", target: "_parent")]))
        #expect(
            customers.navigation["Friends"]
                == .link(
                    target: "Customers", table: "Customers$Friends", sourceColumn: "source", targetColumn: "target"))
    }

    @Test("uses the index of a constraint for joins")
    func indexes() throws {
        let (queue, _) = try makeQueue()
        let plan = try queue.read {
            try String.fetchAll(
                $0, sql: "EXPLAIN QUERY PLAN SELECT * FROM Orders WHERE CustomerID = x'00'",
                adapter: SuffixRowAdapter(fromIndex: 3))
        }
        #expect(plan.contains { $0.contains("index$Orders$Customer") })
    }

    @Test("keeps one row of a singleton and one row for each key")
    func uniqueness() throws {
        let (queue, _) = try makeQueue()
        try queue.write { database in
            try database.execute(sql: "INSERT INTO Orders (OrderID) VALUES (1)")
            #expect(throws: DatabaseError.self) {
                try database.execute(sql: "INSERT INTO Orders (OrderID) VALUES (1)")
            }
            try database.execute(sql: "INSERT INTO Company (_id) VALUES (1)")
            #expect(throws: DatabaseError.self) { try database.execute(sql: "INSERT INTO Company (_id) VALUES (2)") }
        }
    }

    @Test("deletes contained rows and links with their parent")
    func cascades() throws {
        let (queue, _) = try makeQueue()
        try queue.write { database in
            try database.execute(
                sql: """
                    INSERT INTO Orders (_id, OrderID) VALUES (7, 1);
                    INSERT INTO "Orders/Items" (_parent, Line) VALUES (7, 1), (7, 2);
                    INSERT INTO Customers (_id, ID) VALUES (1, x'01'), (2, x'02');
                    INSERT INTO "Customers$Friends" VALUES (1, 2), (2, 1);
                    DELETE FROM Orders; DELETE FROM Customers WHERE _id = 1;
                    """)
            try #expect(Int.fetchOne(database, sql: "SELECT COUNT(*) FROM \"Orders/Items\"") == 0)
            try #expect(Int.fetchOne(database, sql: "SELECT COUNT(*) FROM \"Customers$Friends\"") == 0)
        }
    }
}
