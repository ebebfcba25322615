import GRDB
import ODataStore
import Synchronization

/// Tells that a store may have changed: at once after a commit of this process, within
/// ``pollInterval`` after one of another.
final class StoreChanges: Sendable {
    /// How many seconds pass between two looks for commits of other processes, while somebody observes.
    static let pollInterval = 0.25

    private struct State {
        var version: UInt64 = 0
        var waiters: [UInt64: CheckedContinuation<Void, any Error>] = [:]
        var nextWaiter: UInt64 = 0
        var isAttached = false
        var isClosed = false
        var poller: Task<Void, Never>?
        /// SQLite's count of commits by others, as last seen.
        var dataVersion: Int64?
    }

    private let state = Mutex(State())
    private let database: StoreDatabase
    private let environment: Environment

    init(database: StoreDatabase, environment: Environment) {
        self.database = database
        self.environment = environment
    }

    /// A number that grows with each change; what is read after it was taken has all changes up to it.
    func version() async -> UInt64 {
        attach()
        if state.withLock({ $0.dataVersion == nil }) { await look() }
        return state.withLock { $0.version }
    }

    /// The same number, commits of other processes included that nobody has told of yet.
    func newestVersion() async -> UInt64 {
        await look()
        return state.withLock { $0.version }
    }

    /// Waits until the version is beyond one that was seen.
    ///
    /// - Returns: `false` when the store was closed instead.
    /// - Throws: `CancellationError`.
    func wait(beyond seen: UInt64) async throws -> Bool {
        let id = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let isReady = state.withLock { state in
                    if state.version > seen || state.isClosed || Task.isCancelled { return true }
                    state.waiters[id] = continuation
                    return false
                }
                if isReady { return continuation.resume() }
                // Not before: it ends where nobody waits.
                startPolling()
            }
            try Task.checkCancellation()
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?.resume(throwing: CancellationError())
        }
        return !isClosed
    }

    /// Whether the store was closed.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Ends every wait.
    func close() {
        let (waiters, poller) = state.withLock { state in
            state.isClosed = true
            defer {
                state.waiters = [:]
                state.poller = nil
            }
            return (Array(state.waiters.values), state.poller)
        }
        poller?.cancel()
        for waiter in waiters { waiter.resume() }
    }

    private func bump() {
        let waiters = state.withLock { state in
            state.version += 1
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Listens to commits from the first observation on: a store that nobody observes pays nothing.
    private func attach() {
        let isFirst = state.withLock { state in
            defer { state.isAttached = true }
            return !state.isAttached
        }
        guard isFirst else { return }
        database.pool.add(
            transactionObserver: CommitListener { [weak self] in self?.bump() }, extent: .databaseLifetime)
    }

    private func startPolling() {
        state.withLock { state in
            guard state.poller == nil, !state.isClosed else { return }
            state.poller = Task { [weak self, environment] in
                while !Task.isCancelled {
                    await self?.look()
                    guard (try? await environment.sleep(Self.pollInterval)) != nil else { return }
                    if self?.stopPollingIfIdle() ?? true { return }
                }
            }
        }
    }

    private func stopPollingIfIdle() -> Bool {
        state.withLock { state in
            guard state.waiters.isEmpty else { return false }
            state.poller = nil
            return true
        }
    }

    /// Looks for commits by other connections than the writing one, which is this process's.
    private func look() async {
        let found = try? await database.pool.writeWithoutTransaction {
            try Int64.fetchOne($0, sql: "PRAGMA data_version")
        }
        guard let found = found ?? nil else { return }
        let isNew = state.withLock { state in
            defer { state.dataVersion = found }
            return state.dataVersion.map { $0 != found } ?? false
        }
        if isNew { bump() }
    }
}

/// Calls a closure after each commit.
private final class CommitListener: TransactionObserver {
    private let onCommit: @Sendable () -> Void

    init(onCommit: @escaping @Sendable () -> Void) { self.onCommit = onCommit }

    // What changed does not matter: the observer reads again and compares.
    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseDidCommit(_ db: Database) { onCommit() }
    func databaseDidRollback(_ db: Database) {}
}
