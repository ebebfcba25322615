import HTTPTypes
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Synchronization
import Testing

/// Rules without a suite of their own.
@Suite("Rules of the engine")
struct RuleTests {
    @Test("Rule 13: orders may exist without their customers, because references are not enforced")
    func references() async throws {
        let shop = try await Shop()
        let store = try await shop.clone([DefiningQuery(entitySet: "Orders"), DefiningQuery(entitySet: "Order_Lines")])
        let order = try #require(try await store.rows("Orders?$top=1").first)
        #expect(order["CustomerID"] != .null)
        for query in ["Orders?$top=1&$expand=Customer", "Orders?$filter=Customer/City eq 'Bergen'"] {
            #expect(try await store.lacks(query), "\(query)")
        }
        try await store.update("Orders(1001)", ["CustomerID": "C0005"])
        try await store.delete("Orders(1002)")
        #expect(try await store.rows("Order_Lines?$filter=OrderID eq 1002").isEmpty == false, "lines stay")
    }

    @Test("Rule 30: an offline store uses its own change tracking instead of the server's")
    func noTracking() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        let response = try await store.execute(
            ODataRequest(
                .read, try ODataURL(parsing: "Customers"), preferences: Preferences(trackChanges: true)))
        guard case .page(let page) = response.body else { throw ODataError.notFound("Customers") }
        #expect(page.deltaLink == nil)
        #expect(!response.preferencesApplied.contains("track-changes"))
    }

    @Test("Rule 33: now() is the time of the environment's clock")
    func now() async throws {
        let shop = try await Shop()
        var options = OfflineStore.Options()
        // The time is in 1970, before all data of the shop.
        options.runtime.environment = EngineEnvironment(
            now: { ODataDateTimeOffset(seconds: 1_000_000) }, newGuid: { .random() }, sleep: { _ in })
        let store = try await shop.store([DefiningQuery(entitySet: "Orders")], options: options)
        try await store.download()
        #expect(try await store.rows("Orders?$filter=OrderedAt gt now()").isEmpty == false)
        #expect(try await store.rows("Orders?$filter=OrderedAt lt now()").isEmpty)
        let attached = try await AttachedStores.open(["shop": store])
        #expect(try await attached.rows("shop_Orders?$filter=OrderedAt lt now()").isEmpty)
        try attached.close()
    }

    /// An environment with a clock and identifiers that depend on a seed.
    private final class Seeded: Sendable {
        private let state: Mutex<UInt64>
        /// The time is close to the service's clock, because old transmission times are not recognised.
        private static let start = ODataDateTimeOffset(
            seconds: EngineEnvironment.system.now().seconds)

        init(_ seed: UInt64) { state = Mutex(seed) }

        func next() -> UInt64 {
            state.withLock { state in
                // The algorithm is SplitMix64.
                state &+= 0x9E37_79B9_7F4A_7C15
                var z = state
                z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
                z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
                return z ^ (z >> 31)
            }
        }

        var environment: EngineEnvironment {
            EngineEnvironment(
                // The clock is constant, because the number of its reads depends on the speed of the machine.
                now: { Self.start },
                newGuid: {
                    let digits = [self.next(), self.next()].map { number -> String in
                        let text = String(number, radix: 16)
                        return String(repeating: "0", count: 16 - text.count) + text
                    }.joined()
                    func part(_ from: Int, _ count: Int) -> String {
                        String(digits.dropFirst(from).prefix(count))
                    }
                    let text = "\(part(0, 8))-\(part(8, 4))-4\(part(13, 3))-a\(part(17, 3))-\(part(20, 12))"
                    return ODataGuid(text) ?? .random()
                },
                sleep: { _ in })
        }
    }

    /// Returns the messages and log entries of a scenario.
    private func trace(seed: UInt64) async throws -> [String] {
        let shop = try await Shop()
        var options = OfflineStore.Options()
        options.runtime.environment = Seeded(seed).environment
        let store = try await shop.store([DefiningQuery(entitySet: "Products")], options: options)
        try await store.download()
        await shop.wire.mend()
        try await store.changes.transaction { changes in
            try changes.update("Products(1)", ["Stock": 5])
            try changes.update("Products(2)", ["Stock": 6])
        }
        try await store.update("Products(3)", ["Stock": -1])
        _ = try await store.sync()
        let sent = await shop.wire.requests.map { request in
            let fields = ["Repeatability-Request-ID", "Repeatability-First-Sent"].compactMap {
                HTTPField.Name($0).flatMap { request.headerFields[$0] }
            }
            return "\(request.method) \(request.path ?? "") \(fields)"
        }
        let events = try await store.observe.events(newest: 100).map {
            "\($0.at?.description ?? "") \($0.kind) \($0.text)"
        }
        let queued = try await store.observe.status().failed.map {
            "\($0.requestID ?? "") \($0.createdAt?.description ?? "")"
        }
        return sent.filter { !$0.contains("deltatoken") } + events + queued
    }

    @Test("Rule 33: clock, randomness and identifiers come from one environment, and a seed repeats a run")
    func deterministic() async throws {
        let first = try await trace(seed: 7)
        let second = try await trace(seed: 7)
        let difference = zip(first, second).first { $0 != $1 }
        #expect(difference == nil)
        #expect(first.count == second.count)
        #expect(try await trace(seed: 8) != first)
        #expect(first.count > 8)
    }
}
