import Foundation
import GRDB
import ODataModel
import TestModels
import Testing

@testable import ODataSQL

@Suite("Loading rows of a JSON text together")
struct WaitingRowsTests {
    private let layout: OfflineLayout
    private let queue: DatabaseQueue
    private let table: TableStorage

    init() throws {
        let layout = OfflineLayout(model: try LayoutModel.make())
        let queue = try DatabaseQueue()
        try queue.write { try layout.create(in: $0) }
        self.layout = layout
        self.queue = queue
        table = try #require(layout.mapping.tables["Orders"])
    }

    private func text(_ id: Int, quantity: String = "1") -> String { "{\"OrderID\":\(id),\"Quantity\":\(quantity)}" }

    /// Loads orders and returns their outcomes.
    ///
    /// - Parameter after: called after each order with the number of orders so far.
    private func load(
        _ orders: [String], with loader: BulkLoader, after: (Int) throws -> Void = { _ in }
    ) throws -> [BulkLoader.Outcome] {
        var outcomes: [BulkLoader.Outcome] = []
        var given = 0
        let row = JSONRow(shape: table.shape, model: layout.mapping.model)
        let bytes = Array("[\(orders.joined(separator: ","))]".utf8)
        try JSONScanner.scan(bytes) { (scanner: inout JSONScanner) throws -> Void in
            try scanner.beginArray()
            while try scanner.nextElement() {
                try row.read(&scanner)
                try loader.load(row, owner: 5) { outcomes.append($0) }
                given += 1
                try after(given)
            }
            try loader.loadWaiting { outcomes.append($0) }
        }
        return outcomes
    }

    @Test("sixteen new rows are inserted by one statement, and each is reported separately")
    func newRows() throws {
        try queue.write { database in
            let loader = try BulkLoader(table: table, in: database)
            let outcomes = try load((1...40).map { text($0, quantity: "\($0 * 3)") }, with: loader)
            let ids = [Int64](1...40)
            #expect(outcomes.map(\.rowID) == ids)
            #expect(outcomes.allSatisfy { $0.change == .inserted && $0.previousOwner == nil })
            // Rows 17 to 32 were inserted together. The remaining eight rows were too few for a common statement.
            #expect(loader.waiting.lastRowID == 32)
            func stored(_ column: String) throws -> [Int64] {
                try Int64.fetchAll(database, sql: "SELECT \(column) FROM Orders ORDER BY _id")
            }
            try #expect(stored("_id") == ids)
            try #expect(stored("_owner") == ids.map { _ in 5 })
            try #expect(stored("OrderID") == ids)
            try #expect(stored("Quantity") == ids.map { $0 * 3 })
        }
    }

    @Test("existing rows among new ones are compared")
    func knownRows() throws {
        try queue.write { database in
            let loader = try BulkLoader(table: table, in: database)
            _ = try load([text(20, quantity: "9"), text(21)], with: loader)
            let outcomes = try load((1...25).map { text($0) } + [text(25)] + (26...40).map { text($0) }, with: loader)
            let changes = outcomes.enumerated().filter { $0.element.change != .inserted }
            #expect(changes.map(\.offset) == [19, 20, 25])
            #expect(changes.map(\.element.change) == [.updated, .unchanged, .unchanged])
            #expect(changes.map(\.element.previousOwner) == [5, 5, 5])
            #expect(Set(outcomes.map(\.rowID)).count == 40)
            try #expect(Int.fetchAll(database, sql: "SELECT DISTINCT Quantity FROM Orders") == [1])
        }
    }

    @Test("rows that a trigger writes are not counted")
    func triggers() throws {
        try queue.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE words (word);
                    CREATE TRIGGER indexed AFTER INSERT ON Orders BEGIN INSERT INTO words VALUES (1), (2), (3); END;
                    """)
            let loader = try BulkLoader(table: table, in: database)
            _ = try load((101...112).map { text($0) }, with: loader)
            // The common statement of sixteen rows inserts four new ones. Their triggers write twelve rows, as many
            // as there are known orders.
            let orders = (1...20).map { text($0) } + (101...112).map { text($0, quantity: "2") }
            let outcomes = try load(orders, with: loader)
            #expect(outcomes.map(\.change) == (1...20).map { _ in .inserted } + (1...12).map { _ in .updated })
            try #expect(
                Int.fetchOne(database, sql: "SELECT COUNT(*) FROM Orders WHERE OrderID > 100 AND Quantity = 2") == 12)
        }
    }

    @Test("rows of one loader are not affected by another loader of the same table")
    func twoLoaders() throws {
        try queue.write { database in
            let loader = try BulkLoader(table: table, in: database)
            let other = try BulkLoader(table: table, in: database)
            let outcomes = try load((1...32).map { text($0, quantity: "7") }, with: loader) { given in
                if given == 20 { _ = try load((101...118).map { text($0) }, with: other) }
            }
            #expect(outcomes.count == 32)
            try #expect(
                Int.fetchAll(database, sql: "SELECT DISTINCT Quantity FROM Orders WHERE OrderID < 100") == [7])
            try #expect(Int.fetchOne(database, sql: "SELECT COUNT(*) FROM Orders WHERE OrderID < 100") == 32)
        }
    }

    @Test("each row keeps its own values, short or long, with or without escapes")
    func ownValues() throws {
        func source(_ id: Int) -> String { id % 4 == 0 ? "" : String(repeating: "a\"\(id)", count: id % 4 * 9) }
        func escaped(_ text: String) -> String { text.replacing("\"", with: "\\\"") }
        let orders = (1...40).map { id in
            let placed = "2024-02-\(10 + id % 9)T10:00:\(10 + id)Z"
            return """
                {"@odata.etag":"\(escaped("W/\"\(id)\""))","OrderID":\(id),"Placed":"\(placed)",\
                "CustomerID":"00000000-0000-0000-0000-0000000000\(10 + id)","Source":"\(escaped(source(id)))"}
                """
        }
        try queue.write { database in
            _ = try load(orders, with: try BulkLoader(table: table, in: database))
            let rows = try Row.fetchAll(
                database, sql: "SELECT _etag, Placed, CustomerID, Source FROM Orders ORDER BY OrderID")
            #expect(rows.count == 40)
            for (id, row) in zip(1..., rows) {
                #expect(row["_etag"] == "W/\"\(id)\"")
                let placed = try #require(ODataDateTimeOffset("2024-02-\(10 + id % 9)T10:00:\(10 + id)Z"))
                #expect(row["Placed"] == Data(InstantKey.encode(placed)))
                let customer = try #require(row["CustomerID"] as Data?)
                #expect(customer.count == 16 && customer.last == UInt8("\(10 + id)", radix: 16))
                #expect(row["Source"] == source(id))
            }
        }
    }

    @Test("an error names its row and discards the waiting rows")
    func malformed() throws {
        try queue.write { database in
            let loader = try BulkLoader(table: table, in: database)
            let orders = (1...20).map { text($0, quantity: $0 == 18 ? "[]" : "1") }
            #expect(throws: JSONError.self) { _ = try load(orders, with: loader) }
            #expect(loader.waiting.places.isEmpty)
            try #expect(Int.fetchOne(database, sql: "SELECT COUNT(*) FROM Orders") == 16)
        }
    }
}
