import ODataHTTP

/// Where an upload or download stands.
///
/// Each phase is reported before its work begins, with nothing done, and as it comes further. Queries are downloaded beside
/// each other, so that the phases of one query come in their order, between those of others. ``Phase/finished`` comes once,
/// at the end of all that was asked for.
///
/// ```swift
/// for await progress in store.observe.progress() {
///     show(progress.phase, progress.query ?? "", progress.done, progress.total ?? 0)
/// }
/// ```
public struct SyncProgress: Hashable, Sendable {
    /// What the engine is doing.
    public enum Phase: String, Hashable, Sendable {
        /// Reading the service's metadata.
        case loadingMetadata
        /// Receiving rows: those of a first download go into their tables at once.
        case downloading
        /// Applying the rows that a later download brought, as far as they differ from what is here, and removals.
        case applying
        /// Receiving the streams of entities.
        case loadingStreams
        /// Sending changes.
        case uploading
        /// Done.
        case finished
    }

    /// What the engine is doing.
    public var phase: Phase
    /// The defining query it is about.
    public var query: String?
    /// How many rows or requests are done.
    public var done: Int
    /// How many there are in all, where known.
    public var total: Int?
    /// How many bytes went over the wire since the store was opened, where somebody counts (`TransferMeter`).
    public var bytes: Int64?

    /// Makes a progress report.
    public init(phase: Phase, query: String? = nil, done: Int = 0, total: Int? = nil, bytes: Int64? = nil) {
        self.bytes = bytes
        self.phase = phase
        self.query = query
        self.done = done
        self.total = total
    }
}

/// What an upload did.
///
/// ```swift
/// let report = try await store.upload()
/// for change in report.failed { show(change.entityText, change.failure?.message ?? "") }
/// print(report.accepted.count, report.waiting.count)
/// ```
public struct UploadReport: Sendable {
    /// Requests that the service accepted.
    public var accepted: [QueuedRequest] = []
    /// Requests that were given up, since the service's version of their entity counts (``ConflictPolicy/serverWins``,
    /// ``ConflictDecision/theirs``): they were not made, and are not in the queue any more. What was to be made together
    /// with them, and what waited for them, is among them.
    public var givenUp: [QueuedRequest] = []
    /// Requests that are now in the error archive, with their reason.
    public var failed: [QueuedRequest] = []
    /// Requests of the categories that were to be sent which still wait: for one in the error archive, or since the upload was
    /// to stop at the first failure.
    public var waiting: [QueuedRequest] = []
}

/// Hands progress to whoever listens; nobody need.
final class ProgressChannel: Sendable {
    private struct Handlers {
        var progress: (@Sendable (SyncProgress) -> Void)?
        var failure: (@Sendable (QueuedRequest) -> Void)?
        var earlyEnd: (@Sendable (UploadReport) -> Void)?
        var successor: (@Sendable (OfflineStore) -> Void)?
        var report: (@Sendable (StoreReport) -> Void)?
    }

    /// The operation that is under way, and what the store is doing.
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

    /// What the store is doing.
    var state: StoreState { work.withLock { $0.state } }

    /// The store is doing something else.
    func enter(_ state: StoreState) {
        let isNew = work.withLock { work in
            defer { work.state = state }
            return work.state != state
        }
        if isNew { tell(.state(state)) }
    }

    /// An operation begins.
    func begin(_ operation: StoreOperation) {
        work.withLock { work in
            work.operation += 1
            work.kinds = operation.kinds
        }
    }

    /// A step begins; nothing is told of one that the operation does not have.
    func step(_ kind: OperationStep.Kind, _ parameters: [String] = []) {
        let work = work.withLock { $0 }
        guard let index = work.kinds.firstIndex(of: kind) else { return }
        tell(
            .step(
                OperationStep(
                    operation: work.operation, kind: kind, number: index + 1, total: work.kinds.count,
                    parameters: parameters, at: environment.instant)))
    }

    /// Tells whoever listens.
    func tell(_ report: StoreReport) {
        observer?(report)
        handlers.withLock { $0.report }?(report)
        for listener in reportListeners.withLock({ Array($0.values) }) { listener.yield(report) }
    }

    private let reportListeners = LockedState<[Int: AsyncStream<StoreReport>.Continuation]>([:])

    /// A new stream of what is told from now on; only the newest is kept for a slow listener.
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

    /// The steps that a count of rows or requests is about.
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

    /// Who is called besides.
    ///
    /// - Parameter successor: called with the store that takes this one's place.
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

    /// Another store has taken the place of the one that was told of: whoever listens hears of that one from now on.
    func handOver(to store: OfflineStore) { handlers.withLock { $0.successor }?(store) }

    /// A request was refused or is in doubt.
    func reportFailure(_ request: QueuedRequest) { handlers.withLock { $0.failure }?(request) }

    /// An upload ended by an error, having done this.
    func reportEarlyEnd(_ report: UploadReport) { handlers.withLock { $0.earlyEnd }?(report) }

    private let listeners = LockedState<[Int: AsyncStream<SyncProgress>.Continuation]>([:])

    /// A new stream of what is reported from now on; only the newest reports are kept for a slow listener.
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
