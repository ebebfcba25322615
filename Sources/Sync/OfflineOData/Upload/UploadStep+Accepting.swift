import GRDB
import ODataModel
import ODataService

/// Stores the answers of a service that made the changes.
extension UploadStep {
    /// The answer to one request, completed by reading the entity again if necessary.
    private struct Accepted: Sendable {
        let id: Int64
        let theirs: ODataEntity?
        let etag: String?
        let streamETag: String?
        /// The key of a created entity, if the entity does not show it.
        let key: EntityKey?
        /// The status of the answer.
        let status: Int
        let reading: UploadOutcomes.Reading
        /// Whether other clients are known to have changed the entity after the request.
        let isOvertaken: Bool
    }

    /// Facts about the service that the responses show, apart from the entities.
    struct Learned: Sendable {
        /// Whether all requests carried an identification by which a repeat is recognised.
        var wereIdentified = false
        /// The entity sets of which the service took whole entities after it had refused single properties.
        var wholeSets: Set<String> = []
        /// Whether the service took references to entities of the same change set for the first time.
        var takesReferences = false
    }

    /// Stores that the service has acted: all responses in one transaction. Even if parts of a response are
    /// missing, the requests must not be sent again.
    ///
    /// - Parameters:
    ///   - seen: the server versions before the requests, if they were read.
    ///   - isRepeat: whether the requests may have acted long ago, so that the responses show the current
    ///     entities.
    func accept(
        _ unit: UploadUnit, _ responses: [ODataResponse], seen: [RowReference: ODataEntity] = [:], isRepeat: Bool,
        learned: Learned = Learned()
    ) async throws -> Uploader.Outcome {
        let all = Set(unit.requests.map(\.id))
        var accepted: [Accepted] = []
        for (request, response) in zip(unit.requests, responses) {
            accepted.append(try await complete(request, response, isRepeat: isRepeat, with: all))
        }
        let answers = accepted
        let unclear = try await uploader.write { [uploader] database -> Int in
            try ServiceKnowledge.learnRepeatability(
                responses.map(\.repeatabilityResult), wereIdentified: learned.wereIdentified, in: database)
            if learned.takesReferences { try ServiceKnowledge.setBind(true, in: database) }
            try ServiceKnowledge.addWholeEntities(of: learned.wholeSets, in: database)
            var unclear = 0
            var seen = seen
            for answer in answers {
                // The earlier ones may have given this one another key.
                guard let request = try uploader.outcomes.queue.request(answer.id, in: database) else { continue }
                var theirs = answer.theirs
                if request.kind == .create, theirs?.key == nil {
                    guard let key = answer.key ?? (request.omitted.isEmpty ? request.key : nil) else {
                        if try uploader.outcomes.acceptUnnamed(request, in: database) { continue }
                        unclear += 1
                        try fail(request, withoutKey: answer, in: database)
                        continue
                    }
                    theirs = theirs?.withKey(key) ?? ODataEntity(shape: request.changes.shape, key: key)
                    theirs?.control.etag = answer.etag
                }
                let row = request.touchedRow
                let isHidden = try isRepeat && theirs.map { try !isShown(request, by: $0, in: database) } ?? false
                try uploader.outcomes.accept(
                    request, theirs: theirs, etag: answer.etag, streamETag: answer.streamETag,
                    seen: row.flatMap { seen[$0] }, isOvertaken: answer.isOvertaken || isHidden,
                    reading: answer.reading, in: database)
                // The version that the next request of the row met.
                if let row, let former = seen[row] {
                    let changed = request.isOfRow ? former.merging(request.changes) : former
                    seen[row] = theirs.map(changed.merging) ?? changed
                }
            }
            return unclear
        }
        return unclear == 0 ? .accepted(unit.requests) : .failed
    }

    /// Completes an answer that does not say enough: reads the entity again.
    private func complete(
        _ request: QueuedRequest, _ response: ODataResponse, isRepeat: Bool, with all: Set<Int64>
    ) async throws -> Accepted {
        var theirs: ODataEntity?
        if case .entity(let entity) = response.body { theirs = entity }
        // An action may answer with an entity of another type, or with the one that it deletes.
        if request.options.action != nil, let type = theirs?.shape.name,
            request.kind == .delete || !uploader.isOfSet(type, request)
        {
            theirs = nil
        }
        // An answer that shows another entity tells nothing about this one. An entity that the unit creates has
        // another key here.
        let isCreated = unit.requests.contains { $0.kind == .create && $0.touchedRow == request.touchedRow }
        if !isCreated, request.kind != .call, let key = theirs?.key, key != request.key { theirs = nil }
        var key: EntityKey?
        var reading = isRepeat ? UploadOutcomes.Reading.repeated(with: all) : .atOnce
        let etag = request.kind == .stream || request.kind == .call ? nil : response.etag
        switch request.kind {
        case .create where theirs?.key == nil:
            // A lean answer may leave the key to Location.
            key = uploader.namedKey(request, response)
            // The final key of a member of a change set may have parts of another member's.
            if key == nil, unit.isSingle, request.omitted.isEmpty { key = request.key }
            if let key { theirs = await uploader.readAgain(request, key) ?? theirs }
        case .update where theirs == nil:
            let lacksVersion = response.etag == nil && (unit.isSingle || request.etag != nil)
            guard
                isRepeat || lacksVersion || uploader.wire.readsAgain || response.body.isEntity
                    || request.options.action != nil
            else { break }
            // The answer to a repeat may be of an older version than the one that a download has brought.
            theirs = await uploader.readAgain(request, request.key)
            if !isRepeat { reading = .later(with: all) }
        case .stream:
            // The ETag of the answer is the one of the stream.
            theirs = await uploader.readAgain(request, request.key)
        case .call: theirs = try await uploader.boundEntity(after: request, response)
        case .create, .update, .delete, .link, .unlink: break
        }
        if theirs != nil, theirs?.control.etag == nil { theirs?.control.etag = etag }
        // An entity that is read after the answer may be the work of other clients by then. In a change set, a
        // later member may have changed it.
        var isOvertaken = false
        if case .later = reading, unit.isSingle, let etag, let theirs { isOvertaken = theirs.control.etag != etag }
        return Accepted(
            id: request.id, theirs: theirs, etag: theirs?.control.etag ?? etag,
            streamETag: request.kind == .stream ? response.etag : theirs?.control.mediaEtag, key: key,
            status: response.status, reading: reading, isOvertaken: isOvertaken)
    }

    private func fail(_ request: QueuedRequest, withoutKey answer: Accepted, in database: Database) throws {
        let failure = QueuedRequest.Failure(
            status: answer.status, code: "NoKey",
            message: "The service created an entity of \(request.entitySet), but its response names no key.",
            at: uploader.environment.instant)
        try uploader.outcomes.fail(request, .inDoubt, failure, in: database)
    }

    /// Whether an entity has the values that a request sent, apart from those that later requests of its change
    /// set replaced.
    private func isShown(_ request: QueuedRequest, by theirs: ODataEntity, in database: Database) throws -> Bool {
        guard !unit.isSingle, let changeSet = request.options.changeSet, request.isOfRow else {
            return request.isShown(by: theirs)
        }
        var hidden = request.omitted
        for later in try uploader.outcomes.queue.requests(ofChangeSet: changeSet, in: database)
        where later.id > request.id && later.touchedRow == request.touchedRow {
            hidden.formUnion(later.changes.loadedProperties)
        }
        return theirs.matches(request.changes.only(where: { !hidden.contains($0) }))
    }
}

extension ResponseBody {
    fileprivate var isEntity: Bool { if case .entity = self { true } else { false } }
}

extension ODataEntity {
    /// The same entity under a key that it does not show itself.
    fileprivate func withKey(_ key: EntityKey) -> ODataEntity {
        var result = self
        for property in shape.key { result[property.path] = key[property.name] }
        result.markUnchanged()
        return result
    }
}
