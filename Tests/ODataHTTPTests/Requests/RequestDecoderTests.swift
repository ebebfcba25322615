import HTTPTypes
import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataHTTP

/// The strict decoding of requests in the service (rule 34).
@Suite struct RequestDecoderTests {
    private func decode(_ text: String) async throws -> IncomingRequest {
        let (message, body) = Transcript.request(text)
        return try await ExampleService.requestDecoder().decode(message, body: body)
    }

    private func refusal(_ text: String, _ location: SourceLocation = #_sourceLocation) async -> ODataError? {
        await #expect(throws: ODataError.self, sourceLocation: location) { _ = try await decode(text) }
    }

    @Test("11.2 a read has its URL, preferences and format")
    func read() async throws {
        let incoming = try await decode(
            """
            GET /service/Products?$top=2
            Accept: application/json;odata.metadata=full
            OData-MaxVersion: 4.0
            Prefer: odata.maxpagesize=7
            If-None-Match: W/"1"

            """)
        #expect(incoming.request.method == .read)
        #expect(incoming.request.url == (try ODataURL.of("Products?$top=2")))
        #expect(incoming.request.preferences.maxPageSize == 7)
        #expect(incoming.request.ifNoneMatch == "W/\"1\"")
        #expect(
            incoming.request.format
                == ResponseFormat(metadata: .full, version: .v4, serviceRoot: "http://host/service/"))
    }

    @Test("11.1 a cached URL is bound to the current model with its own literals")
    func readAgain() async throws {
        let traits = ProviderTraits.standard
        let (old, new) = (
            try ExampleService.model(),
            try CSDLReader.read(
                xml: Array(ExampleService.metadata.replacing("\"Stock\"", with: "\"Remaining\"").utf8))
        )
        func filter(_ model: EntityDataModel, _ text: String) async throws -> ODataURL {
            let decoder = RequestDecoder(
                serviceRoot: try ServiceRoot(ExampleService.root), model: model, maxBodySize: 1_000, traits: traits)
            let (message, body) = Transcript.request("GET /service/\(text)\n\n")
            return try await decoder.decode(message, body: body).request.url
        }
        for _ in 0..<2 {
            for number in 1...2 {
                let text = "Products?$filter=Stock%20gt%20\(number)"
                #expect(try await filter(old, text) == (try ODataURL.of(text)))
            }
        }
        let error = await #expect(throws: ODataError.self) {
            _ = try await filter(new, "Products?$filter=Stock%20gt%201")
        }
        #expect(error?.message.contains("Remaining") == true || error?.message.contains("Stock") == true)
    }

    @Test("11.1 an id is searched below the service root of the request for any spelling of the URL")
    func byID() async throws {
        let model = try ExampleService.model()
        func decode(_ path: String, host: String) async throws -> ODataURL {
            let decoder = RequestDecoder(
                serviceRoot: try ServiceRoot("http://\(host)/service/"), model: model, maxBodySize: 1_000)
            let (message, body) = Transcript.request("GET /service/\(path)?$id=http://a/service/Products(1)\n\n")
            return try await decoder.decode(message, body: body).request.url
        }
        for path in ["$entity", "%24entity"] {
            #expect(try await decode(path, host: "a") == (try ODataURL.of("Products(1)")))
            await #expect(throws: ODataError.self, "\(path)") { _ = try await decode(path, host: "b") }
        }
    }

    @Test("11.4.2 a creation is read with its type, bindings and null")
    func create() async throws {
        let incoming = try await decode(
            """
            POST /service/Products
            Content-Type: application/json;odata.metadata=minimal;charset=UTF-8

            {"@odata.type":"#ODataDemo.Book","ID":1,"Name":null,"Price":"12.50","Category@odata.bind":"Categories(3)"}
            """)
        guard case .entity(let entity) = incoming.request.body else {
            Issue.record("no entity")
            return
        }
        #expect(entity.shape.name == QualifiedName("ODataDemo", "Book"))
        #expect(entity["Name"] == .null)
        #expect(entity["Price"] == ODataDecimal("12.50").map { .decimal($0) })
        #expect(entity["Stock"] == nil)
        #expect(entity.related["Category"] == .references(["Categories(3)"]))
    }

    @Test("11.4.9 property values are read wrapped or raw")
    func values() async throws {
        let wrapped = try await decode(
            "PUT /service/Products(1)/Name\nContent-Type: application/json\n\n{\"value\":\"x\"}")
        guard case .value(.string("x"), .primitive(.string)) = wrapped.request.body else {
            Issue.record("\(wrapped.request.body)")
            return
        }
        let raw = try await decode("PUT /service/Products(1)/Price/$value\nContent-Type: text/plain\n\n1.25")
        guard case .value(.decimal, .primitive(.decimal)) = raw.request.body else {
            Issue.record("\(raw.request.body)")
            return
        }
        #expect(await refusal("PUT /service/Products(1)/Price/$value\nContent-Type: text/plain\n\nmuch")?.status == 400)
    }

    @Test("11.5.5 parameters of actions are checked")
    func parameters() async throws {
        let path = "POST /service/Survey\nContent-Type: application/json\n\n"
        guard case .parameters(let values) = try await decode(path + #"{"stars":5}"#).request.body else { return }
        #expect(values == ["stars": 5])
        #expect(await refusal(path + #"{"text":"x"}"#)?.target == "stars")
        #expect(await refusal(path + #"{"stars":"many"}"#)?.message.contains("line 1, column") == true)
        #expect(await refusal(path + #"{"stars":5,"moons":1}"#)?.message.contains("stars, text") == true)
        guard case .parameters = try await decode("POST /service/Reset\n\n").request.body else {
            Issue.record("an action without parameters needs no body")
            return
        }
    }

    @Test("URL 4.17 a query may be in the body")
    func queryInBody() async throws {
        let incoming = try await decode(
            "POST /service/Products/$query?$count=true\nContent-Type: text/plain\n\n$filter=Price%20gt%201&$top=3")
        #expect(incoming.request.method == .read)
        #expect(incoming.request.url == (try ODataURL.of("Products?$count=true&$filter=Price gt 1&$top=3")))
        #expect(
            await refusal("POST /service/Products/$query\nContent-Type: application/xml\n\n{}")?.status == 415)
    }

    @Test("URL 4.17 the three media types of a query in the body are equivalent")
    func queryForms() async throws {
        let expected = try ODataURL.of("Products?$filter=Name eq 'P%26G +1'&$top=3&$count=true")
        for body in [
            "text/plain\n\n$filter=Name%20eq%20'P%26G%20%2B1'&$top=3&$count=true",
            "application/x-www-form-urlencoded\n\n%24filter=Name+eq+%27P%26G+%2B1%27&%24top=3&%24count=true",
            "application/json\n\n{\"$filter\":\"Name eq 'P&G +1'\",\"$top\":3,\"$count\":true}",
        ] {
            let incoming = try await decode("POST /service/Products/$query\nContent-Type: \(body)")
            #expect(incoming.request.method == .read)
            #expect(incoming.request.url == expected, "\(body)")
        }
        for bad in [
            "{\"a\":1}", "{\"$top\":1,\"$top\":2}", "{\"$top\":[]}", "{\"$top\":1}x", "[", "{\"$filter\":\"Name eq\"}",
        ] {
            let error = await refusal("POST /service/Products/$query\nContent-Type: application/json\n\n\(bad)")
            #expect(error?.status == 400, "\(bad)")
        }
    }

    @Test("MS-ODATA 2.2.5.8 a POST uses the method in X-HTTP-Method")
    func methodOverride() async throws {
        for name in ["X-HTTP-Method", "X-HTTP-Method-Override"] {
            let deleted = try await decode("POST /service/Products(1)\n\(name): DELETE\n\n")
            #expect(deleted.request.method == .delete)
            let merged = try await decode(
                "POST /service/Products(1)\n\(name): merge\nContent-Type: application/json\n\n{\"Name\":\"x\"}")
            #expect(merged.request.method == .update)
        }
    }

    @Test("11.4.13 changes to each member of a collection are read")
    func each() async throws {
        let incoming = try await decode(
            "PATCH /service/Products/$filter(@f)/$each?@f=ID%20gt%201\nContent-Type: application/json\n\n{\"Name\":\"x\"}"
        )
        guard case .entity(let changes) = incoming.request.body else {
            Issue.record("\(incoming.request.body)")
            return
        }
        #expect(changes["Name"] == "x")
    }

    @Test("11.4.12 changes to a collection are read as a delta")
    func delta() async throws {
        let incoming = try await decode(
            """
            PATCH /service/Products
            Content-Type: application/json

            {"@context":"#$delta","value":[{"ID":1,"Name":"x"},{"@removed":{"reason":"deleted"},"ID":2},\
            {"@removed":{"reason":"changed"},"@id":"Products(3)"}]}
            """)
        guard case .delta(let page) = incoming.request.body else {
            Issue.record("\(incoming.request.body)")
            return
        }
        #expect(page.entities.map { $0["ID"] } == [1])
        #expect(page.removed.map(\.reason) == [.deleted, .changed])
        #expect(page.removed[0].key?.parts.first?.value == 2 && page.removed[1].id == "Products(3)")
        let head = "PATCH /service/Products\nContent-Type: application/json\n\n"
        for bad in [
            "{\"value\":[{\"ID\":1}", "{\"value\":[{\"Nme\":1}]}",
            "{\"value\":[{\"@removed\":{\"reason\":\"deleted\"}}]}",
        ] {
            #expect(await refusal(head + bad)?.status == 400, "\(bad)")
        }
        // PUT contains the members that remain.
        let put = "PUT /service/Products\nContent-Type: application/json\n\n"
        guard case .delta(let members) = try await decode(put + "{\"value\":[{\"ID\":1,\"Name\":\"x\"}]}").request.body
        else {
            Issue.record("a collection was not read")
            return
        }
        #expect(members.entities.map { $0["ID"] } == [1])
        #expect(await refusal(put + "{\"value\":[{\"@removed\":{\"reason\":\"deleted\"},\"ID\":2}]}")?.status == 400)
        #expect(await refusal(put + "{}")?.status == 400)
    }

    @Test("11.4.6.3 PUT to the references of a collection contains all of them")
    func references() async throws {
        let head = "PUT /service/Categories(1)/Products/$ref\nContent-Type: application/json\n\n"
        let incoming = try await decode(head + #"{"value":[{"@id":"Products(1)"},{"@odata.id":"Products(2)"}]}"#)
        guard case .references(["Products(1)", "Products(2)"]) = incoming.request.body else {
            Issue.record("\(incoming.request.body)")
            return
        }
        #expect(await refusal(head + #"{"@id":"Products(1)"}"#)?.status == 400)
    }

    @Test("URL 4.8 $entity stands for the entity with the id")
    func entityByID() async throws {
        let incoming = try await decode("GET /service/$entity?$id=http://host/service/Products(1)&$select=Name\n\n")
        #expect(incoming.request.url == (try ODataURL.of("Products(1)?$select=Name")))
        #expect(await refusal("GET /service/$entity?$id=http://other/Products(1)\n\n")?.status == 400)
        for id in ["Products", "Products(1)/Name", "$metadata", "Products/$count", "Categories(1)/Products", "$all"] {
            #expect(await refusal("GET /service/$entity?$id=\(id)\n\n")?.status == 400, "\(id) is no entity")
        }
    }

    @Test("8.2.5 repeatability fields are required together and contain an HTTP date")
    func repeatability() async throws {
        let head = "DELETE /service/Products(1)\n"
        let both = try await decode(
            head + "Repeatability-Request-ID: a\nRepeatability-First-Sent: Sun, 06 Nov 1994 08:49:37 GMT\n\n")
        #expect(both.request.repeatability == Repeatability(requestID: "a", firstSent: "Sun, 06 Nov 1994 08:49:37 GMT"))
        for bad in [
            "Repeatability-Request-ID: a\n\n", "Repeatability-First-Sent: Sun, 06 Nov 1994 08:49:37 GMT\n\n",
            "Repeatability-Request-ID: a\nRepeatability-First-Sent: yesterday\n\n",
        ] {
            let error = await refusal(head + bad)
            #expect(error?.status == 400)
            #expect(error?.repeatabilityResult == .rejected)
        }
    }

    @Test(
        "9.3 a malformed request is refused with its place",
        arguments: [
            ("GET /service/Produkts\n\n", 404), ("GET /other/Products\n\n", 404),
            ("GET /service/Products?$filter=(Price\n\n", 400),
            ("GET /service/Products?$filter=Prize gt 1\n\n", 400), ("BREW /service/Products\n\n", 405),
            ("DELETE /service/\n\n", 405), ("POST /service/$metadata\n\n", 405),
            ("PUT /service/Products/$count\n\n", 405),
            ("GET /service/Reset\n\n", 405), ("POST /service/MostExpensive()\n\n", 405),
            ("GET /service/Products\nAccept: text/html\n\n", 406),
            ("GET /service/$metadata\nAccept: text/html\n\n", 406),
            ("GET /service/Products\nOData-Version: 3.0\n\n", 400),
            ("GET /service/Products\nOData-MaxVersion: 2.0\n\n", 400),
            ("GET /service/Products\nOData-Isolation: snapshot\n\n", 412),
            ("GET /service/Products\nIsolation: snapshot\n\n", 412),
            ("GET /service/Products?$unknown=1\n\n", 400), ("GET /service/Products/$query\n\n", 405),
            ("POST /service/Products\nContent-Encoding: gzip\nContent-Type: application/json\n\n{}", 415),
            ("POST /service/Products\nContent-Type: application/json\n\n{\"ID\":1} x", 400),
            ("POST /service/Products\nContent-Type: application/json\n\n{\"ID\":1", 400),
            ("POST /service/Products\n\n", 400), ("POST /service/Products(1)\n\n{}", 405),
            ("GET /service/Products\nX-HTTP-Method: DELETE\n\n", 400),
            ("POST /service/Products(1)\nX-HTTP-Method: GET\n\n", 400),
            ("POST /service/Products\nIf-Match: *\nContent-Type: application/json\n\n{\"ID\":1}", 412),
            ("POST /service/$batch\nIf-Match: *\nContent-Type: application/json\n\n{\"requests\":[]}", 400),
            (
                "POST /service/$batch\nPrefer: return=minimal\nContent-Type: application/json\n\n{\"requests\":[]}", 400
            ),
            ("POST /service/Products\n\n{}", 415), ("POST /service/Products\nContent-Type: text/html\n\n<html/>", 415),
            ("POST /service/Products\nContent-Type: application/xml\n\n<a/>", 415),
            ("POST /service/Products\nContent-Type: application/json;charset=latin1\n\n{}", 415),
            ("POST /service/Products\nContent-Type: application/json;shiny=1\n\n{}", 415),
            ("POST /service/Products\nContent-Type: application/json\n\n", 400),
            ("POST /service/Products\nContent-Type: application/json\n\n<html><body>Hi</body></html>", 400),
            ("POST /service/Products\nContent-Type: application/json\n\n{\"ID\":1,\"Nme\":\"x\"}", 400),
            ("POST /service/Products\nContent-Type: application/json\n\n{\"ID\":1,\"ID\":2}", 400),
            (
                "POST /service/Products\nContent-Type: application/json\n\n{\"@type\":\"#ODataDemo.Order\",\"ID\":1}",
                400
            ),
            ("PATCH /service/Products(1)\nContent-Type: application/json\n\n[1]", 400),
            ("PUT /service/Categories(1)/Name\nContent-Type: application/json\n\n{\"value\":null}", 400),
            ("PUT /service/Products(1)/Category/$ref\nContent-Type: application/json\n\n{\"x\":1}", 400),
        ])
    func refusals(_ text: String, _ status: Int) async throws {
        let error = await refusal(text)
        #expect(error?.status == status, "\(text.prefix(60)): \(error?.description ?? "accepted")")
        #expect(error?.message.isEmpty == false)
    }

    @Test("21 an invalid body is refused with line and column")
    func place() async throws {
        let error = await refusal(
            "POST /service/Products\nContent-Type: application/json\n\n{\n  \"ID\": 1,\n  \"Price\": {}\n}")
        #expect(error?.message.contains("line 3, column") == true, "\(error?.message ?? "")")
        #expect(error?.target == "Price")
    }

    @Test("11.5.5 405 lists the allowed methods")
    func allow() async throws {
        #expect(await refusal("PUT /service/Products/$count\n\n")?.allowedMethods == ["GET", "HEAD"])
        #expect(await refusal("DELETE /service/Survey\n\n")?.allowedMethods == ["POST"])
    }

    @Test func `a body over the limit is 413, a URL over the limit 414`() async throws {
        let big = String(repeating: " ", count: 100_001)
        #expect(await refusal("POST /service/Products\nContent-Type: application/json\n\n" + big)?.status == 413)
        let long = String(repeating: "a", count: RequestDecoder.maxURLLength)
        #expect(await refusal("GET /service/\(long)\n\n")?.status == 414)
    }

    @Test("11.4.8.1 media are read as a stream, and JSON for a media set as an entity")
    func media() async throws {
        let stream = try await decode("POST /service/Photos\nContent-Type: image/png\n\nxyz")
        guard case .media(let bytes, "image/png") = stream.request.body else {
            Issue.record("no media")
            return
        }
        #expect(try await bytes.collect(limit: 10) == Array("xyz".utf8))
    }
}
