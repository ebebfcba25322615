import ODataHTTP
import ODataModel
import ODataService
import OfflineOData
import Synchronization
import Testing

@Suite("The steps and states of a store")
struct StepTests {
    private final class Reports: Sendable {
        private let reports = Mutex<[StoreReport]>([])

        var all: [StoreReport] { reports.withLock { $0 } }
        var states: [StoreState] { all.compactMap { if case .state(let state) = $0 { state } else { nil } } }
        var steps: [OperationStep] { all.compactMap { if case .step(let step) = $0 { step } else { nil } } }
        var interrupted: [StoreReport.Interrupted] {
            all.compactMap { if case .interrupted(let what) = $0 { what } else { nil } }
        }

        func add(_ report: StoreReport) { reports.withLock { $0.append(report) } }
        func clear() { reports.withLock { $0 = [] } }
    }

    private func options(_ reports: Reports, meter: TransferMeter? = nil) -> OfflineStore.Options {
        var options = OfflineStore.Options()
        options.runtime.observer = { reports.add($0) }
        options.runtime.meter = meter
        return options
    }

    @Test("report the creation of a store, each operation and its end")
    func states() async throws {
        let shop = try await Shop()
        let reports = Reports()
        let store = try await shop.store([DefiningQuery(entitySet: "Products")], options: options(reports))
        #expect(reports.states == [.opening, .initializing, .open])
        #expect(reports.steps.map(\.kind) == [.loadingMetadata, .buildingEntityStore, .creatingRequestQueueDatabase])
        #expect(reports.steps.map(\.number) == [1, 2, 3] && reports.steps.allSatisfy { $0.total == 3 })
        #expect(store.observe.state == .open)
        reports.clear()
        try await store.download()
        try await store.update("Products(1)", ["Stock": 501])
        try await store.upload()
        try await store.sync()
        try await store.maintenance.copy(
            to: shop.directory.appendingPathComponent("copy.db").path, key: .key(.generate()))
        try store.close()
        #expect(
            reports.states == [
                .populating, .open, .uploading, .open, .uploading, .downloading, .open, .sendingStore, .open, .closed,
            ])
        #expect(store.observe.state == .closed)
        reports.clear()
        let again = try await OfflineStore.open(
            at: store.directory, protection: .unencrypted, options: options(reports))
        #expect(reports.states == [.opening, .open] && reports.steps.map(\.kind) == [.loadingMetadata])
        #expect(reports.interrupted.isEmpty)
        try again.close()
    }

    @Test("report the progress of downloads and uploads in order, with names and numbers")
    func steps() async throws {
        let shop = try await Shop()
        let (reports, meter) = (Reports(), TransferMeter())
        let client = try shop.client(over: meter.transport(over: shop.wire))
        let store = try await shop.store(
            [DefiningQuery("p", "Products")], options: options(reports, meter: meter), through: client)
        reports.clear()
        try await store.download()
        #expect(reports.steps.map(\.kind).prefix(2) == [.processingDefiningQueries, .receivingDataFromServer])
        #expect(reports.steps.first?.parameters == ["p", "Products"])
        #expect(reports.steps.dropFirst().first?.parameters.first.flatMap { Int($0) } ?? 0 > 0)
        try await shop.sql("UPDATE Products SET Stock = 4711 WHERE ProductID = 1")
        try await store.update("Products(2)", ["Stock": 1])
        try await store.update("Products(3)", ["Stock": 1])
        reports.clear()
        try await store.sync(options: UploadOptions(foldsRequests: true))
        let kinds = reports.steps.map(\.kind)
        #expect(
            kinds == [
                .performingRequestQueueMerge, .performingCreateDeleteMerge, .erasingExpiredRequests,
                .uploadPreprocessing,
                .processingRequests, .sendingDataToServer, .processingRequests, .sendingDataToServer,
                .waitingForDownload,
                .processingDefiningQueries, .receivingDataFromServer, .analyzingReceivedData, .reapplyingChanges,
                .removingDeletedRelationships,
            ])
        #expect(
            reports.steps.filter { $0.kind == .processingRequests }.map(\.parameters) == [["1", "2"], ["2", "2"]])
        #expect(Set(reports.steps.map(\.operation)).count == 1)
        #expect(reports.steps.allSatisfy { $0.number >= 1 && $0.number <= $0.total && !$0.message.isEmpty })
        #expect(OperationStep.Kind.allCases.count == 21)
        #expect(OperationStep.Kind.reapplyingChanges.rawValue == 12)
    }

    @Test("are reported when a store with an interrupted operation is opened")
    func interrupted() async throws {
        let shop = try await Shop(pageSize: 20)
        let isCut = LockedFlag()
        let service = Gateway(
            base: try shop.client(),
            before: { request in
                guard isCut.isSet, request.link != nil || request.url.options.skipToken != nil else { return nil }
                throw CancellationError()
            },
            after: { request, response in
                if isCut.isSet, request.method != .read { throw CancellationError() }
                return response
            })
        let store = try await shop.store([DefiningQuery(entitySet: "Orders")], through: service)
        isCut.set()
        _ = try? await store.download()
        try store.close()
        let reports = Reports()
        let second = try await OfflineStore.open(
            at: store.directory, protection: .unencrypted, options: options(reports), connect: { _, _ in service })
        #expect(reports.interrupted == [.download])
        try await second.create(
            "Orders", ["CustomerID": "C0002", "OrderedAt": .dateTimeOffset(.init(seconds: 1_790_000_000))])
        _ = try? await second.upload()
        try second.close()
        reports.clear()
        let third = try await OfflineStore.open(
            at: store.directory, protection: .unencrypted, options: options(reports))
        #expect(reports.interrupted.contains(.upload))
        try third.close()
    }

    @Test("reach the delegate and streams")
    func listeners() async throws {
        let shop = try await Shop()
        let store = try await shop.store([DefiningQuery(entitySet: "Products")])
        let heard = Reports()
        let listener = Listener(heard)
        store.observe.setDelegate(listener)
        let stream = store.observe.reports()
        try await store.download()
        withExtendedLifetime(listener) {}
        #expect(heard.states == [.populating, .open])
        try store.close()
        var states: [StoreState] = []
        for await report in stream { if case .state(let state) = report { states.append(state) } }
        #expect(states == [.populating, .open, .closed])
    }

    private final class Listener: OfflineStoreDelegate {
        private let reports: Reports

        init(_ reports: Reports) { self.reports = reports }

        func offlineStore(_ store: OfflineStore, didReport report: StoreReport) {
            reports.add(report)
        }
    }
}
