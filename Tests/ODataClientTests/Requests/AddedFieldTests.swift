import HTTPTypes
import ODataClient
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import Testing

@Suite("Header fields that the client adds by itself (rule 39)")
struct AddedFieldTests {
    private static let orders = "{\"@odata.context\":\"$metadata#Orders\",\"value\":[]}"

    @Test(
        "A refused read is repeated without optional fields for any status",
        arguments: ["OData-MaxVersion", "Accept", "X-Request-ID", "User-Agent"], [400, 403, 404, 406, 500, 501])
    func reads(_ field: String, _ status: Int) async throws {
        let transport = WireScript(metadata: ShopMetadata.v4()) { sent, _ in
            sent[field] == nil ? .json(Self.orders) : .refusal(status)
        }
        #expect(try await transport.service().entities("Orders").isEmpty)
    }

    @Test("A refused read is repeated without packed codings, unless the app has asked for one")
    func codings() async throws {
        let transport = WireScript(metadata: ShopMetadata.v4()) { sent, _ in
            sent["Accept-Encoding"] == "identity" ? .json(Self.orders) : .refusal(500)
        }
        #expect(try await transport.service().entities("Orders").isEmpty)
        let service = try transport.service(.init(headers: ["Accept-Encoding": "br"]))
        await #expect(throws: ODataError.self) { try await service.entities("Orders") }
    }

    @Test("An optional field is omitted after two refusals, and kept once it was accepted")
    func learned() async throws {
        let transport = WireScript(metadata: ShopMetadata.v4()) { sent, _ in
            sent["OData-MaxVersion"] == nil ? .json(Self.orders) : .refusal(500)
        }
        let service = try transport.service()
        for _ in 1...3 { _ = try await service.entities("Orders") }
        #expect(transport.sent.count == 5)
        let plain = WireScript(metadata: ShopMetadata.v4()) { _, number in
            number == 0 ? .json(Self.orders) : .refusal(404)
        }
        let other = try plain.service()
        _ = try await other.entities("Orders")
        await #expect(throws: ODataError.self) { try await other.entities("Orders") }
        #expect(plain.sent.count == 2)
    }

    @Test("Fields from the app take precedence and are never omitted")
    func given() async throws {
        let transport = WireScript(metadata: ShopMetadata.v4()) { sent, _ in
            sent["Accept"] == "application/json;odata.metadata=full" && sent["OData-MaxVersion"] == "4.0"
                ? .refusal(400) : .json(Self.orders)
        }
        let service = try transport.service(
            .init(headers: ["Accept": "application/json;odata.metadata=full", "OData-MaxVersion": "4.0"]))
        await #expect(throws: ODataError.self) { try await service.entities("Orders") }
        #expect(transport.sent.allSatisfy { $0["OData-MaxVersion"] == "4.0" })
    }

    @Test(
        "A change is sent only once unless the refusal proves that it had no effect",
        arguments: [403, 404, 409, 500, 503])
    func changes(_ status: Int) async throws {
        let transport = WireScript(metadata: ShopMetadata.v4()) { sent, _ in
            sent.message.method == .post ? .refusal(status) : .json(Self.orders)
        }
        let client = try transport.client()
        let order = try await ShopMetadata.entity(["ID": 1], of: client)
        await #expect(throws: ODataError.self) { try await DataService(client).create(order, in: "Orders") }
        #expect(transport.sent.filter { $0.message.method == .post }.count == 1)
    }

    @Test("If an interceptor removed the field, a refused token is recognised by the text of the response")
    func token() async throws {
        let transport = WireScript(metadata: ShopMetadata.v4()) { sent, number in
            guard sent.message.method == .post else { return .json(Self.orders, ["X-CSRF-Token": "t\(number)"]) }
            return sent["X-CSRF-Token"] == "t0"
                ? .init(status: 403, fields: ["Content-Type": "text/plain"], body: "CSRF token validation failed")
                : .json("{\"@odata.context\":\"$metadata#Orders/$entity\",\"ID\":1}", status: 201)
        }
        let client = try transport.client()
        _ = try await DataService(client).entities("Orders")
        try await DataService(client).create(try await ShopMetadata.entity(["ID": 1], of: client), in: "Orders")
        #expect(transport.sent.filter { $0.message.method == .post }.count == 2)
    }
}
