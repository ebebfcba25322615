import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("Rule 14: operations on many changes")
struct QueueWorkTests {
    private let statements = QueueStatements()

    /// Creates local orders with one line each.
    private func order(_ count: Int, in store: OfflineStore) async throws {
        for number in 1...count {
            try await store.create(
                "Orders", ["CustomerID": "C0001", "OrderedAt": .dateTimeOffset(.init(seconds: 1_790_000_000))])
            try await store.create(
                "Order_Lines",
                [
                    "OrderID": .integer(Int64(-number)), "LineNumber": 1, "ProductID": 3, "Quantity": 2,
                    "Price": .decimal(ODataDecimal(5)),
                ])
        }
    }

    /// Returns a new store with pending orders and an empty list of statements.
    private func store(of shop: Shop, ordering count: Int) async throws -> OfflineStore {
        let store = try await shop.store(options: statements.options)
        try await store.download()
        try await order(count, in: store)
        statements.clear()
        return store
    }

    @Test("a download searches locally deleted entities once for each part, not for each row")
    func newRows() async throws {
        let shop = try await Shop()
        let store = try await shop.store(options: statements.options)
        try await order(1, in: store)
        statements.clear()
        let report = try await store.download()
        #expect(report.inserted > 600)
        #expect(statements.count < 100)
    }

    @Test("undoing all of them does not scan the queue for each")
    func undo() async throws {
        var scans: [Int] = []
        for count in [4, 8] {
            let shop = try await Shop()
            let store = try await store(of: shop, ordering: count)
            #expect(try await store.changes.undoAll() == count)
            scans.append(try await statements.scans(in: store))
            try await shop.expectEqual(store)
        }
        #expect(scans[0] > 0, "the queue is read")
        #expect(scans[1] == scans[0])
    }

    @Test("folding all of them does not scan the queue for each", arguments: ["changed", "deleted"])
    func folding(fate: String) async throws {
        var scans: [Int] = []
        for count in [4, 8] {
            let shop = try await Shop()
            let store = try await store(of: shop, ordering: count)
            for number in 1...count {
                let line = "Order_Lines(OrderID=-\(number),LineNumber=1)"
                if fate == "deleted" { try await store.delete(line) }
                if fate == "changed" { try await store.update(line, ["Quantity": 7]) }
            }
            statements.clear()
            let report = try await store.upload(options: UploadOptions(foldsRequests: true))
            #expect(report.failed.map { $0.failure?.message } == [])
            #expect(report.accepted.count == (fate == "changed" ? 2 * count : count))
            #expect(report.accepted.allSatisfy { $0.kind == .create })
            scans.append(try await statements.scans(in: store))
            try await store.download()
            try await shop.expectEqual(store)
        }
        #expect(scans[1] == scans[0])
    }

    @Test("folding works beyond the size of one transaction")
    func foldingInParts() async throws {
        let shop = try await Shop()
        let store = try await store(of: shop, ordering: 60)
        for number in 1...60 {
            try await store.update("Order_Lines(OrderID=-\(number),LineNumber=1)", ["Quantity": 7])
        }
        let report = try await store.upload(options: UploadOptions(foldsRequests: true))
        #expect(report.accepted.count == 120 && report.accepted.allSatisfy { $0.kind == .create })
        #expect(report.waiting.map(\.entityText) == [])
        let folded = "SELECT COUNT(*) FROM \"Order Lines\" WHERE Quantity = 7 AND OrderID > 1200"
        #expect(try await shop.count(folded) == 60)
    }

    @Test("assigning service keys does not scan the queue for each")
    func keys() async throws {
        var counts: [Int] = []
        for count in [4, 8, 16] {
            let shop = try await Shop()
            let store = try await store(of: shop, ordering: count)
            #expect(try await store.upload().accepted.count == 2 * count)
            counts.append(statements.count)
        }
        #expect(counts[2] - counts[1] == 2 * (counts[1] - counts[0]), "\(counts)")
    }

    @Test("sending a category does not scan the other changes for each")
    func categories() async throws {
        var (scans, counts): ([Int], [Int]) = ([], [])
        for count in [4, 8, 16] {
            let shop = try await Shop()
            // The changes outside the category are older, and equal in number.
            let store = try await store(of: shop, ordering: count)
            for number in 1...count {
                try await store.changes.provider(with: ChangeOptions(category: "now")).update(
                    "Products(\(number))", ["Stock": 4711])
            }
            statements.clear()
            let report = try await store.upload(options: UploadOptions(categories: ["now"]))
            #expect(report.accepted.count == count)
            scans.append(try await statements.scans(in: store))
            counts.append(statements.count)
        }
        #expect(Set(scans).count == 1, "\(scans)")
        #expect(counts[2] - counts[1] == 2 * (counts[1] - counts[0]), "\(counts)")
    }
}
