import Foundation
import ODataHTTP
import ODataModel
import ODataService
import OfflineOData
import Synchronization
import Testing

@Suite("A refusal with a lost read for its reason")
struct UnaskedRefusalTests {
    @Test(
        "Rule 1: a change and a change set are refused and not unknown, although the service remembers nothing",
        arguments: [1, 2], [false, true])
    func lost(count: Int, wasLost: Bool) async throws {
        let shop = try await Shop()
        let service = ForgetfulService(base: try shop.client(), losesFirst: wasLost, answersLate: false)
        let store = try await store(count, of: shop, through: service, wasLost: wasLost)
        await #expect(throws: TransportError.self) { try await store.upload() }
        for await _ in service.asked { break }
        // A change that was certainly not executed stays pending and can be undone.
        #expect(try await store.observe.status().pending.map(\.state) == Array(repeating: .pending, count: count))
        expectConflict(of: count, try await store.upload().failed)
    }

    @Test(
        "Rule 1: they are refused and not unknown after a restart as well", Patience.limit, arguments: [1, 2],
        [false, true])
    func crashed(count: Int, wasLost: Bool) async throws {
        let shop = try await Shop()
        let service = ForgetfulService(base: try shop.client(), losesFirst: wasLost, answersLate: true)
        let store = try await store(count, of: shop, through: service, wasLost: wasLost)
        let upload = Task { try await store.upload() }
        for await _ in service.asked { break }
        // The copy is the state of a process that terminates now.
        let remains = shop.directory.appendingPathComponent("remains")
        try FileManager.default.copyItem(at: shop.directory.appendingPathComponent("clone"), to: remains)
        upload.cancel()
        _ = await upload.result
        let again = try await OfflineStore.open(
            at: remains.path, protection: .unencrypted, connect: { _, _ in service })
        expectConflict(of: count, try await again.upload().failed)
    }

    /// Returns a store with changes that conflict with the service. If requested, their first upload is lost.
    private func store(
        _ count: Int, of shop: Shop, through service: ForgetfulService, wasLost: Bool
    ) async throws -> OfflineStore {
        let store = try await shop.clone(options: .ofConfirmedRepeats, through: service)
        try await store.changes.transaction { changes in
            for number in 1...count { try changes.update("Products(\(number))", ["Stock": 50]) }
        }
        try await shop.sql("UPDATE Products SET Stock = 7 WHERE ProductID = 1")
        if wasLost { await #expect(throws: TransportError.self) { try await store.upload() } }
        return store
    }

    private func expectConflict(of count: Int, _ failed: [QueuedRequest]) {
        #expect(failed.map(\.state) == Array(repeating: .refused, count: count))
        #expect(failed.first?.failure?.conflict == .changed)
    }
}

/// A service that forgets answered requests. The first query after a change is lost, or is not answered during
/// the test.
private final class ForgetfulService: ODataProvider {
    private struct State {
        var answered: Set<String> = []
        var losesNext: Bool
        var isChanged = false
        var isAsked = false
    }

    private let base: any ODataProvider
    private let answersLate: Bool
    private let state: Mutex<State>
    /// The event that the first query after a change has arrived.
    let asked: AsyncStream<Void>
    private let told: AsyncStream<Void>.Continuation

    /// - Parameter losesFirst: whether the first change is lost before it arrives.
    init(base: any ODataProvider, losesFirst: Bool, answersLate: Bool) {
        self.base = base
        self.answersLate = answersLate
        state = Mutex(State(losesNext: losesFirst))
        (asked, told) = AsyncStream.makeStream()
    }

    var model: EntityDataModel { get async throws { try await base.model } }

    var traits: ProviderTraits { .standard }

    func execute(_ request: ODataRequest) async throws -> ODataResponse {
        if request.method == .read {
            let isFirst = state.withLock { state in
                guard state.isChanged, !state.isAsked else { return false }
                state.isAsked = true
                return true
            }
            if isFirst {
                told.yield()
                guard answersLate else { throw Self.cut }
                try await Task.sleep(for: .seconds(600))
            }
        } else {
            try meet(request)
        }
        return try await base.execute(request)
    }

    private static let cut = TransportError.connectionLost(host: "shop.test", reason: "the wire is cut")

    private func meet(_ change: ODataRequest) throws {
        var requests = [change]
        if case .batch(let items) = change.body { requests = items.map(\.request) }
        let ids = requests.compactMap { $0.repeatability?.requestID }
        try state.withLock { state in
            guard !state.losesNext else {
                state.losesNext = false
                throw Self.cut
            }
            state.isChanged = true
            guard state.answered.isDisjoint(with: ids) else {
                throw ODataError(status: 412, code: "Forgotten", message: "", repeatabilityResult: .rejected)
            }
            state.answered.formUnion(ids)
        }
    }
}
