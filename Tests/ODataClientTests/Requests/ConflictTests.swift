import ODataClient
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import Testing

/// ETags protect changes, and a conflict is reported as a `ConflictError` (OData Protocol 4.01, 11.4.1.1).
@Suite struct ConflictTests {
    private static func order(_ city: String, _ etag: String) -> String {
        "{\"@odata.context\":\"$metadata#Orders/$entity\",\"@odata.etag\":\"\(etag)\",\"ID\":1,\"City\":\"\(city)\"}"
    }

    private func script() -> WireScript {
        WireScript(metadata: ShopMetadata.v4()) { sent, number in
            sent.message.method == .get
                ? .json(Self.order(number == 0 ? "Graz" : "Wien", number == 0 ? "1" : "2")) : .refusal(412)
        }
    }

    @Test("11.4.1.1 a change of an entity that someone else changed is a conflict with both versions")
    func conflict() async throws {
        let transport = script()
        let service = try transport.service()
        var order = try #require(try await service.entity("Orders", key: 1))
        order["City"] = "Linz"
        let changed = order
        let error = await #expect(throws: ConflictError.self) {
            try await service.update(changed, in: "Orders", readingConflict: true)
        }
        let conflict = try #require(error)
        #expect(conflict.attempted?["City"] == "Linz")
        #expect(conflict.currentEntity?["City"] == "Wien")
        #expect(conflict.currentEntity?.control.etag == "2")
        #expect(conflict.etag == "1")
        #expect(conflict.refusal.status == 412)
        #expect(transport.sent.map(\.line) == ["GET /shop/Orders(1)", "PATCH /shop/Orders(1)", "GET /shop/Orders(1)"])
    }

    @Test func `the other version is read only when it is asked for`() async throws {
        let transport = script()
        let service = try transport.service()
        let order = try #require(try await service.entity("Orders", key: 1))
        let error = await #expect(throws: ConflictError.self) { try await service.delete(order, in: "Orders") }
        #expect(transport.sent.count == 2)
        #expect(try await error?.current(service)?["City"] == "Wien")
        #expect(transport.sent.count == 3)
    }

    @Test("8.2.5 a creation that must not overwrite sends If-None-Match: *")
    func onlyNew() async throws {
        let transport = script()
        let client = try transport.client()
        let order = try await ShopMetadata.entity(["ID": 1, "City": "Graz"], of: client)
        await #expect(throws: ConflictError.self) {
            try await DataService(client).upsert(order, in: "Orders", onlyNew: true)
        }
        #expect(transport.sent[0].line == "PATCH /shop/Orders(1)")
        #expect(transport.sent[0]["If-None-Match"] == "*")
        #expect(transport.sent[0].body == "{\"City\":\"Graz\"}")
    }

    @Test func `overwriting states that the entity must exist, nothing more`() async throws {
        let transport = WireScript(metadata: ShopMetadata.v4()) { sent, _ in
            sent.message.method == .get ? .json(Self.order("Graz", "1")) : .empty(204, ["ETag": "3"])
        }
        let service = try transport.service()
        var order = try #require(try await service.entity("Orders", key: 1))
        order["City"] = "Linz"
        let changed = try await service.update(order, in: "Orders", overwriting: true)
        #expect(transport.sent[1]["If-Match"] == "*")
        #expect(changed.control.etag == "3")
        #expect(changed.changedProperties.isEmpty)
    }
}
