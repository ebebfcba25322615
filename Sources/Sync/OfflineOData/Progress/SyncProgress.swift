import ODataHTTP
import ODataModel

/// The progress of an upload or download.
///
/// Each phase is reported before its work begins, with nothing done, and during its work. Queries are downloaded
/// concurrently, so that the phases of one query come in their order, between those of others. ``Phase/finished``
/// comes once, at the end of all requested work.
///
/// ```swift
/// for await progress in store.observe.progress() {
///     show(progress.phase, progress.query ?? "", progress.done, progress.total ?? 0)
/// }
/// ```
public struct SyncProgress: Hashable, Sendable {
    /// The current activity of the engine.
    public enum Phase: String, Hashable, Sendable {
        /// Reading the service's metadata.
        case loadingMetadata
        /// Receiving rows. Those of a first download go into their tables at once.
        case downloading
        /// Applying the differences that a later download brought, and removals.
        case applying
        /// Receiving the streams of entities.
        case loadingStreams
        /// Sending changes.
        case uploading
        /// Done.
        case finished
    }

    /// The current activity of the engine.
    public var phase: Phase
    /// The defining query.
    public var query: String?
    /// The number of finished rows or requests.
    public var done: Int
    /// The total number, if known.
    public var total: Int?
    /// The number of bytes transferred since the store was opened, if they are counted (`TransferMeter`).
    public var bytes: Int64?

    /// Creates a progress report.
    public init(phase: Phase, query: String? = nil, done: Int = 0, total: Int? = nil, bytes: Int64? = nil) {
        self.bytes = bytes
        self.phase = phase
        self.query = query
        self.done = done
        self.total = total
    }
}

/// The result of an upload.
///
/// ```swift
/// let report = try await store.upload()
/// for change in report.failed { show(change.entityText, change.failure?.message ?? "") }
/// print(report.accepted.count, report.waiting.count)
/// ```
public struct UploadReport: Sendable {
    /// Requests that the service accepted.
    public var accepted: [QueuedRequest] = []
    /// Requests that were withdrawn in favour of the server version (``ConflictPolicy/serverWins``,
    /// ``ConflictDecision/theirs``). They did not act and have left the queue. The other requests of their change
    /// sets, and requests that depended on them, are included.
    public var givenUp: [QueuedRequest] = []
    /// Requests that are in the error archive now, with their reason.
    public var failed: [QueuedRequest] = []
    /// Requests of the selected categories that are still pending: behind an archived request, because the upload was
    /// to stop at the first failure, or because their entities are locked (status 423). Those of locked entities have
    /// the reason in ``QueuedRequest/failure``, and the next upload sends them again.
    public var waiting: [QueuedRequest] = []
    /// The keys that the service gave to created entities, by the numbers of their requests in ``accepted``. Those
    /// requests have the temporary keys.
    public var assignedKeys: [Int64: EntityKey] = [:]
}

/// Delivers progress to listeners, if there are any.
final class ProgressChannel: Sendable {
    private struct Handlers {
        var progress: (@Sendable (SyncProgress) -> Void)?
        var failure: (@Sendable (QueuedRequest) -> Void)?
        var earlyEnd: (@Sendable (UploadReport) -> Void)?
        var successor: (@Sendable (OfflineStore) -> Void)?
        var report: (@Sendable (StoreReport) -> Void)?
    }

    /// The current operation and the state of the store.
    private struct Work {
        var state = StoreState.opening
        var operation = 0
        var kinds: [OperationStep.Kind] = []
    }

    private let handlers = LockedState(Handlers())
    private let meter: TransferMeter?
    private let observer: (@Sendable (StoreReport) -> Void)?
    private let environment: EngineEnvironment
    private let work = LockedState(Work())

    init(_ options: OfflineStore.RuntimeOptions) {
        meter = options.meter
        observer = options.observer
        environment = options.environment
    }

    // MARK: Steps and states

    /// The state of the store.
    var state: StoreState { work.withLock { $0.state } }

    /// Enters a state.
    func enter(_ state: StoreState) {
        let isNew = work.withLock { work in
            defer { work.state = state }
            return work.state != state
        }
        if isNew { tell(.state(state)) }
    }

    /// Begins an operation.
    func begin(_ operation: StoreOperation) {
        work.withLock { work in
            work.operation += 1
            work.kinds = operation.kinds
        }
    }

    /// Begins a step. A step that the operation does not have is not reported.
    func step(_ kind: OperationStep.Kind, _ parameters: [String] = []) {
        let work = work.withLock { $0 }
        guard let index = work.kinds.firstIndex(of: kind) else { return }
        tell(
            .step(
                OperationStep(
                    operation: work.operation, kind: kind, number: index + 1, total: work.kinds.count,
                    parameters: parameters, at: environment.instant)))
    }

    /// Delivers a report to the listeners.
    func tell(_ report: StoreReport) {
        observer?(report)
        handlers.withLock { $0.report }?(report)
        for listener in reportListeners.withLock({ Array($0.values) }) { listener.yield(report) }
    }

    private let reportListeners = LockedState<[Int: AsyncStream<StoreReport>.Continuation]>([:])

    /// A new stream of reports from now on. Only the newest is kept for a slow listener.
    func reports() -> AsyncStream<StoreReport> {
        AsyncStream(bufferingPolicy: .bufferingNewest(256)) { continuation in
            let id = reportListeners.withLock { listeners in
                let id = (listeners.keys.max() ?? 0) + 1
                listeners[id] = continuation
                return id
            }
            continuation.onTermination = { [weak self] _ in
                self?.reportListeners.withLock { listeners in _ = listeners.removeValue(forKey: id) }
            }
        }
    }

    /// Reports the steps for a count of rows or requests.
    private func tellSteps(of progress: SyncProgress) {
        switch progress.phase {
        case .downloading where progress.done > 0:
            step(.receivingDataFromServer, meter.map { [String($0.received)] } ?? [])
        case .applying where progress.done == 0:
            step(.analyzingReceivedData)
            step(.reapplyingChanges)
        case .uploading where progress.done == 0: step(.uploadPreprocessing)
        case .uploading: step(.sendingDataToServer, meter.map { [String($0.sent)] } ?? [])
        case .downloading, .applying, .loadingMetadata, .loadingStreams, .finished: break
        }
    }

    // MARK: Counts

    /// Sets the callbacks.
    ///
    /// - Parameter successor: is called with the store that replaces this one.
    func setHandlers(
        progress: @escaping @Sendable (SyncProgress) -> Void, failure: @escaping @Sendable (QueuedRequest) -> Void,
        earlyEnd: @escaping @Sendable (UploadReport) -> Void,
        successor: @escaping @Sendable (OfflineStore) -> Void,
        report: @escaping @Sendable (StoreReport) -> Void
    ) {
        handlers.withLock {
            $0 = Handlers(
                progress: progress, failure: failure, earlyEnd: earlyEnd, successor: successor, report: report)
        }
    }

    /// Announces the store that replaces this one. The listeners receive its reports from now on.
    func handOver(to store: OfflineStore) { handlers.withLock { $0.successor }?(store) }

    /// Reports a refused request, or one with an unknown outcome.
    func reportFailure(_ request: QueuedRequest) { handlers.withLock { $0.failure }?(request) }

    /// Reports the results of an upload that ended with an error.
    func reportEarlyEnd(_ report: UploadReport) { handlers.withLock { $0.earlyEnd }?(report) }

    private let listeners = LockedState<[Int: AsyncStream<SyncProgress>.Continuation]>([:])

    /// A new stream of progress from now on. Only the newest reports are kept for a slow listener.
    func stream() -> AsyncStream<SyncProgress> {
        AsyncStream(bufferingPolicy: .bufferingNewest(64)) { continuation in
            let id = listeners.withLock { listeners in
                let id = (listeners.keys.max() ?? 0) + 1
                listeners[id] = continuation
                return id
            }
            continuation.onTermination = { [weak self] _ in
                self?.listeners.withLock { listeners in _ = listeners.removeValue(forKey: id) }
            }
        }
    }

    func report(_ progress: SyncProgress) {
        var progress = progress
        progress.bytes = meter?.total
        tellSteps(of: progress)
        handlers.withLock { $0.progress }?(progress)
        for listener in listeners.withLock({ Array($0.values) }) { listener.yield(progress) }
    }

    func finish() {
        let all = listeners.withLock { listeners in
            defer { listeners = [:] }
            return Array(listeners.values)
        }
        for listener in all { listener.finish() }
        let others = reportListeners.withLock { listeners in
            defer { listeners = [:] }
            return Array(listeners.values)
        }
        for listener in others { listener.finish() }
    }
}
