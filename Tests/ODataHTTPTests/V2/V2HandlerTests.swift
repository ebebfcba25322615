import HTTPTypes
import ODataFormat
import ODataModel
import ODataQuery
import ODataService
import Synchronization
import Testing

@testable import ODataHTTP

/// A V4 service from the point of view of OData 2.0 clients (MS-ODATA; rule 24).
@Suite struct V2HandlerTests {
    static let metadata = """
        <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.01"><edmx:DataServices>
        <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="Shop">
          <EntityType Name="Item">
            <Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
            <Property Name="Name" Type="Edm.String"/>
            <Property Name="Price" Type="Edm.Decimal" Scale="variable"/>
            <Property Name="Since" Type="Edm.Date"/>
            <Property Name="Made" Type="Edm.DateTimeOffset"/>
            <Property Name="Opens" Type="Edm.TimeOfDay"/>
            <Property Name="Lasts" Type="Edm.Duration"/>
            <Property Name="Color" Type="Shop.Color"/>
            <Property Name="Tags" Type="Collection(Edm.String)"/>
            <NavigationProperty Name="Group" Type="Shop.Group" Partner="Items"/>
          </EntityType>
          <EntityType Name="Group">
            <Key><PropertyRef Name="Code"/></Key>
            <Property Name="Code" Type="Edm.String" Nullable="false"/>
            <NavigationProperty Name="Items" Type="Collection(Shop.Item)" Partner="Group"/>
          </EntityType>
          <EntityType Name="Photo" HasStream="true">
            <Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
          </EntityType>
          <EnumType Name="Color"><Member Name="Red"/><Member Name="Green"/></EnumType>
          <Function Name="Cheapest"><Parameter Name="count" Type="Edm.Int32" Nullable="false"/>
            <ReturnType Type="Collection(Shop.Item)"/></Function>
          <Action Name="Rename"><Parameter Name="id" Type="Edm.Int32" Nullable="false"/>
            <Parameter Name="color" Type="Shop.Color"/><ReturnType Type="Edm.String"/></Action>
          <EntityContainer Name="C">
            <EntitySet Name="Items" EntityType="Shop.Item"><NavigationPropertyBinding Path="Group" Target="Groups"/>
            </EntitySet>
            <EntitySet Name="Groups" EntityType="Shop.Group"><NavigationPropertyBinding Path="Items" Target="Items"/>
            </EntitySet>
            <EntitySet Name="Photos" EntityType="Shop.Photo"/>
            <Singleton Name="Main" Type="Shop.Group"/>
            <FunctionImport Name="Cheapest" Function="Shop.Cheapest" EntitySet="Items"/>
            <ActionImport Name="Rename" Action="Shop.Rename"/>
          </EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    /// A provider that returns the responses of a test, and records the requests.
    private final class Provider: ODataProvider {
        let fixed: EntityDataModel
        private let answer: @Sendable (Provider, ODataRequest) throws -> ODataResponse
        private let seen = Mutex<[ODataRequest]>([])

        init(_ answer: @escaping @Sendable (Provider, ODataRequest) throws -> ODataResponse) throws {
            fixed = try CSDLReader.read(xml: Array(V2HandlerTests.metadata.utf8))
            self.answer = answer
        }

        var model: EntityDataModel { get async throws { fixed } }
        var requests: [ODataRequest] { seen.withLock { $0 } }

        var traits: ProviderTraits { .standard }

        func execute(_ request: ODataRequest) async throws -> ODataResponse {
            seen.withLock { $0.append(request) }
            return try answer(self, request)
        }

        func item() throws -> ODataEntity {
            let shape = try #require(fixed.shape(ofSet: "Items"))
            var item = ODataEntity(
                shape: shape,
                [
                    "ID": 1, "Name": "Bread", "Price": .decimal(try #require(ODataDecimal("2.50"))),
                    "Since": .date(try #require(ODataDate(year: 2020, month: 2, day: 29))),
                    "Opens": .timeOfDay(try #require(ODataTimeOfDay("07:30:00"))), "Color": .enumeration(1),
                    "Tags": .collection(["a"]),
                ])
            item.control.id = "Items(1)"
            item.control.etag = "W/\"7\""
            return item
        }
    }

    private func exchange(
        _ text: String, _ answer: @escaping @Sendable (Provider, ODataRequest) throws -> ODataResponse
    ) async throws -> (String, ODataRequest?) {
        let provider = try Provider(answer)
        let handler = try ODataV2Handler(provider: provider, serviceRoot: "/v2/")
        let (message, body) = Transcript.request(text)
        var (response, stream) = await handler.handle(message, body)
        response.headerFields[.contentLength] = nil
        return (try await Transcript.text(response, stream), provider.requests.last)
    }

    private func one(_ text: String) async throws -> String {
        try await exchange(text) { provider, _ in ODataResponse(body: .entity(try provider.item())) }.0
    }

    @Test("MS-ODATA 2.2.6.3.3 an entity is written in verbose JSON with values of V2")
    func verboseEntity() async throws {
        let text = try await one("GET /v2/Items(1)?$format=json&sap-language=EN\n\n")
        #expect(
            text == """
                200
                DataServiceVersion: 2.0
                ETag: W/"7"
                Content-Type: application/json

                {"d":{"__metadata":{"id":"http://host/v2/Items(1)","uri":"http://host/v2/Items(1)","type":"Shop.Item",\
                "etag":"W/\\"7\\""},"ID":1,"Name":"Bread","Price":"2.50","Since":"\\/Date(1582934400000)\\/",\
                "Opens":"PT7H30M","Color":"Green","Group":{"__deferred":{"uri":"http://host/v2/Items(1)/Group"}}}}
                """)
    }

    @Test("MS-ODATA 2.2.6.2.2 the default format is Atom")
    func atom() async throws {
        let text = try await one("GET /v2/Items(1)\n\n")
        #expect(text.contains("Content-Type: application/atom+xml;type=entry\n"))
        #expect(text.contains("<d:Since m:type=\"Edm.DateTime\">2020-02-29T00:00:00</d:Since>"), "\(text)")
        #expect(text.contains("Items(1)/Group") && text.contains("<d:Color>Green</d:Color>"))
        #expect(!text.contains("Tags"))
    }

    @Test(arguments: ["Items(1)?$format=json", "Items(1)", "Items?$format=json", "Items", "Items(1)/Name"])
    func `a response that needs more memory than the request has is refused with 413`(url: String) async throws {
        func text(_ bytes: Int) async throws -> String {
            let budget = RequestBudget(.init(heldBytes: bytes))
            return try await RequestBudget.$current.withValue(budget) {
                try await exchange("GET /v2/\(url)\n\n") { provider, request in
                    var item = try provider.item()
                    item["Name"] = .string(String(repeating: "n", count: 1000))
                    if url.hasSuffix("Name") {
                        return ODataResponse(body: .value(item["Name"] ?? .null, .primitive(.string)))
                    }
                    let isOne = url.hasPrefix("Items(")
                    return ODataResponse(
                        body: isOne
                            ? .entity(item) : .page(EntityPage(entities: Array(repeating: item, count: 20))))
                }.0
            }
        }
        let refused = try await text(900)
        #expect(refused.hasPrefix("413\n") && refused.contains("ResponseTooLarge"), "\(refused.prefix(300))")
        #expect(try await text(1 << 20).hasPrefix("200\n"))
    }

    @Test("MS-ODATA 2.2.6.3.2 a feed has its count and next link")
    func feed() async throws {
        let (text, request) = try await exchange(
            "GET /v2/Items?$inlinecount=allpages&$top=1&$format=json\n\n"
        ) { provider, _ in
            ODataResponse(
                body: .page(EntityPage(entities: [try provider.item()], count: 3, nextLink: "Items?$skiptoken=x")))
        }
        #expect(request?.url.options.count == true)
        #expect(text.contains("{\"d\":{\"__count\":\"3\",\"results\":[{"), "\(text)")
        #expect(text.contains("\"__next\":\"http://host/v2/Items?$skiptoken=x\""))
    }

    @Test(
        "rule 24 a V2 query becomes a query of the service",
        arguments: [
            ("Items?$filter=Since eq datetime'2020-02-29T00:00:00'", "Items?$filter=Since eq 2020-02-29"),
            (
                "Items?$filter=Made gt datetimeoffset'2020-01-01T00:00:00Z'",
                "Items?$filter=Made gt 2020-01-01T00:00:00Z"
            ),
            ("Items?$filter=datetime'2020-01-01T00:00:00' lt Made", "Items?$filter=2020-01-01T00:00:00Z lt Made"),
            ("Items?$filter=Opens lt time'PT8H'", "Items?$filter=Opens lt 08:00:00"),
            ("Items?$filter=Color eq 'Red'", "Items?$filter=Color eq Shop.Color'Red'"),
            (
                "Items?$filter=substringof('re',Name) and Price gt 1.5M",
                "Items?$filter=contains(Name,'re') and Price gt 1.5"
            ),
            (
                "Items?$expand=Group/Items&$select=ID,Group/Code",
                "Items?$expand=Group($expand=Items;$select=Code)&$select=ID"
            ),
            ("Items(1)/$links/Group", "Items(1)/Group/$ref"), ("Groups('a')/$links/Items", "Groups('a')/Items/$ref"),
            ("Items/$count?$filter=ID gt 1", "Items/$count?$filter=ID gt 1"),
        ])
    func queries(_ v2: String, _ v4: String) async throws {
        let (text, request) = try await exchange("GET /v2/\(v2.replacing(" ", with: "%20"))\n\n") { _, _ in
            ODataResponse(body: .count(1))
        }
        #expect(text.hasPrefix("200\n"), "\(text)")
        let expected = try ODataURL(parsing: v4)
        #expect(request?.url.path == expected.path)
        #expect(request?.url.options.select == expected.options.select)
        #expect(request?.url.options.expand == expected.options.expand)
        #expect(request?.url.options.filter.map { "\($0)" } == expected.options.filter.map { "\($0)" })
    }

    @Test("rule 24 V2 values get the types of the service")
    func create() async throws {
        let body = """
            {"ID":2,"Since":"\\/Date(1582934400000)\\/","Made":"\\/Date(0)\\/","Opens":"PT7H30M","Color":"Red",\
            "Price":"1.25","Group":{"__metadata":{"uri":"http://host/v2/Groups('a')"}}}
            """
        let (text, request) = try await exchange(
            "POST /v2/Items\nContent-Type: application/json\nAccept: application/json\n\n\(body)"
        ) { provider, _ in
            var response = ODataResponse(status: 201, body: .entity(try provider.item()))
            response.location = "Items(1)"
            return response
        }
        #expect(text.hasPrefix("201\n") && text.contains("Location: http://host/v2/Items(1)\n"), "\(text)")
        guard case .entity(let entity)? = request?.body else {
            Issue.record("no entity")
            return
        }
        #expect(entity["Since"] == ODataDate(year: 2020, month: 2, day: 29).map { .date($0) })
        #expect(entity["Made"] == .dateTimeOffset(ODataDateTimeOffset(seconds: 0)))
        #expect(entity["Opens"] == ODataTimeOfDay("07:30:00").map { .timeOfDay($0) })
        #expect(entity["Color"] == .enumeration(0))
        #expect(entity.related["Group"] == .references(["Groups('a')"]))
    }

    @Test(arguments: [
        ("PUT /v2/Items(1)", ODataRequest.Method.replace), ("MERGE /v2/Items(1)", .update),
        ("POST /v2/Items(1)\nX-HTTP-Method: MERGE", .update), ("PATCH /v2/Items(1)", .update),
    ])
    func `PUT replaces, MERGE changes, and nothing comes back`(_ head: String, _ method: ODataRequest.Method)
        async throws
    {
        let (text, request) = try await exchange(
            "\(head)\nIf-Match: W/\"7\"\nContent-Type: application/json\n\n{\"d\":{\"Name\":\"x\"}}"
        ) { _, _ in ODataResponse(status: 204) }
        #expect(text == "204\nDataServiceVersion: 2.0\n\n")
        #expect(request?.method == method && request?.ifMatch == "W/\"7\"")
    }

    @Test func `links are read, added and removed`() async throws {
        let (one, _) = try await exchange("GET /v2/Items(1)/$links/Group?$format=json\n\n") { _, _ in
            ODataResponse(body: .references(["Groups('a')"], isCollection: false))
        }
        #expect(one.hasSuffix("{\"d\":{\"uri\":\"http://host/v2/Groups('a')\"}}"), "\(one)")
        let (_, added) = try await exchange(
            "POST /v2/Groups('a')/$links/Items\nContent-Type: application/json\n\n{\"uri\":\"http://host/v2/Items(1)\"}"
        ) { _, _ in ODataResponse(status: 204) }
        guard case .reference("Items(1)")? = added?.body else {
            Issue.record("no reference")
            return
        }
        let (removed, _) = try await exchange("DELETE /v2/Groups('a')/$links/Items(1)\n\n") { _, _ in
            ODataResponse(status: 204)
        }
        #expect(removed.hasPrefix("204\n"), "\(removed)")
    }

    @Test func `function imports take their parameters from the query`() async throws {
        let (feed, function) = try await exchange("GET /v2/Cheapest?count=3&$format=json\n\n") { provider, _ in
            ODataResponse(body: .page(EntityPage(entities: [try provider.item()])))
        }
        #expect(feed.contains("\"results\":[{"), "\(feed)")
        #expect(function?.method == .read)
        let (value, action) = try await exchange("POST /v2/Rename?id=3&color='Green'&$format=json\n\n") { _, _ in
            ODataResponse(body: .value("done", .primitive(.string)))
        }
        #expect(value.hasSuffix("{\"d\":{\"Rename\":\"done\"}}"), "\(value)")
        guard case .parameters(let parameters)? = action?.body else {
            Issue.record("no parameters")
            return
        }
        #expect(parameters == ["id": 3, "color": .enumeration(1)])
    }

    @Test func `media link entries say where their bytes are, and take them`() async throws {
        let (text, request) = try await exchange(
            "POST /v2/Photos\nContent-Type: image/png\nAccept: application/json\n\nxyz"
        ) { provider, _ in
            var photo = ODataEntity(shape: try #require(provider.fixed.shape(ofSet: "Photos")), ["ID": 4])
            photo.control.id = "Photos(4)"
            photo.control.mediaContentType = "image/png"
            return ODataResponse(status: 201, body: .entity(photo))
        }
        guard case .media? = request?.body else {
            Issue.record("no media")
            return
        }
        #expect(text.contains("\"content_type\":\"image/png\""), "\(text)")
        #expect(text.contains("\"media_src\":\"http://host/v2/Photos(4)/$value\""))
    }

    @Test func `the documents of a V2 service`() async throws {
        let (metadata, _) = try await exchange("GET /v2/$metadata\n\n") { _, _ in ODataResponse() }
        #expect(metadata.contains("DataServiceVersion: 2.0\n") && metadata.contains("Type=\"Edm.DateTime\""))
        #expect(!metadata.contains("Tags") && !metadata.contains("Main") && !metadata.contains("variable"))
        let (atom, _) = try await exchange("GET /v2/\n\n") { _, _ in ODataResponse() }
        #expect(atom.contains("Content-Type: application/atomsvc+xml\n") && atom.contains("href=\"Items\""))
        let (json, _) = try await exchange("GET /v2/?$format=json\n\n") { _, _ in ODataResponse() }
        #expect(json.hasSuffix("{\"d\":{\"EntitySets\":[\"Items\",\"Groups\",\"Photos\"]}}"), "\(json)")
    }

    @Test func `a refusal is V2's error in the format asked for`() async throws {
        let (json, _) = try await exchange("GET /v2/Nothing?$format=json\n\n") { _, _ in ODataResponse() }
        #expect(json.hasPrefix("404\n"))
        #expect(
            json.contains("{\"error\":{\"code\":\"UnknownName\",\"message\":{\"lang\":\"en\",\"value\":"), "\(json)")
        let (xml, _) = try await exchange("GET /v2/Items(1)\n\n") { _, _ in throw ODataError.notFound("Items(1)") }
        #expect(xml.contains("Content-Type: application/xml\n") && xml.contains("code>NotFound</"), "\(xml)")
    }

    @Test(
        "a feature that V2 lacks is not found",
        arguments: [
            ("GET /v2/Main\n\n", 404), ("GET /v2/Items?$filter=Tags/any(t:t eq 'a')\n\n", 400),
            ("GET /v2/Items(1)/Tags\n\n", 404), ("GET /v2/Items\nAccept: text/html\n\n", 406),
            ("GET /v2/Items\nAccept: application/json;odata.metadata=minimal\n\n", 406),
            ("GET /v2/Items\nMaxDataServiceVersion: 0.5\n\n", 400), ("GET /v2/Items\nDataServiceVersion: 4.0\n\n", 400),
            ("PUT /v2/Items\n\n", 501), ("POST /v2/Items\nContent-Type: text/csv\n\nx", 415),
            ("POST /v2/Items\nContent-Type: application/json\n\n", 400), ("POST /v2/Cheapest?count=1\n\n", 405),
            ("POST /v2/Rename?id='x'&color='Blue'\n\n", 400), ("POST /v2/Rename\n\n", 400),
            (
                "MERGE /v2/Items(1)\nContent-Type: application/json\n\n{\"Since\":\"\\/Date(1582934400001)\\/\"}",
                400
            ),
        ])
    func refusals(_ request: String, _ status: Int) async throws {
        let (text, _) = try await exchange(request.replacing("eq 'a')", with: "eq%20'a')")) { _, _ in ODataResponse() }
        #expect(text.hasPrefix("\(status)\n"), "\(text)")
        #expect(text.contains("DataServiceVersion: 2.0\n"))
    }

    @Test("MS-ODATA 2.2.7.6.1 a request in a change set may refer to an entity created earlier in it")
    func batchReferences() async throws {
        let body = """
            --b
            Content-Type: multipart/mixed; boundary=c

            --c
            Content-Type: application/http
            Content-ID: 1

            POST Items HTTP/1.1
            Content-Type: application/json

            {"ID":7,"Name":"x"}
            --c
            Content-Type: application/http
            Content-ID: 2

            MERGE $1 HTTP/1.1
            Content-Type: application/json

            {"Name":"y"}
            --c
            Content-Type: application/http
            Content-ID: 3

            DELETE $9 HTTP/1.1


            --c--
            --b--
            """.replacing("\n", with: "\r\n")
        let provider = try Provider { _, _ in ODataResponse(status: 204) }
        let model = try await provider.model
        let root = try ServiceRoot("http://host/v2/")
        let decoder = V2RequestDecoder(
            addresses: V2Addresses(model: try V2Model(model), serviceRoot: root), serviceRoot: root,
            maxBodySize: 1 << 20)
        var message = HTTPRequest(method: .post, scheme: "http", authority: "host", path: "/v2/$batch")
        message.headerFields[.contentType] = "multipart/mixed; boundary=b"
        let parts = try await decoder.decode(message, ByteStream(Array(body.utf8))).parts
        let changed = try parts[1].result.get()
        #expect(changed.request.url.path.segments == [.name(Identifier("$1"), .none)])
        guard case .entity(let entity) = changed.request.body else {
            Issue.record("no entity")
            return
        }
        #expect(entity["Name"] == .string("y"))
        #expect(throws: ODataError.self) { _ = try parts[2].result.get() }
    }

    @Test("MS-ODATA 2.2.7.6 a batch gets 202 with a response for each part")
    func batch() async throws {
        let body = """
            --b
            Content-Type: application/http

            GET Items(1)?$format=json HTTP/1.1


            --b
            Content-Type: multipart/mixed; boundary=c

            --c
            Content-Type: application/http
            Content-ID: 1

            MERGE Items(1) HTTP/1.1
            Content-Type: application/json

            {"Name":"x"}
            --c--
            --b
            Content-Type: application/http

            GET Nothing HTTP/1.1


            --b--
            """.replacing("\n", with: "\r\n")
        let provider = try Provider { provider, request in
            guard case .batch(let items) = request.body else {
                return ODataResponse(body: .entity(try provider.item()))
            }
            return ODataResponse(
                body: .batch(items.map { BatchResult(id: $0.id, result: .success(ODataResponse(status: 204))) }))
        }
        let handler = try ODataV2Handler(provider: provider, serviceRoot: "/v2/")
        var message = HTTPRequest(method: .post, scheme: "http", authority: "host", path: "/v2/$batch")
        message.headerFields[.contentType] = "multipart/mixed; boundary=b"
        let (response, stream) = await handler.handle(message, ByteStream(Array(body.utf8)))
        #expect(response.status == .accepted)
        let boundary = try MultipartBatch.boundary(contentType: response.headerFields[.contentType] ?? "")
        let parts = try MultipartBatch.readResponse(try await stream.collect(limit: 1 << 20), boundary: boundary)
        #expect(parts.map(\.status) == [200, 204, 404])
        #expect(parts[1].id == "1" && parts[1].atomicityGroup != nil)
        #expect(String(decoding: parts[0].body, as: UTF8.self).hasPrefix("{\"d\":{"))
    }

    /// Sends a batch of requests without bodies. Each change has a change set of its own.
    private func sendBatch(
        _ requests: [String], to provider: Provider
    ) async throws -> (ByteStream, boundary: String) {
        let parts = requests.enumerated().map { position, request in
            let part = "Content-Type: application/http\n\n\(request) HTTP/1.1\n\n\n"
            guard !request.hasPrefix("GET") else { return "--b\n\(part)" }
            let set = "c\(position)"
            return "--b\nContent-Type: multipart/mixed; boundary=\(set)\n\n--\(set)\n\(part)--\(set)--\n"
        }
        let handler = try ODataV2Handler(provider: provider, serviceRoot: "/v2/")
        var message = HTTPRequest(method: .post, scheme: "http", authority: "host", path: "/v2/$batch")
        message.headerFields[.contentType] = "multipart/mixed; boundary=b"
        let body = (parts.joined() + "--b--\n").replacing("\n", with: "\r\n")
        let (response, stream) = await handler.handle(message, ByteStream(Array(body.utf8)))
        #expect(response.status == .accepted)
        return (stream, try MultipartBatch.boundary(contentType: response.headerFields[.contentType] ?? ""))
    }

    /// Returns 300 items for a read, and confirms changes.
    private static func many(_ provider: Provider, _ request: ODataRequest) throws -> ODataResponse {
        guard case .batch(let items) = request.body else {
            return ODataResponse(body: .page(EntityPage(entities: Array(repeating: try provider.item(), count: 300))))
        }
        return ODataResponse(
            body: .batch(items.map { BatchResult(id: $0.id, result: .success(ODataResponse(status: 204))) }))
    }

    @Test func `the reads of a batch are done as their answers are pulled`() async throws {
        let provider = try Provider(Self.many)
        let reads = Array(repeating: "GET Items?$format=json", count: 50)
        let (stream, boundary) = try await sendBatch(reads, to: provider)
        #expect(provider.requests.isEmpty)
        var bytes = try #require(try await stream.next())
        #expect((1...2).contains(provider.requests.count), "\(provider.requests.count)")
        bytes += try await stream.collect(limit: .max)
        let answers = try MultipartBatch.readResponse(bytes, boundary: boundary)
        #expect(answers.map(\.status) == Array(repeating: 200, count: 50))
        #expect(provider.requests.count == 50)
    }

    @Test func `the changes of a batch are made in order even if nobody takes the answer`() async throws {
        let provider = try Provider(Self.many)
        let (stream, boundary) = try await sendBatch(
            ["GET Items?$format=json", "DELETE Items(1)", "GET Items(2)", "DELETE Items(3)", "GET Items"], to: provider)
        #expect(provider.requests.map(\.method) == [.read, .create, .read, .create])
        let answers = try MultipartBatch.readResponse(try await stream.collect(limit: .max), boundary: boundary)
        #expect(answers.map(\.status) == [200, 204, 200, 204, 200])
        #expect(answers.map { $0.atomicityGroup != nil } == [false, true, false, true, false])
    }

    @Test func `answers that wait for a change have a limit, and the change is made`() async throws {
        let provider = try Provider { provider, request in
            guard case .batch = request.body else {
                let size = V2BatchAnswers.maxWaitingSize / 2
                return ODataResponse(
                    body: .raw(ByteStream([UInt8](repeating: 1, count: size)), contentType: "image/png"))
            }
            return try Self.many(provider, request)
        }
        let (stream, boundary) = try await sendBatch(
            Array(repeating: "GET Photos(1)/$value", count: 5) + ["DELETE Items(1)", "GET Photos(1)/$value"],
            to: provider)
        #expect(provider.requests.count == 3, "nothing is read that there is no room for")
        let answers = try MultipartBatch.readResponse(try await stream.collect(limit: .max), boundary: boundary)
        #expect(answers.map(\.status) == [200, 200, 413, 413, 413, 204, 200])
    }
}
