import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Synchronization
import Testing

/// While a service is redeployed, a router answers all requests with 404 and its own text. Some services do so
/// as well for missing entities.
@Suite("A response that something is missing")
struct MissTests {
    private static let line = "Order_Lines(OrderID=1003,LineNumber=1)"

    /// Returns a service that is not available while a flag is set.
    private func routed(_ base: any ODataProvider, _ status: Int, _ isGone: LockedFlag) -> Gateway {
        Gateway(
            base: base,
            before: { _ in
                guard isGone.isSet else { return nil }
                throw ODataError(status: status, code: "", message: "Requested route does not exist.")
            })
    }

    @Test(
        "from a gateway that reports everything as missing decides nothing",
        arguments: ["delete", "update", "create", "set"], [404, 410])
    func ofRouter(change: String, status: Int) async throws {
        let shop = try await Shop()
        let isGone = LockedFlag()
        // A second goes by between the requests of a change set that are sent one by one.
        let seconds = Mutex(EngineEnvironment.system.now().seconds)
        var options = OfflineStore.Options()
        options.runtime.environment.now = {
            ODataDateTimeOffset(
                seconds: seconds.withLock {
                    $0 += 1
                    return $0
                })
        }
        let store = try await shop.clone(options: options, through: routed(try shop.client(), status, isGone))
        switch change {
        case "delete": try await store.delete(Self.line)
        case "update": try await store.update(Self.line, ["Quantity": 7])
        case "create": try await store.create("Categories", ["Name": "New"])
        default:
            try await store.changes.transaction { changes in
                try changes.delete(Self.line)
                try changes.update("Products(1)", ["Stock": 5])
            }
        }
        let waiting = try await store.observe.status().pending.map(\.kind)
        isGone.set()
        await #expect(throws: InvalidResponseError.self) {
            try await store.upload(options: UploadOptions(conflictPolicy: .serverWins))
        }
        let status = try await store.observe.status()
        #expect(status.pending.map(\.kind) == waiting && status.failed.isEmpty)
        isGone.clear()
        #expect(try await store.sync().upload.accepted.count == waiting.count)
        try await shop.expectEqual(store)
    }

    @Test("from a gateway that reports everything as missing decides nothing before a comparison")
    func beforeSending() async throws {
        let shop = try await Shop()
        let isGone = LockedFlag()
        let store = try await shop.clone(
            through: routed(PlainService(base: try shop.client(), hasETags: false), 404, isGone))
        try await store.update(Self.line, ["Quantity": 7])
        isGone.set()
        await #expect(throws: InvalidResponseError.self) {
            try await store.upload(options: UploadOptions(conflictPolicy: .serverWins))
        }
        isGone.clear()
        #expect(try await store.upload().accepted.map(\.kind) == [.update])
        #expect(try await store.rows(Self.line).first?["Quantity"] == 7)
    }

    @Test("is accepted if the service responds, even without an OData error", arguments: [true, false])
    func ofService(heedsETags: Bool) async throws {
        let shop = try await Shop()
        let asked = LockedList()
        let base = try shop.client()
        let service = Gateway(
            base: base,
            before: { request in
                asked.append(request)
                do {
                    var request = request
                    if !heedsETags { request.ifMatch = nil }
                    return try await base.execute(request)
                } catch var error as ODataError where error.status == 404 {
                    error.code = ""
                    error.repeatabilityResult = nil
                    throw error
                }
            })
        let store = try await shop.clone(through: service)
        try await store.delete(Self.line)
        try await store.update("Order_Lines(OrderID=1003,LineNumber=2)", ["Quantity": 7])
        try await shop.sql("DELETE FROM \"Order Lines\" WHERE OrderID = 1003")
        let before = asked.requests.count
        let report = try await store.upload()
        #expect(report.accepted.map(\.kind) == [.delete])
        #expect(report.failed.map(\.failure?.conflict) == [.deleted])
        let reads = asked.requests.dropFirst(before).filter { $0.method == .read }.map { "\($0.url.path)" }
        let lines = heedsETags ? [1, 2].map { "Order_Lines(OrderID=1003,LineNumber=\($0))" } : []
        #expect(reads.filter { !$0.isEmpty } == lines)
        #expect(reads.filter(\.isEmpty).count == 2, "the service document, once for each answer")
    }
}
