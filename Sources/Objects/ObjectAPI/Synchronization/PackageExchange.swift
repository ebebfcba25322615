import ODataModel
import ODataService
import OfflineOData

/// One exchange of a package with its service: submitted changes, then the changes of others.
struct PackageExchange<Package: ObjectPackage>: Sendable {
    let store: OfflineStore
    let package: PackageModel
    let keeper: SubscriptionKeeper
    let connection: PackageConnection?
    let conflictPolicy: ConflictPolicy
    /// Whether a change that was refused with 401 is sent again later.
    let retriesSignIn: Bool
    let hub: EventHub<Package>

    /// Runs the exchange.
    ///
    /// - Parameters:
    ///   - groups: the groups; all if empty.
    ///   - report: is called before the upload and before the download.
    func run(
        _ groups: Set<String>, _ report: @Sendable (SynchronizationStatus) -> Void
    ) async throws -> SyncReport {
        do {
            return try await exchange(groups, report)
        } catch {
            await note(error)
            throw error
        }
    }

    private func exchange(
        _ groups: Set<String>, _ report: @Sendable (SynchronizationStatus) -> Void
    ) async throws -> SyncReport {
        // A service that does not fit the package is found before anything is sent.
        guard let connection else { throw OfflineError.notConnected }
        _ = try await connection.provider()
        try await keeper.subscribe()
        report(.uploading)
        let upload = try await upload(groups)
        var result = SyncReport()
        result.accepted = upload.accepted.count
        result.failures = upload.failed.map { ReplayFailure($0, retriesSignIn: retriesSignIn) }
        result.waiting = upload.waiting.filter { $0.failure != nil }.map {
            ReplayFailure($0, retriesSignIn: retriesSignIn)
        }
        guard try await !keeper.isSuspended else { return result }
        report(.downloading)
        let wanted = try await keeper.wanted(groups)
        result.unsubscribedSets = wanted.missing
        if !wanted.queries.isEmpty { try await download(wanted.queries) }
        if try await keeper.noteDownload() { hub.publish(.subscribed) }
        if groups.isEmpty || groups.contains(PackageModel.systemGroup) {
            try await PersonalizationStore(store: store, package: package).takeOver()
            try await LogRecordKeeper(store: store, package: package).bind()
        }
        return result
    }

    // MARK: Changes

    private func upload(_ groups: Set<String>) async throws -> UploadReport {
        var options = UploadOptions(conflictPolicy: conflictPolicy)
        options.categories = groups.isEmpty ? nil : groups
        options.writesLogRecords = true
        options.onEarlyEnd = { [self] report in publish(report) }
        let report = try await store.upload(options: options)
        publish(report)
        return report
    }

    /// Publishes the results of an upload: the accepted changes, the operations, then the failures.
    private func publish(_ report: UploadReport) {
        let successes = report.accepted.filter { $0.kind != .call }
        if !successes.isEmpty {
            hub.publish(.replaySucceeded(successes.map { ReplaySuccess($0, key: report.assignedKeys[$0.id]) }))
        }
        for call in report.accepted where call.kind == .call {
            hub.publish(.operationCompleted(PendingOperation(id: call.id)))
        }
        guard !report.failed.isEmpty else { return }
        hub.publish(.replayFailed(report.failed.map { ReplayFailure($0, retriesSignIn: retriesSignIn) }))
    }

    // MARK: Rows

    private func download(_ queries: [DefiningQuery]) async throws {
        var sets: [String: String] = [:]
        for query in queries {
            if case .name(let name, _)? = query.url.path.segments.first { sets[query.name] = name.text }
        }
        do {
            publish(try await store.download(queries.map(\.name)), sets)
        } catch OfflineError.queriesRefused(let refusals, let brought) {
            publish(brought, sets)
            let ended = refusals.filter(\.endsSubscription).map { sets[$0.name] ?? $0.name }
            if !ended.isEmpty { hub.publish(.subscriptionEnded(entitySets: Set(ended).sorted())) }
            throw OfflineError.queriesRefused(refusals, brought: brought)
        }
    }

    private func publish(_ report: DownloadReport, _ sets: [String: String]) {
        var changed: [String: Int] = [:]
        for query in report.queries where query.inserted + query.updated + query.removed > 0 {
            changed[sets[query.name] ?? query.name, default: 0] += query.inserted + query.updated + query.removed
        }
        guard !changed.isEmpty else { return }
        hub.publish(
            .imported(
                ImportSummary(
                    inserted: report.inserted, updated: report.updated, removed: report.removed, entitySets: changed)))
    }

    // MARK: Errors

    /// Reports credentials that the service did not accept, as an event and as a log record.
    private func note(_ error: any Error) async {
        guard let refusal = error.signInRefusal else { return }
        hub.publish(.loginFailed(message: refusal.message))
        let record = StoreLogRecord(
            operation: "login", at: store.options.runtime.environment.now(), message: refusal.message, level: "ERROR",
            code: 401, backEndCode: refusal.code.isEmpty ? nil : refusal.code)
        // The failure itself is the caller's error.
        try? await store.logRecords.add(record)
    }
}

extension QueryRefusal {
    /// Whether the service says that it ended the subscription (410, or 403 with a code).
    fileprivate var endsSubscription: Bool {
        error.status == 410 || (error.status == 403 && error.code == "SubscriptionEnded")
    }
}

extension Error {
    /// The refusal of the credentials by the service; `nil` for any other error.
    fileprivate var signInRefusal: ODataError? {
        if let error = self as? OfflineError, case .queriesRefused(let refusals, _) = error {
            return refusals.first { $0.error.status == 401 }?.error
        }
        guard let error = self as? ODataError, error.status == 401 else { return nil }
        return error
    }
}
