import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataStore

@Suite("Server-driven paging of expanded collections")
struct ExpandPagingTests {
    @Test("Expanded collections of contained parents, singletons and derived types are paged, and others are complete")
    func containedAndSingletonParents() async throws {
        let parts = #"<NavigationProperty Name="Parts" Type="Collection(Bazaar.Part)" ContainsTarget="true"/>"#
        let near = #"Type="Collection(Bazaar.Category)"/>"#
        var options = StoreService.Options()
        options.maxExpandedRows = 1
        let bazaar = try await Bazaar(
            options: options,
            replacing: [
                #"<EntityType Name="Invoice">"#:
                    #"<EntityType Name="Part"><Key><PropertyRef Name="No"/></Key><Property Name="No" "#
                    + #"Type="Edm.Int32" Nullable="false"/></EntityType><EntityType Name="Invoice">"#,
                #"<Property Name="Text" Type="Edm.String"/></EntityType>"#:
                    #"<Property Name="Text" Type="Edm.String"/>\#(parts)</EntityType>"#,
                #"<Property Name="Version" Type="Edm.Int32" Nullable="false"/></EntityType>"#:
                    #"<Property Name="Version" Type="Edm.Int32" Nullable="false"/>\#(parts)</EntityType>"#,
                #"<Property Name="Discount" Type="Edm.Int32"/>"#:
                    #"<Property Name="Discount" Type="Edm.Int32"/><NavigationProperty Name="Extras" "#
                    + #"Type="Collection(Bazaar.Note)"/>"#,
                #"MaxLength="20"/></ComplexType>"#:
                    #"MaxLength="20"/><NavigationProperty Name="Near" \#(near)</ComplexType>"#,
                #"<NavigationPropertyBinding Path="Related" Target="Products"/>"#:
                    #"<NavigationPropertyBinding Path="Related" Target="Products"/><NavigationPropertyBinding "#
                    + #"Path="Address/Near" Target="Categories"/>"#,
            ])
        for name in ["a", "b", "c"] { try await bazaar.create("Categories", #"{"Name":"\#(name)"}"#) }
        try await bazaar.service.seed(json: Array(#"{"Shop":{"ID":1,"Name":"a"}}"#.utf8))
        try await bazaar.create("Orders", #"{"Owner":"ann","Lines":[{"No":1},{"No":2}]}"#)
        for number in 1...3 {
            try await bazaar.create("Notes", "{}")
            try await bazaar.create("Orders(1)/Lines(1)/Parts", #"{"No":\#(number)}"#)
            try await bazaar.create("Shop/Parts", #"{"No":\#(number)}"#)
        }
        let mug = try #require(
            try await bazaar.create(
                "Products",
                ##"{"@odata.type":"#Bazaar.Bargain","Name":"Mug","Address":{"City":"c"}}"##
            ).control.id)
        for number in 1...3 {
            try await bazaar.relate("Products", "Address/Near", 1, to: Int64(number))
            try await bazaar.send(
                .create, "\(mug)/Bazaar.Bargain/Extras/$ref", #"{"id":"Notes(\#(number))"}"#)
        }
        func all(_ related: RelatedEntities?) async throws -> [ODataValue?] {
            guard case .many(let first, _, let link)? = related else { throw ODataError.notFound("a collection") }
            #expect(first.count == 1 && link != nil)
            return (first + (try await bazaar.follow(link).entities)).map { $0["No"] ?? $0["ID"] }
        }
        let order = try #require(try await bazaar.entity("Orders(1)?$expand=Lines($expand=Parts)"))
        #expect(try await all(order.related["Lines"]) == [1, 2])
        guard case .many(let lines, _, _)? = order.related["Lines"] else { throw ODataError.notFound("lines") }
        #expect(try await all(lines.first?.related["Parts"]) == [1, 2, 3])
        let lists = try await bazaar.page("Orders(1)/Lines?$expand=Parts&$top=1")
        #expect(try await all(lists.entities.first?.related["Parts"]) == [1, 2, 3])
        #expect(try await all(bazaar.entity("Shop?$expand=Parts")?.related["Parts"]) == [1, 2, 3])
        let bargain = try await bazaar.page("Products?$expand=Bazaar.Bargain/Extras").entities.first
        #expect(try await all(bargain?.related["Extras"]) == [1, 2, 3])
        // A path through a complex value is not divided into pages, so no entity is missing.
        guard
            case .complex(let address)? = try await bazaar.page("Products?$expand=Address/Near").entities.first?[
                "Address"],
            case .many(let places, _, nil)? = address.related["Near"]
        else { throw ODataError.notFound("places") }
        #expect(places.count == 3)
    }
}
