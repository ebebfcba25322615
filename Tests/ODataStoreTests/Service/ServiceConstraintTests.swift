import GRDB
import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataSQL
@testable import ODataStore

@Suite("A service on its own model: constraints, references and ETags")
struct ServiceConstraintTests {
    private static let products =
        #"<NavigationProperty Name="Products" Type="Collection(Bazaar.Product)" Partner="Category"/>"#

    private func onDelete(_ action: String, _ more: [String: String] = [:]) async throws -> Bazaar {
        let property = """
            <NavigationProperty Name="Products" Type="Collection(Bazaar.Product)" Partner="Category">
            <OnDelete Action="\(action)"/></NavigationProperty>
            """
        let bazaar = try await Bazaar(replacing: [Self.products: property].merging(more) { first, _ in first })
        try await bazaar.create("Categories", #"{"Name":"Kitchen","Products":[{"Name":"Mug"}]}"#)
        try await bazaar.create("Categories", #"{"Name":"Office"}"#)
        return bazaar
    }

    @Test("CSDL 8.6 OnDelete None: deleting a referenced entity is refused with 409")
    func none() async throws {
        let bazaar = try await onDelete("None")
        #expect(try await bazaar.refusal(.delete, "Categories(1)")?.status == 409)
        #expect(try await bazaar.names("Categories(1)/Products") == ["Mug"])
        #expect(try await bazaar.send(.delete, "Categories(2)").status == 204)
    }

    @Test("CSDL 8.6 OnDelete Cascade, SetNull and SetDefault")
    func actions() async throws {
        let cascade = try await onDelete("Cascade")
        try await cascade.send(.delete, "Categories(1)")
        #expect(try await cascade.page("Products").entities.isEmpty)
        let null = try await onDelete("SetNull")
        try await null.send(.delete, "Categories(1)")
        #expect(try await null.page("Products").entities.map { $0["CategoryID"] } == [.null])
        let property = #"<Property Name="CategoryID" Type="Edm.Int32"/>"#
        let standard = try await onDelete(
            "SetDefault", [property: #"<Property Name="CategoryID" Type="Edm.Int32" DefaultValue="2"/>"#])
        try await standard.send(.delete, "Categories(1)")
        #expect(try await standard.names("Categories(2)/Products") == ["Mug"])
        // The product counts as changed.
        #expect(try await standard.page("Products").entities.map { $0["Version"] } == [2])
    }

    @Test("11.4.5 a required foreign key prevents the deletion if the model says nothing")
    func required() async throws {
        let bazaar = try await Bazaar(replacing: [
            #"<OnDelete Action="Cascade"/>"#: "",
            #"<NavigationProperty Name="Texts" Type="Collection(Bazaar.ProductText)" Partner="Product">"#:
                #"<NavigationProperty Name="Texts" Type="Collection(Bazaar.ProductText)" Partner="Product">"#,
        ])
        let mug = try await bazaar.create("Products", #"{"Name":"Mug","Texts":[{"Language":"EN"}]}"#)
        #expect(try await bazaar.refusal(.delete, try #require(mug.control.id))?.status == 409)
    }

    @Test("A deletion cascades over at most a hundred levels")
    func cascadeLimit() async throws {
        let tree = """
            <Property Name="ParentID" Type="Edm.Int32"/>
            <NavigationProperty Name="Parent" Type="Bazaar.Category" Partner="Children">
            <ReferentialConstraint Property="ParentID" ReferencedProperty="ID"/></NavigationProperty>
            <NavigationProperty Name="Children" Type="Collection(Bazaar.Category)" Partner="Parent">
            <OnDelete Action="Cascade"/></NavigationProperty>
            """
        let binding = #"<NavigationPropertyBinding Path="Products" Target="Products"/></EntitySet>"#
        let bazaar = try await Bazaar(replacing: [
            Self.products: Self.products + tree,
            binding: #"<NavigationPropertyBinding Path="Parent" Target="Categories"/>"#
                + #"<NavigationPropertyBinding Path="Children" Target="Categories"/>"# + binding,
        ])
        let count = RowWriter.maxCascadeDepth + 2
        let rows = (1...count).map { #"{"ID":\#($0),"Name":"n\#($0)","ParentID":\#($0 == 1 ? "null" : "\($0 - 1)")}"# }
        try await bazaar.service.seed(json: Array(#"{"Categories":[\#(rows.joined(separator: ","))]}"#.utf8))
        #expect(try await bazaar.refusal(.delete, "Categories(1)")?.status == 409)
        #expect(try await bazaar.page("Categories").entities.count == count)
        #expect(try await bazaar.send(.delete, "Categories(2)").status == 204)
        #expect(try await bazaar.page("Categories").entities.count == 1)
    }

    @Test("11.4.3 an invalid foreign key is 400 with the navigation property as target")
    func principals() async throws {
        let bazaar = try await Bazaar()
        let refused = try await bazaar.refusal(.create, "Products", #"{"Name":"Mug","CategoryID":9}"#)
        #expect(refused?.status == 400)
        #expect(refused?.target == "Category")
        try await bazaar.create("Categories", #"{"Name":"Kitchen"}"#)
        let id = try #require(try await bazaar.create("Products", #"{"Name":"Mug","CategoryID":1}"#).control.id)
        #expect(try await bazaar.refusal(.update, id, #"{"CategoryID":9}"#)?.target == "Category")
        let text = #"{"ProductID":"00000000-0000-0000-0000-000000000001","Language":"EN"}"#
        #expect(try await bazaar.refusal(.create, "Texts", text)?.target == "Product")
        #expect(try await bazaar.refusal(.replace, id, #"{"Name":"Cup","CategoryID":9}"#)?.target == "Category")
        #expect(try await bazaar.refusal(.update, "\(id)/CategoryID", #"{"value":9}"#)?.target == "Category")
        #expect(try await bazaar.send(.update, id, #"{"CategoryID":null}"#).status == 204)
        // Services may permit orders that arrive before their customers.
        var options = StoreService.Options()
        options.requiresPrincipals = false
        let lenient = try await Bazaar(options: options)
        #expect(try await lenient.create("Products", #"{"Name":"Mug","CategoryID":9}"#)["CategoryID"] == 9)
    }

    @Test("A missing part of a foreign key is taken from the row")
    func partOfForeignKey() async throws {
        let bazaar = try await Bazaar(
            replacing: [
                #"<Property Name="Margin" Type="Edm.Int32"/>"#: """
                <Property Name="TextProduct" Type="Edm.Guid"/><Property Name="TextLanguage" Type="Edm.String"/>
                <NavigationProperty Name="Text" Type="Bazaar.ProductText">
                <ReferentialConstraint Property="TextProduct" ReferencedProperty="ProductID"/>
                <ReferentialConstraint Property="TextLanguage" ReferencedProperty="Language"/></NavigationProperty>
                """,
                #"<EntitySet Name="Orders" EntityType="Bazaar.Order"/>"#: """
                <EntitySet Name="Orders" EntityType="Bazaar.Order">
                <NavigationPropertyBinding Path="Text" Target="Texts"/></EntitySet>
                """,
            ])
        let product = try #require(
            try await bazaar.create(
                "Products", #"{"Name":"Mug","Texts":[{"Language":"de","Text":"Becher"}]}"#)["ID"]?.lexicalText)
        try await bazaar.create(
            "Orders", #"{"ID":1,"TextProduct":"\#(product)","TextLanguage":"de"}"#)
        let refused = try await bazaar.refusal(.update, "Orders(1)", #"{"TextLanguage":"XX"}"#)
        #expect(refused?.status == 400)
        #expect(refused?.target == "Text")
        try await bazaar.send(.update, "Orders(1)", #"{"TextLanguage":null}"#)
        #expect(try await bazaar.refusal(.update, "Orders(1)", #"{"TextLanguage":"XX"}"#)?.target == "Text")
        try await bazaar.send(.update, "Orders(1)", #"{"TextLanguage":"de","Owner":"ann"}"#)
    }

    @Test("11.4.3 Unchangeable values stay within complex values: key parts, computed and immutable ones")
    func fixedWithinComplexValues() async throws {
        let bazaar = try await Bazaar(replacing: [
            #"<Property Name="Street" Type="Edm.String"/>"#: """
            <Property Name="Street" Type="Edm.String"/>
            <Property Name="Made" Type="Edm.String"><Annotation Term="Core.Computed"/></Property>
            <Property Name="Plot" Type="Edm.String"><Annotation Term="Core.Immutable"/></Property>
            """
        ])
        let id = try #require(
            try await bazaar.create(
                "Products", #"{"Name":"Mug","Address":{"Street":"a","Plot":"7","Made":"x"}}"#
            ).control.id)
        for (method, url, body) in [
            (ODataRequest.Method.update, id, #"{"Address":{"Street":"b","Plot":"8","Made":"y"}}"#),
            (.update, "\(id)/Address", #"{"Street":"b","Plot":"8"}"#),
            (.replace, "\(id)/Address", #"{"Street":"b","City":"c"}"#),
            (.replace, id, #"{"Name":"Mug","Address":{"Street":"b","Plot":"8"}}"#),
        ] {
            try await bazaar.send(method, url, body)
            guard case .complex(let address)? = try await bazaar.entity(id)?["Address"] else {
                Issue.record("no address after \(method) \(url)")
                continue
            }
            #expect(address["Street"] == "b")
            #expect(address["Plot"] == "7", "\(method) \(url)")
            #expect(address["Made"] == .null, "\(method) \(url)")
        }
    }

    @Test("8.3.1 ETags: a version number is never given twice")
    func sequence() async throws {
        let bazaar = try await Bazaar { $0.givesETagsToAll = true }
        let first = try #require(try await bazaar.create("Categories", #"{"ID":1,"Name":"Kitchen"}"#).control.etag)
        let second = try #require(try await bazaar.send(.update, "Categories(1)", #"{"Name":"Cuisine"}"#).etag)
        #expect(first != second)
        try await bazaar.send(.delete, "Categories(1)", ifMatch: second)
        let third = try #require(try await bazaar.create("Categories", #"{"ID":1,"Name":"Kitchen"}"#).control.etag)
        #expect(![first, second].contains(third))
        #expect(try await bazaar.refusal(.delete, "Categories(1)", ifMatch: first)?.status == 412)
    }

    @Test("Core.OptimisticConcurrency with properties: only these change the ETag")
    func values() async throws {
        let set = #"<EntitySet Name="Orders" EntityType="Bazaar.Order"/>"#
        let bazaar = try await Bazaar(replacing: [
            set: """
            <EntitySet Name="Orders" EntityType="Bazaar.Order"><Annotation Term="Core.OptimisticConcurrency">
            <Collection><PropertyPath>Owner</PropertyPath></Collection></Annotation></EntitySet>
            """
        ])
        let first = try await bazaar.create("Orders", #"{"Owner":"ann","Margin":1}"#).control.etag
        let same = try await bazaar.send(.update, "Orders(1)", #"{"Margin":2}"#, ifMatch: first).etag
        let other = try await bazaar.send(.update, "Orders(1)", #"{"Owner":"bob"}"#, ifMatch: same).etag
        #expect(first != nil)
        #expect(same == first)
        #expect(other != first)
    }

    @Test("Core.AlternateKeys: values are unique, and entities are found and changed by them")
    func alternateKeys() async throws {
        let key = #"<EntityType Name="Note" OpenType="true"><Key><PropertyRef Name="ID"/></Key>"#
        let bazaar = try await Bazaar(replacing: [
            key: key + """
                <Property Name="Code" Type="Edm.String"/><Annotation Term="Core.AlternateKeys"><Collection>
                <Record Type="Core.AlternateKey"><PropertyValue Property="Key"><Collection>
                <Record Type="Core.PropertyRef"><PropertyValue Property="Name" PropertyPath="Code"/>
                <PropertyValue Property="Alias" String="Code"/></Record></Collection></PropertyValue></Record>
                </Collection></Annotation>
                """
        ])
        try await bazaar.create("Notes", #"{"Code":"a"}"#)
        #expect(try await bazaar.refusal(.create, "Notes", #"{"Code":"a"}"#)?.status == 409)
        try await bazaar.create("Notes", #"{"Code":"b"}"#)
        try await bazaar.send(.update, "Notes(Code='b')", #"{"Text":"changed"}"#)
        #expect(try await bazaar.entity("Notes(2)")?.dynamicProperties["Text"] == "changed")
        #expect(try await bazaar.refusal(.update, "Notes(Code='c')", "{}")?.status == 404)
        try await bazaar.send(.delete, "Notes(Code='a')")
        #expect(try await bazaar.page("Notes").entities.count == 1)
    }

    @Test("11.4.2.2 a deep insert succeeds or fails as a whole")
    func allOrNothing() async throws {
        let bazaar = try await Bazaar()
        let bad = #"{"Name":"Kitchen","Products":[{"Name":"Mug"},{"Name":"a name that is far too long"}]}"#
        #expect(try await bazaar.refusal(.create, "Categories", bad)?.target == "Name")
        #expect(try await bazaar.page("Categories").entities.isEmpty)
        #expect(try await bazaar.page("Products").entities.isEmpty)
    }

    @Test("A repeated upload acts once and stores one stream")
    func repeatedUpload() async throws {
        let bazaar = try await Bazaar()
        func upload() throws -> ODataRequest {
            var request = try bazaar.request(.create, "Pictures")
            request.body = .media(ByteStream([1, 2, 3]), contentType: "image/png")
            request.repeatability = Repeatability(requestID: "r-7", firstSent: "Fri, 15 Jan 2027 07:00:00 GMT")
            return request
        }
        let first = try await bazaar.service.execute(upload())
        let second = try await bazaar.service.execute(upload())
        #expect(first.location == second.location)
        let left = try await bazaar.service.database.read {
            try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM outpost_stream")
        }
        #expect(left == 1)
    }
}
