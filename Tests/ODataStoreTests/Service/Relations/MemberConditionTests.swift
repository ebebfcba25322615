import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataStore

@Suite("11.4.3 and 11.4.12 The ETag of an entity within a body is the condition of its own change")
struct MemberConditionTests {
    private func bazaar() async throws -> Bazaar {
        try await Depot.bazaar { $0.givesETagsToAll = true }
    }

    private func amounts(_ bazaar: Bazaar) async throws -> [ODataValue?] { try await bazaar.values("Orders", "Amount") }

    private static let stale = #"{"ID":1,"@etag":"W/\"999\"","Amount":7}"#

    @Test(
        "in a collection, in a related collection, and in an update",
        arguments: [
            (ODataRequest.Method.update, "Orders", "[%]"), (.replace, "Orders", "[%]"),
            (.update, "Customers('A')/Orders", "[%]"), (.replace, "Customers('A')/Orders", "[%]"),
            (.update, "Customers('A')", #"{"Orders@delta":[%]}"#), (.update, "Customers('A')", #"{"Orders":[%]}"#),
        ])
    func members(method: ODataRequest.Method, url: String, body: String) async throws {
        let bazaar = try await bazaar()
        #expect(try await bazaar.refusal(method, url, body.replacing("%", with: Self.stale))?.status == 412)
        #expect(try await amounts(bazaar) == [10, 20, 30])
        let missing = #"{"ID":77,"@etag":"*","Amount":7}"#
        #expect(try await bazaar.refusal(method, url, body.replacing("%", with: missing))?.status == 412)
        #expect(try await amounts(bazaar) == [10, 20, 30], "what is to be there is not made")
        let etag = try #require(try await bazaar.entity("Orders(1)")?.control.etag)
        let current = #"{"ID":1,"@etag":"\#(etag.replacing("\"", with: "\\\""))","Amount":7}"#
        try await bazaar.send(method, url, body.replacing("%", with: current))
        #expect(try await bazaar.entity("Orders(1)")?["Amount"] == 7)
    }

    @Test("also for the target of a single-valued navigation property")
    func principal() async throws {
        let bazaar = try await bazaar()
        let body = #"{"Customer":{"ID":"A","@etag":"W/\"999\"","Name":"New"}}"#
        #expect(try await bazaar.refusal(.update, "Orders(1)", body)?.status == 412)
        #expect(try await bazaar.entity("Customers('A')")?["Name"] == .null)
        let missing = #"{"Customer":{"ID":"Z","@etag":"*","Name":"New"}}"#
        #expect(try await bazaar.refusal(.update, "Orders(1)", missing)?.status == 412)
        let any = #"{"Customer":{"ID":"A","@etag":"*","Name":"New"}}"#
        try await bazaar.send(.update, "Orders(1)", any)
        #expect(try await bazaar.entity("Customers('A')")?["Name"] == "New")
    }

    @Test("also for an entity that is removed from a collection", arguments: ["Orders", "Customers('A')/Orders"])
    func removedMember(url: String) async throws {
        let bazaar = try await bazaar()
        func member(_ etag: String) -> String {
            #"[{"@removed":{"reason":"deleted"},"@id":"Orders(1)","@etag":"\#(etag.replacing("\"", with: "\\\""))"}]"#
        }
        #expect(try await bazaar.refusal(.update, url, member("W/\"999\""))?.status == 412)
        #expect(try await amounts(bazaar) == [10, 20, 30])
        let etag = try #require(try await bazaar.entity("Orders(1)")?.control.etag)
        try await bazaar.send(.update, url, member(etag))
        #expect(try await amounts(bazaar) == [20, 30])
    }

    @Test("also for an entity that is removed within an update")
    func removed() async throws {
        let bazaar = try await bazaar()
        for reason in ["changed", "deleted"] {
            let member = #"{"@removed":{"reason":"\#(reason)"},"@id":"Orders(1)","@etag":"W/\"999\""}"#
            #expect(
                try await bazaar.refusal(.update, "Customers('A')", #"{"Orders@delta":[\#(member)]}"#)?.status == 412)
        }
        #expect(try await bazaar.values("Orders", "CustomerID") == ["A", "B", "A"])
    }

    @Test("With continue-on-error, only that member fails")
    func continueOnError() async throws {
        let bazaar = try await bazaar()
        var preferences = Preferences()
        preferences.continueOnError = true
        let response = try await bazaar.send(
            .update, "Orders", #"[\#(Self.stale),{"ID":2,"Amount":8}]"#, preferences: preferences)
        guard case .page(let page) = response.body else { throw ODataError.notFound("page") }
        #expect(page.entities.map { $0["ID"] } == [1])
        #expect(try await amounts(bazaar) == [10, 8, 30])
    }
}
