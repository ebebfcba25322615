import HTTPTypes
import ODataClient
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import Testing

/// The requirements for interoperable clients, clause by clause (OData Protocol 4.01, 13.3).
@Suite struct InteroperableClientTests {
    private static let order =
        "{\"@odata.context\":\"$metadata#Orders/$entity\",\"@odata.etag\":\"W/\\\"1\\\"\",\"ID\":1,\"City\":\"Graz\"}"
    private static let orders = "{\"@odata.context\":\"$metadata#Orders\",\"value\":[{\"ID\":1,\"City\":\"Graz\"}]}"

    private func script(
        _ version: String = "4.0", _ answer: WireScript.Answer = .json(InteroperableClientTests.orders)
    ) -> WireScript {
        WireScript(metadata: ShopMetadata.v4(version)) { _, _ in answer }
    }

    @Test("13.3 (1) every request has OData-MaxVersion, including the metadata request")
    func maxVersion() async throws {
        let transport = WireScript { sent, _ in
            sent.line.hasSuffix("$metadata")
                ? .init(fields: ["Content-Type": "application/xml"], body: ShopMetadata.v4()) : .json(Self.orders)
        }
        let service = try transport.service()
        _ = try await service.entities("Orders")
        _ = try await service.page(following: "Orders?$skiptoken=1")
        #expect(transport.sent.count == 3)
        for sent in transport.sent { #expect(sent["OData-MaxVersion"] == "4.01", "\(sent.line)") }
    }

    @Test("13.3 (2) a request with a payload has OData-Version and Content-Type")
    func payloadFields() async throws {
        let transport = script("4.0", .json(Self.order, status: 201))
        let client = try transport.client()
        try await DataService(client).create(try await ShopMetadata.entity(["ID": 1], of: client), in: "Orders")
        #expect(transport.sent[0]["OData-Version"] == "4.0")
        #expect(transport.sent[0]["Content-Type"] == "application/json")
    }

    @Test("13.3 (3) JSON 24: unknown annotations and control information are accepted or ignored")
    func consumer() async throws {
        let transport = script(
            "4.0",
            .json(
                """
                {"@odata.context":"https://service.test/shop/$metadata#Orders","@my.term":{"a":[1]},"@odata.unknown":1,
                "value":[{"@odata.id":"Orders(1)","@odata.etag":"W/\\"1\\"","@odata.future":true,"City@my.term":"x",
                "Items@odata.navigationLink":"Orders(1)/Items","ID":1,"City":"Graz"}]}
                """))
        let orders = try await transport.service().entities("Orders")
        #expect(orders.map { $0["City"] } == ["Graz"])
        #expect(orders[0].control.etag == "W/\"1\"")
    }

    @Test("13.3 (4) redirects are followed within the service, and unsafe requests are not repeated")
    func redirects() async throws {
        let transport = WireScript(metadata: ShopMetadata.v4()) { sent, _ in
            sent.line == "GET /shop/Orders"
                ? .empty(307, ["Location": "/shop/v2/Orders"]) : .json(Self.orders)
        }
        #expect(try await transport.service().entities("Orders").count == 1)
        #expect(transport.sent.map(\.line) == ["GET /shop/Orders", "GET /shop/v2/Orders"])
    }

    @Test("13.3 (5) next links are followed unchanged")
    func nextLinks() async throws {
        let transport = WireScript(metadata: ShopMetadata.v4()) { _, number in
            let link = number < 2 ? ",\"@odata.nextLink\":\"Orders?page=\(number)&weird=a'b%20(c)\"" : ""
            return .json(
                "{\"@odata.context\":\"$metadata#Orders\",\"value\":[{\"ID\":\(number)}]\(link)}")
        }
        let orders = try await transport.service().entities("Orders")
        #expect(orders.map { $0["ID"] } == [0, 1, 2])
        #expect(
            transport.sent.map(\.line) == [
                "GET /shop/Orders", "GET /shop/Orders?page=0&weird=a'b%20(c)",
                "GET /shop/Orders?page=1&weird=a'b%20(c)",
            ])
    }

    @Test("13.3 (6) undeclared properties are kept in open types and skipped in other types")
    func undeclared() async throws {
        let body = """
            {"@odata.context":"$metadata#Orders/$entity","ID":1,"Extra":"kept","Other@odata.type":"#Collection(Int32)",
            "Other":[1,2],"Friend":{"Name":"Ann"},"Friends@odata.navigationLink":"x","City":"Graz"}
            """
        let closed = try #require(try await script("4.0", .json(body)).service().entity("Orders", key: 1))
        #expect(closed["City"] == "Graz")
        let open = ShopMetadata.v4().replacing("\"Order\">", with: "\"Order\" OpenType=\"true\">")
        let transport = WireScript(metadata: open) { _, _ in .json(body) }
        let order = try #require(try await transport.service().entity("Orders", key: 1))
        #expect(order["Extra"] == "kept")
        #expect(order["Other"] == [1, 2])
        guard case .complex(let friend)? = order["Friend"] else {
            Issue.record("\(String(describing: order["Friend"]))")
            return
        }
        #expect(friend["Name"] == "Ann")
    }

    @Test("13.3 (7) an update is a PATCH of the changed properties")
    func patch() async throws {
        let transport = script("4.0", .json(Self.order))
        let service = try transport.service()
        var order = try #require(try await service.entity("Orders", key: 1))
        order["City"] = "Linz"
        try await service.update(order, in: "Orders")
        #expect(transport.sent[1].line == "PATCH /shop/Orders(1)")
        #expect(transport.sent[1].body == "{\"City\":\"Linz\"}")
        #expect(transport.sent[1]["If-Match"] == "W/\"1\"")
    }

    @Test("13.3 (8) and (9) options with $, operators and functions are sent in lower case")
    func options() async throws {
        let transport = script()
        let query = ResourceQuery("Orders").filter(.property("City").lowercased == "graz" && .property("ID") > 0)
            .orderBy("City", descending: true).select("ID").expand("Items").top(1).skip(2).count()
        _ = try await transport.service().page(query)
        let path = try #require(transport.sent[0].message.path)
        #expect(
            path == "/shop/Orders?$filter=tolower(City)%20eq%20'graz'%20and%20ID%20gt%200&$orderby=City%20desc&$skip=2"
                + "&$top=1&$count=true&$select=ID&$expand=Items", "\(path)")
    }

    @Test("13.3 (10) basic authentication over HTTPS")
    func basic() async throws {
        let transport = script()
        let client = try ODataClient(
            serviceRoot: WireScript.root, transport: transport,
            authentication: .basic(user: "Aladdin", password: "open sesame"))
        _ = try await DataService(client).entities("Orders")
        #expect(transport.sent[0]["Authorization"] == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
    }

    @Test("13.3 (11) entity references are requested and read")
    func references() async throws {
        let transport = WireScript(metadata: ShopMetadata.v4()) { _, _ in
            .json("{\"@odata.context\":\"$metadata#Collection($ref)\",\"value\":[{\"@odata.id\":\"Items(7)\"}]}")
        }
        let client = try transport.client()
        let order = try await ShopMetadata.entity(["ID": 1], of: client)
        #expect(try await DataService(client).links("Items", of: order) == ["Items(7)"])
        #expect(transport.sent[0].line == "GET /shop/Orders(1)/Items/$ref")
    }

    @Test("13.3 (12) deleted entities and links in a delta are understood")
    func delta() async throws {
        let transport = WireScript(metadata: ShopMetadata.v4()) { _, _ in
            .json(
                """
                {"@odata.context":"$metadata#Orders/$delta","value":[{"ID":1,"City":"Graz"},
                {"@odata.context":"$metadata#Orders/$deletedEntity","id":"Orders(2)","reason":"deleted"},
                {"@odata.context":"$metadata#Orders/$link","source":"Orders(1)","relationship":"Items","target":"Items(3)"},
                {"@odata.context":"$metadata#Orders/$deletedLink","source":"Orders(1)","relationship":"Items","target":"Items(4)"}],
                "@odata.deltaLink":"Orders?$deltatoken=9"}
                """)
        }
        var pages: [EntityPage] = []
        for try await page in try transport.service().changes(since: "Orders?$deltatoken=8") { pages.append(page) }
        #expect(pages.flatMap(\.entities).map { $0["ID"] } == [1])
        #expect(pages.flatMap(\.removed) == [RemovedEntity(id: "Orders(2)", reason: .deleted)])
        #expect(pages.last?.deltaLink == "https://service.test/shop/Orders?$deltatoken=9")
    }

    @Test("13.3 (13) an asynchronous response gives the address of its monitor")
    func asynchronous() async throws {
        let transport = script("4.0", .empty(202, ["Location": "https://service.test/shop/status/1"]))
        var request = ODataRequest(.read, ODataURL(set: "Orders"))
        request.preferences.respondAsync = true
        let response = try await transport.client().execute(request)
        #expect(response.status == 202)
        #expect(response.location == "https://service.test/shop/status/1")
        #expect(transport.sent[0]["Prefer"] == "respond-async")
    }

    @Test("13.3 (14) minimal metadata are requested and sufficient")
    func minimal() async throws {
        let transport = script()
        _ = try await transport.service().entities("Orders")
        #expect(transport.sent[0]["Accept"] == "application/json;odata.metadata=minimal")
    }

    @Test("13.3 (16) a service gets 4.0 unless it announces 4.01")
    func payloadVersion() async throws {
        let annotated = ShopMetadata.v4(
            "4.0",
            container: "<Annotation Term=\"Org.OData.Core.V1.ODataVersions\" String=\"4.0 4.01\"/>")
        for (metadata, version) in [
            (ShopMetadata.v4("4.0"), "4.0"), (annotated, "4.01"), (ShopMetadata.v4("4.01"), "4.01"),
        ] {
            let transport = WireScript(metadata: metadata) { _, _ in .json(Self.order, status: 201) }
            let client = try transport.client()
            try await DataService(client).create(try await ShopMetadata.entity(["ID": 1], of: client), in: "Orders")
            #expect(transport.sent[0]["OData-Version"] == version)
        }
    }

    @Test("13.3 (17) identifiers are sent in the case of the metadata")
    func identifierCase() async throws {
        let transport = script()
        _ = try await transport.service().entities(ResourceQuery("Orders").filter(.property("City") == "X"))
        #expect(transport.sent[0].message.path == "/shop/Orders?$filter=City%20eq%20'X'")
    }

    @Test("13.3 (18) metadata of 4.01 are read, with their new elements")
    func metadata401() async throws {
        let transport = WireScript(
            metadata: ShopMetadata.v4("4.01", properties: "<Property Name=\"Any\" Type=\"Edm.Untyped\"/>")
        ) { _, _ in .json(Self.orders) }
        let client = try transport.client()
        #expect(try await client.version == .v401)
        #expect(try await client.model.shape(ofSet: "Orders")?.property("Any") != nil)
    }

    @Test("13.3 (19) control information without the prefix odata. is understood")
    func response401() async throws {
        let transport = WireScript(metadata: ShopMetadata.v4("4.01")) { _, _ in
            .json(
                "{\"@context\":\"$metadata#Orders\",\"@count\":5,\"value\":[{\"@etag\":\"W/\\\"3\\\"\",\"ID\":1}]}",
                ["OData-Version": "4.01"])
        }
        let page = try await transport.service().page(ResourceQuery("Orders").count())
        #expect(page.count == 5)
        #expect(page.entities[0].control.etag == "W/\"3\"")
    }

    @Test("13.3 (20) requests that the capabilities exclude are not sent, and a 501 is reported")
    func capabilities() async throws {
        let restricted = ShopMetadata.v4(
            sets: "<Annotation Term=\"Org.OData.Capabilities.V1.ComputeSupported\" Bool=\"false\"/>")
        let query = ResourceQuery("Orders").compute(.property("ID") + 1, as: "Next")
        let transport = WireScript(metadata: restricted) { _, _ in .json(Self.orders) }
        let error = await #expect(throws: CapabilityError.self) { _ = try await transport.service().page(query) }
        #expect(error?.feature == "$compute")
        #expect(transport.sent.isEmpty)
        let silent = script("4.01", .refusal(501))
        let service = try silent.service()
        let refusal = await #expect(throws: ODataError.self) { _ = try await service.page(query) }
        #expect(refusal?.status == 501)
        // The refusal was not caused by a field that the client adds, so the same request is not tried again
        // without it.
        #expect(silent.sent.count == 4)
        await #expect(throws: ODataError.self) { _ = try await service.page(query) }
        #expect(silent.sent.count == 5)
    }
}

extension InteroperableClientTests {
    @Test("13.3 (15) a streamed response is read as it arrives")
    func streaming() async throws {
        let body = Self.orders
        let transport = PiecewiseTransport(metadata: ShopMetadata.v4(), body: body)
        let client = try ODataClient(serviceRoot: WireScript.root, transport: transport)
        #expect(try await DataService(client).entities("Orders").map { $0["City"] } == ["Graz"])
    }
}

/// A transport that returns its response one byte at a time.
private struct PiecewiseTransport: HTTPTransport {
    let metadata: String
    let body: String

    func send(
        _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
    ) async throws -> (HTTPResponse, ByteStream) {
        var response = HTTPResponse(status: .ok)
        let isMetadata = request.path?.hasSuffix("$metadata") ?? false
        response.headerFields[.contentType] = isMetadata ? "application/xml" : "application/json"
        return (response, ByteStream(Array((isMetadata ? metadata : self.body).utf8)).chunked(try ChunkSize(1)))
    }
}
