import GRDB
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import ODataStore

/// Requests that succeed or fail together: sent as one change set of a batch (OData Protocol 4.01, 11.7.4).
extension Uploader {
    /// How a change set is sent, where it was sent before and refused for how it was sent.
    struct Way {
        /// How often it was put on top of others' versions.
        var rebases = 0
        /// Whether the service is told by which a repeat is recognised, where it knows that.
        var isIdentified = true
        /// Whether whole entities are sent in the place of single properties; what is known of the service where it is
        /// `nil`.
        var puts: Bool?
    }

    /// Sends the requests of a change set as one.
    func send(changeSet requests: [QueuedRequest], _ way: Way = Way()) async throws -> Result {
        let wasSent = requests.contains { $0.state == .sending }
        let isRepeatable = try await database.read {
            way.isIdentified ? try ServiceKnowledge.isRepeatable(model: mapping.model, in: $0) : false
        }
        do {
            if wasSent, isRepeatable != true, let settled = try await settle(changeSet: requests) { return settled }
            if !wasSent || isRepeatable != true {
                let conflicts = try await differencesFromBase(requests)
                if let error = requests.lazy.compactMap({ conflicts[$0.id]?.error }).first {
                    return try await resolve(conflicts: conflicts, requests, error, way)
                }
            }
        } catch let error as ODataError where !error.isOfCommunication {
            // One of them cannot be looked at, and will not be the next time: the rest must not wait for that.
            return try await archive(
                changeSet: requests, wasSent ? .inDoubt : .refused, error, message: error.message)
        }
        let marked = try await mark(requests)
        var batch = ODataRequest(.create, ODataURL(path: ResourcePath([.batch])))
        let bindings: Bindings
        do {
            let (items, mentions) = try await items(for: marked, isRepeatable: isRepeatable, puts: way.puts)
            let isKnown = try await database.read { try ServiceKnowledge.hasBind(model: mapping.model, in: $0) }
            let hasReferences = mentions.contains(.inBody)
            bindings = hasReferences ? isKnown.map { $0 ? .known : .refused } ?? .unknown : .none
            // Sent before, it is sent as it was: the service may know it by that.
            if bindings == .refused || mentions.contains(.apart), !wasSent { return try await sendApart(marked) }
            batch.body = .batch(items)
        } catch let error as ODataError where !error.isOfCommunication {
            return try await archive(changeSet: marked, wasSent ? .inDoubt : .refused, error, message: error.message)
        }
        let results: [BatchResult]
        do {
            guard case .batch(let answers) = try await remote.execute(batch).body, answers.count == marked.count else {
                return try await archive(
                    changeSet: marked, .inDoubt, doubt, message: "The service answered the change set in part.")
            }
            results = answers
        } catch let error as ODataError where [404, 405, 415, 501].contains(error.status) {
            // The service has no batches, or none of this kind: one after the other from now on.
            try await write { database in
                try ServiceKnowledge.setChangeSets(false, in: database)
                for request in marked {
                    try outcomes.queue.markPending(request.id, forgetsIdentification: true, in: database)
                }
            }
            return .postponed
        } catch let error as ODataError {
            return try await refuse(
                changeSet: marked, error, isRepeatable: isRepeatable, wasSent: wasSent, bindings, way)
        } catch let error as TransportError where error.isCertainlyUnsent {
            try await putBack(changeSet: marked, wasSent: wasSent, wasTransmitted: false)
            throw error
        } catch let error as InvalidResponseError where error.isFromService {
            let doubt = ODataError(status: error.status, code: "UnreadableAnswer", message: error.description)
            return try await archive(changeSet: marked, .inDoubt, doubt, message: doubt.message)
        }
        let refusals = results.compactMap { result -> ODataError? in
            if case .failure(let error) = result.result { error } else { nil }
        }
        // What was refused since another one was says less than why that was.
        if let error = refusals.first(where: { $0.status != 424 }) ?? refusals.first {
            return try await refuse(
                changeSet: marked, error, isRepeatable: isRepeatable, wasSent: wasSent, bindings, way)
        }
        if bindings == .unknown { try await write { try ServiceKnowledge.setBind(true, in: $0) } }
        if way.puts == true { try await write { try ServiceKnowledge.setPatch(false, in: $0) } }
        return try await accept(changeSet: marked, results.compactMap { try? $0.result.get() })
    }

    private func putBack(
        changeSet requests: [QueuedRequest], wasSent: Bool, wasTransmitted: Bool = true
    ) async throws {
        guard !wasSent else { return }
        try await write { database in
            for request in requests {
                try outcomes.queue.markPending(request.id, forgetsIdentification: !wasTransmitted, in: database)
            }
        }
    }

    /// Whether bodies of a change set refer to what it creates, and what is known of the service taking that.
    private enum Bindings {
        case none, unknown, known, refused
    }

    /// Takes a change set apart whose references the service does not take: its requests are sent one after the other, each
    /// waiting for those before it, with the keys that these were given.
    private func sendApart(_ requests: [QueuedRequest]) async throws -> Result {
        try await write { database in
            let dependencies = QueueDependencies(queue: outcomes.queue)
            var earlier: Set<Int64> = []
            for request in requests {
                try outcomes.queue.markPending(request.id, forgetsIdentification: true, in: database)
                // One that was mended may wait for what was made after it.
                let free = try earlier.filter { try !dependencies.anyWaits([$0], for: request.id, in: database) }
                try outcomes.queue.leaveChangeSet(request.id, in: database)
                try dependencies.set(free.union(request.dependsOn), of: request.id, in: database)
                earlier.insert(request.id)
            }
        }
        return .postponed
    }

    // MARK: Requests

    /// The requests as the service gets them. What an earlier one of them creates under a key that only the service
    /// will give is named by its content id (rule 5).
    ///
    /// - Returns: the requests, and where they name what others create.
    private func items(
        for requests: [QueuedRequest], isRepeatable: Bool?, puts: Bool?
    ) async throws -> ([BatchItem], mentions: Set<ChangeSetReferences.Mention>) {
        let knowsPatch = try await database.read { try ServiceKnowledge.hasPatch(in: $0) }
        var created: [ChangeSetReferences.Created] = []
        var items: [BatchItem] = []
        var mentions: Set<ChangeSetReferences.Mention> = []
        var touched: [RowReference: String] = [:]
        for (position, request) in requests.enumerated() {
            let references = ChangeSetReferences(mapping: mapping, created: created)
            let creation = created.first { $0.isOfRow(of: request) }
            // What is made in this change set cannot be read yet.
            var message = try await message(
                for: request, isRepeatable: isRepeatable, puts: creation == nil ? puts : false)
            if let creation, request.kind == .update, puts ?? !knowsPatch {
                message.method = .replace
                message.body = .entity(
                    creation.request.changes.only(where: { !creation.request.omitted.contains($0) })
                        .merging(request.changes))
            }
            // What an earlier one makes of the entity has an ETag that nobody knows yet: that one guards them all, where it
            // was made of the same version. Else the set meets the conflict that there is.
            if let row = request.touchedRow {
                if let guardedBy = touched[row], guardedBy == message.ifMatch {
                    message.ifMatch = nil
                } else if let etag = message.ifMatch {
                    touched[row] = etag
                }
            }
            mentions.insert(references.resolve(&message, request))
            let id = String(position + 1)
            if wire.namesContentInOperation { message.headers["Content-ID"] = id }
            items.append(BatchItem(id: id, request: message, atomicityGroup: "changes"))
            if request.kind == .create { created.append(.init(id: id, request: request, message: message)) }
        }
        return (items, mentions)
    }

    // MARK: Answers

    /// Stores that the service has acted: all answers in one transaction.
    private func accept(changeSet requests: [QueuedRequest], _ responses: [ODataResponse]) async throws -> Result {
        var answers: [(id: Int64, theirs: Entity?, etag: String?, key: EntityKey?)] = []
        for (request, response) in zip(requests, responses) {
            var theirs: Entity?
            if case .entity(let entity) = response.body { theirs = entity }
            var key: EntityKey?
            if request.kind == .create, theirs?.key == nil {
                key = (response.location ?? response.entityID).flatMap {
                    KeyURL.key(inID: $0, shape: request.changes.shape, model: mapping.model)
                }
                if let key { theirs = await readAgain(request, key) ?? theirs }
            } else if request.kind == .update, theirs == nil,
                wire.readsAgain || (response.etag == nil && request.etag != nil)
            {
                theirs = await readAgain(request, request.key)
            } else if request.kind == .call {
                theirs = try await boundEntity(after: request, response)
            }
            let etag = request.kind == .call ? nil : response.etag
            if theirs != nil, theirs?.control.etag == nil { theirs?.control.etag = etag }
            answers.append((request.id, theirs, theirs?.control.etag ?? etag, key))
        }
        let isAccepted = responses.contains { $0.repeatabilityResult == .accepted }
        let (known, failedAt) = (answers, environment.instant.description)
        let unclear = try await write { database -> Int in
            if isAccepted { try ServiceKnowledge.setRepeatable(true, in: database) }
            var unclear = 0
            for answer in known {
                // The ones before may have given this one another key.
                guard let request = try outcomes.queue.request(answer.id, in: database) else { continue }
                var theirs = answer.theirs
                if request.kind == .create, theirs?.key == nil {
                    guard let key = answer.key ?? (request.omitted.isEmpty ? request.key : nil) else {
                        unclear += 1
                        let failure = QueuedRequest.Failure(
                            status: 204, code: "NoKey",
                            message: "The service created \(request.entitySet) without saying under which key.",
                            at: failedAt)
                        try outcomes.fail(request, .inDoubt, failure, in: database)
                        continue
                    }
                    theirs = Entity(shape: request.changes.shape, key: key)
                    theirs?.control.etag = answer.etag
                }
                try outcomes.accept(request, theirs: theirs, etag: answer.etag, in: database)
            }
            return unclear
        }
        return unclear == 0 ? .accepted : .failed
    }

    private func refuse(
        changeSet requests: [QueuedRequest], _ error: ODataError, isRepeatable: Bool?, wasSent: Bool,
        _ bindings: Bindings, _ way: Way
    ) async throws -> Result {
        if error.repeatabilityResult == .rejected {
            if error.status == 501, isRepeatable != false {
                // Once more without (rule 2).
                try await write { database in
                    try ServiceKnowledge.setRepeatable(false, in: database)
                    for request in requests {
                        try outcomes.queue.markPending(request.id, forgetsIdentification: true, in: database)
                    }
                }
                return .postponed
            }
            if error.status == 412, !wasSent, isRepeatable != false {
                // They never were on their way before, so they have not acted: our clock is behind by more than the
                // service remembers.
                var unidentified = way
                unidentified.isIdentified = false
                return try await send(changeSet: requests.map(\.asPending), unidentified)
            }
            if error.status == 412 {
                return try await archive(
                    changeSet: requests, .inDoubt, error,
                    message: "The service no longer remembers whether these requests acted.")
            }
        }
        switch error.status {
        case 502, 504: throw error
        case _ where error.isOfCommunication:
            try await putBack(changeSet: requests, wasSent: wasSent)
            throw error
        case 409 where error.code == "RepeatInDoubt":
            return try await archive(changeSet: requests, .inDoubt, error, message: error.message)
        case 404, 410, 412, 428:
            return try await resolve(conflicts: conflicts(in: requests, error), requests, error, way)
        case 400 where bindings == .unknown || bindings == .refused:
            // The service may not know references in bodies.
            return try await sendApart(requests)
        case 405, 501:
            let knowsPatch = try await database.read { try ServiceKnowledge.hasPatch(in: $0) }
            if knowsPatch, way.puts == nil, requests.contains(where: { $0.kind == .update }) {
                // The service may know whole entities only. That is kept once it has taken them.
                try await write { database in
                    for request in requests {
                        try outcomes.queue.markPending(request.id, forgetsIdentification: true, in: database)
                    }
                }
                var whole = way
                whole.puts = true
                return try await send(changeSet: requests.map(\.asPending), whole)
            }
            guard error.status == 501, bindings != .none else { fallthrough }
            // What else it may not know are references in bodies.
            try await write { try ServiceKnowledge.setBind(false, in: $0) }
            return try await sendApart(requests)
        default: return try await archive(changeSet: requests, .refused, error, message: error.message)
        }
    }

    private func archive(
        changeSet requests: [QueuedRequest], _ state: QueuedRequest.State, _ error: ODataError, message: String,
        conflicts: [Int64: Conflict] = [:]
    ) async throws -> Result {
        let at = environment.instant.description
        var versions = conflicts.compactMapValues(\.theirs)
        for request in requests where versions[request.id] == nil {
            versions[request.id] = await version(behind: request, state)
        }
        let (known, kinds) = (versions, conflicts.mapValues(\.kind))
        try await write { database in
            for request in requests {
                let failure = QueuedRequest.Failure(
                    status: error.status, code: error.code, message: message, target: error.target,
                    innerError: error.innerError, theirs: known[request.id], conflict: kinds[request.id], at: at)
                try outcomes.fail(request, state, failure, in: database)
            }
        }
        return .failed
    }

    // MARK: Conflicts

    /// The members of a change set that others have changed meanwhile, as far as no ETag guards them (rule 8).
    private func differencesFromBase(_ requests: [QueuedRequest]) async throws -> [Int64: Conflict] {
        var conflicts: [Int64: Conflict] = [:]
        for request in requests { conflicts[request.id] = try await differenceFromBase(request) }
        return conflicts
    }

    /// The members of a change set that others have changed meanwhile: the service refuses all for one.
    private func conflicts(in requests: [QueuedRequest], _ error: ODataError) async throws -> [Int64: Conflict] {
        var conflicts: [Int64: Conflict] = [:]
        for request in requests where [QueuedRequest.Kind.update, .delete, .call].contains(request.kind) {
            guard let etag = request.etag else { continue }
            let theirs: Entity?
            do {
                theirs = try await current(request, request.key)
            } catch let unreadable as ODataError where !unreadable.isOfCommunication {
                continue
            }
            if theirs?.control.etag != etag { conflicts[request.id] = Conflict(theirs: theirs, error: error) }
        }
        return conflicts
    }

    /// Settles conflicts by the policy. A change set is given up as a whole, since it must be made as a whole.
    private func resolve(
        conflicts: [Int64: Conflict], _ requests: [QueuedRequest], _ error: ODataError, _ way: Way
    ) async throws -> Result {
        var rebased: [(QueuedRequest, Entity, Entity)] = []
        for request in requests {
            guard let conflict = conflicts[request.id] else { continue }
            let decision = await decide(conflict, request)
            switch decision {
            case .fail: continue
            case .theirs:
                return .givenUp(try await giveUp(requests, conflicts))
            case .mine, .merged:
                guard let version = conflict.theirs else { continue }
                var changes = request.changes
                if case .merged(let merged) = decision { changes = merged }
                rebased.append((request, changes, version))
            }
        }
        guard !rebased.isEmpty, rebased.count == conflicts.count, way.rebases < Self.maxRebases else {
            let message =
                conflicts.isEmpty
                ? error.message
                : conflicts.values.allSatisfy { $0.kind == .deleted }
                    ? "An entity of the change set was deleted by somebody else."
                    : "An entity of the change set was changed by somebody else."
            return try await archive(changeSet: requests, .refused, error, message: message, conflicts: conflicts)
        }
        let changed = rebased
        let again = try await write { database in
            for (request, changes, version) in changed {
                try outcomes.rebase(request, changes: changes, onto: version, in: database)
            }
            return try requests.compactMap { request in
                try outcomes.queue.markPending(request.id, forgetsIdentification: true, in: database)
                return try outcomes.queue.request(request.id, in: database)
            }
        }
        var next = way
        next.rebases += 1
        return try await send(changeSet: again, next)
    }

    /// Gives a change set up: where there is a conflict in favour of the service's version, else of what was before.
    ///
    /// - Returns: all that went.
    private func giveUp(
        _ requests: [QueuedRequest], _ conflicts: [Int64: Conflict]
    ) async throws -> [QueuedRequest] {
        try await write { database in
            // Whatever became of them, none is on its way any more.
            for request in requests {
                try outcomes.queue.markPending(request.id, forgetsIdentification: true, in: database)
            }
            return try outcomes.givenUp(in: database) {
                // The newest first, so that each one leaves what the ones before it made.
                for request in requests.reversed() {
                    guard let request = try outcomes.queue.request(request.id, in: database) else { continue }
                    if let conflict = conflicts[request.id] {
                        try outcomes.yield(request, to: conflict.theirs, in: database)
                    } else {
                        try outcomes.giveUp(request, in: database)
                    }
                }
            }
        }
    }

    // MARK: Doubt

    /// Finds out what became of a change set whose answer was lost: all of it was made, or nothing. Every member that
    /// can be looked at is asked. Where they disagree, others have been there, and it stays in doubt; and so it does where
    /// only deletions seem made, since others may have deleted the same, and where none of them tells.
    ///
    /// - Returns: `nil` when sending it once more can do no harm.
    private func settle(changeSet requests: [QueuedRequest]) async throws -> Result? {
        var verdicts: Set<Bool> = []
        var deletesAlone = true
        for request in requests {
            guard let hasActed = try await hasActed(request) else { continue }
            verdicts.insert(hasActed)
            if request.kind != .delete { deletesAlone = false }
        }
        if verdicts == [false] { return nil }
        // Updates made once more come to the same, and what others changed meanwhile is found before (rules 5 and 8).
        if verdicts.isEmpty, requests.allSatisfy({ $0.kind == .update && $0.isGuarded }) { return nil }
        // Nothing but deletions, and nothing is left of what was to be deleted: it comes to the same.
        let isDeletion = requests.allSatisfy { $0.kind == .delete }
        guard verdicts == [true], !deletesAlone || isDeletion else {
            return try await archive(changeSet: requests, .inDoubt, doubt, message: doubt.message)
        }
        return try await accept(changeSet: requests, requests.map { _ in ODataResponse(status: 204) })
    }

    /// Whether a request seems to have acted, by what the service has now; `nil` where that does not tell.
    private func hasActed(_ request: QueuedRequest) async throws -> Bool? {
        switch request.kind {
        case .create:
            guard request.omitted.isEmpty else { return nil }
            guard let theirs = try await current(request, request.key) else { return false }
            // Another one may be somebody else's, or ours as others have changed it since.
            return theirs.matches(request.changes) ? true : nil
        case .update:
            guard request.isGuarded, let theirs = try await current(request, request.key) else { return nil }
            return request.hasUpdated(theirs)
        case .delete: return try await current(request, request.key) == nil
        case .stream, .link, .unlink, .call: return nil
        }
    }
}

extension QueuedRequest {
    /// Whether a version that the request was made of is known, by its ETag or by its values.
    fileprivate var isGuarded: Bool { etag != nil || base != nil }

    /// Whether an update seems to have made the version that the service has: that has the values which were sent, and
    /// not those which the update was made of.
    ///
    /// - Returns: `nil` where the values tell neither or both, since others have been there or nothing differs.
    fileprivate func hasUpdated(_ theirs: Entity) -> Bool? {
        if let etag, theirs.control.etag == etag { return false }
        let isMine = theirs.matches(changes)
        guard let base else { return isMine ? true : nil }
        guard isMine != theirs.matches(base) else { return nil }
        if isMine { return true }
        // Under another ETag, others may have put the old values back.
        return etag == nil ? false : nil
    }
}
