import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("An observed query", Patience.limit)
struct ObservationTests {
    private let norway = "Customers?$filter=Country eq 'Norway'&$orderby=CustomerID"

    @Test("gives the present result first, then one for each change of it")
    func results() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        var results = store.observe(try ODataURL(parsing: norway)).makeAsyncIterator()
        let first = try #require(try await results.next())
        #expect(first == (try await store.rows(norway)))
        try await store.update("Customers('C0001')", ["CompanyName": "Renamed"])
        let second = try #require(try await results.next())
        #expect(second.first { $0["CustomerID"] == "C0001" }?["CompanyName"] == "Renamed")
        #expect(second.count == first.count)
        try await store.update("Customers('C0001')", ["Country": "Sweden"])
        #expect(try await results.next()?.count == first.count - 1)
    }

    @Test("gives no element for a change that is not in its result")
    func nothingSpurious() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        var results = store.observe(try ODataURL(parsing: norway)).makeAsyncIterator()
        _ = try await results.next()
        try await store.update("Products(1)", ["Stock": 7])
        try await store.sync()
        try await store.update("Customers('C0001')", ["CompanyName": "Renamed"])
        let next = try #require(try await results.next())
        #expect(next.first { $0["CustomerID"] == "C0001" }?["CompanyName"] == "Renamed", "the only difference")
    }

    @Test("misses nothing that happens between two elements, and gives it as one")
    func coalesced() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        var results = store.observe(try ODataURL(parsing: "Products?$orderby=ProductID&$top=3")).makeAsyncIterator()
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

    @Test("sees what a download brings")
    func downloads() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        var changes = store.observeChanges(try ODataURL(parsing: norway)).makeAsyncIterator()
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
        try await store.undoAll()
        #expect(try await changes.next()?.inserted.map { $0["CustomerID"] } == ["C0001"])
    }

    @Test("sees what another connection to the same store commits (rule 10)")
    func otherProcesses() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        let other = try await shop.reopen()
        var results = store.observe(try ODataURL(parsing: "Products(1)?$select=ProductID,Stock")).makeAsyncIterator()
        _ = try await results.next()
        try await other.update("Products(1)", ["Stock": 4321])
        #expect(try await results.next()?.first?["Stock"] == 4321)
        try other.close()
    }

    @Test("ends when the store is closed")
    func closed() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        var results = store.observe(try ODataURL(parsing: norway)).makeAsyncIterator()
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
