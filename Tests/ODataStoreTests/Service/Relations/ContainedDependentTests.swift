import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataStore

@Suite("8.6 (CSDL) Contained dependents of a deleted entity with equal keys in several parents")
struct ContainedDependentTests {
    @Test("Only its own reference is removed, not that of a row with the same key in another parent")
    func setNull() async throws {
        let bazaar = try await Depot.bazaar()
        try await bazaar.send(.delete, "Products(51)")
        #expect(try await bazaar.entity("Orders(1)/Items(1)")?["ProductID"] == 50)
        #expect(try await bazaar.entity("Orders(3)/Items(1)")?["ProductID"] == .null)
    }

    @Test("The row is deleted if the model says so, and the other row stays")
    func cascade() async throws {
        let partner =
            #"<NavigationProperty Name="Items" Type="Collection(T.Item)" Partner="Product">"#
            + #"<OnDelete Action="Cascade"/></NavigationProperty>"#
        let metadata = Depot.metadata
            .replacing(
                #"<NavigationProperty Name="Product" Type="T.Product">"#,
                with: #"<NavigationProperty Name="Product" Type="T.Product" Partner="Items">"#
            )
            .replacing(
                #"<NavigationProperty Name="Tags" Type="Collection(T.Tag)"/>"#,
                with: #"<NavigationProperty Name="Tags" Type="Collection(T.Tag)"/>\#(partner)"#)
        let bazaar = try await Bazaar(model: metadata) { _ in }
        for row in Depot.rows { try await bazaar.create(row.set, row.json) }
        try await bazaar.send(.delete, "Products(51)")
        #expect(try await bazaar.values("Orders(1)/Items", "ProductID") == [50])
        #expect(try await bazaar.page("Orders(3)/Items").entities.isEmpty)
    }

    @Test("Several rows with the same key each lose their reference")
    func several() async throws {
        let bazaar = try await Depot.bazaar()
        try await bazaar.send(.update, "Orders(1)/Items(1)", #"{"ProductID":51}"#)
        try await bazaar.send(.delete, "Products(51)")
        for order in [1, 3] {
            #expect(try await bazaar.entity("Orders(\(order))/Items(1)")?["ProductID"] == .null)
        }
    }
}
