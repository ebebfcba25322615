import ODataModel
import ODataService

/// A local change that waits to be sent, is on its way, or was refused.
public struct QueuedRequest: Sendable, Identifiable {
    /// What the request will do.
    public enum Kind: String, Hashable, Sendable {
        /// Create the entity.
        case create
        /// Change some of its properties.
        case update
        /// Delete it.
        case delete
        /// Replace the stream of a media entity, or of a stream property.
        case stream
        /// Relate it to another entity, by other means than a foreign key.
        case link
        /// Take such a relation away.
        case unlink
        /// Call an action.
        case call

        /// Whether it changes the row of its entity; others stand beside the row's own changes.
        var isOfRow: Bool {
            switch self {
            case .create, .update, .delete, .stream: true
            case .link, .unlink, .call: false
            }
        }

        /// Whether it makes a relation or takes one away.
        var isRelation: Bool { self == .link || self == .unlink }

        /// Whether a second execution has another effect than the first one.
        var isHarmfulTwice: Bool { self == .create || self == .call }
    }

    /// Where the request stands.
    public enum State: String, Hashable, Sendable {
        /// Waits until the app submits it (``ChangeOptions/isHeld``). No upload sends it.
        case held
        /// Waits for the next upload, or for a request that it depends on.
        case pending
        /// Its first byte has left, and no answer was stored yet.
        case sending
        /// The service refused it: it is in the error archive.
        case refused
        /// It may or may not have acted: it is in the error archive.
        case inDoubt

        /// The states of pending changes, sent ones included.
        static let ofQueue: [Self] = [.pending, .sending]
        /// The states of changes in the error archive.
        static let ofArchive: [Self] = [.refused, .inDoubt]
        /// The states of changes that a submission releases.
        static let releasable: [Self] = [.held, .refused]
    }

    /// Why a request is in the error archive.
    public struct Failure: Hashable, Sendable {
        /// What somebody else had done with the entity meanwhile.
        public enum Conflict: String, Hashable, Sendable {
            /// It was changed: ours can be sent on top of theirs, or be given up.
            case changed
            /// It was deleted: sent again, the change would be refused again. It can be given up, and the entity created anew.
            case deleted
        }

        /// The code of a change that waited for longer than changes may (``UploadOptions/expiresAfter``).
        static let expired = "Expired"

        /// The HTTP status; `nil` when no answer came.
        public var status: Int?
        /// The service's code.
        public var code: String
        /// The service's message.
        public var message: String
        /// The property at fault.
        public var target: String?
        /// Further errors behind the main one.
        public var details: [ODataError.Detail]
        /// What the service said besides, as JSON.
        public var innerError: String?
        /// The entity as the service has it now, where a conflict was found.
        public var theirs: ODataEntity?
        /// The conflict that was found, by whichever status the service told of it; `nil` where there is none, or an earlier
        /// version of this library did not note it.
        public var conflict: Conflict?
        /// The time of the failure; `nil` if the queue is damaged there.
        public var at: ODataDateTimeOffset?

        /// Makes a failure.
        public init(
            status: Int?, code: String, message: String, target: String? = nil,
            details: [ODataError.Detail] = [], innerError: String? = nil, theirs: ODataEntity? = nil,
            conflict: Conflict? = nil, at: ODataDateTimeOffset?
        ) {
            self.details = details
            self.conflict = conflict
            self.innerError = innerError
            self.status = status
            self.code = code
            self.message = message
            self.target = target
            self.theirs = theirs
            self.at = at
        }

        /// Whether somebody else had changed the entity.
        public var isConflict: Bool { conflict != nil || status == 412 }
    }

    /// The number, growing in the order of the changes.
    public let id: Int64
    /// The entity set.
    public let entitySet: String
    /// The internal id of the row.
    public let rowID: Int64
    /// What it will do.
    public let kind: Kind
    /// The key of the entity, temporary until the back end has given one.
    public let key: EntityKey
    /// The properties that are sent, and for a delete none.
    public let changes: ODataEntity
    /// The same properties as they were before; for a delete all of them.
    public let base: ODataEntity?
    /// The ETag that the change is based on.
    public let etag: String?
    /// The key properties that the service gives and that are therefore not sent.
    public let omitted: Set<String>
    /// The requests that must succeed before.
    public let dependsOn: [Int64]
    /// Where it stands.
    public internal(set) var state: State
    /// `Repeatability-Request-ID`, which a change has from the moment when it was made, so that a copy of the store sends the
    /// same one; another one once the service has refused it. The requests of a change set are sent with that of the first.
    public internal(set) var requestID: String?
    /// `Repeatability-First-Sent` as it is sent, as long as there is one. A repeat sends the same text.
    var firstSentField: String?
    /// The time when the change was made, or asked for again after it was refused; `nil` if the queue is damaged there.
    public let createdAt: ODataDateTimeOffset?
    /// How it is treated.
    public let options: ChangeOptions
    /// Why it is in the error archive.
    public internal(set) var failure: Failure?
    /// The thing that it is about: an entity, a stream, a relation or a call.
    public let subject: Subject
    /// The ETag of the current entity that was found before the request was sent, if it has none of its own. It guards the
    /// request also when that is sent again.
    let foundETag: String?
    /// The whole entity that was sent instead of single properties (``SnapshotCoder``). A repeat sends the same bytes: a
    /// service refuses another body under one `Repeatability-Request-ID`.
    let sentEntity: String?
    /// Whether it was merged with changes of other clients, which a later change was not made of.
    let isMergedWithOthers: Bool
    /// The replay counter of its row when it was last submitted; `nil` for a change that never was.
    let counter: Int64?

    /// The time of the first transmission, as long as there is one (`Repeatability-First-Sent`).
    public var firstSent: ODataDateTimeOffset? { firstSentField.flatMap(ODataDateTimeOffset.httpDate) }

    /// Whether it was on its way, and nobody knows yet what became of it.
    var mayHaveActed: Bool { state == .sending && firstSentField != nil }

    /// Whether it waits here, and nothing of it has left.
    var isUnsent: Bool { (state == .held || state == .pending) && firstSentField == nil }
}

extension QueuedRequest {
    /// Whether it changes the row of an entity; others stand beside the rows.
    var isOfRow: Bool { kind.isOfRow && !isWithoutPlace }

    /// The row that it changes, or that the action which it calls is bound to and may change; `nil` for any other request.
    var touchedRow: RowReference? { isOfRow ? RowReference(set: entitySet, rowID: rowID) : boundRow }

    /// Whether its ETag is one of the same thing as another's: of the entity, or of the same stream of it.
    func isAbout(sameVersionAs other: QueuedRequest) -> Bool {
        guard kind == .stream || other.kind == .stream else { return true }
        return kind == other.kind && streamProperty == other.streamProperty
    }

    /// The ETag in a version of the entity that guards the request: the entity's, or that of the stream.
    func etag(in version: ODataEntity) -> String? {
        guard kind == .stream else { return version.control.etag }
        guard let property = streamProperty else { return version.control.mediaEtag }
        guard case .string(let etag)? = version.control.annotations["\(property)@odata.mediaEtag"] else { return nil }
        return etag
    }
}

extension QueuedRequest {
    /// The entity as a URL relative to the service root, such as `Orders(10248)`.
    public var entityText: String {
        switch subject {
        case .unmapped(let former, _): former.entity
        case .call(let call): call.url
        case .entity: entityURL
        case .stream(let change): "\(entityURL)/\(change.property ?? "$value")"
        case .relation(let change): "\(entityURL)/\(change.navigation)"
        }
    }

    private var entityURL: String {
        let entity = KeyURL.url(set: entitySet, key: key, shape: changes.shape).description
        guard let container = subject.container?.url else { return entity }
        return container + entity.dropFirst(entitySet.count)
    }
}

extension QueuedRequest: CustomStringConvertible {
    /// Number, kind and entity, without values.
    public var description: String { "#\(id) \(kind.rawValue) \(entityText) (\(state.rawValue))" }
}
