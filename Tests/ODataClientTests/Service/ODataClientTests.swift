import HTTPTypes
import ODataClient
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import Synchronization
import Testing

/// A transport that answers each request with a closure and records the requests.
final class ScriptedTransport: HTTPTransport {
    private let answer: @Sendable (HTTPRequest) throws -> (HTTPResponse, [UInt8])
    private let seen = Mutex<[HTTPRequest]>([])

    init(_ answer: @escaping @Sendable (HTTPRequest) throws -> (HTTPResponse, [UInt8])) { self.answer = answer }

    var requests: [HTTPRequest] { seen.withLock { $0 } }

    func send(
        _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
    ) async throws -> (HTTPResponse, ByteStream) {
        seen.withLock { $0.append(request) }
        let (response, bytes) = try answer(request)
        return (response, ByteStream(bytes))
    }

    static func response(_ status: Int, _ type: String? = nil, _ body: String = "") -> (HTTPResponse, [UInt8]) {
        var response = HTTPResponse(status: .init(code: status))
        if let type { response.headerFields[.contentType] = type }
        return (response, Array(body.utf8))
    }
}

@Suite struct ODataClientTests {
    @Test func `fields that an app adds go to the service alone, wherever a next link leads`() async throws {
        let key = "X-Api-Key"
        let links = ["https://service.test:443/shop/Orders?2", "https://other.test/shop/Orders?3"]
        let transport = WireScript(metadata: ShopMetadata.v4()) { _, number in
            let next = number < links.count ? ",\"@odata.nextLink\":\"\(links[number])\"" : ""
            return .json("{\"@odata.context\":\"\(WireScript.root)$metadata#Orders\",\"value\":[]\(next)}")
        }
        _ = try await transport.service(.init(headers: [key: "topsecret"], followedHosts: ["other.test"]))
            .entities("Orders")
        #expect(transport.sent.map { $0.message.authority } == ["service.test", "service.test:443", "other.test"])
        #expect(transport.sent.map { $0[key] } == ["topsecret", "topsecret", nil])
    }

    @Test(arguments: ["X-Api-Key", "Authorization", "Cookie"])
    func `fields of a data service go to the service alone, wherever a link leads`(field: String) async throws {
        let transport = WireScript(metadata: ShopMetadata.v4()) { sent, number in
            if sent.line.contains("Photos") || sent.line.contains("bytes") {
                return .init(fields: ["Content-Type": "image/png"], body: "png")
            }
            let next = number == 0 ? ",\"@odata.nextLink\":\"https://elsewhere.test/Orders\"" : ""
            return .json("{\"@odata.context\":\"\(WireScript.root)$metadata#Orders\",\"value\":[]\(next)}")
        }
        let client = try transport.client(.init(followedHosts: ["elsewhere.test"]))
        let service = DataService(client).header(field, "topsecret").header("Accept-Language", "de")
        _ = try await service.entities("Orders")
        var photo = try await ShopMetadata.entity(["ID": 1], set: "Photos", of: client)
        _ = try await service.media(of: photo)
        photo.control.mediaReadLink = "https://elsewhere.test/bytes"
        _ = try await service.media(of: photo)
        #expect(
            transport.sent.map { $0.message.authority } == [
                "service.test", "elsewhere.test", "service.test", "elsewhere.test",
            ])
        #expect(transport.sent.map { $0[field] } == ["topsecret", nil, "topsecret", nil])
        #expect(transport.sent.allSatisfy { $0["Accept-Language"] == "de" && $0["Accept"] != nil })
    }

    @Test func `a range goes along with the link to a stream at another origin`() async throws {
        let transport = WireScript(metadata: ShopMetadata.v4()) { _, _ in
            .init(fields: ["Content-Type": "image/png"], body: "png")
        }
        var request = ODataRequest(following: "https://elsewhere.test/bytes")
        request.url = ODataURL(path: ResourcePath([.value]))
        request.headers = ["Range": "bytes=3-", "If-Range": "\"1\"", "X-Api-Key": "topsecret"]
        request.ifMatch = "\"1\""
        _ = try await transport.client(.init(followedHosts: ["elsewhere.test"])).execute(request)
        let sent = try #require(transport.sent.first)
        #expect(sent["Range"] == "bytes=3-" && sent["If-Range"] == "\"1\"" && sent["If-Match"] == "\"1\"")
        #expect(sent["X-Api-Key"] == nil)
    }

    private static let root = "https://service.test/shop/"

    private func joined(
        _ service: MemoryService, authentication: Authentication = .none,
        configuration: ODataClient.Configuration = .init()
    ) throws -> ODataClient {
        let handler = try ODataHandler(provider: service, serviceRoot: "/shop/")
        return try ODataClient(
            serviceRoot: Self.root, transport: LoopbackTransport(handler), authentication: authentication,
            configuration: configuration)
    }

    @Test func `client and service joined in memory answer like the service alone`() async throws {
        let service = try MemoryService()
        let data = DataService(try joined(service))
        let shape = try #require(service.fixedModel.shape(ofSet: "Orders"))
        for id in 1...5 {
            try await data.create(ODataEntity(shape: shape, ["ID": .integer(Int64(id)), "City": "Graz"]), in: "Orders")
        }
        #expect(try await data.count("Orders") == 5)
        let all = try await data.entities("Orders")
        #expect(all.map { $0["ID"] } == [1, 2, 3, 4, 5])
        #expect(try await data.first(ResourceQuery("Orders"))?["ID"] == 1)
        #expect(try await data.entities(ResourceQuery("Orders").top(2)).count == 2)
        var order = try #require(try await data.entity("Orders", key: 3))
        #expect(order.control.etag == "W/\"3\"")
        order["Freight"] = try .decimal(#require(ODataDecimal("32.38")))
        let changed = try await data.update(order)
        #expect(changed["City"] == "Graz")
        #expect(changed.control.etag == "W/\"6\"")
        let error = await #expect(throws: ConflictError.self) {
            order["City"] = "Linz"
            try await data.update(order)
        }
        #expect(error?.refusal.status == 412)
        #expect(error?.refusal.requestID != nil)
        try await data.update(order, overwriting: true)
        try await data.delete("Orders", key: EntityKey("ID", 5))
        #expect(try await data.entity("Orders", key: EntityKey("ID", 5)) == nil)
    }

    @Test func `pages are followed one at a time, and changes by the delta link`() async throws {
        let service = try MemoryService(pageSize: 2)
        let data = DataService(try joined(service))
        let shape = try #require(service.fixedModel.shape(ofSet: "Orders"))
        for id in 1...3 { try await data.create(ODataEntity(shape: shape, ["ID": .integer(Int64(id))])) }
        var deltaLink: String?
        var sizes: [Int] = []
        for try await page in data.pages(ODataURL(set: "Orders"), preferences: Preferences(trackChanges: true)) {
            sizes.append(page.entities.count)
            deltaLink = page.deltaLink ?? deltaLink
        }
        #expect(sizes == [2, 1])
        try await data.create(ODataEntity(shape: shape, ["ID": 9]))
        var changes: [ODataEntity] = []
        for try await entity in data.changes(since: try #require(deltaLink)).entities { changes.append(entity) }
        #expect(changes.map { $0["ID"] } == [9])
    }

    @Test(arguments: [BatchFormat.multipart, .json])
    func `a batch goes through the same codec`(format: BatchFormat) async throws {
        let service = try MemoryService()
        let data = DataService(try joined(service, configuration: .init(batchFormat: format)))
        let shape = try #require(service.fixedModel.shape(ofSet: "Orders"))
        let create = ODataRequest(.create, ODataURL(set: "Orders"), body: .entity(ODataEntity(shape: shape, ["ID": 1])))
        let results = try await data.batch(
            [
                BatchItem(id: "a", request: create, atomicityGroup: "g"), BatchItem(id: "b", request: create),
                BatchItem(id: "c", request: ODataRequest(.read, ODataURL(set: "Orders"))),
            ], continueOnError: true)
        #expect(results.map(\.id) == ["a", "b", "c"])
        guard case .success(let created) = results[0].result, case .entity(let entity) = created.body,
            case .failure(let error) = results[1].result, case .success(let read) = results[2].result,
            case .page(let page) = read.body
        else {
            Issue.record("\(results)")
            return
        }
        #expect(entity["ID"] == 1)
        #expect(error.status == 409)
        #expect(page.entities.count == 1)
    }

    @Test func `metadata is read once, and once more after a failure`() async throws {
        // The request is sent unchanged, without the versions, without Accept, and without both.
        let failures = Mutex(4)
        let transport = ScriptedTransport { _ in
            let fails = failures.withLock { left in
                left -= 1
                return left >= 0
            }
            return fails
                ? ScriptedTransport.response(500, "text/plain", "later")
                : ScriptedTransport.response(200, "application/xml", MemoryService.metadata)
        }
        let client = try ODataClient(serviceRoot: Self.root, transport: transport)
        await #expect(throws: MetadataError.self) { _ = try await client.model }
        async let first = client.model
        async let second = client.model
        let (a, b) = try await (first, second)
        #expect(a === b)
        #expect(transport.requests.count == 5)
        #expect(transport.requests[0].path == "/shop/$metadata")
    }

    @Test("13.3 each failure of reading metadata has its own error")
    func metadataErrors() async throws {
        func error(_ status: Int, _ type: String?, _ body: String, location: String? = nil) async throws
            -> MetadataError?
        {
            let transport = ScriptedTransport { _ in
                var (response, bytes) = ScriptedTransport.response(status, type, body)
                if let location { response.headerFields[.location] = location }
                return (response, bytes)
            }
            let client = try ODataClient(serviceRoot: Self.root, transport: transport)
            return await #expect(throws: MetadataError.self) { _ = try await client.model }
        }
        let url = Self.root + "$metadata"
        #expect(try await error(404, "text/html", "<html></html>") == .notFound(url: url))
        #expect(try await error(401, nil, "") == .unauthorized(url: url))
        #expect(try await error(403, nil, "") == .forbidden(url: url))
        #expect(try await error(302, nil, "", location: "/login") == .redirected(url: url, to: "/login"))
        #expect(
            try await error(200, "text/html", "<!DOCTYPE html><html><head><title>Sign in</title></head></html>")
                == .webPage(url: url, title: "Sign in"))
        #expect(
            try await error(200, "application/json", "{\"swagger\":2}")
                == .notOData(url: url, contentType: "application/json"))
        #expect(try await error(200, "text/plain", "hello") == .notOData(url: url, contentType: "text/plain"))
        #expect(try await error(200, "text/xml", "<rss/>") == .notOData(url: url, contentType: "text/xml"))
        let half = String(MemoryService.metadata.prefix(400))
        guard case .incomplete(url, _)? = try await error(200, "application/xml", half) else {
            Issue.record("half a document")
            return
        }
        guard
            case .invalid? = try await error(
                200, "application/xml",
                MemoryService.metadata.replacing(
                    "</Schema>", with: "<EntityType Name=\"Two\"/><ComplexType Name=\"Two\"/></Schema>"))
        else {
            Issue.record("an invalid document")
            return
        }
        guard
            case .refused(url, let refusal)? = try await error(
                500, "application/json", "{\"error\":{\"code\":\"X\",\"message\":\"m\"}}")
        else {
            Issue.record("a refusal")
            return
        }
        #expect(refusal.code == "X")
    }

    @Test func `credentials go to the service and to nobody else, and are never printed`() async throws {
        let transport = ScriptedTransport { request in
            request.path == "/shop/$metadata"
                ? ScriptedTransport.response(200, "application/xml", MemoryService.metadata)
                : ScriptedTransport.response(
                    200, "application/json", "{\"@context\":\"$metadata#Orders\",\"value\":[]}")
        }
        let authentication = Authentication.basic(user: "Ann", password: "secret").then(.header("X-Tenant", "blue"))
        let client = try ODataClient(
            serviceRoot: Self.root, transport: transport, authentication: authentication,
            configuration: .init(followedHosts: ["elsewhere.test"]))
        _ = try await client.execute(ODataRequest(following: "https://elsewhere.test/Orders"))
        _ = try await client.execute(ODataRequest(following: Self.root + "Orders?x"))
        let requests = transport.requests
        #expect(
            requests.map { $0.headerFields[.authorization] } == [
                "Basic QW5uOnNlY3JldA==", nil, "Basic QW5uOnNlY3JldA==",
            ])
        #expect(requests[2].headerFields.contains { $0.name.rawName == "X-Tenant" && $0.value == "blue" })
        var dumped = ""
        dump(authentication, to: &dumped)
        #expect(!"\(authentication) \(dumped) \(String(reflecting: authentication))".contains("secret"))
        #expect(requests.allSatisfy { $0.headerFields[.userAgent] == OutpostProduct.token })
        #expect(Set(requests.compactMap { $0.headerFields[.requestID] }).count == 3)
    }

    @Test func `a bearer token is asked for each request, and its failure is the caller's`() async throws {
        struct Expired: Error {}
        let count = Mutex(0)
        let service = try MemoryService()
        let client = try joined(
            service,
            authentication: .bearer {
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                if number > 2 { throw Expired() }
                return "t\(number)"
            })
        _ = try await client.execute(ODataRequest(.read, ODataURL(set: "Orders")))
        await #expect(throws: Expired.self) {
            _ = try await client.execute(ODataRequest(.read, ODataURL(set: "Orders")))
        }
    }

    @Test(arguments: ["shop", "ftp://x/", "/shop/", "https://ann:secret@h/", "http://h/?x"])
    func `a service root that is no absolute URL is refused`(root: String) {
        let error = #expect(throws: TransportError.self) {
            _ = try ODataClient(
                serviceRoot: root, transport: ScriptedTransport { _ in ScriptedTransport.response(200) })
        }
        #expect(error?.description.contains("secret") == false)
    }

    @Test func `a change with an unreadable response is in doubt, not refused`() async throws {
        let transport = ScriptedTransport { _ in ScriptedTransport.response(200, "text/html", "<title>Proxy</title>") }
        let model = try MemoryService().fixedModel
        let client = try ODataClient(serviceRoot: Self.root, transport: transport, model: model)
        let shape = try #require(model.shape(ofSet: "Orders"))
        let error = await #expect(throws: InvalidResponseError.self) {
            _ = try await client.execute(
                ODataRequest(.create, ODataURL(set: "Orders"), body: .entity(ODataEntity(shape: shape, ["ID": 1]))))
        }
        #expect(error?.problem == .webPage(title: "Proxy"))
        #expect(transport.requests.count == 1)
    }

    @Test func `typed values are read and written`() async throws {
        struct Order: EntityRepresentable, Equatable {
            static let typeName = QualifiedName("Shop", "Order")
            var id: Int
            var city: String?

            init(id: Int, city: String?) { (self.id, self.city) = (id, city) }

            init(row: borrowing some PropertyReader) throws {
                id = try row.read("ID")
                city = try row.read("City")
            }

            func write(to row: inout some PropertyWriter) throws {
                try row.write("ID", id)
                try row.write("City", city)
            }
        }
        let data = DataService(try joined(try MemoryService()))
        for id in 1...3 { try await data.create(Order(id: id, city: nil)) }
        var orders = try await data.fetch(Order.self)
        #expect(orders.map(\.id) == [1, 2, 3])
        orders[1].city = "Wels"
        #expect(try await data.update(orders[1]) == orders[1])
        #expect(try await data.fetch(Order.self, key: EntityKey("ID", 2))?.city == "Wels")
        try await data.delete(orders[0])
        #expect(try await data.fetch(Order.self).count == 2)
        await #expect(throws: ODataError.self) { try await data.update(orders[2], ifMatch: "W/\"0\"") }
    }

    @Test func `an entity that cannot be addressed is a typed error`() async throws {
        let service = try MemoryService()
        let data = DataService(service)
        var entity = ODataEntity(shape: try #require(service.fixedModel.shape(ofSet: "Orders")))
        entity["City"] = "Graz"
        await #expect(throws: DataServiceError.notAddressable(type: QualifiedName("Shop", "Order"))) {
            try await data.update(entity)
        }
        await #expect(throws: DataServiceError.unknownEntitySet("Bestellungen")) {
            try await data.update(entity, in: "Bestellungen")
        }
    }

    @Test func `a service with a field of its own for tokens gets them in it`() async throws {
        let transport = WireScript(metadata: ShopMetadata.v4()) { sent, _ in
            if sent.message.method == .get {
                return .json("{\"value\":[]}", sent["X-XSRF-TOKEN"] == "Fetch" ? ["X-XSRF-TOKEN": "t"] : [:])
            }
            return sent["X-XSRF-TOKEN"] == "t" ? .json("{\"ID\":1}", status: 201) : .refusal(403)
        }
        let client = try transport.client(.init(csrfField: "X-XSRF-TOKEN"))
        let service = DataService(client)
        _ = try await service.entities("Orders")
        try await service.create(try await ShopMetadata.entity(["ID": 1], of: client), in: "Orders")
        #expect(transport.sent.map { $0["X-XSRF-TOKEN"] } == ["Fetch", "t"])
        #expect(transport.sent.allSatisfy { $0["X-CSRF-Token"] == nil })
    }

    @Test("Options of requests also apply to the metadata request, unless it goes to another host")
    func metadataOptions() async throws {
        func paths(_ setting: String) async throws -> [String?] {
            let transport = ScriptedTransport { _ in
                ScriptedTransport.response(200, "application/xml", ShopMetadata.v4())
            }
            let client = try ODataClient(
                serviceRoot: Self.root, transport: transport,
                configuration: .init(
                    options: ["sap-client": "100"], language: "de-AT", sendsLanguageOption: true, metadataURL: setting))
            _ = try await client.model
            return transport.requests.map(\.path)
        }
        #expect(try await paths("$metadata") == ["/shop/$metadata?sap-client=100&sap-language=DE"])
        #expect(try await paths("$metadata?sap-client=7") == ["/shop/$metadata?sap-client=7&sap-language=DE"])
        #expect(try await paths("https://models.test/shop.xml") == ["/shop.xml"])
    }

    @Test(
        "Metadata at another address are read there, and credentials go only to the service",
        arguments: [
            ("meta/shop.xml", "https://service.test/shop/meta/shop.xml", true),
            ("https://models.test/shop.xml", "https://models.test/shop.xml", false),
        ])
    func metadataElsewhere(setting: String, url: String, isOwn: Bool) async throws {
        let wire = ScriptedWire { _, request in
            request.path?.hasSuffix(".xml") == true
                ? answer(200, [.contentType: "application/xml"], ShopMetadata.v4())
                : answer(200, [.contentType: "application/json"], "{\"value\":[{\"ID\":1}]}")
        }
        let client = try ODataClient(
            serviceRoot: Self.root, transport: wire, authentication: .basic(user: "ann", password: "secret"),
            configuration: .init(metadataURL: setting))
        #expect(try await DataService(client).entities("Orders").count == 1)
        let asked = wire.sent.map(\.request)
        #expect(asked.count == 2)
        #expect("\(asked[0].scheme ?? "")://\(asked[0].authority ?? "")\(asked[0].path ?? "")" == url)
        #expect((asked[0].headerFields[.authorization] != nil) == isOwn)
        #expect(asked[1].headerFields[.authorization] != nil)
    }
}
