import GRDB
import ODataModel
import TestModels
import Testing

@testable import ODataSQL

@Suite("Loading in bulk")
struct BulkLoaderTests {
    private func makeStore() throws -> (DatabaseQueue, OfflineLayout) {
        let layout = OfflineLayout(model: try LayoutModel.make())
        let queue = try DatabaseQueue()
        try queue.write { try layout.create(in: $0) }
        return (queue, layout)
    }

    private func order(_ layout: OfflineLayout, _ properties: [String: ODataValue], etag: String? = nil) throws
        -> ODataEntity
    {
        var entity = ODataEntity(shape: try #require(layout.mapping.tables["Orders"]).shape, properties)
        entity.control.etag = etag
        return entity
    }

    @Test("inserts new rows, updates changed rows and skips equal rows")
    func outcomes() throws {
        let (queue, layout) = try makeStore()
        try queue.write { database in
            let loader = try BulkLoader(table: #require(layout.mapping.tables["Orders"]), in: database)
            let first = try order(
                layout, ["OrderID": 1, "Freight": .decimal(ODataDecimal(2)), "Quantity": 1], etag: "W/\"1\"")
            try #expect(loader.load(first, owner: 5).change == .inserted)
            try #expect(loader.load(first, owner: 5) == .init(rowID: 1, change: .unchanged, previousOwner: 5))
            let changed = try order(
                layout, ["OrderID": 1, "Freight": .decimal(ODataDecimal(3)), "Quantity": 1], etag: "W/\"2\"")
            try #expect(loader.load(changed, owner: 6) == .init(rowID: 1, change: .updated, previousOwner: 5))
            let second = try loader.load(order(layout, ["OrderID": 2]), owner: 5)
            #expect(second.change == .inserted)
            try #expect(loader.find(EntityKey("OrderID", 2)) == second.rowID)
            try #expect(loader.find(EntityKey("OrderID", 3)) == nil)
            let read = try #require(try loader.read(1))
            #expect(read["Freight"] == .decimal(ODataDecimal(3)))
            #expect(read.control.etag == "W/\"2\"")
            #expect(read.control.id == "Orders(1)")
            try loader.delete(1)
            try #expect(loader.read(1) == nil)
            try #expect(loader.load(first, owner: 5).rowID > second.rowID)
        }
    }

    @Test("distinguishes missing values from null and merges column sets")
    func notLoaded() throws {
        let (queue, layout) = try makeStore()
        try queue.write { database in
            let loader = try BulkLoader(table: #require(layout.mapping.tables["Orders"]), in: database)
            try loader.load(order(layout, ["OrderID": 1, "Source": .null]), owner: 1)
            let partial = try #require(try loader.read(1))
            #expect(partial["Source"] == .null)
            #expect(partial["Quantity"] == nil)
            #expect(throws: EntityError.notLoaded(property: "Quantity", type: LayoutModel.name("Order"))) {
                try partial.value(of: "Quantity")
            }
            let outcome = try loader.load(order(layout, ["OrderID": 1, "Quantity": 4]), owner: 2)
            #expect(outcome.change == .updated)
            let merged = try #require(try loader.read(1))
            #expect(merged["Quantity"] == 4)
            #expect(merged["Source"] == .null)
            #expect(merged["Placed"] == nil)
            // The value changes from *not loaded* to null, although the column contained NULL before.
            try #expect(loader.load(order(layout, ["OrderID": 1, "Placed": .null]), owner: 2).change == .updated)
            #expect(try #require(try loader.read(1))["Placed"] == .null)
        }
    }

    @Test("distinguishes Unicode normal forms, also in collections and dynamic properties")
    func normalForms() throws {
        let (queue, layout) = try makeStore()
        try queue.write { database in
            let table = try #require(layout.mapping.tables["Customers"])
            let loader = try BulkLoader(table: table, in: database)
            func customer(_ name: String, _ phone: String, _ note: String) -> ODataEntity {
                var entity = ODataEntity(
                    shape: table.shape,
                    [
                        "ID": .guid(ODataGuid(high: 1, low: 2)), "Name": .string(name),
                        "Phones": .collection([.string(phone)]),
                    ])
                entity.dynamicProperties["Note"] = .string(note)
                return entity
            }
            let (one, two) = ("\u{E9}", "e\u{301}")
            try loader.load(customer(one, one, one), owner: 1)
            var kept = (name: one, phone: one, note: one)
            for change in [\(name: String, phone: String, note: String).name, \.phone, \.note] {
                kept[keyPath: change] = two
                let entity = customer(kept.name, kept.phone, kept.note)
                try #expect(loader.load(entity, owner: 1).change == .updated)
                try #expect(loader.load(entity, owner: 1).change == .unchanged)
            }
        }
    }

    @Test("adds local and hidden rows to the query that contains them")
    func owners() throws {
        let (queue, layout) = try makeStore()
        try queue.write { database in
            try database.execute(sql: "INSERT INTO outpost_hidden_owner VALUES (8)")
            let loader = try BulkLoader(table: #require(layout.mapping.tables["Orders"]), in: database)
            for (id, owner) in [(1, 0), (2, 8), (3, 4)] as [(Int64, Int64)] {
                try loader.load(order(layout, ["OrderID": .integer(id)]), owner: owner)
            }
            for id in 1...3 as ClosedRange<Int64> {
                try loader.load(order(layout, ["OrderID": .integer(id)]), owner: 5)
            }
            let owners = try Int64.fetchAll(database, sql: "SELECT _owner FROM Orders ORDER BY _id")
            #expect(owners == [5, 5, 4])
        }
    }

    @Test("stores derived types, complex values and dynamic properties")
    func derived() throws {
        let (queue, layout) = try makeStore()
        try queue.write { database in
            let model = layout.mapping.model
            let loader = try BulkLoader(table: #require(layout.mapping.tables["Customers"]), in: database)
            var vip = ODataEntity(
                shape: try #require(model.shape(LayoutModel.name("Vip"))),
                [
                    "ID": .guid(ODataGuid(high: 1, low: 1)), "Name": "V", "Address": .null,
                    "Discount": .decimal(ODataDecimal(7)), "Hobby": "chess",
                ])
            try loader.load(vip, owner: 1)
            try #expect(loader.load(vip, owner: 1).change == .unchanged)
            let read = try #require(try loader.read(1))
            #expect(read.shape.name == LayoutModel.name("Vip"))
            #expect(read["Discount"] == .decimal(ODataDecimal(7)))
            #expect(read["Hobby"] == "chess")
            #expect(read["Address"] == .null)
            vip["Address"] = .complex(
                ODataEntity(
                    shape: try #require(model.shape(LayoutModel.name("Address"))), ["City": "Bonn", "Zip": .null]))
            try #expect(loader.load(vip, owner: 1).change == .updated)
            guard case .complex(let address)? = try loader.read(1)?["Address"] else {
                Issue.record("no address")
                return
            }
            #expect(address["City"] == "Bonn")
        }
    }

    @Test("loads contained entities under their parent, and singletons into a single row")
    func roles() throws {
        let (queue, layout) = try makeStore()
        try queue.write { database in
            let items = try BulkLoader(table: #require(layout.mapping.tables["Orders/Items"]), in: database)
            let shape = try #require(layout.mapping.tables["Orders/Items"]).shape
            let item = ODataEntity(shape: shape, ["Line": 1, "Text": "a"])
            #expect(try items.load(item, owner: 1, parent: 1).rowID == 1)
            #expect(try items.load(item, owner: 1, parent: 2).rowID == 2)
            #expect(try items.load(item, owner: 1, parent: 2).change == .unchanged)
            let company = try BulkLoader(table: #require(layout.mapping.tables["Company"]), in: database)
            let customer = try #require(layout.mapping.tables["Company"]).shape
            for name in ["a", "b"] {
                let entity = ODataEntity(
                    shape: customer, ["ID": .guid(ODataGuid(high: 1, low: 1)), "Name": .string(name)])
                try company.load(entity, owner: 1)
            }
            #expect(try company.read(1)?["Name"] == "b")
        }
    }

    @Test("names table and column of an invalid value")
    func badValue() throws {
        let (queue, layout) = try makeStore()
        try queue.write { database in
            let loader = try BulkLoader(table: #require(layout.mapping.tables["Orders"]), in: database)
            #expect {
                try loader.load(
                    order(layout, ["OrderID": 1, "Freight": .decimal(ODataDecimal("0.001") ?? ODataDecimal(0))]),
                    owner: 1)
            } throws: { error in
                let error = error as? StoredValueError
                return error?.table == "Orders" && error?.column == "Freight"
            }
            #expect(throws: StoredValueError.self) { try loader.load(order(layout, ["Quantity": 1]), owner: 1) }
        }
    }

    @Test("writes a row by its id with any key, and restores a deleted row under its id")
    func updateAndRestore() throws {
        let (queue, layout) = try makeStore()
        try queue.write { database in
            let loader = try BulkLoader(table: #require(layout.mapping.tables["Orders"]), in: database)
            let rowID = try loader.load(order(layout, ["OrderID": -1, "Quantity": 2]), owner: 3).rowID
            try loader.update(rowID, order(layout, ["OrderID": 7, "Source": "web"], etag: "\"1\""))
            let read = try #require(try loader.read(rowID))
            #expect(read["OrderID"] == 7)
            #expect(read["Quantity"] == 2)
            #expect(read["Source"] == "web")
            #expect(read.control.etag == "\"1\"")
            try loader.delete(rowID)
            try loader.restore(rowID, read, owner: 3)
            try #expect(loader.read(rowID)?["Quantity"] == 2)
            try #expect(loader.find(EntityKey("OrderID", 7)) == rowID)
            #expect(throws: StoreError.self) { try loader.restore(rowID, read, owner: 3) }
        }
    }
}
