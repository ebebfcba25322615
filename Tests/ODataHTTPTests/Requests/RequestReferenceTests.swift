import ODataModel
import ODataService
import Testing

@testable import ODataHTTP

/// References to other entities in the body of a request (OData Protocol 4.01, 4.1, 11.4.2.1 and 11.4.3.1).
@Suite struct RequestReferenceTests {
    private func refusal(
        _ line: String, _ body: String = "", version: String = "4.01", _ location: SourceLocation = #_sourceLocation
    ) async throws -> ODataError? {
        let text =
            body.isEmpty
            ? "\(line)\nOData-Version: \(version)\n\n"
            : "\(line)\nContent-Type: application/json\nOData-Version: \(version)\n\n\(body)"
        let (message, stream) = Transcript.request(text)
        do {
            let incoming = try await ExampleService.requestDecoder().decode(message, body: stream)
            for part in incoming.parts { if case .failure(let error) = part.result { return error } }
            return nil
        } catch {
            return error as? ODataError
        }
    }

    /// Returns requests with a reference at each place that allows one.
    private static func requests(_ id: String) -> [(line: String, body: String)] {
        let batch = #"""
            {"requests":[{"id":"1","method":"POST","url":"Products","body":{"ID":1,"Category@odata.bind":"\#(id)"}}]}
            """#
        return [
            ("POST /service/Products", #"{"ID":1,"Category@odata.bind":"\#(id)"}"#),
            ("PATCH /service/Products(1)", #"{"Category@odata.bind":"\#(id)"}"#),
            ("POST /service/Products", #"{"ID":1,"Category":{"@id":"\#(id)"}}"#),
            ("PATCH /service/Products(1)", #"{"Category":{"@odata.id":"\#(id)","Name":"x"}}"#),
            ("POST /service/Orders", #"{"ID":1,"Customer":{"ID":"a","Orders":[{"@id":"\#(id)"}]}}"#),
            ("PUT /service/Products(1)/Category/$ref", #"{"@id":"\#(id)"}"#),
            ("POST /service/Categories(1)/Products/$ref", #"{"@odata.id":"\#(id)"}"#),
            ("PUT /service/Categories(1)/Products/$ref", #"{"value":[{"@id":"\#(id)"}]}"#),
            ("DELETE /service/Categories(1)/Products/$ref?$id=\(id)", ""),
            ("PATCH /service/Categories(1)", #"{"Products@delta":[{"@removed":{"reason":"changed"},"@id":"\#(id)"}]}"#),
            ("PATCH /service/Products", ##"{"@context":"#$delta","value":[{"@id":"\##(id)","Name":"x"}]}"##),
            (
                "PATCH /service/Products",
                ##"{"@context":"#$delta","value":[{"@removed":{"reason":"deleted"},"@id":"\##(id)"}]}"##
            ),
            ("POST /service/$batch", batch),
        ]
    }

    @Test(
        "11.4.2.1 a reference to another host or to no entity is refused with 400",
        arguments: [
            "http://elsewhere.example/service/Categories(1)", "https://elsewhere.example/service/Categories(1)",
            "http://host:8080/service/Categories(1)", "//elsewhere.example/service/Categories(1)", "urn:uuid:1",
            "http://host/other/Categories(1)", "/other/Categories(1)", "x/y/Categories(1)",
            "http://user@host/service/Categories(1)", "ftp://host/service/Categories(1)",
        ])
    func foreign(id: String) async throws {
        for (line, body) in Self.requests(id) {
            let refused = try await refusal(line, body)
            #expect(refused?.status == 400, "\(line) \(body)")
            #expect(refused?.code == "InvalidReference", "\(line) \(refused as Any)")
        }
    }

    @Test(
        "4.1 a reference below the service root is accepted, absolute or relative",
        arguments: [
            "http://host/service/Categories(1)", "HTTP://HOST/service/Categories(1)",
            "http://host:80/service/Categories(1)",
            "//host/service/Categories(1)", "/service/Categories(1)", "Categories(1)", "../Categories(1)",
        ])
    func own(id: String) async throws {
        for (line, body) in Self.requests(id) {
            #expect(try await refusal(line, body) == nil, "\(line) \(body)")
        }
    }

    @Test("11.4.2.1 references to contained entities, and to other requests of a batch, are accepted")
    func special() async throws {
        for id in ["Orders(1)/Items(2)", "http://host/service/Orders(1)/Items(2)", "Customers('a/b')", "$1"] {
            #expect(try await refusal("POST /service/Categories(1)/Products/$ref", #"{"@id":"\#(id)"}"#) == nil)
        }
    }

    @Test(
        "11.4.3.1 an update of 4.0 with inline entities is refused with 400 and the navigation property",
        arguments: [
            ("PATCH /service/Categories(1)", #"{"Products":[]}"#, "Products"),
            ("PUT /service/Categories(1)", #"{"Name":"x","Products":[{"ID":1}]}"#, "Products"),
            ("PATCH /service/Products(1)", #"{"Category":{"ID":1,"Name":"x"}}"#, "Category"),
            ("PATCH /service/Products(1)", #"{"Category":null}"#, "Category"),
            ("PATCH /service/Categories(1)", #"{"Products@odata.delta":[]}"#, "Products"),
        ])
    func inline(line: String, body: String, name: String) async throws {
        let refused = try await refusal(line, body, version: "4.0")
        #expect(refused?.status == 400)
        #expect(refused?.target == name)
        #expect(try await refusal(line, body) == nil)
    }

    @Test("11.4.2.2, 11.4.3.1 creations of 4.0 may contain inline entities, and updates may bind")
    func bound() async throws {
        let id = "Categories(1)"
        #expect(
            try await refusal("POST /service/Products", #"{"ID":1,"Category":{"ID":1,"Name":"x"}}"#, version: "4.0")
                == nil)
        #expect(
            try await refusal("PATCH /service/Products(1)", #"{"Category@odata.bind":"\#(id)"}"#, version: "4.0") == nil
        )
        let nested = #"{"requests":[{"id":"1","method":"PATCH","url":"Categories(1)","body":{"Products":[]}}]}"#
        #expect(try await refusal("POST /service/$batch", nested, version: "4.0")?.target == "Products")
    }
}
