import Foundation
import HTTPTypes
import ODataHTTP
import ODataModel
import ODataService
import ODataStore
import Testing

@Suite("OData 2.0, operations and what SAP's clients ask for")
struct V2OperationTests {
    private static let metadata = """
        <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.01"><edmx:DataServices>
        <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="Shop">
          <EntityType Name="Item"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/>
            <Property Name="Made" Type="Edm.DateTimeOffset">
              <Annotation Term="Org.OData.Core.V1.Computed" Bool="true"/></Property>
          </EntityType>
          <ComplexType Name="Size"><Property Name="Width" Type="Edm.Int32"/></ComplexType>
          <EntityContainer Name="C"><EntitySet Name="Items" EntityType="Shop.Item">
            <Annotation Term="Org.OData.Capabilities.V1.InsertRestrictions">
              <Record><PropertyValue Property="Insertable" Bool="false"/></Record></Annotation>
            <Annotation Term="Org.OData.Capabilities.V1.DeleteRestrictions">
              <Record><PropertyValue Property="Deletable" Bool="false"/></Record></Annotation>
          </EntitySet></EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    private struct V2 {
        let handler: ODataV2Handler

        func send(_ method: HTTPRequest.Method, _ path: String) async throws -> (Int, String) {
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
            return .complex(Entity(shape: shape, ["Width": .integer(width)]))
        }
        try definition.function("One", [width], returns: .primitive(.int32)) { call in
            .value(.integer(try call.argument("width")))
        }
        try definition.function("Many", [width], returns: .collection(.primitive(.int32))) { call in
            .value(.collection([.integer(try call.argument("width")), .integer(7)]))
        }
        try definition.function("OneSize", [width], returns: .complex(size)) { .value(try complex($0)) }
        try definition.function("ManySizes", [width], returns: .collection(.complex(size))) { call in
            .value(.collection([try complex(call)]))
        }
        try definition.function("OneItem", returns: .entity(item), in: "Items") { call in
            try call.transaction.entity("Items(1)").map { .entity($0) } ?? .none
        }
        try definition.function("ManyItems", returns: .collection(.entity(item)), in: "Items") { _ in
            .query("Items?$orderby=ID desc")
        }
        try definition.action("Nothing") { _ in .none }
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
            #expect(try await v2.send(.post, "Nothing").0 == 204)
            #expect(try await (400..<500).contains(v2.send(.get, "One?$format=json").0))
            #expect(try await v2.send(.get, "Nothing").0 == 405)
        }
    }

    @Test("sap: attributes tell what can be done, sap-language and other custom options are no error")
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

    @Test("MS-ODATA 2.2.3.6.1 of function imports with one name, the parameters in the URL choose")
    func overloads() async throws {
        try await Site.reference { site async throws in
            for (call, count) in [("count=2L", 2), ("count=1L&category='Electronics'", 1)] {
                let answer = try await site.get("v2/GetTopProducts?\(call)&$format=json")
                let body = try #require(try answer.json["d"] as? [String: Any], "\(answer.text)")
                #expect((body["results"] as? [Any])?.count == count)
            }
            #expect(try await site.get("v2/Calculate?a=3L&b=4L&$format=json").text == #"{"d":{"Calculate":"7"}}"#)
        }
    }

    @Test("rule 24 values of defined types are compared and written as those below them")
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

    @Test("MS-ODATA 2.2.3.7.2.1 the property that an ETag is made of has the concurrency mode Fixed")
    func concurrencyMode() async throws {
        try await Site.reference { site async throws in
            let metadata = try await site.get("v2/$metadata").text
            let product = try #require(
                metadata.firstMatch(of: /<EntityType Name="Product">.*?<\/EntityType>/.dotMatchesNewlines()))
            #expect(product.0.matches(of: /ConcurrencyMode="Fixed"/).count == 1)
            #expect(product.0.contains(/Name="Version"[^>]*ConcurrencyMode="Fixed"/))
        }
    }
}
