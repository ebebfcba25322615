import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("An observed query", Patience.limit)
struct ObservationTests {
    private let norway = "Customers?$filter=Country eq 'Norway'&$orderby=CustomerID"

    @Test("gives the current result first, then one for each change")
    func results() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        var results = store.observe.results(of: try ODataURL(parsing: norway)).makeAsyncIterator()
        let first = try #require(try await results.next())
        #expect(first == (try await store.rows(norway)))
        try await store.update("Customers('C0001')", ["CompanyName": "Renamed"])
        let second = try #require(try await results.next())
        #expect(second.first { $0["CustomerID"] == "C0001" }?["CompanyName"] == "Renamed")
        #expect(second.count == first.count)
        try await store.update("Customers('C0001')", ["Country": "Sweden"])
        #expect(try await results.next()?.count == first.count - 1)
    }

    @Test("gives no element for a change outside of its result")
    func nothingSpurious() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        var results = store.observe.results(of: try ODataURL(parsing: norway)).makeAsyncIterator()
        _ = try await results.next()
        try await store.update("Products(1)", ["Stock": 7])
        try await store.sync()
        try await store.update("Customers('C0001')", ["CompanyName": "Renamed"])
        let next = try #require(try await results.next())
        #expect(next.first { $0["CustomerID"] == "C0001" }?["CompanyName"] == "Renamed", "the only difference")
    }

    /// Returns options that record the statements that read a table.
    private func tracing(_ table: String, _ reads: LockedNames) -> OfflineStore.Options {
        var options = OfflineStore.Options()
        options.runtime.trace = .statements { statement in
            if statement.hasPrefix("SELECT"), statement.contains("\"\(table)\"") { reads.append(statement) }
        }
        return options
    }

    @Test(
        "is read again only after changes that may affect it",
        arguments: ["Customers?$filter=Country eq 'Norway'", "Customers('C0001')", "Customers?$expand=Orders"])
    func concerned(text: String) async throws {
        let shop = try await Shop()
        let reads = LockedNames()
        let store = try await shop.store(options: tracing("Customers", reads))
        try await store.download()
        var results = store.observe.results(of: try ODataURL(parsing: text)).makeAsyncIterator()
        _ = try await results.next()
        let next = Task { [results] in
            var results = results
            return try await results.next()
        }
        try await Task.sleep(for: .milliseconds(100))
        let before = reads.names.count
        for stock in 1...5 { try await store.update("Products(1)", ["Stock": .integer(Int64(4000 + stock))]) }
        try await store.upload()
        try await shop.sql("UPDATE Products SET Stock = 7 WHERE ProductID = 2")
        try await store.download(["Products"])
        try await Task.sleep(for: .milliseconds(600))
        #expect(reads.names.count == before, "\(reads.names.dropFirst(before))")
        try await store.update("Customers('C0001')", ["CompanyName": "Renamed"])
        #expect(try await next.value?.contains { $0["CompanyName"] == "Renamed" } == true)
    }

    @Test(
        "is read again after changes of related entities",
        arguments: ["Orders?$filter=Customer/Country eq 'Chile'", "Orders(1001)?$expand=Customer,Order_Lines"])
    func related(text: String) async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        let order = try #require(try await store.rows("Orders(1001)").first)
        let customer = try #require(order["CustomerID"]?.lexicalText)
        var results = store.observe.results(of: try ODataURL(parsing: text)).makeAsyncIterator()
        _ = try await results.next()
        try await store.update("Customers('\(customer)')", ["Country": "Chile"])
        let second = try #require(try await results.next())
        #expect(second.contains { $0["OrderID"] == 1001 })
        try await shop.sql("UPDATE Customers SET Country = 'Peru' WHERE CustomerID = '\(customer)'")
        try await store.changes.undoAll()
        try await store.download()
        let third = try #require(try await results.next())
        #expect(third != second)
    }

    @Test("is read again when a query with hidden rows is complete")
    func loaded() async throws {
        let shop = try await Shop()
        let store = try await shop.store([DefiningQuery(entitySet: "Products")])
        var results = store.observe.results(of: try ODataURL(parsing: "Products?$top=3")).makeAsyncIterator()
        #expect(try await results.next()?.isEmpty == true)
        try await store.download()
        #expect(try await results.next()?.count == 3)
    }

    @Test("combines all changes between two elements")
    func coalesced() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        var results = store.observe.results(of: try ODataURL(parsing: "Products?$orderby=ProductID&$top=3"))
            .makeAsyncIterator()
        _ = try await results.next()
        for stock in 1...50 { try await store.update("Products(1)", ["Stock": .integer(Int64(1000 + stock))]) }
        let next = try #require(try await results.next())
        #expect(next.first?["Stock"] == 1050)
        let waiting = Task { [results] in
            var results = results
            return try await results.next()
        }
        try await Task.sleep(for: .milliseconds(100))
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }

    @Test("never combines pages of different states")
    func pages() async throws {
        let shop = try await Shop()
        var options = OfflineStore.Options()
        options.runtime.localPageSize = 1
        let store = try await shop.store(options: options)
        try await store.download()
        let url = "Products?$filter=ProductID le 6&$orderby=ProductID"
        let keys = try await store.rows(url).map { $0["ProductID"] ?? .null }
        #expect(keys.count > 3)
        let writing = Task {
            for stock in 1...50 {
                try await store.changes.transaction { transaction in
                    for key in keys {
                        try transaction.update(
                            "Products(\(key.lexicalText ?? ""))", ["Stock": .integer(Int64(stock))])
                    }
                }
                try await Task.sleep(for: .milliseconds(10))
            }
        }
        var results = store.observe.results(of: try ODataURL(parsing: url)).makeAsyncIterator()
        var seen = 0
        while let products = try await results.next() {
            let stocks = Set(products.map { $0["Stock"] })
            seen += 1
            #expect(seen == 1 || stocks.count == 1, "\(stocks)")
            #expect(products.count == keys.count)
            if stocks == [.integer(50)] { break }
        }
        #expect(seen > 2)
        try await writing.value
    }

    @Test("sees a changed entity state without a changed value")
    func states() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        let query = try ODataURL(parsing: "Products(1)")
        var results = store.observe.results(of: query).makeAsyncIterator()
        var changes = store.observe.changes(of: query).makeAsyncIterator()
        _ = try await (results.next(), changes.next())
        try await store.update("Products(1)", ["Stock": 7])
        #expect(try await results.next()?.first?.offlineState == .pending)
        #expect(try await changes.next()?.updated.first?.offlineState == .pending)
        try await store.upload()
        #expect(try await results.next()?.first?.offlineState == .uploaded)
        #expect(try await changes.next()?.updated.first?.offlineState == .uploaded)
        try await store.download()
        #expect(try await results.next()?.first?.offlineState == .unchanged)
    }

    @Test("sees the changed state of an expanded entity")
    func expandedStates() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        let query = try ODataURL(parsing: "Products(1)?$expand=Category")
        var results = store.observe.results(of: query).makeAsyncIterator()
        var changes = store.observe.changes(of: query).makeAsyncIterator()
        let first = try #require(try await results.next()?.first)
        _ = try await changes.next()
        func category(_ product: ODataEntity?) throws -> ODataEntity {
            guard case .one(let category)? = product?.related["Category"] else { throw ODataError.notFound("Category") }
            return category
        }
        let id = try #require(try category(first)["CategoryID"]?.lexicalText)
        try await store.update("Categories(\(id))", ["Name": "Renamed"])
        #expect(try await category(results.next()?.first).offlineState == .pending)
        #expect(try await category(changes.next()?.updated.first).offlineState == .pending)
        try await store.upload()
        #expect(try await category(results.next()?.first).offlineState == .uploaded)
        #expect(try await category(changes.next()?.updated.first).offlineState == .uploaded)
    }

    @Test("compares rows without a key by their values")
    func groups() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        let query = try ODataURL(parsing: "Customers?$apply=groupby((Country),aggregate($count as Customers))")
        var changes = store.observe.changes(of: query).makeAsyncIterator()
        func count(_ country: String, in groups: [ODataEntity]) -> ODataValue? {
            groups.first { $0["Country"] == .string(country) }?["Customers"]
        }
        let first = try #require(try await changes.next())
        #expect(first.inserted.count > 1 && first.updated.isEmpty && first.removed.isEmpty)
        guard case .decimal(let before)? = count("Norway", in: first.inserted) else {
            throw ODataError.notFound("the customers of Norway")
        }
        try await store.update("Customers('C0001')", ["Country": "Atlantis"])
        let next = try #require(try await changes.next())
        #expect(count("Atlantis", in: next.inserted) == .decimal(ODataDecimal(1)))
        #expect(
            count("Norway", in: next.inserted)?.lexicalText
                == (Int(before.description) ?? 0).advanced(by: -1).description)
        #expect(next.inserted.count == 2 && next.removed.count == 1 && next.updated.isEmpty)
        #expect(count("Norway", in: next.removed) == .decimal(before))
    }

    @Test("sees downloaded rows")
    func downloads() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        var changes = store.observe.changes(of: try ODataURL(parsing: norway)).makeAsyncIterator()
        let all = try #require(try await changes.next())
        #expect(all.updated.isEmpty && all.removed.isEmpty && !all.inserted.isEmpty)
        try await shop.sql(
            """
            UPDATE Customers SET CompanyName = 'Theirs' WHERE CustomerID = 'C0001';
            """)
        try await store.download()
        let next = try #require(try await changes.next())
        #expect(next.updated.map { $0["CompanyName"] } == ["Theirs"])
        #expect(next.inserted.isEmpty && next.removed.isEmpty)
        try await store.delete("Customers('C0001')")
        #expect(try await changes.next()?.removed.map { $0["CustomerID"] } == ["C0001"])
        try await store.changes.undoAll()
        #expect(try await changes.next()?.inserted.map { $0["CustomerID"] } == ["C0001"])
    }

    @Test("sees commits of another connection to the same store (rule 10)")
    func otherProcesses() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        let other = try await shop.reopen()
        var results = store.observe.results(of: try ODataURL(parsing: "Products(1)?$select=ProductID,Stock"))
            .makeAsyncIterator()
        _ = try await results.next()
        try await other.update("Products(1)", ["Stock": 4321])
        #expect(try await results.next()?.first?["Stock"] == 4321)
        try other.close()
    }

    @Test("ends when the store is closed")
    func closed() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        var results = store.observe.results(of: try ODataURL(parsing: norway)).makeAsyncIterator()
        #expect(try await results.next() != nil)
        let next = Task { [results] in
            var results = results
            return try await results.next()
        }
        try await Task.sleep(for: .milliseconds(50))
        try store.close()
        #expect(try await next.value == nil)
    }
}
