import GRDB
import ODataModel
import ODataSQL
import ODataService

/// Uploads and downloads.
extension OfflineStore {
    /// Reports the operations that had not ended when the store was last open.
    func tellInterrupted() async throws {
        let (isUploadOpen, isDownloadOpen) = try await database.read { [queue] database in
            let isStaged = try Bool.fetchOne(
                database,
                sql: """
                    SELECT EXISTS(SELECT 1 FROM outpost_query WHERE next_link IS NOT NULL)
                        OR EXISTS(SELECT 1 FROM outpost_staged)
                    """)
            return (try !queue.ids([.sending], in: nil, in: database).isEmpty, isStaged ?? false)
        }
        if isUploadOpen { progressChannel.tell(.interrupted(.upload)) }
        if isDownloadOpen { progressChannel.tell(.interrupted(.download)) }
    }

    /// Sends the queued changes in order. Refused changes go to the error archive and hold up only the changes
    /// that depend on them.
    ///
    /// - Throws: ``OfflineError/busy(processID:)``; ``OfflineError/notConnected``; ``OfflineError/queueHeld(_:)``
    ///   if the store was copied, restored or rolled back, before anything is sent; `TransportError` and
    ///   `ODataError` for failures of communication. The rest stays queued then, and the delegate receives the
    ///   results so far before the error is thrown.
    @discardableResult
    public func upload(options uploadOptions: UploadOptions = UploadOptions()) async throws -> UploadReport {
        try await syncing(.upload(folds: uploadOptions.foldsRequests)) { try await upload(to: $0, uploadOptions) }
    }

    /// Downloads the defining queries: all rows the first time, the changes afterwards.
    ///
    /// - Parameter names: the defining queries; all of them if empty.
    /// - Returns: the result of each query, and whether its rows are visible
    ///   (``DownloadReport/Query/isComplete``).
    /// - Throws: as ``upload(options:)``; complete pages are kept, and the next call resumes there.
    ///   ``OfflineError/queriesRefused(_:brought:)`` if the service refused single queries: the others are
    ///   complete, except for streams that could not be loaded, which the next call loads.
    @discardableResult
    public func download(_ names: [String] = []) async throws -> DownloadReport {
        try await syncing(.download) { try await download(from: $0, names) }
    }

    /// Uploads, then downloads.
    ///
    /// - Throws: as ``upload(options:)`` and ``download(_:)``.
    @discardableResult
    public func sync(
        options uploadOptions: UploadOptions = UploadOptions()
    ) async throws -> (upload: UploadReport, download: DownloadReport) {
        try await syncing(.synchronisation(folds: uploadOptions.foldsRequests)) { remote in
            let uploaded = try await upload(to: remote, uploadOptions)
            progressChannel.step(.waitingForDownload)
            return (upload: uploaded, download: try await download(from: remote, []))
        }
    }

    /// Runs an operation that only one process at a time may run, and reports its end.
    private func syncing<Report>(
        _ operation: StoreOperation, _ body: (_ remote: any ODataProvider) async throws -> Report
    ) async throws -> Report {
        let remote = try connection()
        let lock = try SyncLock(path: StoreFiles.lock(in: directory))
        defer { withExtendedLifetime(lock) {} }
        await emptyLog()
        progressChannel.begin(operation)
        defer { progressChannel.enter(.open) }
        let report = try await body(remote)
        progressChannel.report(SyncProgress(phase: .finished))
        return report
    }

    /// Sends the queued changes over a connection, by the options of the store and of the upload. The caller has
    /// the lock.
    func upload(to remote: any ODataProvider, _ uploadOptions: UploadOptions) async throws -> UploadReport {
        let origin = try await origin(of: uploadOptions)
        progressChannel.enter(.uploading)
        if uploadOptions.foldsRequests {
            progressChannel.step(.performingRequestQueueMerge)
            progressChannel.step(.performingCreateDeleteMerge)
            try await QueueFolding(queue: queue, categories: uploadOptions.categories).fold(in: database)
        }
        let uploader = Uploader(
            database: database, mapping: mapping, remote: remote, environment: environment,
            progress: progressChannel, options: uploadOptions, origin: origin,
            wire: .init(
                readsAgain: options.sync.populatesGeneratedValuesEarly,
                namesContentInOperation: options.service.contentIDLocation == .operation,
                conflictPolicies: options.sync.conflictPolicies))
        progressChannel.step(.erasingExpiredRequests)
        let expired = try await archiveExpired(uploadOptions, uploader.outcomes)
        let bytes = options.runtime.meter?.total
        let categories = uploadOptions.categories?.sorted().joined(separator: ",")
        func figures(_ report: UploadReport) -> Events.Figures {
            Events.Figures(
                details: categories, requests: report.accepted.count + report.failed.count + report.givenUp.count,
                failures: report.failed.count, bytes: bytes.map { (options.runtime.meter?.total ?? $0) - $0 })
        }
        var report = UploadReport()
        report.failed = expired
        do {
            try await uploader.upload(into: &report)
        } catch {
            var reached = figures(report)
            // The failure that ended the upload.
            reached.failures? += 1
            let (text, known) = ("ended early: \(report.counts)", reached)
            // The results must not get lost, even if the task was cancelled.
            try? await Task { try await note("upload", text, figures: known) }.value
            progressChannel.reportEarlyEnd(report)
            uploadOptions.onEarlyEnd?(report)
            throw error
        }
        if report.accepted.contains(where: \.options.removesCreatedEntity) {
            progressChannel.step(.removingRemoveAfterUploadRequests)
        }
        try await note("upload", report.counts, figures: figures(report))
        if origin.holdReason != nil { try await incarnation.settle() }
        return report
    }

    private func download(from remote: any ODataProvider, _ names: [String]) async throws -> DownloadReport {
        let all = try await database.read { try QueryTable.all(in: $0) }
        var queries = all
        if !names.isEmpty {
            for name in names where !queries.contains(where: { $0.name == name || $0.group == name }) {
                throw OfflineError.unknown(kind: "defining query", name: name)
            }
            queries = QueryTable.withParts(
                queries.filter { names.contains($0.name) || $0.group.map(names.contains) ?? false }, of: all)
        }
        queries = try await personalised(queries)
        progressChannel.enter(queries.allSatisfy(\.isLoaded) ? .downloading : .populating)
        var usesBatch = options.sync.batchesDefiningQueries
        if usesBatch {
            usesBatch = try await database.read { [mapping] in
                try ServiceKnowledge.hasBatch(model: mapping.model, in: $0)
            }
        }
        let downloader = Downloader(
            database: database, mapping: mapping, remote: remote, environment: environment,
            progress: progressChannel, pageSize: options.sync.downloadPageSize,
            parallelQueries: options.sync.parallelQueries,
            service: options.service.capabilities, limits: options.sync.downloadLimits,
            formats: .init(full: options.sync.definingQueryFormat, delta: options.sync.deltaQueryFormat),
            refusesUnreadableValues: options.sync.refusesUnreadableValues,
            firstPages: usesBatch ? LockedState([:]) : nil)
        let bytes = options.runtime.meter?.total
        let subset = names.isEmpty ? nil : names.joined(separator: ",")
        func figures(received: Int? = nil, failures: Int) -> Events.Figures {
            Events.Figures(
                details: subset, requests: received, failures: failures,
                bytes: bytes.map { (options.runtime.meter?.total ?? $0) - $0 })
        }
        let outcome: Downloader.Outcome
        do {
            outcome = try await downloader.download(queries)
        } catch {
            try? await note("download", "ended early", figures: figures(failures: 1))
            throw error
        }
        var report = outcome.report
        report.unreadable = try await database.read { [mapping] in try UnreadableValues.all(mapping, in: $0) }
        let refusals = all.compactMap { query in
            outcome.refusals[query.id].map {
                QueryRefusal(name: query.name, text: query.text, wasLoaded: query.isLoaded, error: $0)
            }
        }
        func listed(_ names: [String], as meaning: String) -> String {
            names.isEmpty ? "" : "; \(meaning): \(names.joined(separator: ", "))"
        }
        let incomplete = listed(report.queries.filter { !$0.isComplete }.map(\.name), as: "not complete")
        let text =
            "\(report.received) rows received: \(report.inserted) new, \(report.updated) changed, "
            + "\(report.removed) removed\(incomplete)\(listed(refusals.map(\.name), as: "refused"))"
        do {
            try await loadStreams(of: queries.filter { outcome.refusals[$0.id] == nil }, from: remote)
        } catch {
            let known = figures(received: report.received, failures: refusals.count + 1)
            // The results must not get lost, even if the task was cancelled.
            try? await Task { try await note("download", "\(text); ended early while loading streams", figures: known) }
                .value
            guard refusals.isEmpty else { throw OfflineError.queriesRefused(refusals, brought: report) }
            throw error
        }
        try await note("download", text, figures: figures(received: report.received, failures: refusals.count))
        guard refusals.isEmpty else { throw OfflineError.queriesRefused(refusals, brought: report) }
        return report
    }

    /// Moves expired changes of an upload to the error archive, since they may not be intended any more.
    ///
    /// - Returns: the archived requests.
    private func archiveExpired(
        _ uploadOptions: UploadOptions, _ outcomes: UploadOutcomes
    ) async throws -> [QueuedRequest] {
        guard let age = uploadOptions.expiresAfter ?? options.sync.localChangeExpiry else { return [] }
        let now = environment.instant
        let failed = try await database.write { [queue] database in
            var expired: [Int64] = []
            for id in try queue.ids([.pending], in: uploadOptions.categories, in: database) {
                // A request that was created and deleted is removed with the first of them.
                guard let request = try queue.request(id, in: database), request.firstSentField == nil,
                    let made = request.createdAt, made.advanced(by: age) < now
                else { continue }
                let failure = QueuedRequest.Failure(
                    status: nil, code: QueuedRequest.Failure.expired,
                    message: "The change waited longer than \(max(age.components.seconds, 0)) seconds.", at: now)
                try outcomes.fail(request, .refused, failure, in: database)
                expired.append(request.id)
            }
            return try expired.compactMap { try queue.request($0, in: database) }
        }
        for request in failed { progressChannel.reportFailure(request) }
        return failed
    }

    private func note(_ kind: String, _ text: String, figures: Events.Figures) async throws {
        let environment = environment
        try await database.write { try Events.add(kind, text, environment: environment, figures: figures, in: $0) }
    }

    func connection() throws -> any ODataProvider {
        guard let remote else { throw OfflineError.notConnected }
        return RefusingProvider(base: remote)
    }
}

extension UploadReport {
    /// The counts for the event log.
    fileprivate var counts: String {
        let others = givenUp.isEmpty ? "" : ", \(givenUp.count) given up"
        return "\(accepted.count) changes accepted, \(failed.count) not\(others)"
    }
}
