import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataSQL

/// The resource limits of a request.
@Suite struct RequestBudgetTests {
    private let traders: Traders

    init() throws { traders = try Traders() }

    private func response(
        _ url: String, _ budget: RequestBudget?, format: ResponseFormat? = ResponseFormat(serviceRoot: "http://nw/"),
        page: Int? = nil
    ) async throws -> ODataResponse {
        var request = ODataRequest(.read, try ODataURL(parsing: url), format: format)
        request.context.budget = budget
        request.preferences.maxPageSize = page
        return try await traders.reader().read(try traders.bind(url), request: request, in: traders.queue)
    }

    private func stream(_ url: String, _ budget: RequestBudget?) async throws -> ByteStream {
        guard case .encoded(let stream, _) = try await response(url, budget).body else {
            throw ODataError.notFound("bytes at \(url)")
        }
        return stream
    }

    /// Returns `Customer($expand=Orders(…))` with the given number of levels.
    private static func nested(_ levels: Int) -> String {
        var text = ""
        for level in 0..<levels {
            let name = level % 2 == levels % 2 ? "Orders" : "Customer"
            text = text.isEmpty ? name : "\(name)($expand=\(text))"
        }
        return "Orders?$expand=\(text)"
    }

    /// Adds many orders with items to one customer.
    private func addOrders(_ count: Int) async throws {
        try await traders.queue.write { database in
            let columns = try database.columns(in: "orders").map(\.name).dropFirst().joined(separator: ", ")
            try database.execute(
                sql: """
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) \
                    INSERT INTO orders SELECT 100000 + i, \(columns) FROM orders, n WHERE id = 1
                    """, arguments: [count])
        }
    }

    // MARK: Rows

    @Test func `a nested expand beyond the rows of its budget is refused before the response begins`() async throws {
        let budget = RequestBudget(.init(rows: 10_000))
        let url = Self.nested(30)
        let error = await #expect(throws: ODataError.self) { _ = try await response(url, budget) }
        #expect(error?.status == 413 && error?.code == "RowLimit")
        #expect(error?.message.contains("10000 rows") == true && error?.message.contains("$expand") == true)
    }

    @Test func `the rows of a response count as often as it has them, and one more is too many`() async throws {
        let url = Self.nested(4)
        let text = String(decoding: try await stream(url, nil).collect(limit: 1 << 26), as: UTF8.self)
        let rows = text.matches(of: /"OrderDate":/).count + text.matches(of: /"Country":/).count
        let whole = RequestBudget(.init(rows: rows))
        _ = try await stream(url, whole).collect(limit: 1 << 26)
        #expect(whole.rowsTaken == rows)
        let error = await #expect(throws: ODataError.self) {
            _ = try await response(url, RequestBudget(.init(rows: rows - 1)))
        }
        #expect(error?.code == "RowLimit")
    }

    @Test func `a response that fails behind its beginning ends with an error object`() async throws {
        try await addOrders(3000)
        let stream = try await stream("Orders?$expand=Customer", RequestBudget(.init(rows: 4000)))
        var text = ""
        let error = await #expect(throws: ODataError.self) {
            while let chunk = try await stream.next() { text += String(decoding: chunk, as: UTF8.self) }
        }
        #expect(error?.code == "RowLimit")
        #expect(text.hasPrefix("{\"@context\""))
        #expect(text.contains(#",{"error":{"code":"RowLimit""#) && text.hasSuffix("}}"), "\(text.suffix(200))")
        #expect(throws: (any Error).self) { _ = try JSONSerialization.jsonObject(with: Data(text.utf8)) }
    }

    // MARK: Memory

    @Test func `deep expands stream although their tree fits in little memory`() async throws {
        let stream = try await stream(Self.nested(32), RequestBudget(.init(heldBytes: 8 << 20)))
        var size = 0
        while size < 24 << 20, let chunk = try await stream.next() {
            size += chunk.count
            #expect(chunk.count <= 256 << 10)
        }
        #expect(size >= 24 << 20)
    }

    @Test func `a collection that is too large for one tree is expanded in parts, in order and whole`() async throws {
        try await addOrders(30_000)
        let url = "Customers?$select=ID&$expand=Orders($select=OrderID;$expand=Items,Customer($select=ID);$count=true)"
        let text = String(decoding: try await stream(url, nil).collect(limit: 1 << 26), as: UTF8.self)
        let page = try #require(
            try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], "\(text.suffix(100))")
        let customers = try #require(page["value"] as? [[String: Any]])
        let plain = try await traders.page("Customers").entities
        #expect(customers.count == plain.count)
        for (customer, entity) in zip(customers, plain) {
            let id = try #require(customer["ID"] as? String)
            #expect(entity["ID"] == .string(id))
            let orders = try #require(customer["Orders"] as? [[String: Any]])
            #expect(customer["Orders@count"] as? Int == orders.count)
            let keys = orders.compactMap { $0["OrderID"] as? Int }
            let wanted = try await traders.queue.read { database in
                try traders.compile("Customers('\(id)')/Orders?$select=OrderID").rows(in: database)
            }
            #expect(keys.count == wanted && keys == keys.sorted())
            #expect(orders.allSatisfy { ($0["Customer"] as? [String: Any])?["ID"] as? String == id })
            #expect(orders.allSatisfy { $0["Items"] is [Any] })
        }
        #expect(customers.contains { ($0["Orders"] as? [Any])?.count ?? 0 > 30_000 })
    }

    @Test func `a page of entities that needs more memory than its budget is refused`() async throws {
        try await addOrders(2000)
        let error = await #expect(throws: ODataError.self) {
            _ = try await response("Orders", RequestBudget(.init(heldBytes: 64 << 10)), format: nil)
        }
        #expect(error?.status == 413 && error?.code == "ResponseTooLarge")
        _ = try await response("Orders?$top=10", RequestBudget(.init(heldBytes: 64 << 10)), format: nil)
    }

    @Test func `the JSON of full metadata counts, and not only the entities that it is made of`() async throws {
        try await addOrders(2000)
        let format = ResponseFormat(metadata: .full, serviceRoot: "http://nw/")
        func size(_ budget: RequestBudget?) async throws -> Int {
            let response = try await response("Customers?$expand=Orders", budget, format: format)
            guard case .encoded(let stream, _) = response.body else { return 0 }
            return try await stream.collect(limit: 1 << 26).count
        }
        let whole = try await size(nil)
        let error = await #expect(throws: ODataError.self) {
            _ = try await size(RequestBudget(.init(heldBytes: whole - (64 << 10))))
        }
        #expect(error?.status == 413 && error?.code == "ResponseTooLarge")
        #expect(try await size(RequestBudget(.init(heldBytes: 4 * whole))) == whole)
    }

    @Test func `bytes that are released can be held again`() throws {
        let budget = RequestBudget(.init(heldBytes: 100))
        try budget.hold(100)
        #expect(throws: ODataError.self) { try budget.hold(1) }
        budget.release(60)
        try budget.hold(60)
        #expect(budget.heldBytesLeft == 0)
    }

    @Test func `a nested collection whose decoded values do not fit into the memory is refused`() async throws {
        try await addOrders(2000)
        let url = "Orders?$apply=nest(identity as All)"
        let error = await #expect(throws: ODataError.self) {
            _ = try await stream(url, RequestBudget(.init(heldBytes: 2 << 20))).collect(limit: 1 << 26)
        }
        #expect(error?.status == 413 && error?.code == "ResponseTooLarge")
        #expect(try await stream(url, RequestBudget(.served)).collect(limit: 1 << 26).count > 200_000)
    }

    @Test(
        arguments: [
            ("concat(identity,identity)", 30), ("concat(identity,identity)", 200),
            ("concat(compute(ID as A%d),compute(ID as B%d))", 30),
            ("nest(identity as A%d,identity as B%d)", 30), ("nest(identity as A%d)", 2000),
        ])
    func `a chain of transformations that multiply rows or columns is refused`(step: String, count: Int) async throws {
        let chain = (0..<count).map { step.replacing("%d", with: "\($0)") }.joined(separator: "/")
        let budget = RequestBudget(.init(statementTime: .seconds(5), rows: 100_000, heldBytes: 8 << 20))
        await #expect(throws: (any Error).self) {
            let response = try await response("Employees?$apply=\(chain)", budget)
            guard case .encoded(let stream, _) = response.body else { return }
            while try await stream.next() != nil {}
        }
    }

    // MARK: Time

    private static let endless =
        "Employees?$filter=$root/Employees/any(a:$root/Employees/any(b:$root/Employees/any(c:c/ID add b/ID add a/ID eq -1)))"

    private func addEmployees() async throws {
        try await traders.queue.write { database in
            try database.execute(
                sql: """
                    WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 4000) \
                    INSERT INTO employee SELECT i, NULL FROM n
                    """)
        }
    }

    @Test func `the time of several reads adds up`() throws {
        let budget = RequestBudget(.init(statementTime: .milliseconds(10)))
        budget.spend(.milliseconds(9))
        try budget.check()
        budget.spend(.milliseconds(1))
        let error = #expect(throws: ODataError.self) { try budget.check() }
        #expect(error?.status == 503 && error?.code == "TimeLimit")
    }

    @Test func `a statement of a request that is cancelled ends at once, and its connection works on`() async throws {
        try await addEmployees()
        let budget = RequestBudget(.unlimited)
        let reading = Task { _ = try await response(Self.endless, budget) }
        try await Task.sleep(for: .milliseconds(300))
        let start = ContinuousClock.now
        budget.cancel()
        await #expect(throws: CancellationError.self) { try await reading.value }
        // The statement would never end. The limit is generous for busy machines.
        #expect(ContinuousClock.now - start < .seconds(20))
        #expect(try await traders.keys("Orders?$top=1") == ["1"])
    }

    private func wait(for semaphore: DispatchSemaphore) { semaphore.wait() }

    @Test func `a caller that disconnects while all connections are busy is released at once`() async throws {
        let (began, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        traders.queue.asyncRead { _ in
            began.signal()
            end.wait()
        }
        wait(for: began)
        let waiting = Task { try await response("Customers", RequestBudget(.served)) }
        try await Task.sleep(for: .milliseconds(50))
        waiting.cancel()
        // The connection stays busy, so that a task that waited for it would not end.
        await #expect(throws: CancellationError.self) { _ = try await waiting.value }
        end.signal()
        #expect(try await traders.queue.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM orders") } ?? 0 > 0)
    }

    @Test func `a read with a cancelled task ends although its request has not been cancelled`() async throws {
        let began = DispatchSemaphore(value: 0)
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n"
        let reading = Task { [queue = traders.queue] in
            try await Optional(RequestBudget(.served)).reading(from: queue) { database in
                began.signal()
                _ = try Int.fetchOne(database, sql: endless)
            }
        }
        wait(for: began)
        reading.cancel()
        await #expect(throws: CancellationError.self) { try await reading.value }
    }

    @Test func `a change that is cancelled is rolled back, and one that others have begun is not`() async throws {
        try await addEmployees()
        let provider = StoreProvider(database: traders.queue, mapping: traders.mapping)
        let budget = RequestBudget(.unlimited)
        let path = "Employees/$filter(@f)/$each?@f=" + Self.endless.dropFirst("Employees?$filter=".count)
        var request = ODataRequest(.delete, try ODataURL(parsing: path))
        request.context.budget = budget
        let changing = request
        let cancelled = Task { _ = try await provider.execute(changing) }
        try await Task.sleep(for: .milliseconds(300))
        // The second change waits for the writer and is not cancelled.
        let url = try ODataURL(parsing: "Employees(20)")
        let other = Task { try await provider.execute(ODataRequest(.delete, url)).status }
        budget.cancel()
        let error = await #expect(throws: ODataError.self) { try await cancelled.value }
        #expect(error?.code == "Cancelled")
        #expect(try await other.value == 204)
        #expect(try await traders.page("Employees?$filter=ID ge 10&$count=true").count == 3990)
    }
}

extension CompiledQuery {
    /// Returns the number of rows.
    fileprivate func rows(in database: Database) throws -> Int { Int(try StoreReader.count(self, in: database)) }
}
