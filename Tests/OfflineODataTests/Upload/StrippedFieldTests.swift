import HTTPTypes
import ODataClient
import ODataHTTP
import ODataModel
import ODataService
import OfflineOData
import Testing

/// The capability of repeatable requests counts only after a response has confirmed it (rule 39).
@Suite("A proxy that removes the fields of repeatable requests")
struct StrippedFieldTests {
    /// A transport that removes the header fields in both directions.
    private struct Stripping: HTTPTransport {
        let base: any HTTPTransport

        func send(
            _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
        ) async throws -> (HTTPResponse, ByteStream) {
            var request = request
            for name in [HTTPField.Name.repeatabilityRequestID, .repeatabilityFirstSent, .repeatabilityClientID] {
                request.headerFields[name] = nil
            }
            var (response, stream) = try await base.send(request, body: body, options: options)
            response.headerFields[.repeatabilityResult] = nil
            return (response, stream)
        }
    }

    @Test("A lost response makes no second entity: the outcome is unknown")
    func lost() async throws {
        let shop = try await Shop()
        let session = try HTTPSession(
            Stripping(base: shop.wire), serviceRoot: Shop.serviceRoot, configuration: .init())
        let client = try ODataClient(serviceRoot: Shop.serviceRoot, transport: session)
        let store = try await shop.store(through: client)
        try await store.download()
        try await order(in: store)
        await shop.wire.cut { _, request in request.method == .post ? .answerLost : nil }
        for _ in 0..<3 { _ = try? await store.upload() }
        await shop.wire.mend()
        _ = try? await store.upload()
        #expect(try await shop.count("SELECT COUNT(*) FROM Orders") == 201)
        #expect(try await store.observe.status().failed.map(\.state) == [.inDoubt])
        try store.close()
    }

    @Test("After a confirming response, a change with a lost response is sent again and recognised")
    func confirmed() async throws {
        let shop = try await Shop()
        let store = try await shop.clone(through: try shop.client())
        try await order(in: store)
        _ = try await store.upload()
        try await orderWithLostAnswer(shop, store)
        #expect(try await shop.count("SELECT COUNT(*) FROM Orders") == 202)
        let status = try await store.observe.status()
        #expect(status.pending.isEmpty && status.failed.isEmpty)
        try store.close()
    }

    @Test("A refusal confirms repeatable requests too, for a change or a change set", arguments: [false, true])
    func confirmedByRefusal(isTogether: Bool) async throws {
        let shop = try await Shop()
        let store = try await shop.clone(through: try shop.client())
        try await store.changes.transaction { changes in
            if isTogether { try changes.update("Products(1)", ["Stock": 3]) }
            try changes.update("Products(2)", ["Stock": -1])
        }
        #expect(try await store.upload().failed.count == (isTogether ? 2 : 1))
        try await store.changes.discard()
        try await orderWithLostAnswer(shop, store)
        #expect(try await shop.count("SELECT COUNT(*) FROM Orders") == 201)
        let status = try await store.observe.status()
        #expect(status.pending.isEmpty && status.failed.isEmpty)
        try store.close()
    }

    /// Creates an order, loses the first response, and sends the order again.
    private func orderWithLostAnswer(_ shop: Shop, _ store: OfflineStore) async throws {
        try await order(in: store)
        await shop.wire.cut { _, request in request.method == .post ? .answerLost : nil }
        _ = try? await store.upload()
        await shop.wire.mend()
        _ = try await store.upload()
    }

    private func order(in store: OfflineStore) async throws {
        try await store.create(
            "Orders", ["CustomerID": "C0001", "OrderedAt": .dateTimeOffset(.init(seconds: 1_790_000_000))])
    }
}
