import Synchronization

/// One call of ``PackageDatabase/beginSynchronize(_:context:)``: its result, and the way to cancel it.
///
/// ```swift
/// let ticket = crm.beginSynchronize([.sales], context: "refresh button")
/// let report = try await ticket.report()
/// ```
public final class SynchronizationTicket: Sendable {
    private struct State {
        var result: Result<SyncReport, any Error>?
        var waiting: [CheckedContinuation<SyncReport, any Error>] = []
    }

    /// The text that every status of the call carries.
    public let context: String?
    /// The synchronization groups; all if empty.
    let groups: Set<String>
    private let state = Mutex(State())
    private let onCancel: @Sendable (SynchronizationTicket) -> Void

    init(
        groups: Set<String>, context: String?, onCancel: @escaping @Sendable (SynchronizationTicket) -> Void
    ) {
        self.groups = groups
        self.context = context
        self.onCancel = onCancel
    }

    /// Ends the call at once with a `CancellationError`. The exchange itself is cancelled with its last call. The
    /// next synchronization resumes it.
    public func cancel() { onCancel(self) }

    /// Waits for the result. Cancelling the task does not cancel the call.
    ///
    /// - Returns: the report of the exchange, which may have served other calls too.
    /// - Throws: `CancellationError`; ``ObjectError/synchronizationDisabled``; the error of the exchange.
    public func report() async throws -> SyncReport {
        try await withCheckedThrowingContinuation { continuation in
            let result = state.withLock { state -> Result<SyncReport, any Error>? in
                if state.result == nil { state.waiting.append(continuation) }
                return state.result
            }
            if let result { continuation.resume(with: result) }
        }
    }

    /// Ends the call, and lets all that wait for it go on.
    func end(_ result: Result<SyncReport, any Error>) {
        let waiting = state.withLock { state -> [CheckedContinuation<SyncReport, any Error>] in
            guard state.result == nil else { return [] }
            state.result = result
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume(with: result) }
    }
}
