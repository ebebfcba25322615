import Synchronization

/// The exchanges and the subscription changes of one database, one at a time and in the order of the calls.
///
/// Calls that wait one behind the other while an exchange runs become one exchange over all their groups. Every call
/// keeps its own first and last status.
final class SynchronizationQueue: Sendable {
    /// Exchanges the changes of some groups, of all if none is named, and reports the statuses on the way.
    typealias Exchange =
        @Sendable (_ groups: Set<String>, _ report: @escaping @Sendable (SynchronizationStatus) -> Void) async throws ->
        SyncReport
    /// Receives the statuses of calls, in order.
    typealias Listener = @Sendable (_ status: SynchronizationStatus, _ context: String?) -> Void

    private enum Entry {
        case call(SynchronizationTicket)
        case job(@Sendable () async -> Void)
    }

    /// The work under way: an exchange with its calls, or a job without one.
    private struct Run {
        let id: Int
        var tickets: [SynchronizationTicket] = []
        var task: Task<Void, Never>?
    }

    private struct State {
        var isEnabled = true
        var waiting: [Entry] = []
        var run: Run?
        var lastRun = 0
    }

    private let state = Mutex(State())
    private let permits: SynchronizationPermits
    private let exchange: Exchange
    private let listener: Listener

    init(permits: SynchronizationPermits, listener: @escaping Listener, exchange: @escaping Exchange) {
        self.permits = permits
        self.listener = listener
        self.exchange = exchange
    }

    /// Whether exchanges may run.
    var isEnabled: Bool { state.withLock { $0.isEnabled } }

    /// The number of calls and jobs that wait.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    // MARK: Calls

    /// Adds a call.
    ///
    /// - Parameters:
    ///   - groups: the groups; all if empty.
    ///   - context: the text that the statuses of the call carry.
    ///   - first: the first status.
    func begin(
        _ groups: Set<String>, context: String?, first: SynchronizationStatus = .starting
    ) -> SynchronizationTicket {
        let ticket = SynchronizationTicket(groups: groups, context: context) { [weak self] ticket in
            self?.cancel(ticket)
        }
        state.withLock { state in
            listener(first, context)
            guard state.isEnabled else { return end(ticket, .failure(ObjectError.synchronizationDisabled)) }
            state.waiting.append(.call(ticket))
            startNext(&state)
        }
        return ticket
    }

    /// Runs a closure while no exchange runs, behind the calls that were made before.
    func perform<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            state.withLock { state in
                state.waiting.append(
                    .job {
                        do {
                            continuation.resume(returning: try await body())
                        } catch {
                            continuation.resume(throwing: error)
                        }
                    })
                startNext(&state)
            }
        }
    }

    /// Opens or closes the gate. Closing it ends every call with ``ObjectError/synchronizationDisabled``, those of the
    /// running exchange included.
    func setEnabled(_ isEnabled: Bool) {
        let task = state.withLock { state in
            state.isEnabled = isEnabled
            return isEnabled ? nil : endAll(&state, with: ObjectError.synchronizationDisabled)
        }
        task?.cancel()
    }

    /// Cancels every call.
    func cancelAll() {
        let task = state.withLock { state in endAll(&state, with: CancellationError()) }
        task?.cancel()
    }

    /// Ends every call.
    ///
    /// - Returns: the task of the exchange that runs, to be cancelled outside the lock: its handlers are not known here.
    private func endAll(_ state: inout State, with error: any Error) -> Task<Void, Never>? {
        let calls = state.waiting.compactMap { if case .call(let ticket) = $0 { ticket } else { nil } }
        state.waiting.removeAll { if case .call = $0 { true } else { false } }
        let running = state.run?.tickets ?? []
        state.run?.tickets = []
        for ticket in running + calls { end(ticket, .failure(error)) }
        return running.isEmpty ? nil : state.run?.task
    }

    private func cancel(_ ticket: SynchronizationTicket) {
        let task = state.withLock { state -> Task<Void, Never>? in
            let waiting = state.waiting.firstIndex { if case .call(let other) = $0 { other === ticket } else { false } }
            if let waiting {
                state.waiting.remove(at: waiting)
                end(ticket, .failure(CancellationError()))
                return nil
            }
            guard let index = state.run?.tickets.firstIndex(where: { $0 === ticket }) else { return nil }
            state.run?.tickets.remove(at: index)
            end(ticket, .failure(CancellationError()))
            return state.run?.tickets.isEmpty == true ? state.run?.task : nil
        }
        task?.cancel()
    }

    /// Reports the last status of a call, and ends it.
    private func end(_ ticket: SynchronizationTicket, _ result: Result<SyncReport, any Error>) {
        if case .success = result {
            listener(.finished, ticket.context)
        } else {
            listener(.failed, ticket.context)
        }
        ticket.end(result)
    }

    // MARK: Runs

    /// Starts the next entry unless something runs: a job alone, or all calls up to the next job.
    private func startNext(_ state: inout State) {
        guard state.run == nil, let first = state.waiting.first else { return }
        state.lastRun += 1
        let id = state.lastRun
        var run = Run(id: id)
        switch first {
        case .job(let job):
            state.waiting.removeFirst()
            run.task = Task {
                await job()
                self.finish(id, nil)
            }
        case .call:
            while case .call(let ticket)? = state.waiting.first {
                run.tickets.append(ticket)
                state.waiting.removeFirst()
            }
            let groups =
                run.tickets.contains { $0.groups.isEmpty }
                ? [] : run.tickets.reduce(into: Set<String>()) { $0.formUnion($1.groups) }
            run.task = Task { await self.execute(id, groups) }
        }
        state.run = run
    }

    private func execute(_ id: Int, _ groups: Set<String>) async {
        let result: Result<SyncReport, any Error>
        do {
            result = .success(
                try await permits.withPermit {
                    try await exchange(groups) { [weak self] status in self?.tell(status, of: id) }
                })
        } catch {
            result = .failure(error)
        }
        finish(id, result)
    }

    private func tell(_ status: SynchronizationStatus, of id: Int) {
        state.withLock { state in
            guard let run = state.run, run.id == id else { return }
            for ticket in run.tickets { listener(status, ticket.context) }
        }
    }

    private func finish(_ id: Int, _ result: Result<SyncReport, any Error>?) {
        state.withLock { state in
            guard let run = state.run, run.id == id else { return }
            if let result { for ticket in run.tickets { end(ticket, result) } }
            state.run = nil
            startNext(&state)
        }
    }
}
