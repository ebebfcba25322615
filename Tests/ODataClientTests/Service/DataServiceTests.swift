import HTTPTypes
import ODataClient
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import Synchronization
import Testing

/// The request that a data service sends for each operation of an app.
@Suite struct DataServiceTests {
    private static let order = "{\"@odata.context\":\"$metadata#Orders/$entity\",\"ID\":1,\"City\":\"Graz\"}"

    private func script(_ answer: WireScript.Answer = .empty()) -> WireScript {
        WireScript(metadata: ShopMetadata.v4("4.01")) { _, _ in answer }
    }

    private func order(_ client: ODataClient, _ id: Int64 = 1) async throws -> ODataEntity {
        try await ShopMetadata.entity(["ID": .integer(id)], of: client)
    }

    private func item(_ client: ODataClient) async throws -> ODataEntity {
        try await ShopMetadata.entity(["ID": 7], set: "Items", of: client)
    }

    @Test("11.4.6 links are added, set and removed")
    func links() async throws {
        let transport = script()
        let client = try transport.client()
        let service = DataService(client)
        let (order, item) = (try await order(client), try await item(client))
        try await service.link("Items", of: order, to: item)
        try await service.link("Parent", of: order, to: try await self.order(client, 2))
        try await service.unlink("Items", of: order, from: item)
        try await service.unlink("Parent", of: order)
        try await service.setLinks("Items", of: order, to: [item])
        #expect(
            transport.sent.map { "\($0.line) \($0.body)" }
                == [
                    "POST /shop/Orders(1)/Items/$ref {\"@odata.id\":\"Items(7)\"}",
                    "PUT /shop/Orders(1)/Parent/$ref {\"@odata.id\":\"Orders(2)\"}",
                    "DELETE /shop/Orders(1)/Items/$ref?$id=Items(7) ",
                    "DELETE /shop/Orders(1)/Parent/$ref ",
                    "PUT /shop/Orders(1)/Items/$ref {\"value\":[{\"@odata.id\":\"Items(7)\"}]}",
                ].map { $0.replacing("@odata.id", with: "@id") }, "\(transport.sent.map { "\($0.line) \($0.body)" })")
    }

    @Test("11.4.2.1 a creation binds existing entities, 11.4.2.2 and creates related ones")
    func deepInsert() async throws {
        let transport = script(.json(Self.order, status: 201))
        let client = try transport.client()
        let service = DataService(client)
        var order = try await order(client, 1)
        order.related["Parent"] = .references([try await service.reference(to: try await self.order(client, 2))])
        order.related["Items"] = .many([try await item(client)])
        try await service.create(order, in: "Orders")
        #expect(transport.sent[0].line == "POST /shop/Orders")
        #expect(transport.sent[0].body.contains("\"Items\":[{\"ID\":7}]"), "\(transport.sent[0].body)")
        #expect(transport.sent[0].body.contains("Orders(2)"))
    }

    @Test("11.4.9 single properties are read, set and cleared")
    func values() async throws {
        let transport = WireScript(metadata: ShopMetadata.v4()) { sent, _ in
            sent.message.method == .get
                ? .json("{\"@odata.context\":\"$metadata#Orders(1)/City\",\"value\":\"Graz\"}") : .empty()
        }
        let client = try transport.client()
        let order = try await order(client)
        let service = DataService(client)
        #expect(try await service.value(of: "City", order) == "Graz")
        try await service.setValue("Linz", of: "City", order)
        try await service.setValue(.null, of: "City", order)
        #expect(transport.sent[1].line == "PUT /shop/Orders(1)/City")
        #expect(transport.sent[1].body == "{\"value\":\"Linz\"}")
        #expect(transport.sent[2].line == "DELETE /shop/Orders(1)/City")
        await #expect(throws: EntityError.unknownProperty("Nothing", type: QualifiedName("Shop", "Order"))) {
            try await service.setValue("x", of: "Nothing", order)
        }
    }

    @Test("11.4.7 streams are transferred in chunks of the requested size, at most 200 KB")
    func media() async throws {
        let transport = WireScript(metadata: ShopMetadata.v4()) { sent, _ in
            sent.message.method == .get
                ? .init(fields: ["Content-Type": "image/png"], body: String(repeating: "x", count: 250_000))
                : sent.message.method == .post
                    ? .json("{\"@odata.context\":\"$metadata#Photos/$entity\",\"ID\":3}", status: 201)
                    : .empty(204, ["ETag": "\"m2\""])
        }
        let client = try transport.client()
        let service = DataService(client)
        let created = try await service.createMedia(
            in: "Photos", ByteStream(Array("png".utf8)), contentType: "image/png", slug: "cat.png")
        #expect(created["ID"] == 3)
        #expect(transport.sent.map(\.line).last == "POST /shop/Photos")
        let upload = try #require(transport.sent.last)
        #expect(upload["Slug"] == "cat.png")
        #expect(upload["Content-Type"] == "image/png")
        #expect(upload.body == "png")
        for (asked, sizes) in [
            (nil, [102_400, 102_400, 45_200]), (try ChunkSize(100_000), [100_000, 100_000, 50_000]),
            (.maximum, [204_800, 45_200]),
        ] as [(ChunkSize?, [Int])] {
            let (stream, type) =
                if let asked { try await service.media(of: created, chunkSize: asked) } else {
                    try await service.media(of: created)
                }
            #expect(type == "image/png")
            var found: [Int] = []
            for try await chunk in stream { found.append(chunk.count) }
            #expect(found == sizes)
        }
        #expect(transport.sent.last?.line == "GET /shop/Photos(3)/$value")
        #expect(
            try await service.setMedia(of: created, ByteStream([1]), contentType: "image/gif") == "\"m2\"")
        #expect(transport.sent.last?.line == "PUT /shop/Photos(3)/$value")
        try await service.deleteMedia(of: created, property: "Thumb")
        #expect(transport.sent.last?.line == "DELETE /shop/Photos(3)/Thumb")
    }

    @Test("11.5 functions and actions are called as declared in the metadata")
    func operations() async throws {
        let transport = WireScript(metadata: ShopMetadata.v4()) { sent, _ in
            sent.message.method == .get
                ? .json("{\"@odata.context\":\"$metadata#Orders\",\"value\":[\(Self.order)]}")
                : .json("{\"@odata.context\":\"$metadata#Edm.Int32\",\"value\":3}")
        }
        let client = try transport.client()
        let service = DataService(client)
        guard case .page(let page) = try await service.call("Nearest", ["city": "St. Pölten", "ids": [1, 2]]).body
        else {
            Issue.record("no page")
            return
        }
        #expect(page.entities.count == 1)
        guard case .value(let number, _) = try await service.call("Close", ["reason": "late"]).body else {
            Issue.record("no value")
            return
        }
        #expect(number == 3)
        try await service.call("Discount", ["percent": .decimal(ODataDecimal(10))], on: try await order(client))
        #expect(
            transport.sent.map { "\($0.line) \($0.body)" } == [
                "GET /shop/Nearest(city='St.%20P%C3%B6lten',ids=@ids)?@ids=%5B1,2%5D ",
                "POST /shop/Close {\"reason\":\"late\"}",
                "POST /shop/Orders(1)/Shop.Discount {\"percent\":10}",
            ], "\(transport.sent.map { "\($0.line) \($0.body)" })")
        await #expect(throws: DataServiceError.unknownOperation("Open")) { try await service.call("Open") }
    }

    @Test func `headers, options, language and page size of a service go with every request`() async throws {
        let transport = WireScript(metadata: ShopMetadata.v4()) { _, number in
            .json(
                "{\"@odata.context\":\"$metadata#Orders\",\"value\":[]"
                    + (number == 0 ? ",\"@odata.nextLink\":\"Orders?$skiptoken=1\"}" : "}"))
        }
        let service = try transport.service(
            .init(options: ["sap-client": "100"], language: "de-AT", sendsLanguageOption: true)
        )
        .header("X-Tenant", "blue").option("trace", "a b").pageSize(50)
        _ = try await service.entities("Orders")
        #expect(transport.sent[0].line == "GET /shop/Orders?trace=a%20b&sap-client=100&sap-language=DE")
        // A link of the service is followed without changes.
        #expect(transport.sent[1].line == "GET /shop/Orders?$skiptoken=1")
        for sent in transport.sent {
            #expect(sent["X-Tenant"] == "blue")
            #expect(sent["Accept-Language"] == "de-AT")
            #expect(sent["Prefer"] == "odata.maxpagesize=50")
        }
        _ = try await service.language("fr").page(ODataURL(set: "Orders"))
        #expect(transport.sent.last?["Accept-Language"] == "fr")
    }

    @Test("11.2.6.7 one page is read ahead")
    func lookAhead() async throws {
        let asked = Mutex(0)
        let transport = WireScript(metadata: ShopMetadata.v4()) { _, number in
            asked.withLock { $0 = number + 1 }
            let link = number < 9 ? ",\"@odata.nextLink\":\"Orders?$skiptoken=\(number)\"" : ""
            return .json("{\"@odata.context\":\"$metadata#Orders\",\"value\":[{\"ID\":\(number)}]\(link)}")
        }
        let service = try transport.service()
        var iterator = service.pages(ResourceQuery("Orders")).lookingAhead(2).makeAsyncIterator()
        let first = try await iterator.next()
        #expect(first?.entities[0]["ID"] == 0)
        for _ in 0..<200 where asked.withLock({ $0 }) < 3 { try await Task.sleep(for: .milliseconds(5)) }
        try await Task.sleep(for: .milliseconds(30))
        #expect(asked.withLock { $0 } == 4, "the one taken, two that lie ready, one on its way")
        var ids: [ODataValue?] = []
        while let page = try await iterator.next() { ids.append(page.entities[0]["ID"]) }
        #expect(ids == (1...9).map { .integer(Int64($0)) })
        // Without read-ahead, no page is read before it is requested.
        asked.withLock { $0 = 0 }
    }

    @Test func `a page that fails is asked for again by the next call`() async throws {
        for ahead in [0, 2] {
            let failures = Mutex(1)
            let transport = WireScript(metadata: ShopMetadata.v4()) { sent, _ in
                if sent.line.contains("skiptoken=1"),
                    failures.withLock({ left in
                        left -= 1; return left >= 0
                    })
                {
                    return .refusal(500)
                }
                let link = sent.line.contains("skiptoken") ? "" : ",\"@odata.nextLink\":\"Orders?$skiptoken=1\""
                return .json("{\"@odata.context\":\"$metadata#Orders\",\"value\":[{\"ID\":1}]\(link)}")
            }
            var iterator = try transport.service().pages(ResourceQuery("Orders")).lookingAhead(ahead)
                .makeAsyncIterator()
            #expect(try await iterator.next() != nil)
            do {
                _ = try await iterator.next()
                Issue.record("no failure")
            } catch let error as ODataError {
                #expect(error.status == 500)
            }
            #expect(try await iterator.next() != nil)
            #expect(try await iterator.next() == nil)
        }
    }

    @Test("11.2.6.7 a circle of pages ends with an error", .timeLimit(.minutes(1)), arguments: [1, 2, 3])
    func circle(length: Int) async throws {
        let transport = WireScript(metadata: ShopMetadata.v4()) { _, number in
            .json(
                "{\"@odata.context\":\"$metadata#Orders\",\"value\":[{\"ID\":1}],"
                    + "\"@odata.nextLink\":\"Orders?$skiptoken=\(number % length)\"}")
        }
        let service = try transport.service()
        func expectEnd(_ body: () async throws -> Void) async {
            let error = await #expect(throws: ODataError.self) { try await body() }
            #expect(error?.status == 502 && error?.message.contains("earlier one") == true)
        }
        await expectEnd { _ = try await service.entities("Orders") }
        for ahead in 0...2 {
            await expectEnd { for try await _ in service.pages(ResourceQuery("Orders")).lookingAhead(ahead) {} }
        }
        await expectEnd { for try await _ in service.changes(since: "Orders?$deltatoken=1").entities {} }
        #expect(transport.sent.count <= 5 * (length + 2))
    }

    @Test func `entities are deleted by a query, each unless somebody changed it`() async throws {
        let transport = WireScript(metadata: ShopMetadata.v4()) { sent, _ in
            sent.message.method == .get
                ? .json(
                    "{\"@odata.context\":\"$metadata#Orders\",\"value\":[{\"ID\":1,\"@odata.etag\":\"a\"},{\"ID\":2}]}")
                : .empty()
        }
        #expect(
            try await transport.service().delete(matching: ResourceQuery("Orders").filter(.property("ID") < 3)) == 2)
        #expect(
            transport.sent.map { "\($0.line) \($0["If-Match"] ?? "-")" } == [
                "GET /shop/Orders?$filter=ID%20lt%203&$select=ID -", "DELETE /shop/Orders(1) a",
                "DELETE /shop/Orders(2) -",
            ])
    }

    @Test func `an $apply gives dynamic rows`() async throws {
        let transport = script(
            .json(
                "{\"@odata.context\":\"$metadata#Orders(City,Sum)\",\"value\":[{\"City\":\"Graz\",\"Sum\":12.50}]}"))
        let rows = try await transport.service().entities(
            ResourceQuery(try ODataURL(parsing: "Orders?$apply=groupby((City),aggregate(Freight with sum as Sum))")))
        #expect(rows[0]["City"] == "Graz")
        #expect(rows[0]["Sum"] == .decimal(try #require(ODataDecimal("12.50"))))
    }

    @Test func `a search goes as $search`() async throws {
        let transport = script(.json("{\"@odata.context\":\"$metadata#Orders\",\"value\":[]}"))
        _ = try await transport.service().entities(
            ResourceQuery("Orders").search(.and(.word("red"), .not(.phrase("blue sky")))))
        #expect(transport.sent[0].line == "GET /shop/Orders?$search=red%20AND%20NOT%20%22blue%20sky%22")
    }

    @Test func `ping reads the service document and nothing else`() async throws {
        let transport = script(.json("{\"@odata.context\":\"$metadata\",\"value\":[]}"))
        try await transport.service().ping()
        #expect(transport.sent.map(\.line) == ["GET /shop/"])
        await #expect(throws: ODataError.self) { try await script(.refusal(503)).service().ping() }
    }
}
