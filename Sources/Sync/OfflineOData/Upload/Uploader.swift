import GRDB
import ODataHTTP
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// Sends the queue of changes in order, one unit at a time, each answer stored in one transaction with
/// everything it changes (rules 1 to 7).
struct Uploader: Sendable {
    let database: StoreDatabase
    let mapping: StorageMapping
    let remote: any ODataProvider
    let environment: EngineEnvironment
    let progress: ProgressChannel
    let options: UploadOptions
    let origin: UploadOrigin
    let wire: WireOptions
    let outcomes: UploadOutcomes

    /// The options of the store for the form of requests.
    struct WireOptions: Sendable {
        /// Whether an entity is read again after a change whose response does not contain it.
        var readsAgain = false
        /// Whether the requests of a change set have their `Content-ID` among their own header fields.
        var namesContentInOperation = false
        /// The conflict policies of single entity sets.
        var conflictPolicies: [String: ConflictPolicy] = [:]
    }

    init(
        database: StoreDatabase, mapping: StorageMapping, remote: any ODataProvider, environment: EngineEnvironment,
        progress: ProgressChannel, options: UploadOptions, origin: UploadOrigin, wire: WireOptions = WireOptions()
    ) {
        self.wire = wire
        self.origin = origin
        self.database = database
        self.mapping = mapping
        self.remote = remote
        self.environment = environment
        self.progress = progress
        self.options = options
        outcomes = UploadOutcomes(
            mapping: mapping, environment: environment, writesLogRecords: options.writesLogRecords)
    }

    /// The seconds that a busy service may ask an upload to wait. A service that wants more is asked again by the
    /// next upload.
    static let longestWait = 120

    /// Sends every unit that can be sent.
    ///
    /// - Parameter report: the requests that failed before any was sent; the results of the others are added,
    ///   also if the upload ends early.
    /// - Throws: errors of the way to the service; requests that were not answered stay queued.
    func upload(into report: inout UploadReport) async throws {
        let failedBefore = report.failed.count
        let total = try await database.read { database in
            // Requests that were sent before are sent again, whatever their category is.
            try failedBefore + outcomes.queue.ids([.sending], in: nil, in: database).count
                + outcomes.queue.ids([.pending], in: options.categories, in: database).count
        }
        progress.report(SyncProgress(phase: .uploading, done: failedBefore, total: total))
        var tries: [Int64: Int] = [:]
        var selection: QueueSelection?
        var usesChangeSets = true
        var setAside: Set<Int64> = []
        while !options.stopOnFirstFailure || report.failed.isEmpty {
            guard let unit = try await next(&selection, besides: setAside, usesChangeSets: usesChangeSets) else {
                break
            }
            try Task.checkCancellation()
            let done = report.accepted.count + report.failed.count + report.givenUp.count
            progress.step(.processingRequests, [String(done + 1), String(total)])
            let outcome: Outcome
            do {
                outcome = try await send(unit)
            } catch let error as ODataError
                where [429, 503].contains(error.status) && tries[unit.id, default: 0] < unit.retries
                && error.retryAfter ?? 0 <= Self.longestWait
            {
                // Busy: the unit is put back or known to be under way, and is sent again.
                let tried = tries[unit.id, default: 0]
                tries[unit.id] = tried + 1
                try await environment.sleep(.seconds(error.retryAfter.map { max(0, $0) } ?? 1 << min(tried, 6)))
                continue
            }
            switch outcome {
            case .accepted(let requests):
                let accepted = Set(requests.map(\.id))
                let made = unit.requests.filter { accepted.contains($0.id) }
                report.accepted += made
                report.assignedKeys.merge(try await assignedKeys(of: made)) { $1 }
            case .givenUp(let requests): report.givenUp += requests
            case .failed:
                let failed = try await database.read { database in
                    try unit.requests.compactMap { try outcomes.queue.request($0.id, in: database) }
                        .filter { $0.failure != nil }
                }
                report.failed += failed
                for request in failed { progress.reportFailure(request) }
            case .requeued: continue
            case .setAside:
                setAside.formUnion(unit.requests.map(\.id))
                continue
            case .sendIndividually:
                usesChangeSets = false
                continue
            }
            progress.report(
                SyncProgress(
                    phase: .uploading, done: report.accepted.count + report.failed.count + report.givenUp.count,
                    total: total))
        }
        report.waiting = try await database.read { [setAside] database in
            let waiting = setAside.union(try outcomes.queue.ids([.pending], in: options.categories, in: database))
            return try outcomes.queue.requests([.pending, .sending], in: database).filter { waiting.contains($0.id) }
        }
    }

    /// The keys that the service gave to the entities that requests created.
    private func assignedKeys(of requests: [QueuedRequest]) async throws -> [Int64: EntityKey] {
        let created = requests.filter { $0.kind == .create && !$0.omitted.isEmpty }
        guard !created.isEmpty else { return [:] }
        return try await database.read { [mapping] database in
            var keys: [Int64: EntityKey] = [:]
            for request in created {
                guard let table = mapping.tables[request.entitySet],
                    let key = try BulkLoader(table: table, in: database).read(request.rowID)?.key, key != request.key
                else { continue }
                keys[request.id] = key
            }
            return keys
        }
    }

    /// The first unit that waits for no other. A unit that was on its way when the process ended comes first: its
    /// answer decides over everything behind it.
    ///
    /// - Parameters:
    ///   - setAside: the requests that the service does not take for now.
    ///   - usesChangeSets: whether change sets are sent as such, unless the service is known to have none.
    private func next(
        _ selection: inout QueueSelection?, besides setAside: Set<Int64>, usesChangeSets: Bool
    ) async throws -> UploadUnit? {
        let known = selection
        let (requests, present) = try await database.read { database -> ([QueuedRequest], QueueSelection?) in
            var selection = known
            let usesChangeSets =
                try usesChangeSets && ServiceKnowledge.hasChangeSets(model: mapping.model, in: database)
            let requests = try outcomes.queue.next(
                in: options.categories, &selection, besides: setAside, usesChangeSets: usesChangeSets, in: database)
            return (requests, selection)
        }
        selection = present
        return UploadUnit(requests)
    }

    /// The result of an upload for a unit.
    enum Outcome {
        /// The service has accepted these requests; the rest of the unit is sent without them.
        case accepted([QueuedRequest])
        /// The unit is in the error archive.
        case failed
        /// The server version counts: these requests left the queue.
        case givenUp([QueuedRequest])
        /// The unit is back in the queue with the reason for which the service does not take it for now.
        case setAside
        /// The unit is back in the queue in another form, or was undone.
        case requeued
        /// Change sets do not reach the service: for the rest of this upload, their requests are sent one by one.
        case sendIndividually
    }

    /// Sends a unit until its outcome is decided. The form of its requests changes at most a few times: each
    /// change of the strategy is made once, but for ``SendStrategy/rebases``, which are counted.
    private func send(_ unit: UploadUnit) async throws -> Outcome {
        var step = UploadStep(uploader: self, unit: unit, strategy: SendStrategy())
        while true {
            try await requireRecognisedRepeats()
            switch try await step.run() {
            case .again(let unit, let strategy):
                step = UploadStep(uploader: self, unit: unit, strategy: strategy)
            case .done(let outcome): return outcome
            }
        }
    }

    /// Puts a unit into the error archive.
    ///
    /// - Parameters:
    ///   - state: refused, or in doubt.
    ///   - conflicts: the conflicts by request.
    func archive(
        _ unit: UploadUnit, _ state: QueuedRequest.State, _ error: ODataError, message: String,
        conflicts: [Int64: Conflict] = [:]
    ) async throws -> Outcome {
        let at = environment.instant
        var versions = conflicts.compactMapValues(\.theirs)
        for request in unit.requests where versions[request.id] == nil {
            versions[request.id] = await version(behind: request, state)
        }
        let (known, kinds) = (versions, conflicts.mapValues(\.kind))
        try await write { database in
            if state == .refused {
                // The requests are not under way any more. Deleting an entity locally removes the requests that
                // depend on it.
                for request in unit.requests {
                    try outcomes.queue.markPending(request.id, forgetsIdentification: false, in: database)
                }
            }
            for request in unit.requests {
                let failure = QueuedRequest.Failure(
                    status: error.status, code: error.code, message: message, target: error.target,
                    details: error.details, innerError: error.innerError, theirs: known[request.id],
                    conflict: kinds[request.id], at: at)
                try outcomes.fail(request, state, failure, in: database)
            }
        }
        return .failed
    }

    /// Leaves a unit in the queue that the service does not take for now, with the reason. The service has answered, so
    /// that the unit is sent with another identification the next time.
    ///
    /// - Parameter wasSent: whether the unit may have acted in an earlier transmission. Its outcome is still unknown
    ///   then, and it keeps its identification.
    func setAside(_ unit: UploadUnit, _ error: ODataError, wasSent: Bool) async throws -> Outcome {
        let failure = QueuedRequest.Failure(
            status: error.status, code: error.code, message: error.message, target: error.target,
            details: error.details, innerError: error.innerError, at: environment.instant)
        try await write { [environment, outcomes] database in
            for request in unit.requests {
                try outcomes.queue.markWaiting(request.id, failure, mayHaveActed: wasSent, in: database)
                try Events.add(
                    "waiting", "\(request.kind.rawValue) \(request.entityText): \(error.status) \(error.code)",
                    environment: environment, in: database)
            }
        }
        return .setAside
    }

    /// Stores an answer, also when the task was cancelled since it arrived: the result must not get lost.
    func write<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try await Task { try await database.write(body) }.value
    }

    /// Reads the facts that are needed to store an answer, also when the task was cancelled since it arrived.
    func read<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try await Task { try await database.read(body) }.value
    }
}

extension QueuedRequest {
    /// The ETag with which it is sent: of the version that it was made of, else of the current entity that was
    /// found before.
    var guardingETag: String? { etag ?? foundETag }

    /// Whether an entity has the values that the request sent.
    func isShown(by theirs: ODataEntity) -> Bool {
        !isOfRow || kind == .delete || theirs.matches(changes.only(where: { !omitted.contains($0) }))
    }
}
