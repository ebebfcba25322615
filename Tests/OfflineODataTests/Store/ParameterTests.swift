import Foundation
import ODataClient
import ODataModel
import ODataSQL
import ODataService
import OfflineOData
import Testing

@Suite("Parameters of defining queries")
struct ParameterTests {
    private static func mine() throws -> DefiningQuery {
        try DefiningQuery("mine", "Orders?$filter=EmployeeID eq @employee")
    }

    @Test("select rows for a user: another value brings other rows and removes the old ones")
    func personalised() async throws {
        let shop = try await Shop()
        let store = try await shop.store([try Self.mine()])
        await #expect(throws: OfflineError.self) { try await store.download() }
        for employee in [1, 2] {
            try await store.queries.setParameter("employee", to: "\(employee)")
            try await store.download()
            let wanted = try await shop.count("SELECT COUNT(*) FROM Orders WHERE EmployeeID = \(employee)")
            #expect(wanted > 0)
            #expect(try await store.rows("Orders").count == wanted)
            #expect(try await store.rows("Orders?$filter=EmployeeID ne \(employee)").isEmpty)
        }
        try store.close()
        let reopened = try await shop.reopen()
        #expect(try await reopened.download().removed == 0, "the value is kept with the store")
    }

    @Test("with another value discard an interrupted first download of the old value")
    func changedWhileLoading() async throws {
        let shop = try await Shop()
        var options = OfflineStore.Options()
        options.sync.downloadPageSize = 2
        let store = try await shop.store([try Self.mine()], options: options)
        try await store.queries.setParameter("employee", to: "1")
        await shop.wire.cut { _, request in request.path?.contains("skiptoken") == true ? .lostOnTheWay : nil }
        await #expect(throws: (any Error).self) { try await store.download() }
        await shop.wire.mend()
        try await store.queries.setParameter("employee", to: "2")
        try await store.download()
        let wanted = try await shop.count("SELECT COUNT(*) FROM Orders WHERE EmployeeID = 2")
        #expect(try await store.rows("Orders").count == wanted)
        #expect(try await store.rows("Orders?$filter=EmployeeID ne 2").isEmpty)
    }

    @Test(
        "that change during a download apply from the next one on",
        arguments: [DownloadReport.Method.first, .delta, .refresh])
    func changedMeanwhile(method: DownloadReport.Method) async throws {
        let shop = try await Shop(pageSize: 10)
        let isChanging = LockedFlag()
        let client = try shop.client()
        let base: any ODataProvider
        if method == .refresh { base = PlainService(base: client) } else { base = client }
        let service = Gateway(
            base: base,
            after: { _, response in
                guard isChanging.isSet, case .page = response.body else { return response }
                isChanging.clear()
                // The change comes from another process.
                let other = try await shop.reopen()
                try await other.queries.setParameter("employee", to: "2")
                try other.close()
                return response
            })
        let store = try await shop.store([try Self.mine()], through: service)
        try await store.queries.setParameter("employee", to: "1")
        if method != .first { try await store.download() }
        isChanging.set()
        let report = try await store.download()
        #expect(report.queries.map(\.method) == [method])
        #expect(!isChanging.isSet)
        #expect(report.isComplete == (method != .first))
        let event = try #require(try await store.observe.events(newest: 1).first)
        #expect(event.text.hasSuffix("not complete: mine") == (method == .first))
        if method == .first { #expect(try await store.rows("Orders").isEmpty, "it is not complete") }
        try await store.download()
        let wanted = try await shop.count("SELECT COUNT(*) FROM Orders WHERE EmployeeID = 2")
        #expect(wanted > 10)
        #expect(try await store.rows("Orders").count == wanted)
        #expect(try await store.rows("Orders?$filter=EmployeeID ne 2").isEmpty)
        #expect(
            try await store.observe.status().queries.map(\.hasDeltaLink) == [method != .refresh],
            "and goes on from there")
    }

    @Test("of a session are never written to disk")
    func session() async throws {
        let shop = try await Shop()
        let store = try await shop.store([try DefiningQuery("c", "Customers?$filter=City ne @city")])
        try await store.queries.setParameter("city", to: "'Xanadu-4711'", keeping: .session)
        try await store.download()
        #expect(try await store.rows("Customers").count == 40)
        try await store.download()
        // The same literal is first a user's parameter, then a session's. The earlier delta link contains the
        // literal and is removed.
        try await store.queries.setParameter("city", to: "'Oslo'")
        try await store.download()
        #expect(try await store.observe.status().queries.first?.hasDeltaLink == true)
        try await store.queries.setParameter("city", to: "'Oslo'", keeping: .session)
        for _ in 1...2 {
            try await store.download()
            #expect(try await store.observe.status().queries.first?.hasDeltaLink == false)
        }
        try store.close()
        for file in try FileManager.default.contentsOfDirectory(atPath: store.directory) {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: store.directory + "/" + file))
            #expect(bytes.range(of: Data("Xanadu-4711".utf8)) == nil, "\(file)")
        }
    }

    @Test("must be literals")
    func literals() async throws {
        let shop = try await Shop()
        let store = try await shop.store([try Self.mine()])
        await #expect(throws: (any Error).self) {
            try await store.queries.setParameter("employee", to: "') or (1 eq 1")
        }
    }
}
