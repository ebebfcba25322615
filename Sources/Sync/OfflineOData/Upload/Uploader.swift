import GRDB
import ODataHTTP
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// Sends the queue of changes in order, one request at a time, each answer stored in one transaction with
/// everything it changes (rules 1 to 7).
struct Uploader: Sendable {
    let database: StoreDatabase
    let mapping: StorageMapping
    let remote: any ODataProvider
    let environment: Environment
    let progress: ProgressChannel
    let options: UploadOptions
    let origin: UploadOrigin
    let wire: Wire
    let outcomes: UploadOutcomes

    /// What the store's options say of how requests are sent.
    struct Wire: Sendable {
        /// Whether an entity is read again after a change whose answer does not tell it.
        var readsAgain = false
        /// Whether the requests of a change set have their `Content-ID` among their own fields.
        var namesContentInOperation = false
        /// The conflict policies of single entity sets.
        var conflictPolicies: [String: ConflictPolicy] = [:]
    }

    init(
        database: StoreDatabase, mapping: StorageMapping, remote: any ODataProvider, environment: Environment,
        progress: ProgressChannel, options: UploadOptions, origin: UploadOrigin, wire: Wire = Wire()
    ) {
        self.wire = wire
        self.origin = origin
        self.database = database
        self.mapping = mapping
        self.remote = remote
        self.environment = environment
        self.progress = progress
        self.options = options
        outcomes = UploadOutcomes(mapping: mapping, environment: environment)
    }

    /// The seconds that a busy service may ask an upload to wait: one that wants more is asked again by the next upload.
    static let longestWait = 120

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
        var usesChangeSets = true
        while !options.stopOnFirstFailure || report.failed.isEmpty {
            let unit = try await next(&selection, usesChangeSets: usesChangeSets)
            guard let first = unit.first else { break }
            try Task.checkCancellation()
            try await requireRecognisedRepeats()
            let done = report.accepted.count + report.failed.count + report.givenUp.count
            progress.step(.processingRequests, [String(done + 1), String(total)])
            let result: Result
            do {
                result = unit.count == 1 ? try await send(first) : try await send(changeSet: unit)
            } catch let error as ODataError
                where [429, 503].contains(error.status) && tries[first.id, default: 0] < first.options.retries
                && error.retryAfter ?? 0 <= Self.longestWait
            {
                // Busy: what was sent is put back or known to be under way, and is sent again.
                let tried = tries[first.id, default: 0]
                tries[first.id] = tried + 1
                try await environment.sleep(error.retryAfter.map { Double(max(0, $0)) } ?? Double(1 << min(tried, 6)))
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
            case .inPart(let requests): report.accepted += requests
            case .apart:
                usesChangeSets = false
                continue
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
    ///
    /// - Parameter usesChangeSets: whether change sets are sent as such where the service is not known to have none.
    private func next(_ selection: inout QueueSelection?, usesChangeSets: Bool) async throws -> [QueuedRequest] {
        let known = selection
        let (unit, present) = try await database.read { database -> ([QueuedRequest], QueueSelection?) in
            var selection = known
            let usesChangeSets =
                try usesChangeSets && ServiceKnowledge.hasChangeSets(model: mapping.model, in: database)
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
        /// It is to be sent in another way, or is there no more.
        case postponed
        /// These of a change set are so without being made; the others are to be sent without them.
        case inPart([QueuedRequest])
        /// Change sets do not come through now: for the rest of this upload, their requests are sent one after the other.
        case apart
    }

    /// How a request or a change set is sent, where it was sent before and refused for how it was sent.
    struct Way {
        /// How often it was put on top of others' versions.
        var rebases = 0
        /// Whether the service is told by which a repeat is recognised, where it knows that.
        var isIdentified = true
        /// The entity sets of which whole entities are sent in the place of single properties, to see whether the service
        /// takes these, besides those of which that is known.
        var puts: Set<String> = []
        /// Whether the service wants to be told that it may act on any version, where none is known that guards a request.
        var takesAnyVersion = false
        /// The version that the service has of an entity, where that is not known here and has the values that were seen here.
        var etag: String?
    }

    // MARK: One request

    /// How often a request is sent on top of the other's version before its conflict goes to the archive: a
    /// service that finds a conflict every time must not hold up the queue.
    static let maxRebases = 5

    func send(_ request: QueuedRequest, _ way: Way = Way()) async throws -> Result {
        let wasSent = request.mayHaveActed
        let isRepeatable = try await database.read {
            way.isIdentified ? try ServiceKnowledge.isRepeatable(model: mapping.model, in: $0) : false
        }
        var seen: Entity?
        do {
            if wasSent, isRepeatable != true, let settled = try await settle(request) { return settled }
            if !wasSent || isRepeatable != true {
                let comparison = try await comparison(before: request)
                if let conflict = comparison.conflict {
                    return try await resolve(conflict: conflict, request, wasSent: wasSent, way)
                }
                seen = comparison.seen
            }
        } catch {
            // The entity cannot be looked at, and will not be the next time: the rest must not wait for that.
            guard let refusal = refusal(error, of: request) else { throw error }
            return try await archive(request, wasSent ? .inDoubt : .refused, refusal, message: refusal.message)
        }
        let found = request.isOfRow ? way.etag ?? seen?.control.etag : nil
        guard let marked = try await mark([request], found: found.map { [request.id: $0] } ?? [:])?.first else {
            return .postponed
        }
        var message: ODataRequest
        do {
            message = try await self.message(for: marked, isRepeatable: isRepeatable, way)
            message.mayHaveBeenSent = wasSent
        } catch {
            guard let refusal = refusal(error, of: marked) else {
                // Nothing has left yet.
                try await putBack([marked], wasSent: wasSent, wasTransmitted: false)
                throw error
            }
            return try await archive(marked, wasSent ? .inDoubt : .refused, refusal, message: refusal.message)
        }
        let response: ODataResponse
        do {
            response = try await transmit(message)
        } catch let error as ODataError {
            return try await refuse(
                marked, error, Attempt(isRepeatable: isRepeatable, wasSent: wasSent, method: message.method), way)
        } catch let error as Unsent {
            try await putBack([marked], wasSent: wasSent, wasTransmitted: false)
            throw error.reason
        } catch let error as InvalidResponseError where error.isFromService {
            let doubt = ODataError(unreadable: error)
            return try await archive(marked, .inDoubt, doubt, message: doubt.message)
        }
        // Any other error leaves the request marked as sending: whether it acted is settled by the next upload.
        if let doubt = response.doubt {
            return try await archive(
                marked, response.status == 202 || wasSent ? .inDoubt : .refused, doubt, message: doubt.message)
        }
        let tookWhole = message.method == .replace && way.puts.contains(marked.entitySet)
        return try await accept(
            marked, response, seen: seen, learning: tookWhole ? [marked.entitySet] : [], isRepeat: wasSent,
            wasIdentified: message.repeatability != nil)
    }

    /// How a request was sent that was refused.
    private struct Attempt {
        let isRepeatable: Bool?
        let wasSent: Bool
        let method: ODataRequest.Method
    }

    /// Puts back requests that did not act now. Those that were sent before may have acted then: they stay marked.
    ///
    /// - Parameter wasTransmitted: whether any of it left: else the first sending is still to come (rule 2).
    func putBack(_ requests: [QueuedRequest], wasSent: Bool, wasTransmitted: Bool = true) async throws {
        guard !wasSent else { return }
        try await write { database in
            for request in requests {
                if wasTransmitted {
                    try outcomes.queue.markPending(request.id, forgetsIdentification: false, in: database)
                } else {
                    try outcomes.queue.markUnsent(request.id, in: database)
                }
            }
        }
    }

    /// Keeps that requests were refused while the service is still to be asked why, or the app what to do: should the process
    /// end meanwhile, that they have not acted is known.
    ///
    /// - Parameter wasSent: whether one that was on its way before may have acted then.
    func noteRefusal(of requests: [QueuedRequest], wasSent: Bool) async throws {
        guard !wasSent else { return }
        try await write { database in
            for request in requests { try outcomes.queue.markUnacted(request.id, in: database) }
        }
    }

    /// Stores an answer, also when the task was cancelled since it arrived: what is known must not get lost.
    func write<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try await Task { try await database.write(body) }.value
    }

    /// Reads what it takes to store an answer, also when the task was cancelled since it arrived.
    func read<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try await Task { try await database.read(body) }.value
    }

    /// The request as the service gets it.
    ///
    /// - Parameter merges: whether a change of single properties may be put into the whole entity that the service has, where
    ///   it takes nothing else.
    func message(
        for request: QueuedRequest, isRepeatable: Bool?, _ way: Way, merges: Bool = true
    ) async throws -> ODataRequest {
        if var message = try await requestBesideRows(request) {
            if way.takesAnyVersion, request.kind.isRelation { message.ifMatch = "*" }
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
            message.ifMatch = request.guardingETag
            message.link = try await link(of: request)
            if merges, try await putsWhole(request, way), let whole = try await wholeEntity(of: request, changes) {
                message.method = .replace
                message.body = .entity(whole)
                message.ifMatch = request.guardingETag ?? whole.control.etag
            }
        case .delete:
            message = ODataRequest(.delete, try await url(of: request))
            message.ifMatch = request.guardingETag
            message.link = try await link(of: request)
        }
        return try await completed(message, request, isRepeatable)
    }

    /// The entity as the service has it with the changes of a request: properties that are not loaded here must not be lost there.
    /// A repeat gets the entity that was sent the first time.
    private func wholeEntity(of request: QueuedRequest, _ changes: Entity) async throws -> Entity? {
        let bytes: [UInt8]
        if let sent = request.detail.sentEntity {
            bytes = Array(sent.utf8)
        } else {
            guard let theirs = try await current(request, request.key) else { return nil }
            if let lost = theirs.control.unreadable.keys.filter({ changes[$0] == nil }).min() {
                throw ODataError(
                    status: 422, code: "UnreadableValue",
                    message:
                        "The service takes whole entities only, and its value of \(lost) cannot be read, so that it "
                        + "would be lost. Give \(lost) a value here, too, or change the entity at the service.",
                    target: lost)
            }
            let whole = theirs.merging(changes)
            try await database.write { try outcomes.queue.setSentEntity(whole, of: request.id, in: $0) }
            bytes = Array(outcomes.queue.snapshots.encode(whole))
        }
        // The first time too: the bytes of both bodies must be the same.
        var entity = try outcomes.queue.snapshots.decode(bytes: bytes, shape: changes.shape)
        entity.control.type = changes.control.type
        return entity
    }

    private func completed(
        _ message: ODataRequest, _ request: QueuedRequest, _ isRepeatable: Bool?
    ) async throws -> ODataRequest {
        var message = message
        message.headers = try await headers(of: request)
        if isRepeatable != false, let id = request.requestID, let sent = request.firstSent {
            message.repeatability = Repeatability(requestID: id, firstSent: sent)
        } else {
            // A client of its own mind would put one of its own there, with the time of a clock that may be wrong.
            message.isUnidentified = true
        }
        return message
    }

    /// Whether the whole entity is sent where a request changes single properties.
    func putsWhole(_ request: QueuedRequest, _ way: Way) async throws -> Bool {
        if way.puts.contains(request.entitySet) { return true }
        return try await database.read { try ServiceKnowledge.wholeEntities(in: $0).contains(request.entitySet) }
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
    ///
    /// - Parameters:
    ///   - seen: the entity as the service had it before.
    ///   - sets: entity sets of which it has taken whole entities, and no changes of single properties before.
    ///   - wasIdentified: whether the request had an identification by which a repeat is recognised.
    func accept(
        _ request: QueuedRequest, _ response: ODataResponse, seen: Entity? = nil, learning sets: Set<String> = [],
        isRepeat: Bool = false, wasIdentified: Bool = false
    ) async throws -> Result {
        var theirs: Entity?
        if case .entity(let entity) = response.body { theirs = entity }
        // An answer that shows another entity tells nothing of this one.
        if request.kind != .create, request.kind != .call, let key = theirs?.key, key != request.key { theirs = nil }
        var isWithoutKey = false
        var reading = isRepeat ? UploadOutcomes.Reading.repeated() : .atOnce
        if request.kind == .create, theirs?.key == nil {
            // A lean answer may leave the key to Location.
            if let key = createdKey(request, response) {
                theirs =
                    await readAgain(request, key) ?? theirs.map { $0.withKey(key) }
                    ?? Entity(shape: request.changes.shape, key: key)
            } else {
                isWithoutKey = true
            }
        } else if request.kind == .update, theirs == nil,
            response.etag == nil || response.body.isEntity || wire.readsAgain || isRepeat
        {
            // That of a repeat may be of an older version than a download has brought.
            theirs = await readAgain(request, request.key)
            if !isRepeat { reading = .later() }
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
        let (current, before, read) = (theirs, seen, reading)
        // It may have acted long ago: a repeat is answered with what the service has now. What is read later than the answer
        // may be others' work by then.
        var isOvertaken = isRepeat && theirs.map { !request.isShown(by: $0) } ?? false
        if case .later = reading, let etag, let theirs, theirs.control.etag != etag { isOvertaken = true }
        let overtaken = isOvertaken
        try await write { database in
            try ServiceKnowledge.addWholeEntities(of: sets, in: database)
            let streamETag = request.kind == .stream ? response.etag : current?.control.mediaEtag
            try ServiceKnowledge.learnRepeatability(
                [response.repeatabilityResult], wereIdentified: wasIdentified, in: database)
            try outcomes.accept(
                request, theirs: current, etag: current?.control.etag ?? etag, streamETag: streamETag, seen: before,
                isOvertaken: overtaken, reading: read, in: database)
        }
        return .accepted
    }

    /// The key of a created entity as the headers of the answer tell it.
    func createdKey(_ request: QueuedRequest, _ response: ODataResponse) -> EntityKey? {
        namedKey(request, response) ?? (request.omitted.isEmpty ? request.key : nil)
    }

    /// The key of a created entity where the headers of the answer name it.
    func namedKey(_ request: QueuedRequest, _ response: ODataResponse) -> EntityKey? {
        // Either may be of a form that tells no key.
        [response.location, response.entityID].lazy.compactMap { $0 }.compactMap {
            KeyURL.key(inID: $0, shape: request.changes.shape, model: mapping.model)
        }.first
    }

    /// After an answer that does not say enough: the entity as it is now, with the ETag that the next requests
    /// need (rule 5). Not being able to read it does not undo the change.
    func readAgain(_ request: QueuedRequest, _ key: EntityKey) async -> Entity? {
        try? await current(request, key)
    }

    /// The entity of a request as the service has it now; `nil` when it has none.
    func current(_ request: QueuedRequest, _ key: EntityKey) async throws -> Entity? {
        do {
            var read = ODataRequest(.read, try await url(of: request, key: key))
            if key == request.key { read.link = try await link(of: request) }
            let response = try await remote.execute(read)
            guard case .entity(var entity) = response.body else { return nil }
            if let found = entity.key, !key.parts.isEmpty, found != key, !found.isFolded(key) {
                throw ODataError(
                    status: 500, code: "AnotherEntity",
                    message: "The service answered the request for \(request.entityText) with another entity.")
            }
            if entity.control.etag == nil { entity.control.etag = response.etag }
            return entity
        } catch let error as ODataError where error.isMiss {
            try await confirm(error)
            return nil
        }
    }

    private func refuse(
        _ request: QueuedRequest, _ error: ODataError, _ attempt: Attempt, _ way: Way
    ) async throws -> Result {
        let isRepeatable = attempt.isRepeatable
        if isRepeatable == nil, error.repeatabilityResult == .accepted {
            try await write { try ServiceKnowledge.setRepeatable(true, in: $0) }
        }
        // A refusal of who recognises a repeat is one of the first sending as well.
        let wasSent = attempt.wasSent && (isRepeatable != true || error.repeatabilityResult != .accepted)
        if error.repeatabilityResult == .rejected {
            if error.status == 501, isRepeatable != false {
                // The service says that it does not know repeatable requests: once more without (rule 2).
                try await write { database in
                    try ServiceKnowledge.setRepeatable(false, in: database)
                    // It may have acted the first time: what the service has tells then, not what this one was told.
                    guard !wasSent else { return }
                    try outcomes.queue.markPending(request.id, forgetsIdentification: true, in: database)
                }
                return try await send(wasSent ? request : request.asPending, way)
            }
            if error.status == 412 {
                if !wasSent, !origin.isCopy, isRepeatable != false {
                    // It never was on its way before, so it has not acted: our clock is behind by more than the service
                    // remembers. Should this answer get lost, the time of the first sending tells of the doubt.
                    var unidentified = way
                    unidentified.isIdentified = false
                    return try await send(request.asPending, unidentified)
                }
                return try await archive(
                    request, .inDoubt, error,
                    message: "The service no longer remembers whether this request acted.")
            }
        }
        if error.isMiss {
            do {
                try await confirm(error)
            } catch {
                // The service was not reached, so that nothing was decided.
                try await putBack([request], wasSent: wasSent)
                throw error
            }
        }
        switch error.status {
        case _ where error.mayHaveActed:
            // The service may have acted for a gateway that did not wait: settled by the next upload (rule 1).
            throw error
        case _ where error.isOfCommunication:
            // Nothing was decided, so it is not for the archive.
            try await putBack([request], wasSent: wasSent)
            throw error
        case _ where wasSent && isRepeatable == true && request.isHarmfulTwice && error.code != Self.repeatInDoubt:
            return try await settle(refused: request, error)
        case 412 where request.kind == .call && request.etag != nil:
            try await noteRefusal(of: [request], wasSent: wasSent)
            return try await refuse(call: request, error, wasSent: wasSent, way)
        case 428 where request.kind.isRelation && !way.takesAnyVersion:
            // A relation has no version; that of the entity which it starts from is not what it was made of.
            var guarded = way
            guarded.takesAnyVersion = true
            try await noteRefusal(of: [request], wasSent: wasSent)
            return try await send(wasSent ? request : request.asPending, guarded)
        case 404 where request.kind == .unlink, 410 where request.kind == .unlink:
            try await write { try outcomes.accept(request, theirs: nil, etag: nil, in: $0) }
            return .accepted
        case 405 where request.kind == .update, 501 where request.kind == .update:
            guard attempt.method == .update, !way.puts.contains(request.entitySet) else { fallthrough }
            // The service may take whole entities only, of this set. That is kept once it has taken one: a first one whose answer
            // did not come may have acted, and is known as any other repeat.
            try await noteRefusal(of: [request], wasSent: wasSent)
            var whole = way
            whole.puts.insert(request.entitySet)
            return try await send(wasSent ? request : request.asPending, whole)
        case 400 where request.kind == .link, 409 where request.kind == .link:
            try await noteRefusal(of: [request], wasSent: wasSent)
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
            try await noteRefusal(of: [request], wasSent: wasSent)
            return try await resolve(conflict: Conflict(theirs: nil, error: error), request, wasSent: wasSent, way)
        case 409 where error.code == Self.repeatInDoubt:
            // Our own server, when it died at the wrong moment and others changed the rows since.
            return try await archive(request, .inDoubt, error, message: error.message)
        case 412, 428:
            try await noteRefusal(of: [request], wasSent: wasSent)
            let theirs: Entity?
            do {
                theirs = try await current(request, request.key)
            } catch let unreadable where refusal(unreadable, of: request) != nil {
                return try await archive(request, .refused, error, message: error.message)
            } catch {
                // Whatever keeps us from asking, it was refused: that it has not acted is known.
                try await putBack([request], wasSent: wasSent)
                throw error
            }
            if request.kind == .delete, theirs == nil {
                // Somebody else has deleted it: what was asked for is so.
                try await write { try outcomes.accept(request, theirs: nil, etag: nil, in: $0) }
                return .accepted
            }
            if error.status == 428, request.etag == nil, way.etag == nil, request.kind != .stream,
                let etag = theirs?.control.etag, let base = request.base, theirs?.matches(base) ?? false
            {
                // Nobody has changed it: its version was not known here.
                var guarded = way
                guarded.etag = etag
                return try await send(wasSent ? request : request.asPending, guarded)
            }
            if request.kind == .stream, isRepeatable != true, wasSent, let taken = try await taken(streamOf: request) {
                // Our own first try acted and changed the ETag.
                return try await accept(request, taken)
            }
            if request.kind == .update, isRepeatable != true, wasSent, let theirs, theirs.matches(request.changes) {
                // Our own first try acted and changed the ETag.
                try await write {
                    try outcomes.accept(
                        request, theirs: theirs, etag: theirs.control.etag, reading: .repeated(), in: $0)
                }
                return .accepted
            }
            return try await resolve(conflict: Conflict(theirs: theirs, error: error), request, wasSent: wasSent, way)
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
            details: error.details, innerError: error.innerError, theirs: theirs, conflict: conflict,
            at: environment.instant.description)
        try await write { try outcomes.fail(request, state, failure, in: $0) }
        return .failed
    }
}

extension ODataError {
    /// Whether nothing was decided: the way to the service or its gate was closed, for now.
    var isOfCommunication: Bool { [401, 407, 408, 429, 502, 503, 504].contains(status) }

    /// Whether something on the way answered for a service that may have acted all the same. Who says when to come again has
    /// not let the request in.
    var mayHaveActed: Bool { [408, 502, 504].contains(status) || status == 503 && retryAfter == nil }
}

extension ODataResponse {
    /// That an answer does not say that the service made a change; `nil` where it does. 202 leaves that to a later answer.
    var doubt: ODataError? {
        guard !(200..<300).contains(status) || status == 202 else { return nil }
        return ODataError(
            status: status, code: "NotDone",
            message: "The service answered \(status), which does not say that it made the change.")
    }
}

extension ResponseBody {
    fileprivate var isEntity: Bool { if case .entity = self { true } else { false } }
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
    /// The ETag that it is sent with: of what it was made of, else of what the service was found to have before.
    var guardingETag: String? { etag ?? detail.foundETag }

    /// Whether an entity has what the request sent.
    func isShown(by theirs: Entity) -> Bool {
        !isOfRow || kind == .delete || theirs.matches(changes.only(where: { !omitted.contains($0) }))
    }

    /// The same request, as if never sent.
    var asPending: QueuedRequest {
        var request = self
        request.state = .pending
        request.firstSent = nil
        request.failure = nil
        return request
    }
}
