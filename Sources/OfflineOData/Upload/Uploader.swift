import GRDB
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import ODataStore

/// Sends the queue of changes in order, one request at a time, each answer stored in one transaction with
/// everything it changes (rules 1 to 7).
struct Uploader: Sendable {
    let database: StoreDatabase
    let mapping: StorageMapping
    let remote: any ODataProvider
    let environment: Environment
    let progress: ProgressChannel
    let options: UploadOptions
    let wire: Wire
    let outcomes: UploadOutcomes

    /// What the store's options say of how requests are sent.
    struct Wire: Sendable {
        /// Whether an entity is read again after a change whose answer does not tell it.
        var readsAgain = false
        /// Whether the requests of a change set have their `Content-ID` among their own fields.
        var namesContentInOperation = false
    }

    init(
        database: StoreDatabase, mapping: StorageMapping, remote: any ODataProvider, environment: Environment,
        progress: ProgressChannel, options: UploadOptions, wire: Wire = Wire()
    ) {
        self.wire = wire
        self.database = database
        self.mapping = mapping
        self.remote = remote
        self.environment = environment
        self.progress = progress
        self.options = options
        outcomes = UploadOutcomes(mapping: mapping, environment: environment)
    }

    /// Sends what can be sent.
    ///
    /// - Parameter report: has the requests that failed before any was sent, and gets what became of the others, as far as it
    ///   came.
    /// - Throws: what the way to the service throws; requests not answered stay queued.
    func upload(into report: inout UploadReport) async throws {
        let failedBefore = report.failed.count
        let total = try await database.read { database in
            // What is on its way is sent whatever it is.
            try failedBefore + outcomes.queue.ids([.sending], in: nil, in: database).count
                + outcomes.queue.ids([.pending], in: options.categories, in: database).count
        }
        progress.report(SyncProgress(phase: .uploading, done: failedBefore, total: total))
        var tries: [Int64: Int] = [:]
        var selection: QueueSelection?
        while !options.stopOnFirstFailure || report.failed.isEmpty {
            let unit = try await next(&selection)
            guard let first = unit.first else { break }
            try Task.checkCancellation()
            let result: Result
            do {
                result = unit.count == 1 ? try await send(first) : try await send(changeSet: unit)
            } catch let error as ODataError
                where [429, 503].contains(error.status) && tries[first.id, default: 0] < first.options.retries
            {
                // Busy: what was sent is put back or known to be under way, and is sent again.
                let tried = tries[first.id, default: 0]
                tries[first.id] = tried + 1
                try await environment.sleep(error.retryAfter.map(Double.init) ?? Double(1 << min(tried, 6)))
                continue
            }
            switch result {
            case .accepted: report.accepted += unit
            case .givenUp(let requests): report.givenUp += requests
            case .failed:
                let failed = try await database.read { database in
                    try unit.compactMap { try outcomes.queue.request($0.id, in: database) }
                        .filter { $0.failure != nil }
                }
                report.failed += failed
                for request in failed { progress.reportFailure(request) }
            case .postponed: continue
            }
            progress.report(
                SyncProgress(
                    phase: .uploading, done: report.accepted.count + report.failed.count + report.givenUp.count,
                    total: total))
        }
        report.waiting = try await database.read { database in
            let waiting = Set(try outcomes.queue.ids([.pending], in: options.categories, in: database))
            return try outcomes.queue.requests([.pending], in: database).filter { waiting.contains($0.id) }
        }
    }

    /// The first request or change set that waits for no other. What was on its way when the process ended comes
    /// first: its answer decides over everything behind it.
    private func next(_ selection: inout QueueSelection?) async throws -> [QueuedRequest] {
        let known = selection
        let (unit, present) = try await database.read { database -> ([QueuedRequest], QueueSelection?) in
            var selection = known
            let usesChangeSets = try ServiceKnowledge.hasChangeSets(model: mapping.model, in: database)
            let unit = try outcomes.queue.next(
                in: options.categories, &selection, usesChangeSets: usesChangeSets, in: database)
            return (unit, selection)
        }
        selection = present
        return unit
    }

    enum Result {
        case accepted
        case failed
        /// The service's version counts: these are in the queue no more.
        case givenUp([QueuedRequest])
        /// It is to be sent in another way.
        case postponed
    }

    // MARK: One request

    /// How often a request is sent on top of the other's version before its conflict goes to the archive: a
    /// service that finds a conflict every time must not hold up the queue.
    static let maxRebases = 5

    /// - Parameter isIdentified: whether the service is told by which a repeat is recognised, where it knows that.
    private func send(_ request: QueuedRequest, rebases: Int = 0, isIdentified: Bool = true) async throws -> Result {
        let wasSent = request.state == .sending
        let isRepeatable = try await database.read {
            isIdentified ? try ServiceKnowledge.isRepeatable(model: mapping.model, in: $0) : false
        }
        do {
            if wasSent, isRepeatable != true, let settled = try await settle(request) { return settled }
            if !wasSent || isRepeatable != true, let conflict = try await differenceFromBase(request) {
                return try await resolve(conflict: conflict, request, rebases: rebases)
            }
        } catch let error as ODataError where !error.isOfCommunication {
            // The entity cannot be looked at, and will not be the next time: the rest must not wait for that.
            return try await archive(request, wasSent ? .inDoubt : .refused, error, message: error.message)
        }
        let marked = try await mark([request])[0]
        let message: ODataRequest
        do {
            message = try await self.message(for: marked, isRepeatable: isRepeatable)
        } catch let error as ODataError where !error.isOfCommunication {
            return try await archive(marked, wasSent ? .inDoubt : .refused, error, message: error.message)
        }
        let response: ODataResponse
        do {
            response = try await remote.execute(message)
        } catch let error as ODataError {
            return try await refuse(
                marked, error, isRepeatable: isRepeatable, wasSent: wasSent, rebases: rebases)
        } catch let error as TransportError where error.isCertainlyUnsent {
            try await putBack(marked, wasSent: wasSent, wasTransmitted: false)
            throw error
        } catch let error as InvalidResponseError where error.isFromService {
            let doubt = ODataError(status: error.status, code: "UnreadableAnswer", message: error.description)
            return try await archive(marked, .inDoubt, doubt, message: doubt.message)
        }
        // Any other error leaves the request marked as sending: whether it acted is settled by the next upload.
        return try await accept(marked, response)
    }

    /// Puts back a request that did not act now. One that was sent before may have acted then: it stays marked.
    ///
    /// - Parameter wasTransmitted: whether any of it left: else the first sending is still to come (rule 2).
    func putBack(_ request: QueuedRequest, wasSent: Bool, wasTransmitted: Bool = true) async throws {
        guard !wasSent else { return }
        try await write {
            try outcomes.queue.markPending(request.id, forgetsIdentification: !wasTransmitted, in: $0)
        }
    }

    /// Stores an answer, also when the task was cancelled since it arrived: what is known must not get lost.
    func write<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try await Task { try await database.write(body) }.value
    }

    /// Marks requests as on their way, with one identification for all of them (rules 2 and 3).
    func mark(_ requests: [QueuedRequest]) async throws -> [QueuedRequest] {
        let id = environment.newGuid().description
        let now = environment.httpDate
        return try await database.write { database in
            try requests.map { request in
                try outcomes.queue.markSending(request.id, requestID: id, firstSent: now, in: database)
                guard let marked = try outcomes.queue.request(request.id, in: database) else {
                    throw OfflineError.damagedQueue(reason: "request \(request.id) vanished")
                }
                return marked
            }
        }
    }

    /// The request as the service gets it.
    ///
    /// - Parameter puts: whether whole entities are sent; what is known of the service where it is left out.
    func message(for request: QueuedRequest, isRepeatable: Bool?, puts: Bool? = nil) async throws -> ODataRequest {
        if let message = try await requestBesideRows(request) {
            return try await completed(message, request, isRepeatable)
        }
        var message: ODataRequest
        var changes = request.changes.only(where: { !request.omitted.contains($0) || request.kind != .create })
        if changes.shape.name != mapping.model.shape(ofStored: request.entitySet)?.name {
            // Of a derived type, which the service cannot know from the URL (OData JSON Format 4.01, 4.6.3).
            changes.control.type = changes.shape.name
        }
        let preferences = Preferences(returns: request.options.prefersNoContent ? .minimal : .representation)
        switch request.kind {
        case .create, .stream, .link, .unlink, .call:
            let place = try await place(of: request)
            message = ODataRequest(
                place.isCollection ? .create : .replace, place.url, body: .entity(changes), preferences: preferences)
        case .update:
            message = ODataRequest(
                .update, try await url(of: request), body: .entity(changes), preferences: preferences)
            message.ifMatch = request.etag
            let knowsPatch = try await database.read { try ServiceKnowledge.hasPatch(in: $0) }
            if puts ?? !knowsPatch, let theirs = try await current(request, request.key) {
                // The whole entity with what was changed: what is not loaded here must not be lost there.
                message.method = .replace
                message.body = .entity(theirs.merging(changes))
                message.ifMatch = request.etag ?? theirs.control.etag
            }
        case .delete:
            message = ODataRequest(.delete, try await url(of: request))
            message.ifMatch = request.etag
        }
        return try await completed(message, request, isRepeatable)
    }

    private func completed(
        _ message: ODataRequest, _ request: QueuedRequest, _ isRepeatable: Bool?
    ) async throws -> ODataRequest {
        var message = message
        message.headers = try await headers(of: request)
        if isRepeatable != false, let id = request.requestID, let sent = request.firstSent {
            message.repeatability = Repeatability(requestID: id, firstSent: sent)
        }
        return message
    }

    /// The app's own header fields, with the entities that their values name under their present keys.
    private func headers(of request: QueuedRequest) async throws -> [String: String] {
        let headers = request.options.headers
        guard headers.values.contains(where: { $0.contains("{") }) else { return headers }
        let placeholders = HeaderPlaceholders(mapping: mapping)
        return try await database.read { database in
            try headers.mapValues { try placeholders.filled($0, in: database) }
        }
    }

    // MARK: Answers

    /// Stores that the service has acted. Whatever is missing in its answer, the request must not be sent again.
    private func accept(_ request: QueuedRequest, _ response: ODataResponse) async throws -> Result {
        var theirs: Entity?
        if case .entity(let entity) = response.body { theirs = entity }
        var isWithoutKey = false
        if request.kind == .create, theirs?.key == nil {
            // A lean answer may leave the key to Location.
            if let key = createdKey(request, response) {
                theirs =
                    await readAgain(request, key) ?? theirs.map { $0.withKey(key) }
                    ?? Entity(shape: request.changes.shape, key: key)
            } else {
                isWithoutKey = true
            }
        } else if request.kind == .update, theirs == nil, response.etag == nil || wire.readsAgain {
            theirs = await readAgain(request, request.key)
        } else if request.kind == .stream {
            // The ETag of the answer is the stream's.
            theirs = await readAgain(request, request.key)
        } else if request.kind == .call {
            theirs = try await boundEntity(after: request, response)
        }
        guard !isWithoutKey else {
            return try await archive(
                request, .inDoubt, ODataError(status: response.status, code: "NoKey", message: ""),
                message: "The service created \(request.entitySet) without saying under which key.")
        }
        let etag = request.kind == .stream || request.kind == .call ? nil : response.etag
        if theirs != nil, theirs?.control.etag == nil { theirs?.control.etag = etag }
        let current = theirs
        try await write { database in
            let streamETag = request.kind == .stream ? response.etag : current?.control.mediaEtag
            if response.repeatabilityResult == .accepted {
                try ServiceKnowledge.setRepeatable(true, in: database)
            }
            try outcomes.accept(
                request, theirs: current, etag: current?.control.etag ?? etag, streamETag: streamETag, in: database)
        }
        return .accepted
    }

    /// The key of a created entity as the headers of the answer tell it.
    func createdKey(_ request: QueuedRequest, _ response: ODataResponse) -> EntityKey? {
        (response.location ?? response.entityID).flatMap {
            KeyURL.key(inID: $0, shape: request.changes.shape, model: mapping.model)
        } ?? (request.omitted.isEmpty ? request.key : nil)
    }

    /// After an answer that does not say enough: the entity as it is now, with the ETag that the next requests
    /// need (rule 5). Not being able to read it does not undo the change.
    func readAgain(_ request: QueuedRequest, _ key: EntityKey) async -> Entity? {
        try? await current(request, key)
    }

    /// The entity of a request as the service has it now; `nil` when it has none.
    func current(_ request: QueuedRequest, _ key: EntityKey) async throws -> Entity? {
        do {
            let response = try await remote.execute(ODataRequest(.read, try await url(of: request, key: key)))
            guard case .entity(var entity) = response.body else { return nil }
            if entity.control.etag == nil { entity.control.etag = response.etag }
            return entity
        } catch let error as ODataError where error.status == 404 || error.status == 410 {
            return nil
        }
    }

    private func refuse(
        _ request: QueuedRequest, _ error: ODataError, isRepeatable: Bool?, wasSent: Bool, rebases: Int
    ) async throws -> Result {
        if error.repeatabilityResult == .rejected {
            if error.status == 501, isRepeatable != false {
                // The service says that it does not know repeatable requests: once more without (rule 2).
                try await write { database in
                    try ServiceKnowledge.setRepeatable(false, in: database)
                    try outcomes.queue.markPending(request.id, forgetsIdentification: true, in: database)
                }
                return try await send(request.asPending, rebases: rebases)
            }
            if error.status == 412 {
                if !wasSent, isRepeatable != false {
                    // It never was on its way before, so it has not acted: our clock is behind by more than the service
                    // remembers. Should this answer get lost, the time of the first sending tells of the doubt.
                    return try await send(request.asPending, rebases: rebases, isIdentified: false)
                }
                return try await archive(
                    request, .inDoubt, error,
                    message: "The service no longer remembers whether this request acted.")
            }
        }
        switch error.status {
        case 502, 504:
            // The service may have acted for a gateway that did not wait: settled by the next upload (rule 1).
            throw error
        case _ where error.isOfCommunication:
            // Nothing was decided, so it is not for the archive.
            try await putBack(request, wasSent: wasSent)
            throw error
        case 412 where request.kind == .call && request.etag != nil:
            return try await refuse(call: request, error, wasSent: wasSent, rebases: rebases)
        case 404 where request.kind == .unlink, 410 where request.kind == .unlink:
            try await write { try outcomes.accept(request, theirs: nil, etag: nil, in: $0) }
            return .accepted
        case 405 where request.kind == .update, 501 where request.kind == .update:
            guard try await database.read({ try ServiceKnowledge.hasPatch(in: $0) }) else { fallthrough }
            // The service knows whole entities only.
            try await write { database in
                try ServiceKnowledge.setPatch(false, in: database)
                try outcomes.queue.markPending(request.id, forgetsIdentification: true, in: database)
            }
            return .postponed
        case 400 where request.kind == .link, 409 where request.kind == .link:
            guard try await isLinked(request) else { fallthrough }
            // It is there already, by our own first try or somebody else: what was asked for is so.
            try await write { try outcomes.accept(request, theirs: nil, etag: nil, in: $0) }
            return .accepted
        case _ where !request.kind.isOfRow:
            return try await archive(request, .refused, error, message: error.message)
        case 404 where request.kind == .delete, 410 where request.kind == .delete:
            // Somebody else has deleted it: what was asked for is so.
            try await write { try outcomes.accept(request, theirs: nil, etag: nil, in: $0) }
            return .accepted
        case 404 where request.kind == .update, 410 where request.kind == .update:
            return try await resolve(conflict: Conflict(theirs: nil, error: error), request, rebases: rebases)
        case 409 where error.code == "RepeatInDoubt":
            // Our own server, when it died at the wrong moment and others changed the rows since.
            return try await archive(request, .inDoubt, error, message: error.message)
        case 412, 428:
            let theirs: Entity?
            do {
                theirs = try await current(request, request.key)
            } catch let unreadable as ODataError where !unreadable.isOfCommunication {
                return try await archive(request, .refused, error, message: error.message)
            }
            if request.kind == .delete, theirs == nil {
                // Somebody else has deleted it: what was asked for is so.
                try await write { try outcomes.accept(request, theirs: nil, etag: nil, in: $0) }
                return .accepted
            }
            if request.kind == .stream, isRepeatable != true, wasSent, let taken = try await taken(streamOf: request) {
                // Our own first try acted and changed the ETag.
                return try await accept(request, taken)
            }
            if request.kind == .update, isRepeatable != true, wasSent, let theirs, theirs.matches(request.changes) {
                // Our own first try acted and changed the ETag.
                try await write {
                    try outcomes.accept(request, theirs: theirs, etag: theirs.control.etag, in: $0)
                }
                return .accepted
            }
            return try await resolve(conflict: Conflict(theirs: theirs, error: error), request, rebases: rebases)
        default:
            return try await archive(request, .refused, error, message: error.message)
        }
    }

    func archive(
        _ request: QueuedRequest, _ state: QueuedRequest.State, _ error: ODataError, message: String,
        theirs: Entity? = nil, conflict: QueuedRequest.Failure.Conflict? = nil
    ) async throws -> Result {
        var theirs = theirs
        if theirs == nil { theirs = await version(behind: request, state) }
        let failure = QueuedRequest.Failure(
            status: error.status, code: error.code, message: message, target: error.target,
            innerError: error.innerError, theirs: theirs, conflict: conflict, at: environment.instant.description)
        try await write { try outcomes.fail(request, state, failure, in: $0) }
        return .failed
    }

    // MARK: Conflicts

    struct Conflict {
        var theirs: Entity?
        var error: ODataError

        /// As the error archive has it.
        var kind: QueuedRequest.Failure.Conflict { theirs == nil ? .deleted : .changed }
    }

    /// What the policy says of a conflict.
    func decide(_ conflict: Conflict, _ request: QueuedRequest) async -> ConflictDecision {
        switch options.conflictPolicy {
        case .fail: return .fail
        case .clientWins: return .mine
        case .serverWins: return .theirs
        case .custom(let decide):
            return await decide(
                ConflictVersions(
                    entitySet: request.detail.bound?.set ?? request.entitySet,
                    key: request.kind == .call ? conflict.theirs?.key ?? request.key : request.key,
                    kind: request.kind, base: request.base, mine: request.changes, theirs: conflict.theirs))
        }
    }

    func resolve(
        conflict: Conflict, _ request: QueuedRequest, rebases: Int
    ) async throws -> Result {
        let decision = await decide(conflict, request)
        switch decision {
        case .fail:
            let message =
                conflict.theirs == nil
                ? "The entity was deleted by somebody else." : "The entity was changed by somebody else."
            return try await archive(
                request, .refused, conflict.error, message: message, theirs: conflict.theirs, conflict: conflict.kind)
        case .theirs:
            return .givenUp(
                try await write { database in
                    try outcomes.givenUp(in: database) {
                        try outcomes.yield(request, to: conflict.theirs, in: database)
                    }
                })
        case .mine, .merged:
            guard let theirs = conflict.theirs else {
                return try await archive(
                    request, .refused, conflict.error, message: "The entity was deleted by somebody else.",
                    conflict: conflict.kind)
            }
            guard rebases < Self.maxRebases else {
                return try await archive(
                    request, .refused, conflict.error, message: conflict.error.message, theirs: theirs,
                    conflict: conflict.kind)
            }
            var changes = request.changes
            if case .merged(let merged) = decision { changes = merged }
            let rebased = changes
            try await write { try outcomes.rebase(request, changes: rebased, onto: theirs, in: $0) }
            guard let again = try await database.read({ try outcomes.queue.request(request.id, in: $0) }) else {
                return .failed
            }
            return try await send(again, rebases: rebases + 1)
        }
    }

    /// Where no ETag is known, as at services without: what the service has now, when it differs from what the change was based
    /// on (rule 8).
    func differenceFromBase(_ request: QueuedRequest) async throws -> Conflict? {
        if request.kind == .call { return try await difference(behind: request) }
        guard request.kind != .create, request.etag == nil, options.comparesWithoutETags, let base = request.base
        else { return nil }
        // A change on top of one of our own has no back-end version to compare with.
        guard try await database.read({ try outcomes.isFirst(request, in: $0) }) else { return nil }
        guard let theirs = try await current(request, request.key) else {
            if request.kind == .delete { return nil }
            return Conflict(theirs: nil, error: .preconditionFailed(request.entitySet))
        }
        guard !theirs.matches(base) else { return nil }
        return Conflict(theirs: theirs, error: .preconditionFailed(request.entitySet))
    }

    // MARK: Doubt

    /// Finds out what became of a request whose answer was lost, for a service that does not recognise a
    /// repeat (rule 1).
    ///
    /// - Returns: `nil` when sending it once more can do no harm.
    private func settle(_ request: QueuedRequest) async throws -> Result? {
        switch request.kind {
        case .delete, .stream, .link, .unlink:
            // Made once more, it comes to the same.
            return nil
        case .call:
            return try await archive(request, .inDoubt, doubt, message: doubt.message)
        case .update:
            // An ETag guards it. Without one, the values tell: they are ours, or the change is not there.
            guard request.etag == nil else { return nil }
            guard let theirs = try await current(request, request.key),
                theirs.matches(request.changes)
            else { return nil }
            try await write {
                try outcomes.accept(request, theirs: theirs, etag: theirs.control.etag, in: $0)
            }
            return .accepted
        case .create:
            if request.omitted.isEmpty {
                guard let theirs = try await current(request, request.key) else { return nil }
                guard theirs.matches(request.changes) else {
                    return try await archive(request, .inDoubt, doubt, message: doubt.message)
                }
                try await write {
                    try outcomes.accept(request, theirs: theirs, etag: theirs.control.etag, in: $0)
                }
                return .accepted
            }
            if let name = options.correlationProperties[request.entitySet], let value = request.changes[name],
                !value.isNull
            {
                guard let theirs = try await correlated(request, name, value) else { return nil }
                try await write {
                    try outcomes.accept(request, theirs: theirs, etag: theirs.control.etag, in: $0)
                }
                return .accepted
            }
            return try await archive(request, .inDoubt, doubt, message: doubt.message)
        }
    }

    /// The entity that has a value which the app gives to one alone; `nil` when there is none.
    private func correlated(
        _ request: QueuedRequest, _ property: String, _ value: ODataValue
    ) async throws -> Entity? {
        var url = try await place(of: request).url
        url.options.filter = .binary(.equal, .path([.name(Identifier(property))]), .literal(Literal(value)))
        guard case .page(let page) = try await remote.execute(ODataRequest(.read, url)).body,
            let key = page.entities.first?.key
        else { return nil }
        // Once more by its key, for its ETag.
        return try await current(request, key)
    }

    var doubt: ODataError {
        ODataError(
            status: 0, code: "InDoubt",
            message: "The answer was lost, and the service cannot tell whether the request acted.")
    }
}

extension ODataError {
    /// Whether nothing was decided: the way to the service or its gate was closed, for now.
    var isOfCommunication: Bool { [401, 407, 408, 429, 502, 503, 504].contains(status) }
}

extension InvalidResponseError {
    /// Whether the service itself gave the answer, so that asking again gives the same one; a web page or a
    /// redirect is of something in between, such as a sign-in page.
    var isFromService: Bool {
        guard (200..<300).contains(status) else { return false }
        switch problem {
        case .webPage, .redirect: return false
        case .mediaType, .malformed, .unknownContext, .tooLarge: return true
        }
    }
}

extension Entity {
    /// The same entity under a key that it does not show itself.
    fileprivate func withKey(_ key: EntityKey) -> Entity {
        var result = self
        for property in shape.key { result[property.path] = key[property.name] }
        result.markUnchanged()
        return result
    }
}

extension QueuedRequest {
    /// The same request, as if never sent.
    var asPending: QueuedRequest {
        var request = self
        request.state = .pending
        request.requestID = nil
        request.firstSent = nil
        request.failure = nil
        return request
    }
}
