import ODataClient
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import Testing

/// Batch requests (OData Protocol 4.01, 11.7).
@Suite struct RequestBatchTests {
    private static func part(_ id: String, _ status: String, _ body: String) -> String {
        """
        --r\r
        Content-Type: application/http\r
        Content-ID: \(id)\r
        \r
        HTTP/1.1 \(status)\r
        Content-Type: application/json\r
        \r
        \(body)\r

        """
    }

    @Test("11.7.7 change sets, content ids and reads in one request")
    func builder() async throws {
        let body =
            Self.part("read", "200 OK", "{\"@odata.context\":\"$metadata#Orders\",\"value\":[{\"ID\":9}]}")
            + Self.part("order", "201 Created", "{\"@odata.context\":\"$metadata#Orders/$entity\",\"ID\":1}")
            + Self.part("item", "400 Bad Request", "{\"error\":{\"code\":\"E\",\"message\":\"No.\"}}") + "--r--\r\n"
        let transport = WireScript(metadata: ShopMetadata.v4()) { _, _ in
            .init(fields: ["Content-Type": "multipart/mixed;boundary=r"], body: body)
        }
        let client = try transport.client()
        let order = try await ShopMetadata.entity(["ID": 1], of: client)
        let item = try await ShopMetadata.entity(["ID": 7], set: "Items", of: client)
        let results = try await DataService(client).batch(continueOnError: true) {
            BatchOperation.read(ResourceQuery("Orders").top(5), id: "read")
            ChangeSet {
                BatchOperation.create(order, in: "Orders", id: "order")
                BatchOperation.create(item, at: .result("order", "Items"), id: "item")
            }
        }
        #expect(try results.entities("read").map { $0["ID"] } == [9])
        #expect(try results.entity("order")["ID"] == 1)
        #expect(results.refusals.map(\.id) == ["item"])
        #expect(throws: ODataError.self) { try results.response("item") }
        #expect(throws: DataServiceError.unansweredRequest(id: "other")) { try results.response("other") }
        let sent = transport.sent[0]
        #expect(sent.line == "POST /shop/$batch")
        #expect(sent["Prefer"] == "odata.continue-on-error")
        let lines = sent.body.split(separator: "\r\n").map(String.init)
        #expect(lines.contains("GET Orders?$top=5 HTTP/1.1"))
        #expect(lines.contains("POST $order/Items HTTP/1.1"), "\(sent.body)")
        #expect(lines.filter { $0.hasPrefix("Content-Type: multipart/mixed; boundary=changeset_") }.count == 1)
    }

    @Test func `a plain list is the same, and loops and conditions build`() async throws {
        let transport = WireScript(metadata: ShopMetadata.v4("4.01")) { _, _ in
            .json("{\"responses\":[]}")
        }
        let service = try transport.service(.init(batchFormat: .json))
        let isWanted = true
        let batch = RequestBatch {
            for id in 1...2 { BatchOperation.read(ResourceQuery("Orders").key(.integer(Int64(id)))) }
            if isWanted { BatchOperation.read(ResourceQuery("Items")).after("1") }
            ChangeSet { BatchOperation.invoke(ODataURL(set: "Close"), ["reason": "x"]) }
            ChangeSet { BatchOperation.invoke(ODataURL(set: "Close"), ["reason": "y"]) }
        }
        #expect(batch.operations.count == 5)
        _ = try await service.batch(batch)
        let body = transport.sent[0].body
        #expect(body.contains("\"dependsOn\":[\"1\"]"), "\(body)")
        let groups = body.matches(of: /"atomicityGroup":"([^"]+)"/).map(\.1)
        #expect(groups.count == 2 && groups[0] != groups[1], "two change sets stay two: \(body)")
        #expect(try await service.batch([BatchItem]()).isEmpty)
        #expect(transport.sent.count == 1, "an empty batch is not sent")
    }

    @Test func `a service without batches gets the requests one by one, as long as they do not hang together`()
        async throws
    {
        let metadata = ShopMetadata.v4(
            container: "<Annotation Term=\"Org.OData.Capabilities.V1.BatchSupported\" Bool=\"false\"/>")
        let transport = WireScript(metadata: metadata) { sent, _ in
            sent.line.hasSuffix("Orders(2)")
                ? .refusal(404) : .json("{\"@odata.context\":\"$metadata#Orders/$entity\",\"ID\":1}")
        }
        let client = try transport.client()
        let service = DataService(client)
        func read(_ id: Int64) -> BatchOperation { .read(ResourceQuery("Orders").key(.integer(id)), id: "\(id)") }
        let results = try await service.batch {
            read(1)
            read(2)
            read(3)
        }
        #expect(results.map(\.id) == ["1", "2"], "the first refusal ends it")
        let further = try await service.batch(continueOnError: true) {
            read(2)
            read(3).after("2")
            read(4)
        }
        #expect(further.map(\.id) == ["2", "3", "4"])
        #expect(throws: ODataError.self) { try further.response("3") }
        #expect(try further.entity("4")["ID"] == 1)
        #expect(!transport.sent.contains { $0.line.contains("$batch") })
        let order = try await ShopMetadata.entity(["ID": 1], of: client)
        let before = transport.sent.count
        await #expect(throws: CapabilityError.self) {
            try await service.batch {
                ChangeSet {
                    BatchOperation.create(order, in: "Orders")
                    BatchOperation.create(order, in: "Orders")
                }
            }
        }
        #expect(transport.sent.count == before)
    }

    @Test("sent one by one, finished requests are reported even if later ones fail", arguments: [true, false])
    func interrupted(isUnsent: Bool) async throws {
        let metadata = ShopMetadata.v4(
            container: "<Annotation Term=\"Org.OData.Capabilities.V1.BatchSupported\" Bool=\"false\"/>")
        let transport = WireScript(metadata: metadata) { _, number in
            switch number {
            case 0: .json("{\"@odata.context\":\"$metadata#Orders/$entity\",\"ID\":1}", status: 201)
            case 1: .json("<html>", status: 201)
            default:
                throw isUnsent
                    ? TransportError.cannotConnect(host: "h", reason: "gone")
                    : TransportError.connectionLost(host: "h", reason: "gone")
            }
        }
        let client = try transport.client(.init(csrf: .off))
        let order = try await ShopMetadata.entity(["ID": 1], of: client)
        let service = DataService(
            try ODataClient(
                serviceRoot: WireScript.root,
                transport: HTTPSession(
                    transport, serviceRoot: WireScript.root, configuration: .init(retry: .none)),
                configuration: .init(csrf: .off)))
        let results = try await service.batch {
            for id in ["a", "b", "c", "d"] { BatchOperation.create(order, in: "Orders", id: id) }
        }
        #expect(results.map(\.id) == ["a", "b", "c"])
        #expect(try results.entity("a")["ID"] == 1)
        #expect(try results.response("b").status == 201, "it was done, though its answer cannot be read")
        let error = #expect(throws: ODataError.self) { try results.response("c") }
        #expect(error?.status == (isUnsent ? 503 : 502))
        #expect(throws: DataServiceError.unansweredRequest(id: "d")) { try results.response("d") }
        #expect(transport.sent.count == 3)
    }

    @Test func `reads can go within a batch, so that their URLs are in no log`() async throws {
        let body =
            Self.part("1", "200 OK", "{\"@odata.context\":\"$metadata#Orders\",\"value\":[{\"ID\":9}]}") + "--r--\r\n"
        let transport = WireScript(metadata: ShopMetadata.v4()) { _, _ in
            .init(fields: ["Content-Type": "multipart/mixed;boundary=r"], body: body)
        }
        let orders = try await transport.service(.init(hidesURLs: true)).entities(
            ResourceQuery("Orders").filter(.property("City") == "secret"))
        #expect(orders.map { $0["ID"] } == [9])
        #expect(transport.sent.map(\.line) == ["POST /shop/$batch"])
        #expect(transport.sent[0].body.contains("GET Orders?$filter=City%20eq%20'secret' HTTP/1.1"))
    }
}
