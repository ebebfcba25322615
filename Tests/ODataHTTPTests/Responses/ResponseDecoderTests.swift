import Foundation
import HTTPTypes
import ODataModel
import ODataQuery
import ODataService
import Synchronization
import Testing

@testable import ODataHTTP

/// The lenient decoding of responses in the client (rule 34).
@Suite struct ResponseDecoderTests {
    private func decode(_ text: String, to request: ODataRequest) async throws -> ODataResponse {
        let (message, body) = Transcript.response(text)
        return try await ExampleService.responseDecoder().decode(message, body: body, to: request)
    }

    private func read(_ url: String, _ text: String) async throws -> ODataResponse {
        try await decode(text, to: ODataRequest(.read, try ODataURL.of(url)))
    }

    @Test("JSON 12 a collection with count and next link")
    func collection() async throws {
        let response = try await read(
            "Products?$count=true",
            """
            200 OK
            Content-Type: application/json;odata.metadata=minimal
            Preference-Applied: odata.maxpagesize=2

            {"@odata.context":"http://host/service/$metadata#Products","@odata.count":5,"value":[
            {"@odata.etag":"W/\\"1\\"","ID":1,"Name":"Bread","Unknown":7,"@some.Term":true},
            {"ID":2,"Price":19.95,"Stock":"9007199254740993","Color":"Blue"}],
            "@odata.nextLink":"Products?$skiptoken=2","more":{}}
            """)
        guard case .page(let page) = response.body else {
            Issue.record("no page")
            return
        }
        #expect(page.count == 5)
        #expect(page.nextLink == "http://host/service/Products?$skiptoken=2")
        #expect(page.entities.count == 2)
        #expect(page.entities[0].control.etag == "W/\"1\"")
        #expect(page.entities[1]["Stock"] == 9_007_199_254_740_993)
        #expect(page.entities[1]["Color"] == .enumeration(2))
        #expect(response.preferencesApplied == ["maxpagesize=2"])
    }

    @Test("V3's verbose JSON is recognised in chunks of any size", arguments: 1...6)
    func verboseInPieces(size: Int) async throws {
        let metadata = """
            <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"><edmx:DataServices
            xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata" m:DataServiceVersion="3.0">
            <Schema Namespace="S" xmlns="http://schemas.microsoft.com/ado/2009/11/edm">
              <EntityType Name="T"><Key><PropertyRef Name="ID"/></Key>
                <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
              <EntityContainer Name="C" m:IsDefaultEntityContainer="true"><EntitySet Name="Ts" EntityType="S.T"/></EntityContainer>
            </Schema></edmx:DataServices></edmx:Edmx>
            """
        let decoder = ResponseDecoder(
            serviceRoot: try ServiceRoot("http://host/"), model: try CSDLReader.read(xml: Array(metadata.utf8)))
        let bytes = Array("\u{FEFF} \n{ \"d\":{\"results\":[{\"ID\":1},{\"ID\":2}]}}".utf8)
        let place = Mutex(0)
        let body = ByteStream {
            place.withLock { place in
                guard place < bytes.count else { return nil }
                let chunk = Array(bytes[place..<min(place + size, bytes.count)])
                place += size
                return chunk
            }
        }
        var message = HTTPResponse(status: .ok)
        message.headerFields[.contentType] = "application/json"
        message.headerFields[.dataServiceVersion] = "3.0"
        let response = try await decoder.decode(message, body: body, to: ODataRequest(.read, try ODataURL.of("Ts")))
        guard case .page(let page) = response.body else {
            Issue.record("no page")
            return
        }
        #expect(page.entities.map { $0["ID"] } == [1, 2])
    }

    @Test("JSON 15 a delta in the spelling of 4.0 and 4.01")
    func delta() async throws {
        let text = """
            200
            Content-Type: application/json

            {"@odata.context":"http://host/service/$metadata#Customers/$delta","value":[
            {"ID":"ALFKI","Name":"Alfred"},
            {"@odata.context":"#Customers/$deletedEntity","id":"Customers('ANTON')","reason":"deleted"},
            {"@removed":{"reason":"changed"},"ID":"BERGS"},
            {"@context":"#Customers/$link","source":"Customers('ALFKI')","relationship":"Orders","target":"Orders(1)"}],
            "@odata.deltaLink":"http://host/service/Customers?$deltatoken=8015"}
            """
        let response = try await decode(text, to: ODataRequest(following: "Customers?$deltatoken=1"))
        guard case .page(let page) = response.body else {
            Issue.record("no page")
            return
        }
        #expect(page.entities.map { $0["ID"] } == ["ALFKI"])
        #expect(
            page.removed == [
                RemovedEntity(id: "Customers('ANTON')", reason: .deleted),
                RemovedEntity(id: "", key: EntityKey("ID", "BERGS"), reason: .changed),
            ])
        #expect(page.deltaLink == "http://host/service/Customers?$deltatoken=8015")
    }

    @Test("10 a followed link is read by its context URL")
    func byContext() async throws {
        let link = ODataRequest(following: "http://host/service/opaque")
        let entity = try await decode(
            "200\nContent-Type: application/json\n\n{\"@context\":\"$metadata#Orders(1)/Customer/$entity\",\"ID\":\"A\"}",
            to: link)
        guard case .entity(let customer) = entity.body else {
            Issue.record("no entity")
            return
        }
        #expect(customer.shape.name.name == "Customer")
        let value = try await decode(
            "200\nContent-Type: application/json\n\n{\"@odata.context\":\"$metadata#Edm.Int32\",\"value\":3}", to: link)
        guard case .value(3, .primitive(.int32)) = value.body else {
            Issue.record("no value")
            return
        }
        let error = await #expect(throws: InvalidResponseError.self) {
            try await decode("200\nContent-Type: application/json\n\n{\"value\":[]}", to: link)
        }
        #expect(error?.problem == .unknownContext(nil))
    }

    @Test("11.4.2 responses to a creation, with and without a body")
    func created() async throws {
        let request = ODataRequest(.create, ODataURL(set: "Products"))
        let full = try await decode(
            "201\nLocation: http://host/service/Products(9)\nETag: \"5\"\nContent-Type: application/json\n\n"
                + "{\"@odata.context\":\"$metadata#Products/$entity\",\"ID\":9}", to: request)
        guard case .entity(let entity) = full.body else {
            Issue.record("no entity")
            return
        }
        #expect(entity.control.etag == "\"5\"")
        #expect(full.location == "http://host/service/Products(9)")
        let minimal = try await decode(
            "204\nOData-EntityId: http://host/service/Products(9)\nRepeatability-Result: Accepted\n"
                + "Preference-Applied: return=minimal\nX-Other: 1\n\n", to: request)
        #expect(minimal.entityID == "http://host/service/Products(9)")
        #expect(minimal.repeatabilityResult == .accepted)
        #expect(minimal.headers == ["X-Other": "1"])
    }

    @Test("11.2.4 properties, raw values, counts, references, functions")
    func others() async throws {
        let json = "200\nContent-Type: application/json\n\n"
        guard case .value("Bread", _) = try await read("Products(1)/Name", json + #"{"value":"Bread"}"#).body else {
            Issue.record("property")
            return
        }
        guard case .value(.complex(let address), _) = try await read("Contoso/Address", json + #"{"City":"Rome"}"#).body
        else {
            Issue.record("complex property")
            return
        }
        #expect(address["City"] == "Rome")
        #expect(try await read("Products(1)/Name", "204\n\n").status == 204)
        guard case .count(12) = try await read("Products/$count", "200\nContent-Type: text/plain\n\n\u{FEFF}12\n").body
        else {
            Issue.record("count")
            return
        }
        guard
            case .raw(let bytes, "image/png") = try await read(
                "Photos(1)/$value", "200\nContent-Type: image/png\n\nxyz"
            ).body
        else {
            Issue.record("raw")
            return
        }
        #expect(try await bytes.collect(limit: 9).count == 3)
        let references = try await read(
            "Categories(1)/Products/$ref",
            json
                + #"{"@odata.context":"$metadata#Collection($ref)","value":[{"@odata.id":"Products(1)"},{"@id":"Products(2)"}]}"#
        )
        guard case .references(["Products(1)", "Products(2)"], true, nil, nil) = references.body else {
            Issue.record("references")
            return
        }
        guard case .value(3, _) = try await read("Sum(a=1,b=2)", json + #"{"value":3}"#).body,
            case .entity = try await read("MostExpensive()", json + #"{"ID":4}"#).body
        else {
            Issue.record("functions")
            return
        }
    }

    @Test func `the rows of an aggregation have the types that the query gives them`() async throws {
        let response = try await read(
            "Products?$apply=groupby((Color),aggregate(Price with sum as Total,$count as Number))",
            "200\nContent-Type: application/json\n\n{\"value\":[{\"Color\":\"Red\",\"Total\":\"10.50\",\"Number\":3}]}")
        guard case .page(let page) = response.body, let row = page.entities.first else {
            Issue.record("no rows")
            return
        }
        #expect(row["Color"] == .enumeration(0))
        #expect(row["Total"] == ODataDecimal("10.5").map { .decimal($0) })
        #expect(row["Number"] == 3 || row["Number"] == .decimal(ODataDecimal(3)))
    }

    @Test func `a collection stays encoded when a format is asked for`() async throws {
        let request = ODataRequest(.read, try ODataURL.of("Products"), format: ResponseFormat())
        let response = try await decode("200\nContent-Type: application/json\n\n{\"value\":[]}", to: request)
        guard case .encoded(let stream, "application/json") = response.body else {
            Issue.record("not encoded")
            return
        }
        #expect(try await stream.collect(limit: 100) == Array(#"{"value":[]}"#.utf8))
    }

    @Test(
        "21.1 refusals are read in every form",
        arguments: [
            (
                "application/json",
                #"{"error":{"code":"X1","message":"Bad","target":"q","details":[{"code":"D","message":"d"}]}}"#, "X1",
                "Bad"
            ),
            ("application/json", #"{"error":{"code":null,"message":"Nothing found."}}"#, "", "Nothing found."),
            (
                "application/json", #"{"error":{"code":"SY/530","message":{"lang":"en","value":"Old style"}}}"#,
                "SY/530", "Old style"
            ),
            (
                "application/xml",
                "<?xml version='1.0'?><error xmlns='m'><code>E</code><message>A &amp; B</message></error>", "E", "A & B"
            ),
            ("text/html", "<html><head><title>502 Bad\n Gateway</title></head></html>", "", "502 Bad Gateway"),
            ("text/plain", "Please wait", "", "Please wait"),
            ("application/json", "{\"broken\":", "", "The service answered 503."),
            ("application/json", "", "", "The service answered 503."),
        ])
    func refusals(_ type: String, _ body: String, _ code: String, _ message: String) async throws {
        let error = await #expect(throws: ODataError.self) {
            try await read(
                "Products",
                "503\nContent-Type: \(type)\nRetry-After: 120\nX-Request-ID: r1\nRepeatability-Result: rejected\n\n"
                    + body)
        }
        #expect(error?.status == 503)
        #expect(error?.code == code)
        #expect(error?.message == message)
        #expect(error?.retryAfter == 120)
        #expect(error?.requestID == "r1")
        #expect(error?.repeatabilityResult == .rejected)
    }

    @Test("Retry-After is read as seconds or as a date")
    func retryAfterDate() async throws {
        func retryAfter(_ text: String) async -> Int? {
            await #expect(throws: ODataError.self) {
                try await read("Products", "503\nRetry-After: \(text)\n\n")
            }?.retryAfter
        }
        #expect(await retryAfter("Sun, 06 Nov 1994 08:49:37 GMT") == 0)
        let date = HTTPDate.text(seconds: Int64(Date().timeIntervalSince1970) + 600)
        #expect((590...600).contains(await retryAfter(date) ?? -1))
        #expect(await retryAfter("9223372036854775808") == 1 << 40)
        #expect(await retryAfter("-1") == nil)
        #expect(await retryAfter("soon") == nil)
    }

    @Test func `success that cannot be read is no refusal`() async throws {
        func problem(_ text: String) async -> InvalidResponseError.Problem? {
            await #expect(throws: InvalidResponseError.self) { _ = try await read("Products", text) }?.problem
        }
        #expect(
            await problem("200\nContent-Type: text/html\n\n<html><title>Sign in</title>") == .webPage(title: "Sign in"))
        #expect(
            await problem("200\nContent-Type: application/pdf\n\n%PDF-1.7") == .mediaType("application/pdf"))
        #expect(await problem("302\nLocation: /login\n\n") == .redirect(to: "/login"))
        guard
            case .malformed(let place)? = await problem(
                "200\nContent-Type: application/json\n\n{\"value\":[{\"ID\":1},")
        else {
            Issue.record("not malformed")
            return
        }
        #expect(place.contains("line 1"))
        #expect(await problem("200\nContent-Type: application/json\n\n{\"value\":[{\"ID\":\"x\"}]}") != nil)
    }

    @Test("21.2 an error in the stream ends the collection with the message of the service")
    func inStream() async throws {
        let error = await #expect(throws: ODataError.self) {
            try await read(
                "Products",
                "200\nContent-Type: application/json\n\n{\"value\":[{\"ID\":1}],\"error\":{\"code\":\"T\",\"message\":\"Timed out\"}}"
            )
        }
        #expect(error?.code == "T")
        #expect(error?.status == 500)
    }

    @Test func `a body over the limit is refused`() async throws {
        let text =
            "200\nContent-Type: application/json\n\n{\"value\":\"" + String(repeating: "x", count: 100_001) + "\"}"
        let error = await #expect(throws: InvalidResponseError.self) { try await read("Products(1)/Name", text) }
        #expect(error?.problem == .tooLarge(limit: 100_000))
    }

    @Test("Metadata over the limit is refused, and the error names the limit")
    func largeMetadata() async throws {
        let text = "200\nContent-Type: application/xml\n\n<!--" + String(repeating: "x", count: 100_001) + "-->"
        let error = await #expect(throws: InvalidResponseError.self) { try await read("$metadata", text) }
        #expect(error?.problem == .tooLarge(limit: 100_000))
    }

    @Test("JSON 4.5.1 relative links are resolved against the context URL, and this one against the request")
    func links() {
        let request = "http://h/s/Orders(1)/Items?$top=1"
        func resolve(_ link: String, _ context: String?) -> String {
            LinkResolution.resolve(link, context: context, request: request)
        }
        #expect(resolve("Items?$skiptoken=2", nil) == "http://h/s/Orders(1)/Items?$skiptoken=2")
        #expect(resolve("Items?$skiptoken=2", "../$metadata#Items") == "http://h/s/Items?$skiptoken=2")
        #expect(resolve("/x/y", "http://o/p/$metadata#A") == "http://o/x/y")
        #expect(resolve("https://z/?q", nil) == "https://z/?q")
        #expect(resolve("?$skiptoken=2", nil) == "http://h/s/Orders(1)/Items?$skiptoken=2")
        #expect(resolve("?$skiptoken=2", "http://h/s/$metadata#Items") == "http://h/s/Orders(1)/Items?$skiptoken=2")
        #expect(resolve("../../../a/./b", nil) == "http://h/a/b")
        #expect(resolve("/\u{301}x", nil) == "http://h/\u{301}x")
        #expect(resolve("?\u{301}x", nil) == "http://h/s/Orders(1)/Items?\u{301}x")
        #expect(resolve("/x/../\u{301}y", nil) == "http://h/\u{301}y")
    }

    @Test(arguments: [
        (#"{"error":"just text"}"#, "just text"), (#"{"Error":{"Code":"x","Message":"upper case"}}"#, "upper case"),
        (#"{"type":"about:blank","title":"Title","detail":"problem detail"}"#, "problem detail"),
        (#"{"error":"invalid_grant","error_description":"expired"}"#, "expired"),
        (#"{"Message":"of ASP.NET"}"#, "of ASP.NET"),
        (#"{"errors":[{"message":"first"},{"message":"second"}]}"#, "first"), (#"{"fault":{"faultstring":"f"}}"#, "f"),
        (#"{"other":1}"#, "Bad Request"), ("{", "Bad Request"),
    ])
    func `a refusal whose body is no error object of OData keeps its message`(body: String, message: String) {
        let error = ErrorBody(Array(body.utf8)).error(for: HTTPResponse(status: .badRequest))
        #expect(error.message == message)
    }
}
