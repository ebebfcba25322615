import Foundation
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

extension NamedFailureTests {
    @Test("Mass delete of 60,000 rows: applied at once, in bounded time, with continued reading", Patience.limit)
    func massDelete() async throws {
        let count = 60_000
        let shop = try await Shop(pageSize: 10_000, with: Self.readings(count))
        var options = OfflineStore.Options()
        options.sync.downloadPageSize = 10_000
        // The store is connected directly, because JSON would take most of the time.
        let store = try await shop.store(
            [DefiningQuery("readings", "Readings")], options: options, through: shop.database)
        let clock = ContinuousClock()
        let downloading = try await clock.measure {
            let report = try await store.download()
            #expect(report.inserted == count)
        }
        try await shop.sql("DELETE FROM Readings")
        // Concurrent reads see all rows or none.
        let isDone = LockedFlag()
        let reading = Task {
            var counts: Set<Int> = []
            var longest = Duration.zero
            while !isDone.isSet {
                let started = clock.now
                counts.insert(try await store.rows("Readings?$top=7").count)
                longest = max(longest, clock.now - started)
                try await Task.sleep(for: .milliseconds(20))
            }
            return (counts, longest)
        }
        let deleting = try await clock.measure {
            let report = try await store.download()
            #expect(report.removed == count && report.queries.map(\.method) == [.delta])
        }
        isDone.set()
        let (counts, longest) = try await reading.value
        #expect(counts.isSubset(of: [0, 7]))
        // A read that waited for the end of the deletion would take about as long as the deletion. The minimum
        // allows for a busy machine.
        #expect(longest < max(deleting / 2, .seconds(5)), "a read waited \(longest) of \(deleting)")
        #expect(try await store.rows("Readings").isEmpty)
        #expect(try await store.observe.status().queries.map(\.rows) == [0], "no row is left behind")
        #expect(deleting < downloading * 5, "\(deleting) to delete what took \(downloading) to bring")
    }

    @Test(
        "Ghost rows after leaving a filter: a row that left a query is removed",
        arguments: [true, false])
    func ghostRows(hasDeltaLinks: Bool) async throws {
        let shop = try await Shop()
        let orders = try #require(shop.database.model.shape(ofSet: "Orders"))
        let customer = try #require(
            orders.navigationProperties.first { $0.constraints.contains { $0.property == "CustomerID" } }?.name)
        let queries = try [
            DefiningQuery("norway", "Customers?$filter=Country eq 'Norway'"),
            DefiningQuery("orders", "Orders?$filter=\(customer)/Country eq 'Norway'"),
        ]
        let service = PlainService(base: try shop.client(), hasDeltaLinks: hasDeltaLinks, isRepeatable: true)
        let store = try await shop.clone(queries, through: service)
        func expectSame(_ what: Comment) async throws {
            for query in queries {
                let theirs = try await shop.database.rows(query.text)
                let set = query.name == "norway" ? "Customers" : "Orders"
                let ours = try await store.rows(set)
                #expect(Set(ours.compactMap(\.key)) == Set(theirs.compactMap(\.key)), what)
                #expect(
                    try await store.observe.status().queries.first { $0.name == query.name }?.rows == theirs.count, what
                )
            }
        }
        try await expectSame("at first")
        #expect(try await !store.rows("Orders").isEmpty)
        try await shop.sql("UPDATE Customers SET Country = 'Sweden' WHERE CustomerID = 'C0001'")
        try await store.download()
        try await expectSame("left the filter, and its orders with it")
        try await shop.sql(
            """
            DELETE FROM Orders WHERE CustomerID IN (SELECT CustomerID FROM Customers WHERE Country = 'Norway')
                AND OrderID % 2 = 0
            """)
        try await store.download()
        try await expectSame("deleted at the service")
        try await shop.sql("UPDATE Customers SET Country = 'Norway'")
        try await store.download()
        try await expectSame("came in, and back")
        try await shop.sql("UPDATE Customers SET Country = 'Sweden'; UPDATE Customers SET Country = 'Norway'")
        try await store.download()
        try await expectSame("left and came back in between")
        try await shop.sql(
            "UPDATE Orders SET CustomerID = 'C0001'; UPDATE Customers SET Country = 'Peru' WHERE CustomerID = 'C0001'")
        try await store.download()
        try await expectSame("all orders left at once")
        #expect(try await store.rows("Orders").isEmpty)
    }
}
