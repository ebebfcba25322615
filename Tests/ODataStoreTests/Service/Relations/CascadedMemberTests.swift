import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataStore

@Suite("11.4.14 Deleting many entities with cascades between them")
struct CascadedMemberTests {
    /// Returns a service with a chain of nodes, each of which deletes the next one.
    private func nodes() async throws -> Bazaar {
        try await Depot.bazaar([
            (set: "Nodes", json: #"{"ID":1}"#), ("Nodes", #"{"ID":2,"ParentID":1}"#),
            ("Nodes", #"{"ID":3,"ParentID":2}"#), ("Nodes", #"{"ID":9}"#),
        ])
    }

    @Test("is done for each member of a collection")
    func each() async throws {
        let bazaar = try await nodes()
        #expect(try await bazaar.send(.delete, "Nodes/$filter(ID lt 9)/$each").status == 204)
        #expect(try await bazaar.values("Nodes", "ID") == [9])
    }

    @Test("is done for members that a collection no longer has")
    func replaced() async throws {
        let bazaar = try await nodes()
        #expect(try await bazaar.send(.replace, "Nodes", #"[{"ID":9}]"#).status == 204)
        #expect(try await bazaar.values("Nodes", "ID") == [9])
        #expect(try await bazaar.send(.replace, "Nodes", "[]").status == 204)
        #expect(try await bazaar.page("Nodes").entities.isEmpty)
    }
}
