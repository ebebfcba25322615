import GRDB
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import ODataSQL

/// The requests that the service gets.
extension Uploader {
    /// A unit as it is sent: a single request, or a batch with one change set.
    struct Message: Sendable {
        /// The request, or the batch request.
        var request: ODataRequest
        /// The references in bodies to entities of the same change set.
        let references: Verdict.Facts.References
        /// Whether a change set cannot be sent as one: a request needs a key that only the service gives.
        let needsSingleRequests: Bool
        /// Whether all requests carry an identification by which a repeat is recognised.
        let isIdentified: Bool
        /// The entity sets of which whole entities are sent instead of single properties.
        let wholeSets: Set<String>
    }

    /// The message for a unit that is marked as sent.
    func message(
        for unit: UploadUnit, isRepeatable: Bool?, _ strategy: SendStrategy
    ) async throws -> Message {
        let (items, mentions) = try await items(for: unit, isRepeatable: isRepeatable, strategy)
        var references = Verdict.Facts.References.none
        if mentions.contains(.inBody) {
            let isKnown = try await database.read { try ServiceKnowledge.hasBind(model: mapping.model, in: $0) }
            references = isKnown.map { $0 ? .known : .refused } ?? .untried
        }
        var request = ODataRequest(.create, ODataURL(path: ResourcePath([.batch])))
        if unit.isSingle { request = items[0].request } else { request.body = .batch(items) }
        let wholeSets = zip(unit.requests, items).filter { $0.kind == .update && $1.request.method == .replace }
        return Message(
            request: request, references: references,
            needsSingleRequests: !unit.isSingle && (references == .refused || mentions.contains(.apart)),
            isIdentified: items.allSatisfy { $0.request.repeatability != nil },
            wholeSets: Set(wholeSets.map(\.0.entitySet)))
    }

    /// The requests of a unit for the service. An entity that an earlier request creates under a key which only
    /// the service gives is named by its content id (rule 5).
    ///
    /// - Returns: the requests, and the places at which they name entities that others create.
    private func items(
        for unit: UploadUnit, isRepeatable: Bool?, _ strategy: SendStrategy
    ) async throws -> (items: [BatchItem], mentions: Set<ChangeSetReferences.Mention>) {
        var created: [ChangeSetReferences.Created] = []
        var items: [BatchItem] = []
        var mentions: Set<ChangeSetReferences.Mention> = []
        var touched: [RowReference: String] = [:]
        var wholes: [RowReference: ODataEntity] = [:]
        var called: Set<RowReference> = []
        for (position, request) in unit.requests.enumerated() {
            let references = ChangeSetReferences(mapping: mapping, created: created)
            let earlier = request.touchedRow.flatMap { wholes[$0] }
            // Entities that this change set creates cannot be read yet.
            var message = try await message(
                for: request, isRepeatable: isRepeatable, strategy, merges: earlier == nil)
            if !unit.isSingle, let row = request.touchedRow {
                if request.kind == .update, try await putsWhole(request, strategy) {
                    if let earlier, case .entity(let changes) = message.body {
                        message.method = .replace
                        message.body = .entity(earlier.merging(changes))
                    }
                    // The whole entity dates from before the action and would undo its effects.
                    if called.contains(row) { mentions.insert(.apart) }
                }
                // The base of the next whole entity of the row.
                if request.kind == .create || message.method == .replace, case .entity(let entity) = message.body {
                    wholes[row] = entity
                }
                if request.kind == .call { called.insert(row) }
            }
            // The ETag that an earlier request gives the entity is not known yet. The earlier request's own ETag
            // guards all of them if they have the same base version. If not, the change set meets the conflict.
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
            if strategy.takesAnyVersion, isGuarded, message.ifMatch == nil { message.ifMatch = "*" }
            let id = String(position + 1)
            if wire.namesContentInOperation, !unit.isSingle { message.headers["Content-ID"] = id }
            items.append(BatchItem(id: id, request: message, atomicityGroup: "changes"))
            if request.kind == .create { created.append(.init(id: id, request: request, message: message)) }
        }
        return (items, mentions)
    }

    /// The request for the service.
    ///
    /// - Parameter merges: whether a change of single properties may be merged with the current entity, if the
    ///   service takes whole entities only.
    private func message(
        for request: QueuedRequest, isRepeatable: Bool?, _ strategy: SendStrategy, merges: Bool
    ) async throws -> ODataRequest {
        if var message = try await requestWithoutProperties(request) {
            if strategy.takesAnyVersion, request.kind.isRelation { message.ifMatch = "*" }
            return try await completed(message, request, isRepeatable)
        }
        if let message = try await callOfAction(for: request) {
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
            let place = try await address(of: request)
            message = ODataRequest(
                place.isCollection ? .create : .replace, place.url, body: .entity(changes), preferences: preferences)
        case .update:
            message = ODataRequest(
                .update, try await url(of: request), body: .entity(changes), preferences: preferences)
            message.ifMatch = request.guardingETag
            message.link = try await link(of: request)
            if merges, try await putsWhole(request, strategy), let whole = try await wholeEntity(of: request, changes) {
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

    /// The entity as the service has it with the changes of a request: properties that are not loaded here must
    /// not be lost there. A repeat gets the entity that was sent the first time.
    private func wholeEntity(of request: QueuedRequest, _ changes: ODataEntity) async throws -> ODataEntity? {
        let bytes: [UInt8]
        if let sent = request.sentEntity {
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
        if isRepeatable != false, let id = request.requestID, let sent = request.firstSentField {
            message.repeatability = Repeatability(requestID: id, firstSent: sent)
        } else {
            // The client would add its own identification, with the time of a clock that may be wrong.
            message.isUnidentified = true
        }
        return message
    }

    /// Whether the whole entity is sent where a request changes single properties.
    private func putsWhole(_ request: QueuedRequest, _ strategy: SendStrategy) async throws -> Bool {
        if request.options.action != nil { return false }
        if strategy.wholeSets.contains(request.entitySet) { return true }
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
}
