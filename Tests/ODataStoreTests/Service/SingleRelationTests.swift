import ODataModel
import ODataService
import Testing

@testable import ODataStore

@Suite("11.4.6.3 A single-valued relation without a foreign key replaces the previous one")
struct SingleRelationTests {
    /// Returns a service with a topic (of many orders) and a badge (of one order) for each order, without
    /// foreign keys.
    private func service() async throws -> Bazaar {
        let bazaar = try await Bazaar(replacing: [
            #"<NavigationProperty Name="Invoice" Type="Bazaar.Invoice" ContainsTarget="true"/>"#:
                #"<NavigationProperty Name="Invoice" Type="Bazaar.Invoice" ContainsTarget="true"/>"#
                + #"<NavigationProperty Name="Topic" Type="Bazaar.Category" Partner="Orders"/>"#
                + #"<NavigationProperty Name="Badge" Type="Bazaar.Category" Partner="Bearer"/>"#,
            #"<NavigationProperty Name="Products" Type="Collection(Bazaar.Product)" Partner="Category"/>"#:
                #"<NavigationProperty Name="Products" Type="Collection(Bazaar.Product)" Partner="Category"/>"#
                + #"<NavigationProperty Name="Orders" Type="Collection(Bazaar.Order)" Partner="Topic"/>"#
                + #"<NavigationProperty Name="Bearer" Type="Bazaar.Order" Partner="Badge"/>"#,
            #"<EntitySet Name="Orders" EntityType="Bazaar.Order"/>"#:
                #"<EntitySet Name="Orders" EntityType="Bazaar.Order">"#
                + #"<NavigationPropertyBinding Path="Topic" Target="Categories"/>"#
                + #"<NavigationPropertyBinding Path="Badge" Target="Categories"/></EntitySet>"#,
            #"<NavigationPropertyBinding Path="Products" Target="Products"/>"#:
                #"<NavigationPropertyBinding Path="Products" Target="Products"/>"#
                + #"<NavigationPropertyBinding Path="Orders" Target="Orders"/>"#
                + #"<NavigationPropertyBinding Path="Bearer" Target="Orders"/>"#,
        ])
        for name in ["Garden", "Office"] { try await bazaar.create("Categories", #"{"Name":"\#(name)"}"#) }
        for (id, owner) in [(1, "Ann"), (2, "Bob")] {
            try await bazaar.create("Orders", #"{"ID":\#(id),"Owner":"\#(owner)"}"#)
        }
        return bazaar
    }

    /// Returns the owners of the orders in each category.
    private func owners(_ bazaar: Bazaar) async throws -> [[String]] {
        [
            try await bazaar.names("Categories(1)/Orders?$orderby=ID", "Owner"),
            try await bazaar.names("Categories(2)/Orders?$orderby=ID", "Owner"),
        ]
    }

    @Test("PUT of a reference replaces it, and DELETE removes it")
    func put() async throws {
        let bazaar = try await service()
        for order in 1...2 {
            try await bazaar.send(.replace, "Orders(\(order))/Topic/$ref", #"{"id":"Categories(1)"}"#)
        }
        #expect(try await owners(bazaar) == [["Ann", "Bob"], []])
        try await bazaar.send(.replace, "Orders(1)/Topic/$ref", #"{"id":"Categories(2)"}"#)
        #expect(try await owners(bazaar) == [["Bob"], ["Ann"]])
        #expect(try await bazaar.entity("Orders(1)/Topic")?["Name"] == "Office")
        try await bazaar.send(.delete, "Orders(1)/Topic/$ref")
        #expect(try await owners(bazaar) == [["Bob"], []])
    }

    @Test(
        "11.4.3 An update with a binding or an inline entity replaces the relation",
        arguments: [#"{"Topic@odata.bind":"Categories(2)"}"#, #"{"Topic":{"ID":2,"Name":"Office"}}"#])
    func update(json: String) async throws {
        let bazaar = try await service()
        try await bazaar.send(.replace, "Orders(1)/Topic/$ref", #"{"id":"Categories(1)"}"#)
        try await bazaar.send(.update, "Orders(1)", json)
        #expect(try await owners(bazaar) == [[], ["Ann"]])
    }

    @Test("From the other end, an entity is moved from its previous relation")
    func partner() async throws {
        let bazaar = try await service()
        for order in 1...2 {
            try await bazaar.send(.create, "Categories(1)/Orders/$ref", #"{"id":"Orders(\#(order))"}"#)
        }
        #expect(try await owners(bazaar) == [["Ann", "Bob"], []], "a collection has many")
        try await bazaar.send(.create, "Categories(2)/Orders/$ref", #"{"id":"Orders(1)"}"#)
        #expect(try await owners(bazaar) == [["Bob"], ["Ann"]])
        try await bazaar.create("Categories", #"{"Name":"Kitchen","Orders@odata.bind":["Orders(1)","Orders(2)"]}"#)
        #expect(try await owners(bazaar) == [[], []])
    }

    @Test("If both ends are single-valued, both previous relations are removed")
    func oneToOne() async throws {
        let bazaar = try await service()
        func bearers() async throws -> [[String]] {
            [
                try await bazaar.names("Orders?$filter=Badge/ID eq 1&$orderby=ID", "Owner"),
                try await bazaar.names("Orders?$filter=Badge/ID eq 2&$orderby=ID", "Owner"),
            ]
        }
        for number in 1...2 {
            try await bazaar.send(.replace, "Orders(\(number))/Badge/$ref", #"{"id":"Categories(\#(number))"}"#)
        }
        #expect(try await bearers() == [["Ann"], ["Bob"]])
        try await bazaar.send(.replace, "Categories(2)/Bearer/$ref", #"{"id":"Orders(1)"}"#)
        #expect(try await bearers() == [[], ["Ann"]])
    }
}
