import OfflineOData

/// Synchronizing with the service.
extension PackageDatabase {
    /// Sends the submitted changes, then brings the changes of others. The first call subscribes to the package.
    ///
    /// Calls that wait for a running exchange share the next one; each gets its own statuses. Cancelling the task
    /// ends this call at once.
    ///
    /// ```swift
    /// let report = try await crm.synchronize([.sales], context: "refresh button")
    /// for failure in report.failures { print(failure.code, failure.message, failure.recovery) }
    /// ```
    /// - Parameters:
    ///   - groups: the synchronization groups; all if empty.
    ///   - context: a text that the statuses of this call carry.
    /// - Returns: the number of accepted changes, the failures, and the changes of locked entities.
    /// - Throws: `CancellationError`; ``ObjectError/synchronizationDisabled``;
    ///   ``ObjectError/packageMismatch(place:reason:)`` on the first connection; `OfflineError.notConnected`
    ///   without a ``SynchronizationProfile``; errors of the connection. The changes that were not answered stay
    ///   submitted.
    @discardableResult
    public func synchronize(
        _ groups: [GroupName<Package>] = [], context: String? = nil
    ) async throws -> SyncReport {
        let ticket = beginSynchronize(groups, context: context)
        return try await withTaskCancellationHandler {
            try await ticket.report()
        } onCancel: {
            ticket.cancel()
        }
    }

    /// Begins a synchronization without waiting for it.
    ///
    /// ```swift
    /// let ticket = crm.beginSynchronize([.sales, .system])
    /// ticket.cancel()
    /// ```
    /// - Parameters:
    ///   - groups: the synchronization groups; all if empty.
    ///   - context: a text that the statuses of this call carry.
    @discardableResult
    public func beginSynchronize(
        _ groups: [GroupName<Package>] = [], context: String? = nil
    ) -> SynchronizationTicket {
        queue.begin(Set(groups.map(\.rawValue)), context: context)
    }

    /// Opens or closes the gate for synchronizations, for example while the app is in the background. Closing it ends
    /// running and waiting calls with ``ObjectError/synchronizationDisabled``. The gate is open when a database is
    /// opened.
    public func setSynchronizationEnabled(_ isEnabled: Bool) { queue.setEnabled(isEnabled) }

    /// Whether synchronizations may run.
    public var isSynchronizationEnabled: Bool { queue.isEnabled }
}
