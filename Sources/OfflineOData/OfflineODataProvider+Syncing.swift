import GRDB
import ODataModel
import ODataService
import ODataStore

/// Sending what was changed here and receiving what others changed.
extension OfflineODataProvider {
    /// What uploads and downloads report from now on; ends when the store is closed.
    public func progress() -> AsyncStream<SyncProgress> { progressChannel.stream() }

    /// Sends the queued changes in order. What the service refuses goes to the error archive and holds up
    /// only what depends on it.
    ///
    /// - Throws: ``OfflineError/busy(processID:)``; ``OfflineError/notConnected``; `TransportError` and
    ///   `ODataError` for failures of communication, after which the rest is still queued.
    @discardableResult
    public func upload(options uploadOptions: UploadOptions = UploadOptions()) async throws -> UploadReport {
        try await syncing { try await upload(to: $0, uploadOptions) }
    }

    /// Brings what the service has: everything the first time, what changed afterwards.
    ///
    /// - Parameter names: the defining queries; all of them when empty.
    /// - Throws: as ``upload(options:)``; pages that were complete are kept, and the next call goes on there.
    @discardableResult
    public func download(_ names: [String] = []) async throws -> DownloadReport {
        try await syncing { try await download(from: $0, names) }
    }

    /// Uploads, then downloads (rule 7).
    ///
    /// - Throws: as ``upload(options:)``.
    @discardableResult
    public func sync(
        options uploadOptions: UploadOptions = UploadOptions()
    ) async throws -> (upload: UploadReport, download: DownloadReport) {
        try await syncing { remote in
            let uploaded = try await upload(to: remote, uploadOptions)
            return (upload: uploaded, download: try await download(from: remote, []))
        }
    }

    /// Does what one process at a time does (rule 10), and says when it is done.
    private func syncing<Report>(
        _ body: (_ remote: any ODataProvider) async throws -> Report
    ) async throws -> Report {
        let remote = try connection()
        let lock = try SyncLock(path: StoreFiles.lock(in: directory))
        defer { withExtendedLifetime(lock) {} }
        let report = try await body(remote)
        progressChannel.report(SyncProgress(phase: .finished))
        return report
    }

    /// Sends the queued changes over a connection, as the options of the store and of the upload say; the lock is the
    /// caller's.
    func upload(to remote: any ODataProvider, _ uploadOptions: UploadOptions) async throws -> UploadReport {
        if uploadOptions.foldsRequests {
            try await database.write { [queue] in
                try QueueFolding(queue: queue, categories: uploadOptions.categories).fold(in: $0)
            }
        }
        try await archiveExpired(uploadOptions)
        let uploader = Uploader(
            database: database, mapping: mapping, remote: remote, environment: options.environment,
            progress: progressChannel, options: uploadOptions,
            wire: .init(
                readsAgain: options.populatesGeneratedValuesEarly,
                namesContentInOperation: options.contentIDLocation == .operation))
        let bytes = options.meter?.total
        let categories = uploadOptions.categories?.sorted().joined(separator: ",")
        do {
            let report = try await uploader.upload()
            let givenUp = report.givenUp.isEmpty ? "" : ", \(report.givenUp.count) given up"
            try await note(
                "upload", "\(report.accepted.count) changes accepted, \(report.failed.count) not\(givenUp)",
                Events.Figures(
                    details: categories,
                    requests: report.accepted.count + report.failed.count + report.givenUp.count,
                    failures: report.failed.count, bytes: bytes.map { (options.meter?.total ?? $0) - $0 }))
            return report
        } catch {
            try? await note(
                "upload", "ended early",
                Events.Figures(
                    details: categories, failures: 1, bytes: bytes.map { (options.meter?.total ?? $0) - $0 }))
            throw error
        }
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
        var usesBatch = options.batchesDefiningQueries
        if usesBatch {
            usesBatch = try await database.read { [mapping] in
                try ServiceKnowledge.hasBatch(model: mapping.model, in: $0)
            }
        }
        let downloader = Downloader(
            database: database, mapping: mapping, remote: remote, environment: options.environment,
            progress: progressChannel, pageSize: options.downloadPageSize, parallelQueries: options.parallelQueries,
            service: options.service,
            formats: .init(full: options.definingQueryFormat, delta: options.deltaQueryFormat),
            firstPages: usesBatch ? LockedState([:]) : nil)
        let bytes = options.meter?.total
        let subset = names.isEmpty ? nil : names.joined(separator: ",")
        do {
            let report = try await downloader.download(queries)
            try await loadStreams(of: queries, from: remote)
            try await note(
                "download",
                "\(report.received) rows received: \(report.inserted) new, \(report.updated) changed, "
                    + "\(report.removed) removed",
                Events.Figures(
                    details: subset, requests: report.received, failures: 0,
                    bytes: bytes.map { (options.meter?.total ?? $0) - $0 }))
            return report
        } catch {
            try? await note(
                "download", "ended early",
                Events.Figures(
                    details: subset, failures: 1, bytes: bytes.map { (options.meter?.total ?? $0) - $0 }))
            throw error
        }
    }

    /// Puts changes that have waited too long into the error archive: what they say may no longer be meant.
    private func archiveExpired(_ uploadOptions: UploadOptions) async throws {
        guard let age = uploadOptions.expiresAfter ?? options.localChangeExpiry else { return }
        let environment = options.environment
        let now = environment.now()
        try await database.write { [queue] database in
            for request in try queue.requests([.pending], in: database) where request.firstSent == nil {
                guard let made = ODataDateTimeOffset(request.createdAt), now - Double(made.seconds) > age else {
                    continue
                }
                let failure = QueuedRequest.Failure(
                    status: nil, code: "Expired", message: "The change waited longer than \(Int(age)) seconds.",
                    at: environment.instant.description)
                try queue.markFailed(request.id, .refused, failure, in: database)
            }
        }
    }

    private func note(_ kind: String, _ text: String, _ figures: Events.Figures) async throws {
        let environment = options.environment
        try await database.write { try Events.add(kind, text, environment, figures: figures, in: $0) }
    }

    func connection() throws -> any ODataProvider {
        guard let remote else { throw OfflineError.notConnected }
        return RefusingProvider(base: remote)
    }
}
