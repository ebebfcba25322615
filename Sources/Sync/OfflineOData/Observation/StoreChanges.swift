import GRDB
import ODataSQL
import Synchronization

/// Reports that a store may have changed: at once after a commit of this process, within ``pollInterval`` after
/// one of another process.
final class StoreChanges: Sendable {
    /// The interval between two checks for commits of other processes, while there are observers.
    static let pollInterval = Duration.seconds(0.25)

    private struct State {
        var version: UInt64 = 0
        /// The version of the last change, by the names of ``TouchedTables``.
        var changed: [String: UInt64] = [:]
        /// The version of the last change of unknown tables.
        var changedAnything: UInt64 = 0
        var waiters: [UInt64: Waiter] = [:]
        var nextWaiter: UInt64 = 0
        var isAttached = false
        var isClosed = false
        var poller: Task<Void, Never>?
        /// SQLite's count of commits by other connections, as last read.
        var dataVersion: Int64?
        /// The tables with counted changes, and the counts at the last commit.
        var watched: Set<String> = []
        var counts: [String: Int64] = [:]

        /// The version of the last change that can affect a query.
        func version(of observed: ObservedTables) -> UInt64 {
            guard let names = observed.names, observed.tables.isSubset(of: watched) else { return version }
            return names.reduce(changedAnything) { max($0, changed[$1] ?? 0) }
        }
    }

    private struct Waiter {
        let observed: ObservedTables
        let seen: UInt64
        let continuation: CheckedContinuation<Void, any Error>
    }

    private let state = Mutex(State())
    private let database: StoreDatabase
    private let environment: EngineEnvironment

    init(database: StoreDatabase, environment: EngineEnvironment) {
        self.database = database
        self.environment = environment
    }

    /// A number that grows with each change. A later read contains all changes up to it.
    ///
    /// - Parameter observed: the tables of the read. Their changes are counted from now on.
    func version(observing observed: ObservedTables) async -> UInt64 {
        await attach(observed)
        if state.withLock({ $0.dataVersion == nil }) { await look() }
        return state.withLock { $0.version }
    }

    /// Whether a change after a version can affect a read, including unreported commits of other processes.
    func hasChange(of observed: ObservedTables, beyond seen: UInt64) async -> Bool {
        await look()
        return state.withLock { $0.version(of: observed) > seen }
    }

    /// Waits for a change after a version that can affect a read.
    ///
    /// - Returns: `false` if the store was closed instead.
    /// - Throws: `CancellationError`.
    func wait(for observed: ObservedTables, beyond seen: UInt64) async throws -> Bool {
        let id = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let isReady = state.withLock { state in
                    if state.version(of: observed) > seen || state.isClosed || Task.isCancelled { return true }
                    state.waiters[id] = Waiter(observed: observed, seen: seen, continuation: continuation)
                    return false
                }
                if isReady { return continuation.resume() }
                // Polling starts here, since it ends without waiting observers.
                startPolling()
            }
            try Task.checkCancellation()
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?.continuation.resume(throwing: CancellationError())
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
        for waiter in waiters { waiter.continuation.resume() }
    }

    /// Records a change.
    ///
    /// - Parameter counts: the number of changes of each table so far; `nil` if the tables are unknown.
    private func note(_ counts: [String: Int64]?) {
        let ready = state.withLock { state in
            state.version += 1
            if let counts {
                for (name, count) in counts where state.counts[name, default: 0] != count {
                    state.changed[name] = state.version
                }
                state.counts = counts
            } else {
                state.changedAnything = state.version
            }
            let ready = state.waiters.filter { state.version(of: $0.value.observed) > $0.value.seen }
            for id in ready.keys { state.waiters[id] = nil }
            return Array(ready.values)
        }
        for waiter in ready { waiter.continuation.resume() }
    }

    /// Listens to commits from the first observation on, and counts the changes of observed tables: a store
    /// without observers has no cost.
    private func attach(_ observed: ObservedTables) async {
        let isFirst = state.withLock { state in
            defer { state.isAttached = true }
            return !state.isAttached
        }
        if isFirst {
            let listener = CommitListener { [weak self] database in
                self?.note(try? TouchedTables.counts(in: database))
            }
            database.pool.add(transactionObserver: listener, extent: .databaseLifetime)
        }
        let unwatched = observed.tables.subtracting(state.withLock { $0.watched })
        guard !unwatched.isEmpty else { return }
        // If they cannot be counted, any change affects the query.
        let counts = try? await database.pool.writeWithoutTransaction { database in
            try TouchedTables.watch(unwatched, in: database)
            return try TouchedTables.counts(in: database)
        }
        guard let counts else { return }
        state.withLock { state in
            state.watched.formUnion(unwatched)
            state.counts.merge(counts) { max($0, $1) }
        }
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

    /// Looks for commits by connections other than this process's writer.
    private func look() async {
        let found = try? await database.pool.writeWithoutTransaction { try $0.pragma(.dataVersion) as Int64? }
        guard let found else { return }
        let isNew = state.withLock { state in
            defer { state.dataVersion = found }
            return state.dataVersion.map { $0 != found } ?? false
        }
        if isNew { note(nil) }
    }
}

/// Calls a closure after each commit.
private final class CommitListener: TransactionObserver {
    private let onCommit: @Sendable (Database) -> Void

    init(onCommit: @escaping @Sendable (Database) -> Void) { self.onCommit = onCommit }

    // Statements outside of GRDB are not reported here. The counts show which tables were changed.
    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseDidCommit(_ db: Database) { onCommit(db) }
    func databaseDidRollback(_ db: Database) {}
}
