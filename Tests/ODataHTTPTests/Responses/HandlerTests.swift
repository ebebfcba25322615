import HTTPTypes
import ODataModel
import ODataQuery
import ODataService
import Synchronization
import Testing

@testable import ODataHTTP

/// A provider that returns the responses of a test, and records the requests.
final class ScriptedProvider: ODataProvider {
    let scriptedModel: EntityDataModel
    private let answer: @Sendable (ODataRequest) async throws -> ODataResponse
    private let seen = Mutex<[ODataRequest]>([])

    init(_ answer: @escaping @Sendable (ODataRequest) async throws -> ODataResponse) throws {
        scriptedModel = try ExampleService.model()
        self.answer = answer
    }

    var model: EntityDataModel { get async throws { scriptedModel } }
    var requests: [ODataRequest] { seen.withLock { $0 } }

    var traits: ProviderTraits { .standard }

    func execute(_ request: ODataRequest) async throws -> ODataResponse {
        seen.withLock { $0.append(request) }
        return try await answer(request)
    }

    func entity(_ set: String, _ properties: [String: ODataValue]) -> ODataEntity {
        ODataEntity(shape: scriptedModel.shape(ofSet: set) ?? .untyped, properties)
    }
}

/// Responses of the service, compared with messages modelled on the examples of the specification (rule 34).
@Suite struct HandlerTests {
    private func answer(
        _ text: String, _ script: @escaping @Sendable (ScriptedProvider, ODataRequest) async throws -> ODataResponse
    ) async throws -> String {
        let box = Mutex<ScriptedProvider?>(nil)
        let provider = try ScriptedProvider { request in
            guard let provider = box.withLock({ $0 }) else { return ODataResponse() }
            return try await script(provider, request)
        }
        box.withLock { $0 = provider }
        let handler = try ODataHandler(provider: provider, serviceRoot: "/service/")
        let (message, body) = Transcript.request(text)
        var (response, stream) = await handler.handle(message, body)
        if let length = stream.length, response.status == .ok, message.method != .head {
            #expect(response.headerFields[.contentLength] == String(length))
        }
        response.headerFields[.contentLength] = nil
        if message.method == .get || message.method == .head, response.status.code < 400 {
            #expect(response.headerFields[.vary] == "Accept, OData-MaxVersion, Prefer")
            response.headerFields[.vary] = nil
        }
        return try await Transcript.text(response, stream)
    }

    @Test("JSON 5 the service document lists sets, singletons and function imports")
    func serviceDocument() async throws {
        let text = try await answer("GET /service/\n\n") { _, _ in ODataResponse() }
        #expect(
            text == """
                200
                OData-Version: 4.01
                Content-Type: application/json;odata.metadata=minimal

                {"@odata.context":"http://host/service/$metadata","value":[\
                {"name":"Products","kind":"EntitySet","url":"Products"},\
                {"name":"Categories","kind":"EntitySet","url":"Categories"},\
                {"name":"Customers","kind":"EntitySet","url":"Customers"},\
                {"name":"Orders","kind":"EntitySet","url":"Orders"},\
                {"name":"Photos","kind":"EntitySet","url":"Photos"},\
                {"name":"Contoso","kind":"Singleton","url":"Contoso"},\
                {"name":"MostExpensive","kind":"FunctionImport","url":"MostExpensive"}]}
                """)
    }

    @Test("11.1.2 metadata are XML and state their version")
    func metadata() async throws {
        let text = try await answer("GET /service/$metadata\n\n") { _, _ in ODataResponse() }
        #expect(text.contains("Content-Type: application/xml\n"))
        #expect(text.contains("<edmx:Edmx"))
        let model = try CSDLReader.read(xml: Array((text.components(after: "\n\n")).utf8))
        #expect(model.schemas == (try ExampleService.model().schemas))
    }

    @Test("11.1.2 metadata are CSDL JSON on request")
    func metadataInJSON() async throws {
        let byOption = try await answer("GET /service/$metadata?$format=json\nAccept: application/xml\n\n") { _, _ in
            ODataResponse()
        }
        #expect(byOption.contains("Content-Type: application/json\n"))
        #expect(byOption.contains("\"$Version\":\"4.01\"") && byOption.contains("\"ODataDemo\":{"))
        let byHeader = try await answer("GET /service/$metadata\nAccept: application/json\n\n") { _, _ in
            ODataResponse()
        }
        #expect(byHeader == byOption)
    }

    @Test("11.2.6 a collection in 4.01 and in 4.0 (Protocol, example 35)")
    func collection() async throws {
        let script: @Sendable (ScriptedProvider, ODataRequest) async throws -> ODataResponse = { provider, _ in
            var entity = provider.entity("Products", ["ID": 1, "Name": "Bread", "Stock": 5])
            entity.control.etag = "W/\"1\""
            var page = EntityPage(entities: [entity], count: 3, nextLink: "Products?$skiptoken=1")
            page.deltaLink = nil
            var response = ODataResponse(body: .page(page))
            response.preferencesApplied = ["maxpagesize=1"]
            return response
        }
        #expect(
            try await answer("GET /service/Products?$count=true\n\n", script) == """
                200
                OData-Version: 4.01
                Preference-Applied: maxpagesize=1
                Content-Type: application/json;odata.metadata=minimal

                {"@odata.context":"http://host/service/$metadata#Products","@odata.count":3,"value":[\
                {"@odata.etag":"W/\\"1\\"","ID":1,"Name":"Bread","Stock":5}],"@odata.nextLink":"Products?$skiptoken=1"}
                """)
        let old = try await answer(
            "GET /service/Products?$count=true\nOData-MaxVersion: 4.0\nAccept: application/json;IEEE754Compatible=true\n\n",
            script)
        #expect(old.contains("OData-Version: 4.0\n"))
        #expect(old.contains("Preference-Applied: odata.maxpagesize=1\n"))
        #expect(old.contains("Content-Type: application/json;odata.metadata=minimal;IEEE754Compatible=true\n"))
        #expect(old.contains(#""@odata.count":"3""#) && old.contains(#""@odata.etag":"W/\"1\"""#))
        #expect(old.contains(#""Stock":"5""#))
        let none = try await answer("GET /service/Products\nAccept: application/json;odata.metadata=none\n\n", script)
        #expect(!none.contains("context") && !none.contains("etag") && none.contains("nextLink"))
    }

    @Test(
        "10 context URLs name the selected and expanded properties",
        arguments: [
            ("Products?$select=ID,Name", "$metadata#Products(ID,Name)"),
            ("Products?$select=Name,Name,ID,Name", "$metadata#Products(Name,ID)"),
            ("Products?$select=ID&$expand=Category($select=Name)", "$metadata#Products(ID,Category(Name))"),
            ("Products?$expand=Category", "$metadata#Products(Category())"),
            ("Products/ODataDemo.Book", "$metadata#Products/ODataDemo.Book"),
            ("Categories(1)/Products", "$metadata#Products"),
            ("Orders(1)/Items", "$metadata#Orders(1)/Items"),
            ("Products?$apply=groupby((Name),aggregate(Price with sum as Total))", "$metadata#Products(Name,Total)"),
            (
                "Products?$apply=groupby((Name),aggregate(Price with sum as Total))&$select=Total",
                "$metadata#Products(Total)"
            ),
            (
                "Categories?$select=ID&$expand=Products/ODataDemo.Book($select=ID,Name)",
                "$metadata#Categories(ID,Products/ODataDemo.Book(ID,Name))"
            ),
        ])
    func contexts(_ url: String, _ context: String) async throws {
        let path = url.replacing(" ", with: "%20")
        let text = try await answer("GET /service/\(path)\n\n") { _, _ in ODataResponse(body: .page(EntityPage())) }
        #expect(text.contains(#"{"@odata.context":"http://host/service/\#(context)","#), "\(text)")
    }

    @Test(
        "10.2 contexts of entities, derived entities, contained entities and singletons",
        arguments: [
            ("Products(1)", "$metadata#Products/$entity"),
            ("Products(1)?$select=Name", "$metadata#Products(Name)/$entity"),
            ("Orders(1)/Items(2)", "$metadata#Orders(1)/Items/$entity"), ("Contoso", "$metadata#Contoso"),
            ("Products(1)/Category", "$metadata#Categories/$entity"),
        ])
    func entityContexts(_ url: String, _ context: String) async throws {
        let text = try await answer("GET /service/\(url)\n\n") { provider, _ in
            ODataResponse(body: .entity(provider.entity("Products", ["ID": 1])))
        }
        #expect(text.contains(#"{"@odata.context":"http://host/service/\#(context)","#), "\(text)")
        #expect(PayloadContext("x/" + context).content(in: try ExampleService.model()) != nil)
    }

    @Test("11.4.2 a created entity: 201 with Location and ETag, 204 with OData-EntityId")
    func created() async throws {
        let request = "POST /service/Products\nContent-Type: application/json\n\n{\"ID\":9}"
        let full = try await answer(request) { provider, _ in
            var response = ODataResponse(
                status: 201, body: .entity(provider.entity("Products", ["ID": 9])), etag: "\"5\"")
            response.location = "Products(9)"
            return response
        }
        #expect(
            full == """
                201
                OData-Version: 4.01
                ETag: "5"
                Location: http://host/service/Products(9)
                Content-Type: application/json;odata.metadata=minimal

                {"@odata.context":"http://host/service/$metadata#Products/$entity","ID":9}
                """)
        let minimal = try await answer(request) { _, _ in
            var response = ODataResponse(status: 201)
            response.location = "Products(9)"
            response.entityID = "Products(9)"
            response.preferencesApplied = ["return=minimal"]
            response.repeatabilityResult = .accepted
            return response
        }
        #expect(
            minimal == """
                204
                OData-Version: 4.01
                Location: http://host/service/Products(9)
                OData-EntityId: http://host/service/Products(9)
                Preference-Applied: return=minimal
                Repeatability-Result: accepted


                """)
    }

    @Test("11.2.4 properties, null, counts, raw values, references")
    func others() async throws {
        let name = try await answer("GET /service/Products(1)/Name\n\n") { _, _ in
            ODataResponse(body: .value("Bread", .primitive(.string)))
        }
        #expect(name.hasSuffix(#"{"@odata.context":"http://host/service/$metadata#Products(1)/Name","value":"Bread"}"#))
        let null = try await answer("GET /service/Products(1)/Name\n\n") { _, _ in
            ODataResponse(body: .value(.null, .primitive(.string)))
        }
        #expect(null.hasPrefix("204\n"))
        let count = try await answer("GET /service/Products/$count\n\n") { _, _ in ODataResponse(body: .count(42)) }
        #expect(count.contains("Content-Type: text/plain\n") && count.hasSuffix("\n\n42"))
        let raw = try await answer("GET /service/Products(1)/Color/$value\n\n") { provider, _ in
            ODataResponse(body: .value(.enumeration(2), .enumeration(QualifiedName("ODataDemo", "Color"))))
        }
        #expect(raw.contains("Content-Type: text/plain\n") && raw.hasSuffix("\n\nBlue"))
        let references = try await answer("GET /service/Categories(1)/Products/$ref\n\n") { _, _ in
            ODataResponse(body: .references(["Products(1)"], isCollection: true))
        }
        #expect(
            references.hasSuffix(
                #"{"@odata.context":"http://host/service/$metadata#Collection($ref)","value":[{"@odata.id":"Products(1)"}]}"#
            ))
        let sum = try await answer("GET /service/Sum(a=1,b=2)\n\n") { _, _ in
            ODataResponse(body: .value(3, .primitive(.int32)))
        }
        #expect(sum.hasSuffix(#"{"@odata.context":"http://host/service/$metadata#Edm.Int32","value":3}"#))
    }

    @Test("11.2.7 304 if the client has the current version")
    func notModified() async throws {
        let text = try await answer("GET /service/Products(1)\nIf-None-Match: \"4\", W/\"5\"\n\n") { provider, _ in
            ODataResponse(body: .entity(provider.entity("Products", ["ID": 1])), etag: "\"5\"")
        }
        #expect(text == "304\nOData-Version: 4.01\nETag: \"5\"\n\n")
    }

    @Test func `the provider knows the caller, in batches too`() async throws {
        let provider = try ScriptedProvider { request in
            guard case .batch(let items) = request.body else { return ODataResponse(body: .count(1)) }
            return ODataResponse(
                body: .batch(
                    items.map { item in
                        BatchResult(
                            id: item.id,
                            result: .success(ODataResponse(body: .count(item.request.context.principal == nil ? 0 : 1)))
                        )
                    }))
        }
        let handler = try ODataHandler(provider: provider, serviceRoot: "/service/")
        let ann = Principal(name: "ann", roles: ["reader"])
        let (read, body) = Transcript.request("GET /service/Products/$count\n\n")
        let (response, _) = await handler.handle(read, body, principal: ann)
        #expect(response.headerFields[.cacheControl] == "private")
        let (anonymous, _) = await handler.handle(read, body)
        #expect(anonymous.headerFields[.cacheControl] == nil)
        _ = await handler.handle(read, body, principal: ann)
        #expect(provider.requests.last?.context.principal == ann)
        let (batch, parts) = Transcript.request(
            """
            POST /service/$batch
            Content-Type: application/json

            {"requests":[{"id":"1","method":"get","url":"Products/$count"},{"id":"2","method":"get","url":"Nothing"}]}
            """)
        let (_, stream) = await handler.handle(batch, parts, principal: ann)
        let text = String(decoding: try await stream.collect(limit: 10_000), as: UTF8.self)
        #expect(text.contains("\"body\":\"1\"") || text.contains("\"body\":1"), "\(text)")
    }

    @Test("21.1 refusals are error objects, with the required header fields")
    func refusals() async throws {
        let conflict = try await answer("DELETE /service/Products(1)\nX-Request-ID: r7\n\n") { _, _ in
            var error = ODataError.preconditionFailed("Products(1)")
            error.details = [.init(code: "D", message: "detail", target: "Name")]
            error.retryAfter = 3
            throw error
        }
        #expect(
            conflict == """
                412
                OData-Version: 4.01
                Content-Type: application/json;odata.metadata=minimal
                Content-Language: en
                Retry-After: 3
                X-Request-ID: r7

                {"error":{"code":"PreconditionFailed","message":"Products(1) was changed by somebody else.",\
                "target":"Products(1)","details":[{"code":"D","message":"detail","target":"Name"}]}}
                """)
        let allowed = try await answer("PUT /service/Products/$count\n\n") { _, _ in ODataResponse() }
        #expect(allowed.hasPrefix("405\n") && allowed.contains("Allow: GET, HEAD\n"))
        #expect(allowed.contains(#"{"error":{"code":"MethodNotAllowed""#))
        let unknown = try await answer("GET /service/Nothing\n\n") { _, _ in ODataResponse() }
        #expect(unknown.hasPrefix("404\n"))
    }

    @Test func `an internal failure is reported without its details`() async throws {
        struct SecretError: Error { let password = "hunter2" }
        let text = try await answer("GET /service/Products\n\n") { _, _ in throw SecretError() }
        #expect(text.hasPrefix("500\n"))
        #expect(!text.contains("hunter2") && !text.contains("SecretError"))
    }

    @Test func `a stream that fails before its first byte is refused in full, later it is cut`() async throws {
        let early = try await answer("GET /service/Products\n\n") { _, _ in
            ODataResponse(
                body: .encoded(ByteStream { throw ODataError.notFound("The table") }, contentType: "application/json"))
        }
        #expect(early.hasPrefix("404\n"))
        // The second chunk is looked for behind a short first one, and nothing has been sent by then.
        let second = try await answer("GET /service/Products\n\n") { _, _ in
            ODataResponse(body: .encoded(Self.failing(behind: 1), contentType: "application/json"))
        }
        #expect(second.hasPrefix("404\n"))
        await #expect(throws: ODataError.self) {
            _ = try await answer("GET /service/Products\n\n") { _, _ in
                ODataResponse(body: .encoded(Self.failing(behind: 2), contentType: "application/json"))
            }
        }
    }

    /// A stream that throws after some chunks.
    private static func failing(behind count: Int, length: Int64? = nil) -> ByteStream {
        let left = Mutex(count)
        return ByteStream(length: length) {
            let hasChunk = left.withLock { left in
                left -= 1
                return left >= 0
            }
            guard hasChunk else { throw ODataError.notFound("The rest") }
            return Array("{\"value\":[".utf8)
        }
    }

    @Test func `a short stream of known length that fails before its first byte is refused`() async throws {
        let text = try await answer("GET /service/Products(1)/Name/$value\n\n") { _, _ in
            ODataResponse(body: .raw(Self.failing(behind: 0, length: 10), contentType: "text/plain"))
        }
        #expect(text.hasPrefix("404\n") && text.contains("\"error\""))
    }

    @Test func `a page of one chunk has its length, and one of several has none`() async throws {
        for (count, length) in [(1, "2"), (2, nil)] as [(Int, String?)] {
            let left = Mutex(count)
            let provider = try ScriptedProvider { _ in
                let stream = ByteStream {
                    left.withLock { left -> [UInt8]? in
                        left -= 1
                        return left >= 0 ? Array("{}".utf8) : nil
                    }
                }
                return ODataResponse(body: .encoded(stream, contentType: "application/json"))
            }
            let handler = try ODataHandler(provider: provider, serviceRoot: "/service/")
            let (message, body) = Transcript.request("GET /service/Products\n\n")
            let (response, stream) = await handler.handle(message, body)
            #expect(response.headerFields[.contentLength] == length)
            #expect(try await stream.collect(limit: 100).count == 2 * count)
        }
    }

    @Test func `HEAD has the fields of GET and no body`() async throws {
        let text = try await answer("HEAD /service/Products/$count\n\n") { _, _ in ODataResponse(body: .count(42)) }
        #expect(text == "200\nOData-Version: 4.01\nContent-Type: text/plain\n\n")
    }
}

extension String {
    /// What follows the first occurrence of a text.
    func components(after separator: String) -> String {
        firstRange(of: separator).map { String(self[$0.upperBound...]) } ?? ""
    }

    @Test("A JSON body in chunks is accepted up to the limit, and one byte more is 413")
    func bodyLimit() async throws {
        let box = Mutex<ScriptedProvider?>(nil)
        let provider = try ScriptedProvider { _ in
            guard let provider = box.withLock({ $0 }) else { return ODataResponse() }
            return ODataResponse(status: 201, body: .entity(provider.entity("Products", ["ID": 1])))
        }
        box.withLock { $0 = provider }
        let body = Array(#"{"ID":1,"Name":"Bread","Stock":5}"#.utf8)
        for (limit, status) in [(body.count, 201), (body.count - 1, 413)] {
            var options = ODataHandler.Options()
            #expect(options.maxBodySize == RequestDecoder.defaultMaxBodySize)
            options.maxBodySize = limit
            let handler = try ODataHandler(provider: provider, serviceRoot: "/service/", options: options)
            var message = HTTPRequest(method: .post, scheme: "http", authority: "host", path: "/service/Products")
            message.headerFields[.contentType] = "application/json"
            let rest = Mutex(body[...])
            let stream = ByteStream {
                rest.withLock { rest in
                    defer { rest = rest.dropFirst(7) }
                    return rest.isEmpty ? nil : Array(rest.prefix(7))
                }
            }
            let (response, _) = await handler.handle(message, stream)
            #expect(response.status.code == status)
        }
    }
}
