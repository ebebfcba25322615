import HTTPTypes
import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataHTTP

/// Requests of the client, compared with messages modelled on the examples of the specification (rule 34).
@Suite struct RequestEncoderTests {
    private func sent(
        _ request: ODataRequest, version: String = "4.01", batchFormat: BatchFormat = .multipart
    ) async throws -> String {
        let encoder = try ExampleService.encoder(version: version, batchFormat: batchFormat)
        let (message, body) = try encoder.encode(request)
        return try await Transcript.text(message, body)
    }

    private func product(_ properties: [String: ODataValue]) throws -> ODataEntity {
        ODataEntity(shape: try #require(try ExampleService.model().shape(ofSet: "Products")), properties)
    }

    @Test("11.2.6 GET of a collection (Protocol, example 35)")
    func read() async throws {
        let url = try ODataURL.of("Products?$filter=Price lt 10.00&$top=5")
        #expect(
            try await sent(ODataRequest(.read, url)) == """
                GET /service/Products?$filter=Price%20lt%2010.00&$top=5
                Host: host
                Accept: application/json;odata.metadata=minimal
                OData-MaxVersion: 4.01


                """)
    }

    @Test("8.2 preferences, conditions and repeatability are sent as fields")
    func fields() async throws {
        var request = ODataRequest(
            .read, try ODataURL.of("Products"), preferences: Preferences(maxPageSize: 50, trackChanges: true),
            ifNoneMatch: "W/\"7\"", format: ResponseFormat(metadata: .none, isIEEE754Compatible: true))
        request.repeatability = Repeatability(
            requestID: "abc", firstSent: "Sun, 06 Nov 1994 08:49:37 GMT", clientID: "me")
        request.headers = ["X-Tenant": "blue"]
        #expect(
            try await sent(request) == """
                GET /service/Products
                Host: host
                Accept: application/json;odata.metadata=none;IEEE754Compatible=true
                OData-MaxVersion: 4.01
                If-None-Match: W/"7"
                Prefer: maxpagesize=50, track-changes
                Repeatability-Request-ID: abc
                Repeatability-First-Sent: Sun, 06 Nov 1994 08:49:37 GMT
                Repeatability-Client-ID: me
                X-Tenant: blue


                """)
    }

    @Test("8.2.8 a service of 4.0 gets preferences with their prefix")
    func prefixed() async throws {
        let request = ODataRequest(
            .read, try ODataURL.of("Products"), preferences: Preferences(maxPageSize: 5, returns: .minimal))
        #expect(try await sent(request, version: "4.0").contains("Prefer: return=minimal, odata.maxpagesize=5\n"))
    }

    @Test("11.4.2 POST creates an entity")
    func create() async throws {
        let entity = try product([
            "ID": 1, "Name": "Bread", "Price": .decimal(ODataDecimal(2)), "Color": .enumeration(1),
        ])
        #expect(
            try await sent(
                ODataRequest(
                    .create, ODataURL(set: "Products"), body: .entity(entity),
                    preferences: Preferences(returns: .representation))) == """
                    POST /service/Products
                    Host: host
                    Accept: application/json;odata.metadata=minimal
                    OData-MaxVersion: 4.01
                    Prefer: return=representation
                    Content-Type: application/json
                    OData-Version: 4.01

                    {"ID":1,"Name":"Bread","Price":2,"Color":"Green"}
                    """)
    }

    @Test("11.4.2.1 a binding is written in the form of the service version")
    func bind() async throws {
        var entity = try product(["ID": 1])
        entity.related["Category"] = .references(["Categories(3)"])
        let request = ODataRequest(.create, ODataURL(set: "Products"), body: .entity(entity))
        #expect(try await sent(request, version: "4.0").hasSuffix(#"{"ID":1,"Category@odata.bind":"Categories(3)"}"#))
        #expect(try await sent(request, version: "4.0").contains("OData-Version: 4.0\n"))
        #expect(try await sent(request).hasSuffix(#"{"ID":1,"Category":{"@id":"Categories(3)"}}"#))
    }

    @Test("11.4.3 PATCH contains the ETag and only changed properties")
    func update() async throws {
        var entity = try product(["ID": 1, "Name": "Bread"])
        entity.markUnchanged()
        entity["Name"] = "Toast"
        let url = ODataURL(set: "Products", key: EntityKey("ID", 1))
        #expect(
            try await sent(ODataRequest(.update, url, body: .entity(entity.changes), ifMatch: "\"1\"")) == """
                PATCH /service/Products(1)
                Host: host
                Accept: application/json;odata.metadata=minimal
                OData-MaxVersion: 4.01
                If-Match: "1"
                Content-Type: application/json
                OData-Version: 4.01

                {"Name":"Toast"}
                """)
    }

    @Test("11.4.4 PUT sends the entity without control information of the service")
    func replace() async throws {
        var entity = ODataEntity(
            shape: try #require(try ExampleService.model().shape(QualifiedName("ODataDemo", "Book"))),
            ["ID": 1, "ISBN": "x"])
        entity.control.id = "Products(1)"
        entity.control.etag = "\"1\""
        entity.control.editLink = "Products(1)/ODataDemo.Book"
        entity.control.type = entity.shape.name
        let url = ODataURL(set: "Products", key: EntityKey("ID", 1))
        #expect(
            try await sent(ODataRequest(.replace, url, body: .entity(entity)))
                .hasSuffix(##"{"@type":"#ODataDemo.Book","ID":1,"ISBN":"x"}"##))
    }

    @Test("11.4.5 DELETE has no body")
    func delete() async throws {
        let text = try await sent(ODataRequest(.delete, try ODataURL.of("Products(1)"), ifMatch: "*"))
        #expect(text.hasPrefix("DELETE /service/Products(1)\n"))
        #expect(text.contains("If-Match: *\n"))
        #expect(text.hasSuffix("\n\n"))
    }

    @Test("11.2.4 requests for counts, raw values and metadata accept text, any type and XML")
    func accept() async throws {
        #expect(
            try await sent(ODataRequest(.read, try ODataURL.of("Products/$count"))).contains("Accept: text/plain\n"))
        #expect(try await sent(ODataRequest(.read, try ODataURL.of("Photos(1)/$value"))).contains("Accept: */*\n"))
        #expect(try await sent(ODataRequest(.read, try ODataURL.of("$metadata"))).contains("Accept: application/xml\n"))
    }

    @Test("11.4.9 a single property is wrapped, a raw value is not")
    func values() async throws {
        let property = ODataRequest(
            .replace, try ODataURL.of("Products(1)/Name"), body: .value("Toast", .primitive(.string)))
        #expect(try await sent(property).hasSuffix(#"{"value":"Toast"}"#))
        let raw = ODataRequest(
            .replace, try ODataURL.of("Products(1)/Name/$value"), body: .value("Toast", .primitive(.string)))
        let text = try await sent(raw)
        #expect(text.contains("Content-Type: text/plain\n"))
        #expect(text.hasSuffix("\n\nToast"))
    }

    @Test("11.4.6 a reference is written in the form of the version")
    func reference() async throws {
        let request = ODataRequest(
            .replace, try ODataURL.of("Products(1)/Category/$ref"), body: .reference("Categories(2)"))
        #expect(try await sent(request).hasSuffix(#"{"@id":"Categories(2)"}"#))
        #expect(try await sent(request, version: "4.0").hasSuffix(#"{"@odata.id":"Categories(2)"}"#))
    }

    @Test("11.5.5 action parameters are written by their types")
    func parameters() async throws {
        let request = ODataRequest(
            .create, try ODataURL.of("Products(1)/ODataDemo.Rate"), body: .parameters(["stars": 5, "text": .null]))
        #expect(try await sent(request).hasSuffix(#"{"stars":5,"text":null}"#))
    }

    @Test("11.4.8 media are streamed unchanged")
    func media() async throws {
        let request = ODataRequest(
            .create, ODataURL(set: "Photos"), body: .media(ByteStream([1, 2, 3]), contentType: "image/png"))
        let (message, body) = try ExampleService.encoder().encode(request)
        #expect(message.headerFields[.contentType] == "image/png")
        #expect(try await body?.collect(limit: 10) == [1, 2, 3])
    }

    @Test func `a link goes out exactly as the service gave it`() async throws {
        for link in [
            "http://host/service/Products?$skiptoken='a b'%20%3D", "http://other.example/x?$deltatoken=1*2",
        ] {
            let encoded = try ExampleService.encoder().encode(ODataRequest(following: link)).0
            #expect("http://\(encoded.authority ?? "")\(encoded.path ?? "")" == link)
        }
        let relative = try ExampleService.encoder().encode(ODataRequest(following: "Products?$skiptoken=7")).0
        #expect(relative.path == "/service/Products?$skiptoken=7")
    }
}
