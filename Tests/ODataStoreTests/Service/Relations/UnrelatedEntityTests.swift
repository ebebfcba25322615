import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataStore

@Suite("11.4.6.2 An entity removed from a collection must be in it, and nothing else is touched")
struct UnrelatedEntityTests {
    /// Returns the customers of the orders, in which unintended changes would show.
    private func customers(_ bazaar: Bazaar) async throws -> [ODataValue?] {
        try await bazaar.values("Orders", "CustomerID")
    }

    @Test(
        "A reference to an entity that belongs to another one, or that is not there, is none of the collection",
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

    @Test("A reference that is the only one is removed under its own id alone")
    func singleReference() async throws {
        let bazaar = try await Depot.bazaar()
        for other in ["Customers('B')", "Customers('Z')", "Orders(2)"] {
            #expect(try await bazaar.refusal(.delete, "Orders(1)/Customer/$ref?$id=\(other)")?.status == 404)
        }
        #expect(try await customers(bazaar) == ["A", "B", "A"])
        try await bazaar.send(.delete, "Orders(1)/Customer/$ref?$id=Customers('A')")
        #expect(try await customers(bazaar) == [.null, "B", "A"])
    }

    @Test("The same holds in a link table, and the ETag stays too")
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

    @Test("A deleted link of a delta that was none is refused as well")
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
        "11.4.12 Neither is a member of a delta that is removed, from the collection itself or within an update",
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

    @Test("One that cannot be without the other entity is not deleted for that")
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
