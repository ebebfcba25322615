import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataStore

@Suite("11.4.6.2 An entity is removed only from a collection that contains it")
struct UnrelatedEntityTests {
    /// Returns the customers of the orders, in which unintended changes would show.
    private func customers(_ bazaar: Bazaar) async throws -> [ODataValue?] {
        try await bazaar.values("Orders", "CustomerID")
    }

    @Test(
        "A reference to a contained entity of another parent, or to a missing entity, is refused",
        arguments: [
            "Customers('A')/Orders(2)/$ref", "Customers('A')/Orders/$ref?$id=Orders(2)",
            "Customers('A')/Orders(99)/$ref", "Customers('A')/Orders/$ref?$id=Orders(99)",
        ])
    func references(url: String) async throws {
        let bazaar = try await Depot.bazaar()
        #expect(try await bazaar.refusal(.delete, url)?.status == 404)
        #expect(try await customers(bazaar) == ["A", "B", "A"])
        try await bazaar.send(.delete, "Customers('A')/Orders/$ref?$id=Orders(1)")
        #expect(try await customers(bazaar) == [.null, "B", "A"])
    }

    @Test("The only reference is removed only under its own id")
    func singleReference() async throws {
        let bazaar = try await Depot.bazaar()
        for other in ["Customers('B')", "Customers('Z')", "Orders(2)"] {
            #expect(try await bazaar.refusal(.delete, "Orders(1)/Customer/$ref?$id=\(other)")?.status == 404)
        }
        #expect(try await customers(bazaar) == ["A", "B", "A"])
        try await bazaar.send(.delete, "Orders(1)/Customer/$ref?$id=Customers('A')")
        #expect(try await customers(bazaar) == [.null, "B", "A"])
    }

    @Test("A link table behaves in the same way, and the ETag stays")
    func links() async throws {
        let bazaar = try await Depot.bazaar { $0.givesETagsToAll = true }
        try await bazaar.send(.create, "Products(50)/Tags/$ref", #"{"id":"Tags(1)"}"#)
        let etag = try await bazaar.entity("Products(50)")?.control.etag
        for tag in [2, 99] {
            #expect(try await bazaar.refusal(.delete, "Products(50)/Tags(\(tag))/$ref")?.status == 404)
        }
        #expect(try await bazaar.entity("Products(50)")?.control.etag == etag)
        try await bazaar.send(.delete, "Products(50)/Tags(1)/$ref")
        #expect(try await bazaar.page("Products(50)/Tags").entities.isEmpty)
    }

    @Test("A deleted link that does not exist is refused in a delta")
    func deletedLinks() async throws {
        let bazaar = try await Depot.bazaar()
        for order in [2, 96] {
            let link = ChangedLink(
                source: "Customers('A')", relationship: "Orders", target: "Orders(\(order))", isDeleted: true)
            var request = try bazaar.request(.update, "Customers")
            request.body = .delta(EntityPage(links: [link]))
            let error = await #expect(throws: ODataError.self) { try await bazaar.service.execute(request) }
            #expect(error?.status == 404)
        }
        #expect(try await customers(bazaar) == ["A", "B", "A"])
    }

    @Test(
        "11.4.12 A removed member that does not exist is refused, in a collection and within an update",
        arguments: ["changed", "deleted"])
    func removedMembers(reason: String) async throws {
        let bazaar = try await Depot.bazaar()
        let member = #"{"@removed":{"reason":"\#(reason)"},"@id":"Orders(2)"}"#
        #expect(try await bazaar.refusal(.update, "Customers('A')/Orders", "[\(member)]")?.status == 404)
        #expect(
            try await bazaar.refusal(.update, "Customers('A')", #"{"Orders@delta":[\#(member)]}"#)?.status == 404)
        #expect(try await customers(bazaar) == ["A", "B", "A"])
        let own = #"{"@removed":{"reason":"\#(reason)"},"@id":"Orders(3)"}"#
        try await bazaar.send(.update, "Customers('A')/Orders", "[\(own)]")
        #expect(try await customers(bazaar) == (reason == "changed" ? ["A", "B", .null] : ["A", "B"]))
    }

    @Test("An entity that requires its relation is not deleted by the removal")
    func neededForeignKey() async throws {
        let bazaar = try await Bazaar()
        var ids: [String] = []
        for name in ["Mug", "Cup"] {
            let product = try await bazaar.create("Products", #"{"Name":"\#(name)","Texts":[{"Language":"EN"}]}"#)
            ids.append(try #require(product.control.id))
        }
        let text = try #require(try await bazaar.page("\(ids[1])/Texts").entities.first?.control.id)
        let member = #"[{"@removed":{"reason":"changed"},"@id":"\#(text)"}]"#
        #expect(try await bazaar.refusal(.update, "\(ids[0])/Texts", member)?.status == 404)
        #expect(try await bazaar.page("Texts").entities.count == 2)
    }
}
