import HTTPTypes
import ODataClient
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import Testing

/// Responses that contain less than requested: without a body, without an ETag, or with a later result.
@Suite struct AnswersToChangesTests {
    private static func order(_ city: String, _ etag: String) -> String {
        "{\"@odata.context\":\"$metadata#Orders/$entity\",\"@odata.etag\":\"\(etag)\",\"ID\":1,\"City\":\"\(city)\"}"
    }

    private func script(
        _ answer: @escaping @Sendable (WireScript.Sent, Int) throws -> WireScript.Answer
    ) -> WireScript {
        WireScript(metadata: ShopMetadata.v4(), answer)
    }

    // MARK: Created, and not to be read

    @Test(
        "11.4.2 a creation counts as successful even if the new entity cannot be read", arguments: [403, 404, 410, 0])
    func unreadable(status: Int) async throws {
        let transport = script { sent, _ in
            if sent.message.method == .post { return .empty(204, ["OData-EntityId": "Orders(1)"]) }
            guard status > 0 else { throw TransportError.untrustedCertificate(host: "service.test", reason: "expired") }
            return .refusal(status)
        }
        let client = try transport.client()
        let order = try await ShopMetadata.entity(["ID": 1, "City": "Graz"], of: client)
        let created = try await DataService(client).create(order, in: "Orders")
        #expect(created["City"] == "Graz")
        #expect(created.control.id == "Orders(1)")
        #expect(created.changedProperties.isEmpty)
        #expect(transport.sent.filter { $0.message.method == .post }.count == 1)
    }

    @Test func `a stream with an unreadable entity counts as created`() async throws {
        let transport = script { sent, _ in
            sent.message.method == .post ? .empty(204, ["OData-EntityId": "Photos(3)"]) : .refusal(403)
        }
        let photo = try await transport.service().createMedia(
            in: "Photos", ByteStream([1]), contentType: "image/png")
        #expect(photo.control.id == "Photos(3)")
    }

    @Test func `a created entity is returned even to a task that was cancelled meanwhile`() async throws {
        let transport = script { sent, _ in
            guard sent.message.method == .post else { throw CancellationError() }
            withUnsafeCurrentTask { $0?.cancel() }
            return .empty(204, ["OData-EntityId": "Orders(1)"])
        }
        let client = try transport.client()
        let order = try await ShopMetadata.entity(["ID": 1], of: client)
        let created = try await Task { try await DataService(client).create(order, in: "Orders") }.value
        #expect(created.control.id == "Orders(1)")
    }

    // MARK: Answered later

    @Test("11.6 an entity that is created later is no result, and its monitor is no entity")
    func createdLater() async throws {
        let transport = script { _, _ in .empty(202, ["Location": "/shop/operations(7)"]) }
        let client = try transport.client()
        let service = DataService(client)
        let order = try await ShopMetadata.entity(["ID": 1, "City": "Graz"], of: client)
        let later = DataServiceError.answeredLater(location: "/shop/operations(7)")
        await #expect(throws: later) { try await service.create(order, in: "Orders") }
        await #expect(throws: later) { try await service.upsert(order, in: "Orders") }
        await #expect(throws: later) { try await service.update(order, in: "Orders") }
        await #expect(throws: later) { try await service.replace(order, in: "Orders") }
        await #expect(throws: later) {
            try await service.createMedia(in: "Photos", ByteStream([1]), contentType: "image/png")
        }
        #expect(transport.sent.map { $0.message.method } == [.post, .patch, .patch, .put, .post])
        #expect(ErrorDiagnosis(later).recovery == .lookBeforeRepeating)
    }

    @Test("8.2.8.8 a response that is available later is no empty result")
    func readLater() async throws {
        let transport = script { _, _ in .empty(202, ["Location": "status/1"]) }
        let client = try transport.client()
        let service = DataService(client)
        let order = try await ShopMetadata.entity(["ID": 1], of: client)
        let preferences = {
            var preferences = Preferences()
            preferences.respondAsync = true
            return preferences
        }()
        let later = DataServiceError.answeredLater(location: "status/1")
        let url = ODataURL(set: "Orders")
        await #expect(throws: later) { try await service.entities(url, preferences: preferences) }
        await #expect(throws: later) {
            for try await _ in service.pages(url, preferences: preferences) {}
        }
        await #expect(throws: later) {
            for try await _ in service.changes(since: "Orders?$deltatoken=1", preferences: preferences) {}
        }
        await #expect(throws: later) { try await service.entity("Orders", key: 1) }
        await #expect(throws: later) { try await service.value(of: "City", order) }
        await #expect(throws: later) { try await service.value(try ODataURL(parsing: "Orders(1)/City")) }
        await #expect(throws: later) { try await service.count("Orders") }
        await #expect(throws: later) { try await service.links("Items", of: order) }
        await #expect(throws: later) { try await service.media(try ODataURL(parsing: "Photos(1)/$value")) }
        // The caller of an action can poll the status monitor.
        #expect(try await service.call("Close").location == "status/1")
    }

    // MARK: Changed, without the new tag

    @Test("11.4.1.1 after a change without an ETag in the response, the entity is read for the next condition")
    func missingTag() async throws {
        let transport = script { sent, number in
            sent.message.method == .get ? .json(Self.order("Graz", "\(number + 1)")) : .empty(204)
        }
        for service in [try transport.service(), try transport.service().returningNothing] {
            let start = transport.sent.count
            var order = try #require(try await service.entity("Orders", key: 1))
            let tag = try #require(order.control.etag)
            order["City"] = "Linz"
            var changed = try await service.update(order, in: "Orders")
            #expect(changed.control.etag == "\(start + 3)")
            changed["City"] = "Wien"
            try await service.update(changed, in: "Orders")
            let sent = transport.sent[start...].filter { $0.message.method == .patch }
            #expect(sent.map { $0["If-Match"] } == [tag, "\(start + 3)"])
        }
    }

    @Test func `if the new ETag cannot be read, the old one stays and is refused`() async throws {
        let transport = script { sent, number in
            if sent.message.method == .get { return number == 0 ? .json(Self.order("Graz", "1")) : .refusal(403) }
            return number == 1 ? .empty(204) : .refusal(412)
        }
        let service = try transport.service()
        var order = try #require(try await service.entity("Orders", key: 1))
        order["City"] = "Linz"
        var changed = try await service.update(order, in: "Orders")
        #expect(changed["City"] == "Linz" && changed.changedProperties.isEmpty)
        changed["City"] = "Wien"
        let again = changed
        await #expect(throws: ConflictError.self) { try await service.update(again, in: "Orders") }
        #expect(transport.sent.last?["If-Match"] == "1")
    }

    @Test func `an entity that is set as a whole or by its key keeps a condition too`() async throws {
        let transport = script { sent, _ in
            sent.message.method == .get ? .json(Self.order("Linz", "2")) : .empty(204)
        }
        let client = try transport.client()
        let service = DataService(client)
        var order = try await ShopMetadata.entity(["ID": 1, "City": "Linz"], of: client)
        order.control.etag = "1"
        #expect(try await service.replace(order, in: "Orders").control.etag == "2")
        #expect(try await service.upsert(order, in: "Orders").control.etag == "2")
        // Without ETags, the entity is not read again.
        order.control.etag = nil
        let count = transport.sent.count
        #expect(try await service.replace(order, in: "Orders").control.etag == nil)
        #expect(transport.sent.count == count + 1)
    }
}
