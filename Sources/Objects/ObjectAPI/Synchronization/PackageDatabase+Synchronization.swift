import OfflineOData

extension PackageDatabase {
    /// Sends the submitted changes, then brings the changes of others.
    ///
    /// - Parameter groups: the synchronization groups; all if empty.
    /// - Returns: the number of accepted changes, the failures, and the changes of locked entities.
    /// - Throws: ``ObjectError/packageMismatch(place:reason:)`` on the first connection; `OfflineError.notConnected`
    ///   without a ``SynchronizationProfile``; errors of the connection. The changes that were not answered stay
    ///   submitted.
    @discardableResult
    public func synchronize(_ groups: [GroupName<Package>] = []) async throws -> SyncReport {
        // A service that does not fit the package is found before anything is sent.
        _ = try await connection?.provider()
        let names = Set(groups.map(\.rawValue))
        var options = UploadOptions(conflictPolicy: conflictPolicy)
        options.categories = names.isEmpty ? nil : names
        let upload = try await store.upload(options: options)
        let queries = package.sets.values.filter { names.isEmpty || names.contains($0.group) }.map(\.name)
        let known = Set(try await store.observe.status().queries.map(\.name))
        let wanted = queries.filter(known.contains).sorted()
        if !wanted.isEmpty { try await store.download(wanted) }
        var report = SyncReport()
        report.accepted = upload.accepted.count
        report.failures = upload.failed.map(ReplayFailure.init)
        report.waiting = upload.waiting.filter { $0.failure != nil }.map(ReplayFailure.init)
        return report
    }
}
