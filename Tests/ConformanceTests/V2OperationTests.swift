import Foundation
import HTTPTypes
import ODataFormat
import ODataHTTP
import ODataModel
import ODataService
import ODataStore
import Testing

@Suite("OData 2.0, operations and the requests of SAP's clients")
struct V2OperationTests {
    private static let metadata = """
        <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.01"><edmx:DataServices>
        <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="Shop">
          <EntityType Name="Item"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/>
            <Property Name="Made" Type="Edm.DateTimeOffset">
              <Annotation Term="Org.OData.Core.V1.Computed" Bool="true"/></Property>
            <Property Name="IsOpen" Type="Edm.Boolean"/>
            <NavigationProperty Name="Parts" Type="Collection(Shop.Part)"/>
          </EntityType>
          <EntityType Name="Special" BaseType="Shop.Item"/>
          <EntityType Name="Part"><Key><PropertyRef Name="Code"/></Key>
            <Property Name="Code" Type="Edm.String" Nullable="false"/></EntityType>
          <EntityType Name="Photo" HasStream="true"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
          <ComplexType Name="Size"><Property Name="Width" Type="Edm.Int32"/></ComplexType>
          <EntityContainer Name="C"><EntitySet Name="Items" EntityType="Shop.Item">
            <Annotation Term="Org.OData.Capabilities.V1.InsertRestrictions">
              <Record><PropertyValue Property="Insertable" Bool="false"/></Record></Annotation>
            <Annotation Term="Org.OData.Capabilities.V1.DeleteRestrictions">
              <Record><PropertyValue Property="Deletable" Bool="false"/></Record></Annotation>
            <Annotation Term="Org.OData.Capabilities.V1.SortRestrictions"><Record>
              <PropertyValue Property="NonSortableProperties"><Collection><PropertyPath>Name</PropertyPath></Collection>
              </PropertyValue></Record></Annotation>
            <Annotation Term="Org.OData.Capabilities.V1.CountRestrictions">
              <Record><PropertyValue Property="Countable" Bool="false"/></Record></Annotation>
            <Annotation Term="com.sap.vocabularies.Common.v1.Label" String="Things"/>
          </EntitySet>
          <EntitySet Name="Parts" EntityType="Shop.Part"/><EntitySet Name="Photos" EntityType="Shop.Photo"/>
          </EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    private struct V2 {
        let handler: ODataV2Handler

        func send(_ method: HTTPRequest.Method, _ path: String) async throws -> (status: Int, text: String) {
            let message = HTTPRequest(method: method, scheme: "http", authority: "host", path: "/v2/\(path)")
            let (response, stream) = await handler.handle(message, ByteStream([]))
            return (response.status.code, String(decoding: try await stream.collect(limit: 1 << 20), as: UTF8.self))
        }
    }

    private func service(_ body: (V2) async throws -> Void) async throws {
        var definition = ServiceDefinition(model: try CSDLReader.read(xml: Array(Self.metadata.utf8)))
        let (item, size) = (QualifiedName("Shop", "Item"), QualifiedName("Shop", "Size"))
        let width = OperationParameter("width", .primitive(.int32))
        @Sendable func complex(_ call: ServiceCall) throws -> ODataValue {
            let width: Int64 = try call.argument("width")
            let shape = try #require(call.transaction.model.shape(size))
            return .complex(ODataEntity(shape: shape, ["Width": .integer(width)]))
        }
        try definition.function("One", parameters: [width], returns: .primitive(.int32)) { call in
            .value(.integer(try call.argument("width")))
        }
        try definition.function("Many", parameters: [width], returns: .collection(.primitive(.int32))) { call in
            .value(.collection([.integer(try call.argument("width")), .integer(7)]))
        }
        try definition.function("OneSize", parameters: [width], returns: .complex(size)) { .value(try complex($0)) }
        try definition.function("ManySizes", parameters: [width], returns: .collection(.complex(size))) { call in
            .value(.collection([try complex(call)]))
        }
        try definition.function("OneItem", returns: .entity(item), in: "Items") { call in
            try call.transaction.entity("Items(1)").map { .entity($0) } ?? .none
        }
        try definition.function("ManyItems", returns: .collection(.entity(item)), in: "Items") { _ in
            .query("Items?$orderby=ID desc")
        }
        try definition.action("Nothing") { _ in .none }
        try definition.action("Close", on: .entity(item), parameters: [.init("why", .primitive(.string))]) { call in
            let why: String = try call.argument("why")
            try call.transaction.update(call.boundEntity(), ["Name": .string(why), "IsOpen": .boolean(false)])
            return .none
        }
        try definition.function(
            "Scaled", on: .entity(item), parameters: [.init("by", .primitive(.int64))], returns: .primitive(.int64)
        ) { call in
            guard case .integer(let id)? = try call.boundEntity()["ID"] else { return .none }
            return .value(.integer(id * (try call.argument("by"))))
        }
        try definition.function("Self", on: .entity(item), returns: .entity(item), in: "Items") { call in
            .entity(try call.boundEntity())
        }
        let service = try await StoreService.open(definition, at: .memory)
        try await service.seed(json: Array(#"{"Items":[{"ID":1,"Name":"a"},{"ID":2,"Name":"b"}]}"#.utf8))
        try await body(V2(handler: try ODataV2Handler(provider: service, serviceRoot: "/v2/")))
        try await service.close()
    }

    @Test(
        "MS-ODATA 2.2.3.11 function imports of all seven kinds: nothing, values, complex values and entities, one or many"
    )
    func functionImports() async throws {
        try await service { v2 in
            let (_, metadata) = try await v2.send(.get, "$metadata")
            for name in ["One", "Many", "OneSize", "ManySizes", "OneItem", "ManyItems", "Nothing"] {
                #expect(metadata.contains("<FunctionImport Name=\"\(name)\""), "\(name)")
            }
            let answers = [
                ("One?width=3", #""One":3"#), ("Many?width=3", "[3,7]"), ("OneSize?width=3", #""Width":3"#),
                ("ManySizes?width=3", #""Width":3"#), ("OneItem?", #""Name":"a""#), ("ManyItems?", #""Name":"b""#),
            ]
            for (call, expected) in answers {
                let (status, text) = try await v2.send(.get, "\(call)&$format=json")
                #expect(status == 200 && text.hasPrefix("{\"d\":") && text.contains(expected), "\(call): \(text)")
                let (atom, xml) = try await v2.send(.get, call)
                #expect(atom == 200 && xml.hasPrefix("<?xml"), "\(call): \(xml)")
            }
            let elements = [
                ("One?width=3", /<d:One[^>]*>3<\/d:One>/), ("Many?width=3", /<d:Many.*<d:element[^>]*>3<.*7</),
                ("OneSize?width=3", /<d:OneSize.*<d:Width[^>]*>3</),
                ("ManySizes?width=3", /<d:ManySizes.*<d:element.*<d:Width[^>]*>3</),
                ("OneItem", /^<\?xml[^>]*>\s*<entry.*<d:Name>a</), ("ManyItems", /<feed.*<entry.*>b<.*<entry.*>a</),
            ]
            for (call, element) in elements {
                let xml = try await v2.send(.get, call).text
                #expect(xml.contains(element.dotMatchesNewlines()), "\(call): \(xml)")
            }
            #expect(try await v2.send(.post, "Nothing").0 == 204)
            #expect(try await (400..<500).contains(v2.send(.get, "One?$format=json").0))
            #expect(try await v2.send(.get, "Nothing").0 == 405)
        }
    }

    @Test("SAP annotations, FunctionImport: a bound operation becomes a function import of its type")
    func boundOperations() async throws {
        try await service { v2 in
            let metadata = try await v2.send(.get, "$metadata").text
            let close = try #require(
                metadata.firstMatch(of: /<FunctionImport Name="Item_Close".*?<\/FunctionImport>/.dotMatchesNewlines()))
            #expect(close.0.contains("sap:action-for=\"Shop.Item\"") && close.0.contains("m:HttpMethod=\"POST\""))
            #expect(close.0.contains("<Parameter Name=\"ID\"") && close.0.contains("<Parameter Name=\"why\""))
            let scaled = try await v2.send(.get, "Item_Scaled?ID=2&by=4L&$format=json").text
            #expect(scaled == #"{"d":{"Item_Scaled":"8"}}"#)
            let itself = try await v2.send(.get, "Item_Self?ID=2&$format=json")
            #expect(itself.status == 200 && itself.text.contains("/v2/Items(2)"), "\(itself.text)")
            #expect(try await v2.send(.post, "Item_Close?ID=2&why='sold'").status == 204)
            #expect(try await v2.send(.get, "Items(2)?$format=json").text.contains(#""Name":"sold""#))
            #expect(try await v2.send(.post, "Item_Close?why='sold'").status == 400)
            #expect(try await v2.send(.post, "Item_Close?ID=2").status == 400)
            #expect(try await v2.send(.post, "Item_Close?ID=99&why='sold'").status == 404)
            #expect(try await v2.send(.get, "Item_Close?ID=2&why='sold'").status == 405)
        }
    }

    @Test("an Atom entry links to its actions, and the completed links can be called")
    func actionLinks() async throws {
        try await service { v2 in
            let (_, xml) = try await v2.send(.get, "Items(1)")
            let model = try CSDLReader.read(xml: Array(try await v2.send(.get, "$metadata").text.utf8))
            let entry = try PayloadDecoder(model: model, format: .atom(.v2))
                .entity(Array(xml.utf8), type: QualifiedName("Shop", "Item")).entity
            let links = entry.atomLinks.filter { $0.semantics == "action" }
            #expect(links.map(\.title) == ["Item_Close", "Item_Scaled", "Item_Self"])
            #expect(links.map(\.httpMethod) == ["POST", "GET", "GET"])
            #expect(links.allSatisfy { $0.relation == "http://www.sap.com/Protocols/SAPData/rel#action" })
            let close = try #require(links.first)
            #expect(close.parameters.sorted() == ["ID", "why"] && close.defaultParameterValues == ["ID": "1"])
            let url = close.url(with: ["why": "it's over"])
            let path = String(try #require(url.split(separator: "/v2/", maxSplits: 1).last))
            #expect(url.hasPrefix("http://host/v2/Item_Close?ID=1&why='"), "\(url)")
            #expect(try await v2.send(.post, path.replacing("%27", with: "%27%27")).status == 204)
            #expect(try await v2.send(.get, "Items(1)?$format=json").text.contains("it's over"))
            // Entities in a feed have them too; JSON of V2 does not support them.
            #expect(try await v2.send(.get, "Items").text.contains("Item_Scaled?ID=2&amp;by={by}L"))
            #expect(try await !v2.send(.get, "Items?$format=json").text.contains("Item_Scaled"))
        }
    }

    @Test("an entry has one link for all overloads of an operation")
    func actionLinkOfOverloads() async throws {
        try await Site.reference { site async throws in
            let entry = try await site.get("v2/Products?$top=1").text
            #expect(entry.matches(of: /title="Product_CalculatePrice"/).count == 1)
            let key = try await site.key(of: "Products", named: "Laptop")
            for arguments in ["discount=10d", "discount=10d&tax=5d"] {
                let answer = try await site.get("v2/Product_CalculatePrice?ID=guid'\(key)'&\(arguments)&$format=json")
                #expect(answer.status == 200 && answer.text.contains("Product_CalculatePrice"), "\(answer.text)")
            }
        }
    }

    @Test("RFC 4287 4.1 feeds and entries have id, title, updated, author and a link to themselves")
    func atomElements() async throws {
        try await service { v2 in
            for (path, isEmpty) in [("Items?$filter=ID%20gt%201", false), ("Items?$filter=ID%20gt%209", true)] {
                let xml = try await v2.send(.get, path).text
                #expect(xml.contains("<id>http://host/v2/Items</id>"), "\(xml)")
                let own = path.replacing("&", with: "&amp;")
                #expect(xml.contains("<link rel=\"self\" title=\"Items\" href=\"http://host/v2/\(own)\""), "\(xml)")
                #expect(xml.contains("<title>Items</title>") && xml.contains(/<author>\s*<name/))
                #expect(xml.contains("<entry") != isEmpty)
                let year = Calendar(identifier: .iso8601).component(.year, from: Date())
                let updated = xml.matches(of: /<updated>(\d+)-/).compactMap { Int($0.1) }
                #expect(updated.count == (isEmpty ? 1 : 2) && updated.allSatisfy { $0 >= year })
            }
            let expanded = try await v2.send(.get, "Items(1)?$expand=Parts").text
            #expect(expanded.contains("<link rel=\"self\" title=\"Parts\" href=\"http://host/v2/Items(1)/Parts\""))
        }
    }

    @Test("SAP annotations, app:collection: the service document repeats the annotations of each set")
    func collectionAttributes() async throws {
        try await service { v2 in
            let document = try AtomServiceDocument(xml: Array(try await v2.send(.get, "").text.utf8))
            let items = try #require(document.collection(named: "Items"))
            #expect(items.title == "Things" && !items.isCreatable && !items.isDeletable && items.isUpdatable)
            #expect(items.attributes["countable"] == "false" && items.isSearchable && items.searchLink != nil)
            #expect(document.collection(named: "Photos")?.hasMedia == true)
            #expect(document.links.first { $0.relation == "self" }?.url == "http://host/v2/")
            #expect(document.serverType == .gateway)
            let metadata = try await v2.send(.get, "$metadata").text
            let name = try #require(metadata.firstMatch(of: /<Property Name="Name"[^>]*>/)).0
            #expect(name.contains("sap:sortable=\"false\"") && !name.contains("sap:filterable"))
        }
    }

    @Test("sap: attributes show the capabilities, sap-language and other custom options are no error")
    func attributes() async throws {
        try await service { v2 in
            let (_, metadata) = try await v2.send(.get, "$metadata?sap-language=DE&sap-client=100")
            let set = try #require(
                metadata.firstRange(of: /<EntitySet Name="Items"[^>]*>/).map { String(metadata[$0]) })
            #expect(set.contains("sap:creatable=\"false\"") && set.contains("sap:deletable=\"false\""), "\(set)")
            #expect(!set.contains("sap:updatable"), "\(set)")
            let made = try #require(metadata.firstRange(of: /<Property Name="Made"[^>]*>/).map { String(metadata[$0]) })
            #expect(made.contains("sap:creatable=\"false\"") && made.contains("sap:updatable=\"false\""), "\(made)")
            for option in ["sap-language=DE", "sap-client=100", "sap-ds-debug=true"] {
                #expect(try await v2.send(.get, "Items?\(option)&$format=json").0 == 200)
            }
        }
    }

    @Test("MS-ODATA 2.2.3.6.1 parameters of a function import are optional, and V2 has only the first overload")
    func overloads() async throws {
        try await Site.reference { site async throws in
            for (call, count) in [("count=2L", 2), ("count=1L&category='Electronics'", 1)] {
                let answer = try await site.get("v2/GetTopProducts?\(call)&$format=json")
                let body = try #require(try answer.json["d"] as? [String: Any], "\(answer.text)")
                #expect((body["results"] as? [Any])?.count == count)
            }
            // In these versions, a name in a container is unique, and readers refuse duplicates.
            #expect(try await site.get("v2/Calculate?value=3L&$format=json").text == #"{"d":{"Calculate":"6"}}"#)
            #expect(try await site.get("v2/Calculate?a=3L&b=4L&$format=json").status == 404)
        }
    }

    @Test("values of type definitions are compared and written like the underlying types")
    func definedTypes() async throws {
        try await Site.reference { site async throws in
            let filter = "ReleaseDate eq datetime'2024-01-20T00:00:00'"
            let wanted = try await site.get("Products?$filter=ReleaseDate eq 2024-01-20&$select=Name").rows.count
            let found = try await site.get("v2/Products?$filter=\(filter)&$format=json")
            let body = try #require(try found.json["d"] as? [String: Any], "\(found.text)")
            let rows = try #require(body["results"] as? [[String: Any]])
            #expect(rows.count == wanted && wanted > 0)
            let key = try #require(rows.first?["ID"] as? String)
            let changed = try await site.send(
                "MERGE", "v2/Products(guid'\(key)')",
                json: ["ReleaseDate": "/Date(1706745600000)/", "OpenTime": "PT8H30M"])
            #expect(changed.status == 204, "\(changed.text)")
            let product = try await site.get("Products(\(key))").json
            #expect(product["ReleaseDate"] as? String == "2024-02-01")
            #expect((product["OpenTime"] as? String)?.hasPrefix("08:30:00") == true)
        }
    }

    @Test("MS-ODATA 2.2.3.7.2.1 properties that form the ETag have the concurrency mode Fixed")
    func concurrencyMode() async throws {
        let set = #"<EntitySet Name="Items" EntityType="Shop.Item">"#
        let term =
            #"<Annotation Term="Org.OData.Core.V1.OptimisticConcurrency"><Collection>"#
            + "<PropertyPath>Name</PropertyPath></Collection></Annotation>"
        let model = try CSDLReader.read(xml: Array(Self.metadata.replacing(set, with: set + term).utf8))
        let service = try await StoreService.open(ServiceDefinition(model: model), at: .memory)
        let v2 = V2(handler: try ODataV2Handler(provider: service, serviceRoot: "/v2/"))
        let metadata = try await v2.send(.get, "$metadata").text
        let item = try #require(
            metadata.firstMatch(of: /<EntityType Name="Item">.*?<\/EntityType>/.dotMatchesNewlines()))
        #expect(item.0.matches(of: /ConcurrencyMode="Fixed"/).count == 1)
        #expect(item.0.contains(/Name="Name"[^>]*ConcurrencyMode="Fixed"/))
        try await service.close()
    }
}
