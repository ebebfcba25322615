import GRDB
import ODataHTTP
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// Requests that succeed or fail together: sent as one change set of a batch (OData Protocol 4.01, 11.7.4).
extension Uploader {
    /// Sends the requests of a change set as one.
    func send(changeSet requests: [QueuedRequest], _ way: Way = Way()) async throws -> Result {
        let wasSent = requests.contains(where: \.mayHaveActed)
        let isRepeatable = try await database.read {
            way.isIdentified ? try ServiceKnowledge.isRepeatable(model: mapping.model, in: $0) : false
        }
        var seen: [RowReference: Entity] = [:]
        do {
            if wasSent, isRepeatable != true, let settled = try await settle(changeSet: requests) { return settled }
            if !wasSent || isRepeatable != true {
                let found = try await comparisons(before: requests)
                if let error = requests.lazy.compactMap({ found.conflicts[$0.id]?.error }).first {
                    return try await resolve(conflicts: found.conflicts, requests, error, way)
                }
                seen = found.seen
            }
        } catch {
            // One of them cannot be looked at, and will not be the next time: the rest must not wait for that.
            guard let refusal = requests.lazy.compactMap({ self.refusal(error, of: $0) }).first else { throw error }
            return try await archive(
                changeSet: requests, wasSent ? .inDoubt : .refused, refusal, message: refusal.message)
        }
        guard let marked = try await mark(requests, found: Self.etags(of: seen, guarding: requests)) else {
            return .postponed
        }
        var batch = ODataRequest(.create, ODataURL(path: ResourcePath([.batch])))
        let sending: Sending
        do {
            let (items, mentions) = try await items(for: marked, isRepeatable: isRepeatable, way)
            let isKnown = try await database.read { try ServiceKnowledge.hasBind(model: mapping.model, in: $0) }
            let hasReferences = mentions.contains(.inBody)
            let bindings = hasReferences ? isKnown.map { $0 ? Bindings.known : .refused } ?? .unknown : .none
            // Sent before, it is sent as it was: the service may know it by that.
            if bindings == .refused || mentions.contains(.apart), !wasSent { return try await sendApart(marked) }
            let isIdentified = items.allSatisfy { $0.request.repeatability != nil }
            sending = Sending(
                isRepeatable: isRepeatable, isIdentified: isIdentified, wasSent: wasSent, bindings: bindings, seen: seen
            )
            batch.body = .batch(items)
            batch.mayHaveBeenSent = wasSent
        } catch {
            guard let refusal = marked.lazy.compactMap({ self.refusal(error, of: $0) }).first else {
                // Nothing has left yet.
                try await putBack(marked, wasSent: wasSent, wasTransmitted: false)
                throw error
            }
            return try await archive(
                changeSet: marked, wasSent ? .inDoubt : .refused, refusal, message: refusal.message)
        }
        let results: [BatchResult]
        do {
            guard case .batch(let answers) = try await transmit(batch).body, answers.count == marked.count else {
                return try await archive(
                    changeSet: marked, .inDoubt, doubt, message: "The service answered the change set in part.")
            }
            results = answers
        } catch let error as ODataError where [404, 405, 415, 501].contains(error.status) {
            return try await goApart(marked, error, sending)
        } catch let error as ODataError {
            return try await refuse(changeSet: marked, error, sending, way)
        } catch let error as Unsent {
            try await putBack(marked, wasSent: wasSent, wasTransmitted: false)
            throw error.reason
        } catch let error as InvalidResponseError where error.isFromService {
            let doubt = ODataError(unreadable: error)
            return try await archive(changeSet: marked, .inDoubt, doubt, message: doubt.message)
        }
        return try await take(results, to: marked, sending, way)
    }

    /// How a change set was sent.
    private struct Sending {
        let isRepeatable: Bool?
        /// Whether the requests have an identification by which a repeat is recognised.
        let isIdentified: Bool
        let wasSent: Bool
        let bindings: Bindings
        /// The entities as the service had them before, where it was asked.
        let seen: [RowReference: Entity]
    }

    /// Takes the answers to all requests of a change set.
    private func take(
        _ results: [BatchResult], to requests: [QueuedRequest], _ sending: Sending, _ way: Way
    ) async throws -> Result {
        let refusals = results.compactMap { result -> ODataError? in
            switch result.result {
            case .failure(let error): error
            case .success(let response): response.doubt
            }
        }
        // What was refused since another one was says less than why that was.
        if let error = refusals.first(where: { $0.status != 424 }) ?? refusals.first {
            guard refusals.count == results.count else {
                // Sent again, what acted would act twice, unless it was undone with the rest: nobody can tell.
                return try await archive(
                    changeSet: requests, .inDoubt, error,
                    message: "The service took a part of the change set and refused another: \(error.message)")
            }
            return try await refuse(changeSet: requests, error, sending, way)
        }
        try await write { database in
            if sending.bindings == .unknown { try ServiceKnowledge.setBind(true, in: database) }
            try ServiceKnowledge.addWholeEntities(of: way.puts, in: database)
        }
        return try await accept(
            changeSet: requests, results.compactMap { try? $0.result.get() }, seen: sending.seen,
            isRepeat: sending.wasSent, wereIdentified: sending.isIdentified)
    }

    /// The service has refused the batch itself: it has none, or none of this kind, and the requests are sent one after the
    /// other. That is kept where the service says so, and not where it may have been something on the way, or a moment.
    private func goApart(
        _ requests: [QueuedRequest], _ error: ODataError, _ sending: Sending
    ) async throws -> Result {
        let isCertain = [405, 501].contains(error.status) || !error.code.isEmpty
        if sending.wasSent, sending.isRepeatable == true {
            // It may have acted the first time, and the service knows it by what it was identified with: not by what would be
            // sent now. Where it knows none any more, what it has tells.
            guard isCertain else { throw error }
            if let settled = try await settle(changeSet: requests) { return settled }
        }
        try await write { database in
            if isCertain { try ServiceKnowledge.setChangeSets(false, in: database) }
            for request in requests {
                try outcomes.queue.markPending(request.id, forgetsIdentification: true, in: database)
            }
        }
        return isCertain ? .postponed : .apart
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

    /// The ETags of entities as the service had them before, by the numbers of the first changes of each, where those have none.
    private static func etags(
        of seen: [RowReference: Entity], guarding requests: [QueuedRequest]
    ) -> [Int64: String] {
        var etags: [Int64: String] = [:]
        var guarded: Set<RowReference> = []
        for request in requests {
            guard let row = request.touchedRow, !guarded.contains(row) else { continue }
            if request.etag == nil, request.kind == .update || request.kind == .delete {
                etags[request.id] = seen[row]?.control.etag
            }
            if (request.etag ?? etags[request.id]) != nil { guarded.insert(row) }
        }
        return etags
    }

    /// The requests as the service gets them. What an earlier one of them creates under a key that only the service
    /// will give is named by its content id (rule 5).
    ///
    /// - Returns: the requests, and where they name what others create.
    private func items(
        for requests: [QueuedRequest], isRepeatable: Bool?, _ way: Way
    ) async throws -> ([BatchItem], mentions: Set<ChangeSetReferences.Mention>) {
        var created: [ChangeSetReferences.Created] = []
        var items: [BatchItem] = []
        var mentions: Set<ChangeSetReferences.Mention> = []
        var touched: [RowReference: String] = [:]
        var wholes: [RowReference: Entity] = [:]
        var called: Set<RowReference> = []
        for (position, request) in requests.enumerated() {
            let references = ChangeSetReferences(mapping: mapping, created: created)
            let earlier = request.touchedRow.flatMap { wholes[$0] }
            // What is made in this change set cannot be read yet.
            var message = try await message(
                for: request, isRepeatable: isRepeatable, way, merges: earlier == nil)
            if let row = request.touchedRow {
                if request.kind == .update, try await putsWhole(request, way) {
                    if let earlier, case .entity(let changes) = message.body {
                        message.method = .replace
                        message.body = .entity(earlier.merging(changes))
                    }
                    // The whole entity is one from before the action: it would undo its work.
                    if called.contains(row) { mentions.insert(.apart) }
                }
                // What the next whole entity of the row is made from.
                if request.kind == .create || message.method == .replace, case .entity(let entity) = message.body {
                    wholes[row] = entity
                }
                if request.kind == .call { called.insert(row) }
            }
            // What an earlier one makes of the entity has an ETag that nobody knows yet: that one guards them all, where it
            // was made of the same version. Else the set meets the conflict that there is.
            var isGuarded = request.isOfRow ? created.contains { $0.isOfRow(of: request) } : false
            if let row = request.touchedRow {
                if let guardedBy = touched[row], guardedBy == message.ifMatch ?? guardedBy {
                    message.ifMatch = nil
                    isGuarded = true
                } else if let etag = message.ifMatch {
                    touched[row] = etag
                }
            }
            mentions.insert(references.resolve(&message, request))
            if way.takesAnyVersion, isGuarded, message.ifMatch == nil { message.ifMatch = "*" }
            let id = String(position + 1)
            if wire.namesContentInOperation { message.headers["Content-ID"] = id }
            items.append(BatchItem(id: id, request: message, atomicityGroup: "changes"))
            if request.kind == .create { created.append(.init(id: id, request: request, message: message)) }
        }
        return (items, mentions)
    }

    // MARK: Answers

    /// What the service said of one request of a change set, or was asked then.
    private struct Answer: Sendable {
        let id: Int64
        let theirs: Entity?
        let etag: String?
        /// The key of what it created, where the entity does not show that.
        let key: EntityKey?
        let reading: UploadOutcomes.Reading
    }

    /// Stores that the service has acted: all answers in one transaction.
    ///
    /// - Parameters:
    ///   - seen: the entities as the service had them before, where it was asked.
    ///   - isRepeat: whether it may have acted long ago, so that the answers tell what it has now.
    ///   - wereIdentified: whether the requests had an identification by which a repeat is recognised.
    func accept(
        changeSet requests: [QueuedRequest], _ responses: [ODataResponse], seen: [RowReference: Entity] = [:],
        isRepeat: Bool, wereIdentified: Bool = false
    ) async throws -> Result {
        let all = Set(requests.map(\.id))
        var answers: [Answer] = []
        for (request, response) in zip(requests, responses) {
            var theirs: Entity?
            if case .entity(let entity) = response.body { theirs = entity }
            var key: EntityKey?
            var reading = isRepeat ? UploadOutcomes.Reading.repeated(with: all) : .atOnce
            if request.kind == .create, theirs?.key == nil {
                key = namedKey(request, response)
                if let key { theirs = await readAgain(request, key) ?? theirs }
            } else if request.kind == .update, theirs == nil,
                isRepeat || wire.readsAgain || (response.etag == nil && request.etag != nil)
            {
                theirs = await readAgain(request, request.key)
                if !isRepeat { reading = .later(with: all) }
            } else if request.kind == .call {
                theirs = try await boundEntity(after: request, response)
            }
            let etag = request.kind == .call ? nil : response.etag
            if theirs != nil, theirs?.control.etag == nil { theirs?.control.etag = etag }
            answers.append(
                Answer(
                    id: request.id, theirs: theirs, etag: theirs?.control.etag ?? etag, key: key, reading: reading))
        }
        let (known, failedAt) = (answers, environment.instant.description)
        let unclear = try await write { database -> Int in
            try ServiceKnowledge.learnRepeatability(
                responses.map(\.repeatabilityResult), wereIdentified: wereIdentified, in: database)
            var unclear = 0
            var seen = seen
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
                let row = request.touchedRow
                let isOvertaken = try isRepeat && theirs.map { try !isShown(request, by: $0, in: database) } ?? false
                try outcomes.accept(
                    request, theirs: theirs, etag: answer.etag, seen: row.flatMap { seen[$0] },
                    isOvertaken: isOvertaken, reading: answer.reading, in: database)
                // What the next one of the row met.
                if let row, let former = seen[row] {
                    let changed = request.isOfRow ? former.merging(request.changes) : former
                    seen[row] = theirs.map(changed.merging) ?? changed
                }
            }
            return unclear
        }
        return unclear == 0 ? .accepted : .failed
    }

    /// Whether an entity has what a request sent, but for what those behind it in its change set have made otherwise.
    private func isShown(_ request: QueuedRequest, by theirs: Entity, in database: Database) throws -> Bool {
        guard let changeSet = request.options.changeSet, request.isOfRow else { return request.isShown(by: theirs) }
        var hidden = request.omitted
        for later in try outcomes.queue.requests(ofChangeSet: changeSet, in: database)
        where later.id > request.id && later.touchedRow == request.touchedRow {
            hidden.formUnion(later.changes.loadedProperties)
        }
        return theirs.matches(request.changes.only(where: { !hidden.contains($0) }))
    }

    private func refuse(
        changeSet requests: [QueuedRequest], _ error: ODataError, _ sending: Sending, _ way: Way
    ) async throws -> Result {
        let (isRepeatable, bindings) = (sending.isRepeatable, sending.bindings)
        // A refusal of who recognises a repeat is one of the first sending as well.
        var wasSent = sending.wasSent && (isRepeatable != true || error.repeatabilityResult != .accepted)
        if error.repeatabilityResult == .rejected {
            if error.status == 501, isRepeatable != false {
                // Once more without (rule 2); those that may have acted the first time are looked for before.
                try await write { [wasSent] database in
                    try ServiceKnowledge.setRepeatable(false, in: database)
                    guard !wasSent else { return }
                    for request in requests {
                        try outcomes.queue.markPending(request.id, forgetsIdentification: true, in: database)
                    }
                }
                return .postponed
            }
            if error.status == 412, !wasSent, !origin.isCopy, isRepeatable != false {
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
        if wasSent, isRepeatable == true, requests.contains(where: \.isHarmfulTwice), !error.isOfCommunication,
            error.code != Self.repeatInDoubt
        {
            // The service recognises repeats, and does not say that it recognised this one: what it has tells.
            if let settled = try await settle(refused: requests, error) { return settled }
            wasSent = false
        }
        switch error.status {
        case _ where error.mayHaveActed: throw error
        case _ where error.isOfCommunication:
            try await putBack(requests, wasSent: wasSent)
            throw error
        case 409 where error.code == Self.repeatInDoubt:
            return try await archive(changeSet: requests, .inDoubt, error, message: error.message)
        case 404, 410, 412, 428:
            try await noteRefusal(of: requests, wasSent: wasSent)
            let found: [Int64: Conflict]
            do {
                if error.status != 428, let taken = try await takeDeletions(of: requests, wasSent: wasSent) {
                    return taken
                }
                found = try await conflicts(in: requests, error)
            } catch {
                // Whatever keeps us from asking, they were refused: that none has acted is known.
                try await putBack(requests, wasSent: wasSent)
                throw error
            }
            if error.status == 428, found.isEmpty, !way.takesAnyVersion {
                // What earlier ones of it make has a version that nobody knows yet; the service wants to be told all the same.
                var guarded = way
                guarded.takesAnyVersion = true
                return try await send(changeSet: wasSent ? requests : requests.map(\.asPending), guarded)
            }
            return try await resolve(conflicts: found, requests, error, way)
        case 400 where bindings == .unknown || bindings == .refused:
            // The service may not know references in bodies.
            return try await sendApart(requests)
        case 405, 501:
            try await noteRefusal(of: requests, wasSent: wasSent)
            let untried = try await untriedWholes(of: requests, error, way)
            if !untried.isEmpty {
                // The service may know whole entities only, of some sets. That is kept once it has taken them.
                var whole = way
                whole.puts.formUnion(untried)
                return try await send(changeSet: wasSent ? requests : requests.map(\.asPending), whole)
            }
            guard error.status == 501, bindings != .none else { fallthrough }
            // What else it may not know are references in bodies.
            try await write { try ServiceKnowledge.setBind(false, in: $0) }
            return try await sendApart(requests)
        default: return try await archive(changeSet: requests, .refused, error, message: error.message)
        }
    }

    /// Takes the deletions of what others have deleted out of a change set that the service refused: what was asked for is so.
    /// Those of entities of which anything else waits stay, since that meets the deletion as a conflict.
    ///
    /// - Returns: `nil` where there are none.
    private func takeDeletions(of requests: [QueuedRequest], wasSent: Bool) async throws -> Result? {
        var candidates: Set<Int64> = []
        for request in requests where request.kind == .delete {
            let isAlone = try await read { database in
                try outcomes.queue.requests(set: request.entitySet, rowID: request.rowID, in: database).count == 1
            }
            guard isAlone else { continue }
            do {
                if try await current(request, request.key) == nil { candidates.insert(request.id) }
            } catch let unreadable where refusal(unreadable, of: request) != nil {
                continue
            }
        }
        guard !candidates.isEmpty else { return nil }
        let gone = candidates
        try await putBack(requests, wasSent: wasSent)
        return .inPart(
            try await write { database in
                try requests.filter { request in
                    // Undone while the service was asked about it.
                    guard gone.contains(request.id), try outcomes.queue.request(request.id, in: database) != nil
                    else { return false }
                    try outcomes.accept(request, theirs: nil, etag: nil, in: database)
                    return true
                }
            })
    }

    /// The entity sets whose entities a change set has changed by single properties, when it was refused for a method: the one
    /// that the refusal names, where it does.
    private func untriedWholes(
        of requests: [QueuedRequest], _ error: ODataError, _ way: Way
    ) async throws -> Set<String> {
        let known = try await database.read { try ServiceKnowledge.wholeEntities(in: $0) }
        let sets = Set(requests.filter { $0.kind == .update }.map(\.entitySet))
            .subtracting(way.puts).filter { !known.contains($0) }
        guard let named = error.target, sets.contains(named) else { return sets }
        return [named]
    }

    func archive(
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
            if state == .refused {
                // None is on its way any more: one that was deleted here meanwhile takes with it what was made for it.
                for request in requests {
                    try outcomes.queue.markPending(request.id, forgetsIdentification: false, in: database)
                }
            }
            for request in requests {
                let failure = QueuedRequest.Failure(
                    status: error.status, code: error.code, message: message, target: error.target,
                    details: error.details, innerError: error.innerError, theirs: known[request.id],
                    conflict: kinds[request.id], at: at)
                try outcomes.fail(request, state, failure, in: database)
            }
        }
        return .failed
    }

    // MARK: Conflicts

    /// What the service has of what a change set changes, held against what its members were made of, as far as no ETag guards
    /// them (rule 8). What an earlier member changes, a later one was made of; all else others may have changed.
    ///
    /// - Returns: the members that others have changed meanwhile, and what the service has of the rows that it was asked about.
    private func comparisons(
        before requests: [QueuedRequest]
    ) async throws -> (conflicts: [Int64: Conflict], seen: [RowReference: Entity]) {
        var conflicts: [Int64: Conflict] = [:]
        var seen: [RowReference: Entity] = [:]
        var changed: [RowReference: Set<String>] = [:]
        var related: Set<RelatedEnd> = []
        for request in requests {
            let row = request.touchedRow
            // What an earlier one relates is what this one takes the place of.
            if let end = RelatedEnd(request), !related.insert(end).inserted { continue }
            if let row, let earlier = changed[row] {
                if request.kind == .update || request.kind == .delete, request.etag == nil,
                    let theirs = seen[row], let base = request.base?.only(where: { !earlier.contains($0) }),
                    !theirs.matches(base)
                {
                    conflicts[request.id] = Conflict(theirs: theirs, error: .preconditionFailed(request.entitySet))
                }
            } else {
                let comparison = try await comparison(before: request)
                conflicts[request.id] = comparison.conflict
                if let row, let theirs = comparison.seen { seen[row] = theirs }
            }
            if let row, request.isOfRow { changed[row, default: []].formUnion(request.changes.loadedProperties) }
        }
        return (conflicts, seen)
    }

    /// Where a relation starts.
    private struct RelatedEnd: Hashable {
        let row: RowReference
        let navigation: String

        init?(_ request: QueuedRequest) {
            guard request.kind.isRelation, let row = request.detail.sourceRow,
                let navigation = request.detail.navigation
            else { return nil }
            self.row = RowReference(set: request.entitySet, rowID: row)
            self.navigation = navigation
        }
    }

    /// The members of a change set that others have changed meanwhile: the service refuses all for one.
    private func conflicts(in requests: [QueuedRequest], _ error: ODataError) async throws -> [Int64: Conflict] {
        var conflicts: [Int64: Conflict] = [:]
        for request in requests where [QueuedRequest.Kind.update, .delete, .call].contains(request.kind) {
            guard let etag = request.guardingETag else { continue }
            let theirs: Entity?
            do {
                theirs = try await current(request, request.key)
            } catch let unreadable where refusal(unreadable, of: request) != nil {
                continue
            }
            if theirs?.control.etag != etag { conflicts[request.id] = Conflict(theirs: theirs, error: error) }
        }
        return conflicts
    }

    /// A member of a change set that is put on top of another version.
    private struct Rebase {
        let request: QueuedRequest
        let changes: Entity
        let version: Entity
        var mergesOthers: Bool
        /// Whether the version is one that a merged member before it makes.
        var isBehindMerge: Bool

        init(
            _ request: QueuedRequest, _ changes: Entity, onto version: Entity, mergesOthers: Bool = false,
            isBehindMerge: Bool = false
        ) {
            self.request = request
            self.changes = changes
            self.version = version
            self.mergesOthers = mergesOthers
            self.isBehindMerge = isBehindMerge
        }
    }

    /// Settles conflicts by the policy. A change set is given up as a whole, since it must be made as a whole.
    private func resolve(
        conflicts: [Int64: Conflict], _ requests: [QueuedRequest], _ error: ODataError, _ way: Way
    ) async throws -> Result {
        var conflicts = conflicts
        var rebased: [Rebase] = []
        // What the merged members make of their rows: those behind them were not made of what others have done there.
        var merged: [RowReference: Entity] = [:]
        var found: [RowReference: Entity] = [:]
        for request in requests {
            guard let conflict = conflicts[request.id] else {
                guard request.kind == .update || request.kind == .delete, let row = request.touchedRow,
                    let version = merged[row]
                else { continue }
                let isDeletion = request.kind == .delete
                let merge = VersionMerge(base: request.base, mine: isDeletion ? nil : request.changes, theirs: version)
                guard case .merged(let changes) = merge.result else {
                    if case .conflict = merge.result {
                        // The archive tells what the service has, not what the members before this one would have made of it.
                        conflicts[request.id] = Conflict(
                            theirs: found[row], error: .preconditionFailed(request.entitySet))
                    }
                    continue
                }
                rebased.append(Rebase(request, changes, onto: version, isBehindMerge: true))
                merged[row] = version.overlaid(by: changes)
                continue
            }
            switch try await settle(conflict, request) {
            case .conflict: continue
            case .yield: return .givenUp(try await giveUp(requests, conflicts))
            case .agreed:
                guard let version = conflict.theirs else { continue }
                // All members are made together, so that this one stays.
                rebased.append(Rebase(request, request.changes, onto: version))
            case .resend(let changes, let mergesOthers):
                guard let version = conflict.theirs else { continue }
                rebased.append(Rebase(request, changes, onto: version, mergesOthers: mergesOthers))
                if mergesOthers, let row = request.touchedRow {
                    merged[row] = version.overlaid(by: changes)
                    found[row] = version
                }
            }
        }
        let settled = rebased.filter { conflicts[$0.request.id] != nil }
        guard !settled.isEmpty, settled.count == conflicts.count, way.rebases < Self.maxRebases else {
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
            for rebase in changed {
                if rebase.isBehindMerge {
                    try outcomes.rebase(
                        rebase.request, changes: rebase.changes, behindMergeOnto: rebase.version, in: database)
                } else {
                    try outcomes.rebase(
                        rebase.request, changes: rebase.changes, onto: rebase.version,
                        mergesOthers: rebase.mergesOthers, in: database)
                }
            }
            return try requests.compactMap { request in
                try outcomes.queue.markPending(request.id, forgetsIdentification: true, in: database)
                return try outcomes.queue.request(request.id, in: database)
            }
        }
        // Undone meanwhile, or a part of it.
        guard again.count == requests.count else { return .postponed }
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
}
