import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataStore

@Suite("11.4.2.1 A creation with a contradicting binding fails")
struct ContradictingBindingTests {
    @Test(
        "for a collection of another entity, at any depth",
        arguments: [
            (ODataRequest.Method.create, "Customers('A')/Orders", "%"),
            (.create, "Customers", #"{"ID":"C","Orders":[%]}"#),
            (.update, "Customers('A')", #"{"Orders@delta":[%]}"#),
            (.update, "Customers('A')", #"{"Orders":[%]}"#),
        ])
    func created(method: ODataRequest.Method, url: String, body: String) async throws {
        let bazaar = try await Depot.bazaar()
        let order = #"{"ID":700,"Customer@odata.bind":"Customers('B')"}"#
        let error = try await bazaar.refusal(method, url, body.replacing("%", with: order))
        #expect(error?.status == 400 && error?.target == "Customer")
        #expect(try await bazaar.values("Orders", "CustomerID") == ["A", "B", "A"])
        #expect(try await bazaar.page("Customers").entities.count == 2)
    }

    @Test("for an existing entity as well")
    func updated() async throws {
        let bazaar = try await Depot.bazaar()
        let order = #"{"ID":1,"Customer@odata.bind":"Customers('B')"}"#
        #expect(try await bazaar.refusal(.update, "Customers('A')", #"{"Orders@delta":[\#(order)]}"#)?.status == 400)
        #expect(try await bazaar.values("Orders", "CustomerID") == ["A", "B", "A"])
    }

    @Test("A consistent binding is accepted")
    func same() async throws {
        let bazaar = try await Depot.bazaar()
        try await bazaar.create("Customers('A')/Orders", #"{"ID":700,"Customer@odata.bind":"Customers('A')"}"#)
        #expect(try await bazaar.entity("Orders(700)")?["CustomerID"] == "A")
    }
}
