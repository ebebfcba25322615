import HTTPTypes
import ODataClient
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import Testing

/// The client with services of OData 2.0 and 3.0: the requests that it sends, and the responses that it reads
/// (MS-ODATA, 2.2; rule 34).
@Suite struct V2ClientTests {
    static func metadata(_ version: String = "2.0") -> String {
        """
        <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"
        xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
        <edmx:DataServices m:DataServiceVersion="\(version)">
        <Schema Namespace="Shop" xmlns="http://schemas.microsoft.com/ado/\(version == "3.0" ? "2009/11" : "2008/09")/edm">
        <EntityType Name="Order"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int64" Nullable="false"/><Property Name="City" Type="Edm.String"/>
        <Property Name="Freight" Type="Edm.Decimal"/><Property Name="Placed" Type="Edm.DateTime"/>
        <Property Name="Token" Type="Edm.Guid"/>
        <NavigationProperty Name="Items" Relationship="Shop.OrderItems" FromRole="Order" ToRole="Items"/></EntityType>
        <EntityType Name="Item"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/></EntityType>
        <EntityType Name="Photo" m:HasStream="true"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
        <Association Name="OrderItems"><End Role="Order" Type="Shop.Order" Multiplicity="0..1"/>
        <End Role="Items" Type="Shop.Item" Multiplicity="*"/></Association>
        <EntityContainer Name="C" m:IsDefaultEntityContainer="true">
        <EntitySet Name="Orders" EntityType="Shop.Order"/><EntitySet Name="Items" EntityType="Shop.Item"/>
        <EntitySet Name="Photos" EntityType="Shop.Photo"/>
        <AssociationSet Name="OI" Association="Shop.OrderItems"><End Role="Order" EntitySet="Orders"/>
        <End Role="Items" EntitySet="Items"/></AssociationSet>
        <FunctionImport Name="OrdersOf" EntitySet="Orders" ReturnType="Collection(Shop.Order)" m:HttpMethod="GET">
        <Parameter Name="city" Type="Edm.String"/><Parameter Name="since" Type="Edm.DateTime"/></FunctionImport>
        <FunctionImport Name="Close" ReturnType="Edm.Int32" m:HttpMethod="POST">
        <Parameter Name="id" Type="Edm.Int64"/></FunctionImport></EntityContainer></Schema></edmx:DataServices>
        </edmx:Edmx>
        """
    }

    static let entry = """
        {"d":{"__metadata":{"uri":"https://service.test/shop/Orders(1L)","type":"Shop.Order","etag":"W/\\"7\\""},\
        "ID":"1","City":"Graz","Freight":"12.50","Placed":"/Date(1582934400000)/","Token":null,\
        "Items":{"__deferred":{"uri":"https://service.test/shop/Orders(1L)/Items"}}}}
        """
    static let feed = """
        {"d":{"results":[{"__metadata":{"uri":"https://service.test/shop/Orders(1L)","type":"Shop.Order"},"ID":"1",\
        "City":"Graz"}]}}
        """

    private func script(_ version: String = "2.0", _ answer: WireScript.Answer) -> WireScript {
        WireScript(metadata: Self.metadata(version)) { _, _ in answer }
    }

    @Test("MS-ODATA 2.2.3 a query is written in the V2 dialect")
    func query() async throws {
        let transport = script("2.0", .json(Self.feed, ["DataServiceVersion": "2.0"]))
        let client = try transport.client()
        #expect(try await client.version == .v2)
        let placed = try #require(ODataDateTimeOffset("2020-02-29T00:00:00Z"))
        let query = ResourceQuery("Orders")
            .filter(
                .property("Freight") > 5 && .property("ID") == 7 && .property("City").contains("a")
                    && .property("Placed") >= .value(.dateTimeOffset(placed))
            )
            .orderBy("City", descending: true).expand("Items", { $0.select("Name") }).top(2).count()
        let page = try await DataService(client).page(query)
        #expect(page.entities[0]["ID"] == 1)
        let sent = transport.sent[0]
        #expect(
            sent.line.removingPercentEncoding
                == "GET /shop/Orders?$filter=Freight gt 5.0M and ID eq 7L and substringof('a',City) eq true"
                + " and Placed ge datetime'2020-02-29T00:00:00'&$orderby=City desc&$top=2&$inlinecount=allpages"
                + "&$select=*,Items/Name&$expand=Items"
                || sent.line.removingPercentEncoding
                    == "GET /shop/Orders?$filter=Freight gt 5.0M and ID eq 7L and substringof('a',City)"
                    + " and Placed ge datetime'2020-02-29T00:00:00'&$orderby=City desc&$top=2&$inlinecount=allpages"
                    + "&$select=*,Items/Name&$expand=Items",
            "\(sent.line.removingPercentEncoding ?? "")")
        #expect(sent["MaxDataServiceVersion"] == "2.0")
        #expect(sent["Accept"] == "application/json")
        #expect(sent["OData-MaxVersion"] == nil && sent["OData-Version"] == nil)
    }

    @Test("MS-ODATA 2.2.6.3 verbose JSON: values, ETag, count, next and delta link")
    func verbose() async throws {
        let body = """
            {"d":{"__count":"3","results":[{"__metadata":{"uri":"https://service.test/shop/Orders(1L)","type":\
            "Shop.Order","etag":"W/\\"7\\""},"ID":"1","Freight":"12.50","Placed":"/Date(1582934400000)/"}],\
            "__next":"https://service.test/shop/Orders?$skiptoken=1","__delta":"https://service.test/shop/Orders?!deltatoken=9"}}
            """
        let transport = WireScript(metadata: Self.metadata()) { _, number in
            .json(number == 0 ? body : Self.feed, ["DataServiceVersion": "2.0;"])
        }
        let service = try transport.service()
        var iterator = service.pages(ResourceQuery("Orders").count()).makeAsyncIterator()
        let page = try #require(try await iterator.next())
        #expect(page.count == 3)
        #expect(page.entities[0]["Freight"] == .decimal(try #require(ODataDecimal("12.50"))))
        #expect(page.entities[0]["Placed"] == .dateTime(ODataDateTime(seconds: 1_582_934_400)))
        #expect(page.entities[0].control.etag == "W/\"7\"")
        #expect(page.deltaLink == "https://service.test/shop/Orders?!deltatoken=9")
        #expect(try await iterator.next()?.entities.count == 1)
        // A saved delta link is requested without additional options.
        let changes = try await service.page(following: try #require(page.deltaLink))
        #expect(changes.entities.count == 1)
        #expect(
            transport.sent.map(\.line) == [
                "GET /shop/Orders?$inlinecount=allpages", "GET /shop/Orders?$skiptoken=1",
                "GET /shop/Orders?!deltatoken=9",
            ])
    }

    @Test("MS-ODATA 2.2.7 create, MERGE, replace and delete")
    func changes() async throws {
        let transport = WireScript(metadata: Self.metadata()) { sent, _ in
            switch sent.message.method {
            case .post: .json(Self.entry, status: 201, ["DataServiceVersion": "2.0"])
            case .get: .json(Self.entry, ["DataServiceVersion": "2.0"])
            default: .empty(204, ["ETag": "W/\"8\""])
            }
        }
        let client = try transport.client()
        let service = DataService(client)
        let new = try await ShopMetadata.entity(
            ["ID": 1, "City": "Graz", "Freight": .decimal(ODataDecimal(3))], of: client)
        var order = try await service.create(new, in: "Orders")
        #expect(order["City"] == "Graz")
        #expect(
            transport.sent[0].body == "{\"ID\":\"1\",\"City\":\"Graz\",\"Freight\":\"3\"}", "\(transport.sent[0].body)")
        #expect(transport.sent[0]["DataServiceVersion"] == "2.0")
        order["City"] = "Linz"
        let changed = try await service.update(order, in: "Orders")
        #expect(changed.control.etag == "W/\"8\"")
        #expect(transport.sent[1].line == "MERGE /shop/Orders(1L)")
        #expect(
            transport.sent[1].body == "{\"__metadata\":{\"type\":\"Shop.Order\"},\"City\":\"Linz\"}",
            "\(transport.sent[1].body)")
        #expect(transport.sent[1]["If-Match"] == "W/\"7\"")
        try await service.replace(changed, in: "Orders")
        #expect(transport.sent[2].line == "PUT /shop/Orders(1L)")
        try await service.delete(changed, in: "Orders")
        #expect(transport.sent[3].line == "DELETE /shop/Orders(1L)")
    }

    @Test("MS-ODATA 2.2.5.8 methods that an intermediary blocks are named in a POST")
    func tunnelled() async throws {
        let transport = script("2.0", .empty())
        let client = try transport.client(.init(tunnelsMethods: true))
        var order = try await ShopMetadata.entity(["ID": 1], of: client)
        order.markUnchanged()
        order["City"] = "Linz"
        try await DataService(client).update(order, in: "Orders")
        try await DataService(client).delete(order, in: "Orders")
        #expect(transport.sent.map(\.line) == ["POST /shop/Orders(1L)", "POST /shop/Orders(1L)"])
        #expect(transport.sent.map { $0["X-HTTP-Method"] } == ["MERGE", "DELETE"])
        let patch = script("2.0", .empty())
        let other = try patch.client(.init(updateMethod: .patch))
        try await DataService(other).update(order, in: "Orders")
        #expect(patch.sent[0].line == "PATCH /shop/Orders(1L)")
    }

    @Test("MS-ODATA 2.2.3.6.1 function imports have their parameters in the query and the declared method")
    func functionImports() async throws {
        let transport = WireScript(metadata: Self.metadata()) { sent, _ in
            .json(sent.message.method == .get ? Self.feed : "{\"d\":{\"Close\":3}}", ["DataServiceVersion": "2.0"])
        }
        let service = try transport.service()
        let since = ODataValue.dateTime(ODataDateTime(seconds: 0))
        guard case .page(let page) = try await service.call("OrdersOf", ["city": "O'Hara", "since": since]).body,
            case .value(let closed, _) = try await service.call("Close", ["id": 7]).body
        else {
            Issue.record("other answers")
            return
        }
        #expect(page.entities.count == 1)
        #expect(closed == 3)
        #expect(
            transport.sent.map { $0.line.removingPercentEncoding } == [
                "GET /shop/OrdersOf?city='O''Hara'&since=datetime'1970-01-01T00:00:00'", "POST /shop/Close?id=7L",
            ])
    }

    @Test("OData V2 Overview 6 a literal of V4 becomes the V2 literal of the parameter's type")
    func functionImportArguments() async throws {
        let transport = script("2.0", .json(Self.feed, ["DataServiceVersion": "2.0"]))
        let client = try transport.client()
        for since in ["2020-01-01", "2020-01-01T00:00:00Z"] {
            _ = try await client.execute(
                ODataRequest(.read, try ODataURL(parsing: "OrdersOf(city='Graz',since=\(since))")))
        }
        #expect(
            Set(transport.sent.map { $0.line.removingPercentEncoding }) == [
                "GET /shop/OrdersOf?city='Graz'&since=datetime'2020-01-01T00:00:00'"
            ])
    }

    @Test("MS-ODATA 2.2.3.5 $count requests a count, which is returned as text")
    func count() async throws {
        let transport = script("2.0", .init(fields: ["Content-Type": "text/plain"], body: "3"))
        let service = try transport.service()
        #expect(try await service.count("Orders") == 3)
        #expect(try await service.count(ResourceQuery("Orders").filter(.property("City") == "Graz")) == 3)
        #expect(
            transport.sent.map { $0.line.removingPercentEncoding } == [
                "GET /shop/Orders/$count", "GET /shop/Orders/$count?$filter=City eq 'Graz'",
            ])
    }

    @Test("MS-ODATA 2.2.6.3.3 entities of derived types state their type in both directions")
    func derived() async throws {
        let metadata = Self.metadata().replacing(
            "<EntityType Name=\"Item\">",
            with: """
                <EntityType Name="Express" BaseType="Shop.Order"><Property Name="Hours" Type="Edm.Int32"/></EntityType>
                <EntityType Name="Item">
                """)
        let feed = Self.feed.replacing("Shop.Order\"", with: "Shop.Express\"")
            .replacing("\"City\":", with: "\"Hours\":4,\"City\":")
        let transport = WireScript(metadata: metadata) { sent, _ in
            sent.message.method == .get ? .json(feed, ["DataServiceVersion": "2.0"]) : .empty(204)
        }
        let service = try transport.service()
        var express = try #require(try await service.entities("Orders").first)
        #expect(express.shape.name == QualifiedName("Shop", "Express"))
        #expect(express["Hours"] == 4)
        express["Hours"] = 2
        try await service.update(express, in: "Orders")
        #expect(
            transport.sent.last?.body == "{\"__metadata\":{\"type\":\"Shop.Express\"},\"Hours\":2}",
            "\(transport.sent.last?.body ?? "")")
    }

    @Test("MS-ODATA 2.2.7.4 links are changed at $links")
    func links() async throws {
        let transport = WireScript(metadata: Self.metadata()) { sent, _ in
            sent.message.method == .get
                ? .json("{\"d\":{\"results\":[{\"uri\":\"https://service.test/shop/Items(7)\"}]}}") : .empty()
        }
        let client = try transport.client()
        let service = DataService(client)
        let order = try await ShopMetadata.entity(["ID": 1], of: client)
        let item = try await ShopMetadata.entity(["ID": 7], set: "Items", of: client)
        #expect(try await service.links("Items", of: order) == ["https://service.test/shop/Items(7)"])
        try await service.link("Items", of: order, to: item)
        try await service.unlink("Items", of: order, from: item)
        #expect(
            transport.sent.map { "\($0.line) \($0.body)" } == [
                "GET /shop/Orders(1L)/$links/Items ",
                "POST /shop/Orders(1L)/$links/Items {\"uri\":\"https://service.test/shop/Items(7)\"}",
                "DELETE /shop/Orders(1L)/$links/Items(7) ",
            ], "\(transport.sent.map { "\($0.line) \($0.body)" })")
    }

    /// Returns a request that removes an item from an order in the syntax of V4.
    private static func unlinking(_ id: String) throws -> ODataRequest {
        var request = ODataRequest(.delete, try ODataURL(parsing: "Orders(1)/Items/$ref"))
        request.url.options.id = id
        return request
    }

    @Test(
        "MS-ODATA 2.2.7.4.3 a link of a collection is deleted at the key from its id",
        arguments: [
            "Items(7)", "Items(ID=7)", "https://service.test/shop/Items(7)", "/shop/Items(ID=7)",
            "Items(1)/Order/Items(7)",
        ])
    func deletedLink(id: String) async throws {
        let transport = script("2.0", .empty())
        let client = try transport.client()
        _ = try await client.execute(try Self.unlinking(id))
        let expected = id.contains("ID=") ? "Items(ID=7)" : "Items(7)"
        #expect(
            transport.sent.map { $0.line.removingPercentEncoding } == ["DELETE /shop/Orders(1L)/$links/\(expected)"])
    }

    @Test("MS-ODATA 2.2.7.4.3 the key of a deleted link has the literals of its types")
    func deletedLinkOfOtherType() async throws {
        let metadata = Self.metadata().replacing(
            "Type=\"Edm.Int32\" Nullable=\"false\"/><Property Name=\"Name\"",
            with: "Type=\"Edm.Int64\" Nullable=\"false\"/><Property Name=\"Name\"")
        let transport = WireScript(metadata: metadata) { _, _ in .empty() }
        let client = try transport.client()
        for id in ["Items(7)", "Items(7L)", "https://service.test/shop/Items(7L)"] {
            _ = try await client.execute(try Self.unlinking(id))
        }
        #expect(Set(transport.sent.map(\.line)) == ["DELETE /shop/Orders(1L)/$links/Items(7L)"])
    }

    @Test(
        "The deletion of a link is refused if its id has no key",
        arguments: ["Items", "https://elsewhere.test/shop/Items(7)", "Orders(1)/Items", "$1"])
    func deletedLinkWithoutKey(id: String) async throws {
        let transport = script("2.0", .empty())
        let client = try transport.client()
        let request = try Self.unlinking(id)
        let error = await #expect(throws: ODataError.self) { _ = try await client.execute(request) }
        #expect(error?.status == 501)
        #expect(transport.sent.isEmpty)
    }

    @Test("MS-ODATA 2.2.7.6 in a batch, changes are in change sets and reads are not")
    func batch() async throws {
        let transport = WireScript(metadata: Self.metadata()) { _, _ in
            .init(
                status: 202, fields: ["Content-Type": "multipart/mixed; boundary=r", "DataServiceVersion": "2.0"],
                body: """
                    --r\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\nHTTP/1.1 200 OK\r
                    Content-Type: application/json\r\nDataServiceVersion: 2.0\r\n\r\n\(Self.feed)\r\n--r\r
                    Content-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-Type: application/http\r
                    Content-ID: new\r\n\r\nHTTP/1.1 201 Created\r\nContent-Type: application/json\r
                    DataServiceVersion: 2.0\r\n\r\n\(Self.entry)\r\n--c--\r\n--r--\r\n
                    """)
        }
        let client = try transport.client()
        let order = try await ShopMetadata.entity(["ID": 1, "City": "Graz"], of: client)
        let results = try await DataService(client).batch {
            BatchOperation.read(ResourceQuery("Orders"), id: "all")
            BatchOperation.create(order, in: "Orders", id: "new")
        }
        #expect(try results.entities("all").count == 1)
        #expect(try results.entity("new")["City"] == "Graz")
        let body = transport.sent[0].body
        #expect(body.contains("GET Orders HTTP/1.1\r\n"))
        #expect(body.contains("Content-Type: multipart/mixed; boundary=changeset_single-new"))
        #expect(body.contains("POST Orders HTTP/1.1\r\n"))
        #expect(transport.sent[0]["Accept"] == "multipart/mixed")
    }

    @Test("MS-ODATA 2.2.6.2 Atom is used in both directions on request")
    func atom() async throws {
        let entry = """
            <entry xmlns="http://www.w3.org/2005/Atom" xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices"
            xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata" m:etag="W/&quot;1&quot;">
            <id>https://service.test/shop/Orders(1L)</id><category term="Shop.Order"
            scheme="http://schemas.microsoft.com/ado/2007/08/dataservices/scheme"/><content type="application/xml">
            <m:properties><d:ID m:type="Edm.Int64">1</d:ID><d:City>Graz</d:City></m:properties></content></entry>
            """
        let transport = WireScript(metadata: Self.metadata()) { sent, _ in
            .init(
                status: sent.message.method == .post ? 201 : 200,
                fields: [
                    "Content-Type": "application/atom+xml;type=entry;charset=utf-8", "DataServiceVersion": "2.0;",
                ],
                body: entry)
        }
        let client = try transport.client(.init(entityFormat: .atom))
        let service = DataService(client)
        let order = try #require(try await service.entity("Orders", key: 1))
        #expect(order["City"] == "Graz")
        #expect(order.control.etag == "W/\"1\"")
        try await service.create(order, in: "Orders")
        #expect(transport.sent[0]["Accept"] == "application/atom+xml,application/xml")
        #expect(transport.sent[1]["Content-Type"] == "application/atom+xml;type=entry")
        #expect(transport.sent[1].body.contains("<d:City>Graz</d:City>"), "\(transport.sent[1].body)")
    }

    @Test("a text with characters that Atom cannot contain is refused")
    func beyondXML() async throws {
        let transport = WireScript(metadata: Self.metadata()) { _, _ in .init(status: 204) }
        let client = try transport.client(.init(entityFormat: .atom))
        let service = DataService(client)
        let order = try await ShopMetadata.entity(["ID": 1, "City": "Gr\u{1}az"], of: client)
        let error = await #expect(throws: ODataError.self) { _ = try await service.create(order, in: "Orders") }
        #expect(error?.code == "UnsupportedCharacter")
        #expect(error?.target == "City")
        #expect(transport.sent.isEmpty)
    }

    @Test("OData 3.0 verbose JSON is requested, and light JSON is accepted")
    func version3() async throws {
        let light = "{\"odata.metadata\":\"https://service.test/shop/$metadata#Orders\",\"value\":[{\"ID\":\"5\"}]}"
        let transport = WireScript(metadata: Self.metadata("3.0")) { _, number in
            number == 0
                ? .json(Self.feed, ["DataServiceVersion": "3.0", "Content-Type": "application/json;odata=verbose"])
                : .json(light, ["DataServiceVersion": "3.0"])
        }
        let service = try transport.service()
        #expect(try await service.entities("Orders").map { $0["ID"] } == [1])
        #expect(try await service.entities("Orders").map { $0["ID"] } == [5])
        #expect(transport.sent[0]["Accept"] == "application/json;odata=verbose")
        #expect(transport.sent[0]["MaxDataServiceVersion"] == "3.0")
        let order = try await ShopMetadata.entity(["ID": 1], of: try transport.client())
        _ = try? await service.returningNothing.update(order, in: "Orders")
        #expect(transport.sent[2].line == "PATCH /shop/Orders(1L)")
        #expect(transport.sent[2]["Prefer"] == "return-no-content")
    }

    @Test func `a request that V2 cannot express is refused by name, before anything is sent`() async throws {
        let transport = script("2.0", .json(Self.feed))
        let service = try transport.service()
        for query in [
            ResourceQuery("Orders").compute(.property("ID") + 1, as: "N"),
            ResourceQuery(try ODataURL(parsing: "Orders?$apply=aggregate($count as N)")),
            ResourceQuery("Orders").expand("Items", { $0.top(1) }),
        ] {
            let error = await #expect(throws: (any Error).self, "\(query)") { _ = try await service.page(query) }
            #expect((error as? ODataError)?.status ?? 501 == 501)
        }
        #expect(transport.sent.isEmpty)
    }

    @Test func `a refusal in either form is read`() async throws {
        for (type, body) in [
            ("application/json", "{\"error\":{\"code\":\"SY/530\",\"message\":{\"lang\":\"en\",\"value\":\"No.\"}}}"),
            (
                "application/xml",
                "<error xmlns=\"http://schemas.microsoft.com/ado/2007/08/dataservices/metadata\"><code>SY/530</code>"
                    + "<message xml:lang=\"en\">No.</message></error>"
            ),
        ] {
            let transport = script(
                "2.0", .init(status: 400, fields: ["Content-Type": type, "sap-id": "x"], body: body))
            let error = await #expect(throws: ODataError.self) {
                _ = try await transport.service().entities("Orders")
            }
            #expect(error?.code == "SY/530")
            #expect(error?.message == "No.")
            #expect(error?.headers["sap-id"] == "x")
        }
    }
}
