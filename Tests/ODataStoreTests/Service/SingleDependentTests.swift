import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataStore

@Suite("11.4.6.3 A single-valued relation by a foreign key replaces the previous one")
struct SingleDependentTests {
    /// Returns a service with one product for each category; the products refer to their category by a foreign
    /// key.
    private func service(foreignKey: String = #"<Property Name="CategoryID" Type="Edm.Int32"/>"#) async throws -> Bazaar
    {
        let bazaar = try await Bazaar(replacing: [
            #"<Property Name="CategoryID" Type="Edm.Int32"/>"#: foreignKey,
            #"<NavigationProperty Name="Category" Type="Bazaar.Category" Partner="Products">"#:
                #"<NavigationProperty Name="Category" Type="Bazaar.Category" Partner="Product">"#,
            #"<NavigationProperty Name="Products" Type="Collection(Bazaar.Product)" Partner="Category"/>"#:
                #"<NavigationProperty Name="Product" Type="Bazaar.Product" Partner="Category"/>"#,
            #"<NavigationPropertyBinding Path="Products" Target="Products"/>"#:
                #"<NavigationPropertyBinding Path="Product" Target="Products"/>"#,
        ])
        for name in ["Garden", "Office"] { try await bazaar.create("Categories", #"{"Name":"\#(name)"}"#) }
        return bazaar
    }

    /// Returns the names of the products in each category.
    private func products(_ bazaar: Bazaar) async throws -> [[String]] {
        [
            try await bazaar.names("Products?$filter=CategoryID eq 1&$orderby=Name"),
            try await bazaar.names("Products?$filter=CategoryID eq 2&$orderby=Name"),
        ]
    }

    /// The way in which a product is assigned to a category.
    enum Way: CaseIterable, Sendable {
        case reference, bound, within
    }

    private func relate(_ id: String, _ bazaar: Bazaar, by way: Way) async throws {
        switch way {
        case .reference: try await bazaar.send(.replace, "Categories(1)/Product/$ref", #"{"id":"\#(id)"}"#)
        case .bound: try await bazaar.send(.update, "Categories(1)", #"{"Product@odata.bind":"\#(id)"}"#)
        case .within:
            let key = id.dropFirst("Products(".count).dropLast()
            try await bazaar.send(.update, "Categories(1)", #"{"Product":{"ID":"\#(key)","Name":"Cup"}}"#)
        }
    }

    @Test("also when it is set from that end, and the previous entity gets a new version", arguments: Way.allCases)
    func replaced(way: Way) async throws {
        let bazaar = try await service()
        let mug = try await bazaar.create("Products", #"{"Name":"Mug","CategoryID":1}"#)
        let cup = try await bazaar.create("Products", #"{"Name":"Cup","CategoryID":2}"#)
        try await relate(try #require(cup.control.id), bazaar, by: way)
        #expect(try await products(bazaar) == [["Cup"], []])
        #expect(try await bazaar.entity("Categories(1)/Product")?["Name"] == "Cup")
        let former = try await bazaar.entity(try #require(mug.control.id))
        #expect(former?["CategoryID"] == .null)
        #expect(former?["Version"] == 2, "who has read it sees that it is another")
    }

    @Test("A relation to the current target changes nothing")
    func again() async throws {
        let bazaar = try await service()
        let mug = try await bazaar.create("Products", #"{"Name":"Mug","CategoryID":1}"#)
        try await relate(try #require(mug.control.id), bazaar, by: .reference)
        #expect(try await products(bazaar) == [["Mug"], []])
        #expect(try await bazaar.entity(try #require(mug.control.id))?["Version"] == 2, "one update alone")
    }

    private static let neededForeignKey = #"<Property Name="CategoryID" Type="Edm.Int32" Nullable="false"/>"#

    @Test("is refused if the previous entity requires it", arguments: [Way.reference, .bound])
    func needed(way: Way) async throws {
        let bazaar = try await service(foreignKey: Self.neededForeignKey)
        try await bazaar.create("Products", #"{"Name":"Mug","CategoryID":1}"#)
        let cup = try await bazaar.create("Products", #"{"Name":"Cup","CategoryID":2}"#)
        let error = await #expect(throws: ODataError.self) {
            try await relate(try #require(cup.control.id), bazaar, by: way)
        }
        #expect(error?.status == 400 && error?.target == "Product", "what the request names")
        #expect(error?.message.contains("CategoryID") == true, "and what keeps it")
        #expect(try await products(bazaar) == [["Mug"], ["Cup"]])
    }

    @Test("11.4.3.1, 11.4.6.2 An entity within an update does not replace a required relation")
    func neededWithin() async throws {
        let bazaar = try await service(foreignKey: Self.neededForeignKey)
        try await bazaar.create("Products", #"{"Name":"Mug","CategoryID":1}"#)
        let cup = try await bazaar.create("Products", #"{"Name":"Cup","CategoryID":2}"#)
        let id = try #require(cup.control.id)
        let error = await #expect(throws: ODataError.self) { try await relate(id, bazaar, by: .within) }
        #expect(error?.status == 400)
        #expect(try await products(bazaar) == [["Mug"], ["Cup"]])
    }

    // MARK: At most one

    @Test("Two entities for a single-valued property are refused, for each kind of relation")
    func two() async throws {
        let bazaar = try await Bazaar(replacing: [
            #"<NavigationProperty Name="Invoice" Type="Bazaar.Invoice" ContainsTarget="true"/>"#:
                #"<NavigationProperty Name="Topic" Type="Bazaar.Category"/>"#,
            #"<EntitySet Name="Orders" EntityType="Bazaar.Order"/>"#:
                #"<EntitySet Name="Orders" EntityType="Bazaar.Order">"#
                + #"<NavigationPropertyBinding Path="Topic" Target="Categories"/></EntitySet>"#,
        ])
        for name in ["Garden", "Office"] { try await bazaar.create("Categories", #"{"Name":"\#(name)"}"#) }
        try await bazaar.create("Orders", #"{"ID":1}"#)
        let mug = try await bazaar.create("Products", #"{"Name":"Mug"}"#)
        for (url, set, name) in [
            ("Orders(1)", "Orders", "Topic"), (try #require(mug.control.id), "Products", "Category"),
        ] {
            var patch = ODataEntity(shape: try #require(bazaar.service.model.shape(ofSet: set)))
            patch.related[name] = .references(["Categories(1)", "Categories(2)"])
            let request = ODataRequest(.update, try ODataURL(parsing: url), body: .entity(patch))
            let error = await #expect(throws: ODataError.self) { try await bazaar.service.execute(request) }
            #expect(error?.status == 400 && error?.code == "InvalidValue" && error?.target == name)
            #expect(try await bazaar.send(.read, "\(url)/\(name)").status == 204, "nothing was related")
        }
    }
}
