import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

/// The rules of downloads that are not covered by a suite of their own.
@Suite("Rules of downloads")
struct DownloadRuleTests {
    @Test("Rule 12: ETags and types come with every selection of a query")
    func besidesSelected() async throws {
        let shop = try await Shop()
        let orders = try await shop.clone([DefiningQuery("freights", "Orders?$select=Freight")])
        let etag = try #require(try await shop.database.rows("Orders(1001)").first?.control.etag)
        #expect(try await orders.rows("Orders(1001)").first?.control.etag == etag)
        let depot = try await Depot()
        try await depot.service.change(.create, "Papers", "Letter", ["ID": 1, "Text": "Dear", "HeaderID": 1])
        let papers = try await depot.clone([DefiningQuery("texts", "Papers?$select=Text")])
        let letter = try #require(try await papers.rows("Papers").first)
        #expect(letter.shape.name == QualifiedName("Depot", "Letter"))
        #expect(letter["ID"] == 1 && letter["Text"] == "Dear")
        // Properties of derived types are not loaded by name alone.
        #expect(letter["HeaderID"] == nil, "not loaded is not null")
    }

    @Test("Rule 15: rows missing from a full read are removed only after a check by key")
    func confirmed() async throws {
        let shop = try await Shop()
        let isLying = LockedFlag()
        let confirmations = LockedList()
        let service = Gateway(
            base: PlainService(base: try shop.client()),
            before: { request in
                if isLying.isSet, request.url.options.filter != nil { confirmations.append(request) }
                return nil
            },
            after: { request, response in
                guard isLying.isSet, request.url.options.filter == nil, case .page(var page) = response.body else {
                    return response
                }
                page.entities.removeAll { entity in
                    guard case .integer(let number)? = entity["OrderID"] else { return false }
                    return number <= 1045
                }
                var response = response
                response.body = .page(page)
                return response
            })
        let store = try await shop.clone([DefiningQuery(entitySet: "Orders")], through: service)
        try await shop.sql("DELETE FROM \"Order Lines\" WHERE OrderID = 1006; DELETE FROM Orders WHERE OrderID = 1006")
        isLying.set()
        let report = try await store.download()
        #expect(report.removed == 1)
        #expect(confirmations.requests.count == 3, "45 rows, 20 at a time")
        #expect(try await store.rows("Orders").count == 199)
        #expect(try await store.rows("Orders?$filter=OrderID eq 1006").isEmpty)
    }

    @Test(
        "Rule 15: a lost or interrupted read removes no row",
        arguments: [Wire.Fault.answerLost, .answerCut])
    func broken(fault: Wire.Fault) async throws {
        let shop = try await Shop(pageSize: 30)
        let store = try await shop.clone(
            [DefiningQuery(entitySet: "Orders")], through: PlainService(base: try shop.client()))
        try await shop.sql("DELETE FROM \"Order Lines\" WHERE OrderID = 1006; DELETE FROM Orders WHERE OrderID = 1006")
        await shop.wire.cut { count, _ in count == 7 ? fault : nil }
        await #expect(throws: (any Error).self) { try await store.download() }
        #expect(await shop.wire.requests.count == 7, "the last page of seven")
        #expect(try await store.rows("Orders").count == 200)
        await shop.wire.mend()
        #expect(try await store.download().removed == 1)
        #expect(try await store.rows("Orders").count == 199)
    }

    @Test("Rule 16: the support for parts of $expand is probed once")
    func probed() async throws {
        let shop = try await Shop()
        let probes = LockedList()
        let service = Gateway(
            base: try shop.client(),
            before: { request in
                if request.url.options.top == 1 { probes.append(request) }
                return nil
            })
        let store = try await shop.clone(
            [try DefiningQuery("mine", "Orders?$filter=EmployeeID eq 1&$expand=Order_Lines")], through: service)
        try await store.download()
        #expect(probes.requests.count == 1)
        #expect(probes.requests.first?.url.description.hasPrefix("Order_Lines?") == true)
    }
}
