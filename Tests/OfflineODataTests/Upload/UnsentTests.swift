import HTTPTypes
import ODataClient
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

/// A change that was not sent cannot have been executed. The change stays pending, regardless of the cause.
@Suite("Rule 3: a change that failed before its first byte was sent")
struct UnsentTests {
    private struct NoToken: Error {}

    /// A transport that refuses changes, as a service that first requires another step of its client.
    private struct Gate: HTTPTransport {
        let base: Wire
        let isClosed: LockedFlag
        let refusal: HTTPResponse

        func send(
            _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
        ) async throws -> (HTTPResponse, ByteStream) {
            guard isClosed.isSet else { return try await base.send(request, body: body, options: options) }
            guard request.method != .get else { throw TransportError.timedOut(host: "shop.test") }
            return (refusal, ByteStream([]))
        }
    }

    enum Obstacle: CaseIterable { case fields, renewal, csrf, metadata, cancelled }

    private func client(_ shop: Shop, _ obstacle: Obstacle, _ isClosed: LockedFlag) throws -> ODataClient {
        var session = HTTPSession.Configuration(retry: .none, allowsPlainHTTP: true)
        var refusal = HTTPResponse(status: .unauthorized)
        switch obstacle {
        case .fields, .cancelled:
            session.fields = {
                guard isClosed.isSet else { return [:] }
                guard obstacle == .cancelled else { throw NoToken() }
                withUnsafeCurrentTask { $0?.cancel() }
                try Task.checkCancellation()
                return [:]
            }
        case .renewal:
            refusal.headerFields[.wwwAuthenticate] = "Bearer error=\"invalid_token\""
            session.authentication = Authentication(
                TokenAuthentication(.bearer) { isRefused in
                    if isRefused { throw NoToken() }
                    return "token"
                })
        case .csrf:
            refusal.status = .forbidden
            refusal.headerFields[try #require(HTTPField.Name("X-CSRF-Token"))] = "Required"
        case .metadata: break
        }
        let transport: any HTTPTransport =
            obstacle == .renewal || obstacle == .csrf
            ? Gate(base: shop.wire, isClosed: isClosed, refusal: refusal) : shop.wire
        return try ODataClient(
            serviceRoot: Shop.serviceRoot,
            transport: try HTTPSession(transport, serviceRoot: Shop.serviceRoot, configuration: session))
    }

    @Test("waits as if nothing had been tried, alone and in a change set", arguments: Obstacle.allCases, [false, true])
    func waits(obstacle: Obstacle, isTogether: Bool) async throws {
        let shop = try await Shop()
        let isClosed = LockedFlag()
        let client = try client(shop, obstacle, isClosed)
        let store = try await shop.clone(through: PlainService(base: client))
        let order: [String: ODataValue] = [
            "CustomerID": "C0001", "OrderedAt": .dateTimeOffset(.init(seconds: 1_790_000_000)),
        ]
        if isTogether {
            try await store.changes.transaction { changes in
                try changes.create("Orders", order)
                try changes.update("Products(1)", ["Stock": 5])
            }
        } else {
            try await store.create("Orders", order)
        }
        isClosed.set()
        if obstacle == .metadata {
            await client.forgetMetadata()
            await shop.wire.cut { _, request in request.path?.hasSuffix("$metadata") == true ? .answerLost : nil }
        }
        // The upload runs in its own task, which may be cancelled.
        _ = await Task { await #expect(throws: (any Error).self) { try await store.upload() } }.value
        let pending = try await store.observe.status().pending
        #expect(pending.allSatisfy { $0.state == .pending && $0.firstSent == nil && $0.requestID != nil })
        #expect(pending.count == (isTogether ? 2 : 1))
        isClosed.clear()
        await shop.wire.mend()
        let report = try await store.upload()
        #expect(report.failed.map(\.description) == [])
        #expect(report.accepted.count == pending.count)
        #expect(try await shop.count("SELECT COUNT(*) FROM Orders") == 201)
    }

    @Test("waits if the current entity cannot be read and must be sent as a whole")
    func unreadable() async throws {
        let shop = try await Shop()
        let isUploading = LockedFlag()
        var options = OfflineStore.Options()
        options.service.capabilities.supportsPatch = false
        let service = Gateway(
            base: PlainService(base: try shop.client()),
            before: { request in
                guard request.method == .read, isUploading.isSet else { return nil }
                throw ODataError(status: 504, code: "", message: "Too late.")
            })
        let store = try await shop.store(options: options, through: service)
        try await store.download()
        try await store.update("Products(1)", ["Stock": 5])
        isUploading.set()
        await #expect(throws: ODataError.self) { try await store.upload() }
        #expect(try await store.observe.status().pending.map(\.state) == [.pending])
        #expect(try await store.changes.undoAll() == 1, "it was not sent")
    }

    @Test("may have acted if an earlier try of the same client left", arguments: [1, 4])
    func retried(attempts: Int) async throws {
        let shop = try await Shop()
        let session = try HTTPSession(
            shop.wire, serviceRoot: Shop.serviceRoot,
            configuration: .init(retry: RetryPolicy(maxAttempts: attempts, firstDelay: .zero, sleep: { _ in })))
        let store = try await shop.clone(
            options: .ofConfirmedRepeats,
            through: try ODataClient(
                serviceRoot: Shop.serviceRoot, transport: session, configuration: .init(repeatability: .always)))
        try await store.create(
            "Orders", ["CustomerID": "C0001", "OrderedAt": .dateTimeOffset(.init(seconds: 1_790_000_000))])
        // The service executes the request, and the client's next attempts do not reach it.
        await shop.wire.cut { number, _ in number == 1 ? .answerLost : .lostOnTheWay }
        await #expect(throws: TransportError.self) { try await store.upload() }
        #expect(await shop.wire.requests.count == attempts)
        #expect(try await store.observe.status().pending.map(\.state) == [.sending])
        await shop.wire.mend()
        #expect(try await store.upload().accepted.count == 1)
        #expect(try await shop.count("SELECT COUNT(*) FROM Orders") == 201)
    }

    // MARK: Clocks

    @Test(
        "Rule 2: after a refusal for its time, a change is sent without time and request id",
        arguments: [false, true])
    func slowClock(isTogether: Bool) async throws {
        let shop = try await Shop()
        var options = OfflineStore.Options()
        options.runtime.environment.now = { EngineEnvironment.system.now().advanced(by: .seconds(-400 * 86_400)) }
        let store = try await shop.store(options: options)
        try await store.download()
        if isTogether {
            try await store.changes.transaction { changes in
                try changes.update("Products(1)", ["Stock": 5])
                try changes.update("Products(2)", ["Stock": 5])
            }
        } else {
            try await store.update("Products(1)", ["Stock": 5])
        }
        await shop.wire.mend()
        #expect(try await store.upload().failed.map(\.description) == [])
        let sent = await shop.wire.requests.filter { $0.method != .get }
        #expect(sent.count == 2)
        guard !isTogether else { return }
        let name = try #require(HTTPField.Name("Repeatability-Request-ID"))
        #expect(sent.map { $0.headerFields[name] != nil } == [true, false])
    }
}
