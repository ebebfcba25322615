import GRDB
import ODataModel
import ODataQuery
import ODataService
import TestModels
import Testing

@testable import ODataSQL

@Suite("Writing rows")
struct RowWriterTests {
    /// An in-memory store with the tables of the shop, and its writer.
    struct Shop {
        let queue: DatabaseQueue
        let layout: OfflineLayout
        let writer: RowWriter

        init(hook: (any WriteHook)? = nil) throws {
            layout = OfflineLayout(model: try LayoutModel.make())
            queue = try DatabaseQueue()
            writer = RowWriter(mapping: layout.mapping, hook: hook)
            try queue.write { [layout] in try layout.create(in: $0) }
        }

        func entity(_ set: String, _ properties: [String: ODataValue]) throws -> ODataEntity {
            ODataEntity(shape: try #require(layout.mapping.tables[set]).shape, properties)
        }

        func request(_ method: ODataRequest.Method, ifMatch: String? = nil, ifNoneMatch: String? = nil) -> ODataRequest
        {
            ODataRequest(method, ODataURL(), ifMatch: ifMatch, ifNoneMatch: ifNoneMatch)
        }

        @discardableResult
        func create(_ set: String, _ entity: ODataEntity) throws -> RowWriter.WrittenRow {
            try queue.write { try writer.create(entity, in: set, request: request(.create), database: $0) }
        }

        @discardableResult
        func create(_ set: String, _ properties: [String: ODataValue]) throws -> RowWriter.WrittenRow {
            try create(set, try entity(set, properties))
        }

        @discardableResult
        func update(
            _ set: String, _ key: EntityKey, _ properties: [String: ODataValue], ifMatch: String? = nil
        ) throws -> RowWriter.WrittenRow {
            let entity = try entity(set, properties)
            return try queue.write {
                try writer.update(
                    entity, key: key, in: set, request: request(.update, ifMatch: ifMatch), database: $0)
            }
        }

        func read(_ set: String, _ key: EntityKey) throws -> ODataEntity? {
            try queue.read { try writer.read(key: key, in: set, database: $0)?.entity }
        }
    }

    static let guid = ODataGuid(high: 1, low: 2)
    static let customerKey = EntityKey("ID", .guid(guid))

    private func refusal(_ body: () throws -> Void) -> ODataError? {
        do {
            try body()
            return nil
        } catch {
            return error as? ODataError
        }
    }

    @Test("A created entity is read back unchanged with its id")
    func create() throws {
        let shop = try Shop()
        let address = ODataEntity(
            shape: try #require(shop.layout.mapping.model.shape(LayoutModel.name("Address"))), ["City": "Bonn"])
        let row = try shop.create(
            "Customers",
            [
                "ID": .guid(Self.guid), "Name": "Ann", "name": "lower", "Address": .complex(address),
                "Phones": ["1", "2"], "Color": .enumeration(1), "Extra": .integer(7),
            ])
        #expect(row.id == "Customers(00000000-0000-0001-0000-000000000002)")
        #expect(row.isNew)
        let read = try #require(try shop.read("Customers", Self.customerKey))
        #expect(read["Name"] == "Ann")
        #expect(read["name"] == "lower")
        #expect(read["Phones"] == ["1", "2"])
        #expect(read["Color"] == .enumeration(1))
        #expect(read["Extra"] == .integer(7))
        guard case .complex(let stored)? = read["Address"] else {
            Issue.record("no address")
            return
        }
        #expect(stored["City"] == "Bonn")
    }

    @Test("Model defaults fill omitted properties, and Computed properties are ignored")
    func defaults() throws {
        let shop = try Shop()
        let row = try shop.create(
            "Orders", ["OrderID": 1, "Created": .dateTimeOffset(ODataDateTimeOffset(seconds: 0))])
        #expect(row.entity["Quantity"] == 1)
        #expect(row.entity["Created"] == .null)
    }

    @Test("Values that violate the model are refused with the property as target")
    func facets() throws {
        let shop = try Shop()
        let cases: [(String, [String: ODataValue], String)] = [
            ("Customers", ["ID": .guid(Self.guid), "Name": "12345678901"], "Name"),
            ("Customers", ["ID": .guid(Self.guid)], "Name"),
            ("Customers", ["ID": .guid(Self.guid), "Name": "x", "Color": .enumeration(9)], "Color"),
            ("Customers", ["ID": .guid(Self.guid), "Name": "x", "Phones": [.null]], "Phones/0"),
            ("Orders", ["OrderID": 3_000_000_000], "OrderID"),
            ("Orders", ["OrderID": 1, "Quantity": .null], "Quantity"),
            ("Orders", ["OrderID": 1, "Freight": .decimal(ODataDecimal("1.234") ?? ODataDecimal(0))], "Freight"),
            ("Orders", ["OrderID": 1, "Freight": .decimal(ODataDecimal(12_345_678))], "Freight"),
            ("Orders", ["OrderID": 1, "Placed": "today"], "Placed"),
            ("Orders", ["OrderID": 1, "Nonsense": 1], "Nonsense"),
        ]
        for (set, properties, target) in cases {
            let error = refusal { try shop.create(set, properties) }
            #expect(error?.status == 400)
            #expect(error?.target == target)
        }
    }

    @Test("11.4.3 PATCH keeps omitted properties")
    func patch() throws {
        let shop = try Shop()
        try shop.create("Orders", ["OrderID": 1, "Quantity": 5, "Source": "web"])
        let row = try shop.update("Orders", EntityKey("OrderID", 1), ["Freight": .decimal(ODataDecimal(3))])
        #expect(row.entity["Quantity"] == 5)
        #expect(row.entity["Freight"] == .decimal(ODataDecimal(3)))
        let error = refusal { try shop.update("Orders", EntityKey("OrderID", 1), ["Source": "phone"]) }
        #expect(error?.target == "Source")
        try #expect(shop.update("Orders", EntityKey("OrderID", 1), ["Source": "web"]).entity["Source"] == "web")
    }

    @Test("11.4.3 PUT resets omitted properties to their defaults, except the key and immutable ones")
    func put() throws {
        let shop = try Shop()
        try shop.create("Orders", ["OrderID": 1, "Quantity": 5, "Source": "web", "CustomerID": .guid(Self.guid)])
        let entity = try shop.entity("Orders", ["Freight": .decimal(ODataDecimal(3))])
        let row = try shop.queue.write {
            try shop.writer.replace(
                entity, key: EntityKey("OrderID", 1), in: "Orders", request: shop.request(.replace), database: $0)
        }
        #expect(row.entity["Quantity"] == 1)
        #expect(row.entity["CustomerID"] == .null)
        #expect(row.entity["Source"] == "web")
        #expect(row.entity["OrderID"] == 1)
    }

    @Test("11.4.4 An update of a missing key creates the entity unless there is an If-Match")
    func upsert() throws {
        let shop = try Shop()
        let row = try shop.update("Orders", EntityKey("OrderID", 9), ["Quantity": 2])
        #expect(row.isNew)
        #expect(row.entity["OrderID"] == 9)
        let error = refusal { try shop.update("Orders", EntityKey("OrderID", 10), ["Quantity": 2], ifMatch: "*") }
        #expect(error?.status == 412)
    }

    @Test("A used key is a conflict with the key in its message")
    func duplicate() throws {
        let shop = try Shop()
        try shop.create("Orders", ["OrderID": 1])
        let error = refusal { try shop.create("Orders", ["OrderID": 1]) }
        #expect(error?.status == 409)
        #expect(error?.target == "OrderID")
    }

    @Test("An outdated ETag is a failed precondition, and weak ETags compare like strong ones")
    func etags() throws {
        let shop = try Shop()
        try shop.create("Orders", ["OrderID": 1])
        try shop.queue.write { try $0.execute(sql: "UPDATE Orders SET _etag = 'W/\"2\"'") }
        let key = EntityKey("OrderID", 1)
        #expect(refusal { try shop.update("Orders", key, ["Quantity": 2], ifMatch: "\"1\"") }?.status == 412)
        try #expect(shop.update("Orders", key, ["Quantity": 2], ifMatch: "\"1\", \"2\"").etag == "W/\"2\"")
        #expect(refusal { try shop.update("Orders", key, ["Quantity": 3], ifMatch: "*") } == nil)
    }

    @Test("A reference sets the foreign key, and null removes it")
    func bind() throws {
        let shop = try Shop()
        var order = try shop.entity("Orders", ["OrderID": 1])
        order.related["Customer"] = .references(["Customers(00000000-0000-0001-0000-000000000002)"])
        try #expect(shop.create("Orders", order).entity["CustomerID"] == .guid(Self.guid))
        var patch = try shop.entity("Orders", [:])
        patch.related["Customer"] = RelatedEntities.none
        let row = try shop.queue.write {
            try shop.writer.update(
                patch, key: EntityKey("OrderID", 1), in: "Orders", request: shop.request(.update), database: $0)
        }
        #expect(row.entity["CustomerID"] == .null)
    }

    @Test("11.4.2.2 A deep insert creates dependents, principals and contained entities")
    func deepInsert() throws {
        let shop = try Shop()
        var order = try shop.entity("Orders", ["OrderID": 1])
        order.related["Items"] = .many([
            try shop.entity("Orders/Items", ["Line": 1, "Text": "a"]), try shop.entity("Orders/Items", ["Line": 2]),
        ])
        var customer = try shop.entity("Customers", ["ID": .guid(Self.guid), "Name": "Ann"])
        customer.related["Orders"] = .many([order])
        try shop.create("Customers", customer)
        try #expect(shop.read("Orders", EntityKey("OrderID", 1))?["CustomerID"] == .guid(Self.guid))
        var second = try shop.entity("Orders", ["OrderID": 2])
        second.related["Customer"] = .one(
            try shop.entity("Customers", ["ID": .guid(ODataGuid(high: 5, low: 6)), "Name": "Bob"]))
        try #expect(shop.create("Orders", second).entity["CustomerID"] == .guid(ODataGuid(high: 5, low: 6)))
        let items = try shop.queue.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM \"Orders/Items\"") }
        #expect(items == 2)
    }

    @Test("A singleton is created by its first update, and its name is its id")
    func singleton() throws {
        let shop = try Shop()
        let entity = try shop.entity("Company", ["ID": .guid(Self.guid), "Name": "Co"])
        try #expect(shop.create("Company", entity).id == "Company")
        let read = try shop.queue.read { try shop.writer.read(key: nil, in: "Company", database: $0) }
        #expect(read?.entity["Name"] == "Co")
    }

    @Test("A hidden row cannot be changed")
    func hidden() throws {
        let shop = try Shop()
        try shop.create("Orders", ["OrderID": 1])
        try shop.queue.write {
            try $0.execute(sql: "UPDATE Orders SET _owner = 4; INSERT INTO outpost_hidden_owner VALUES (4)")
        }
        try #expect(shop.read("Orders", EntityKey("OrderID", 1)) == nil)
    }

    @Test("The hook completes inserts, sees each change once and can refuse it")
    func hook() throws {
        let hook = RecordingHook()
        let shop = try Shop(hook: hook)
        let row = try shop.create("Orders", ["Quantity": 2])
        #expect(row.entity["OrderID"] == -1)
        try shop.update("Orders", EntityKey("OrderID", -1), ["Quantity": 3])
        try shop.update("Orders", EntityKey("OrderID", -1), ["Quantity": 3])
        try shop.queue.write {
            try shop.writer.delete(
                key: EntityKey("OrderID", -1), in: "Orders", request: shop.request(.delete), database: $0)
        }
        #expect(hook.changes() == ["INSERT [Quantity]", "UPDATE [Quantity] 2 to 3", "DELETE []"])
    }
}

/// Assigns temporary keys to orders and records all calls.
private final class RecordingHook: WriteHook {
    private let log = DatabaseLog()

    func prepareInsert(_ entity: inout ODataEntity, into table: TableStorage, in database: Database) throws {
        if entity["OrderID"] == nil { entity["OrderID"] = -1 }
    }

    func didWrite(_ change: RowChange, in database: Database) throws {
        var text = "\(change.kind.rawValue.uppercased()) [\(change.changedProperties.sorted().joined(separator: ","))]"
        if let before = change.before?["Quantity"], let after = change.after?["Quantity"],
            case .integer(let old) = before, case .integer(let new) = after
        {
            text += " \(old) to \(new)"
        }
        log.append(text)
    }

    func changes() -> [String] { log.lines() }
}

/// A log of lines in the order in which they were written.
private final class DatabaseLog: Sendable {
    private let queue: DatabaseQueue?

    init() {
        queue = try? DatabaseQueue()
        try? queue?.write { try $0.execute(sql: "CREATE TABLE log (line TEXT)") }
    }

    func append(_ line: String) {
        try? queue?.write { try $0.execute(sql: "INSERT INTO log VALUES (?)", arguments: [line]) }
    }

    func lines() -> [String] {
        (try? queue?.read { try String.fetchAll($0, sql: "SELECT line FROM log ORDER BY rowid") }) ?? []
    }
}
