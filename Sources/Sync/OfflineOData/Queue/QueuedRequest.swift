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
    }

    /// Where the request stands.
    public enum State: String, Hashable, Sendable {
        /// Waits for the next upload, or for a request that it depends on.
        case pending
        /// Its first byte has left, and no answer was stored yet.
        case sending
        /// The service refused it: it is in the error archive.
        case refused
        /// It may or may not have acted: it is in the error archive.
        case inDoubt
    }

    /// Why a request is in the error archive.
    public struct Failure: Hashable, Sendable {
        /// What somebody else had done with the entity meanwhile.
        public enum Conflict: String, Hashable, Sendable, Codable {
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
        public var theirs: Entity?
        /// The conflict that was found, by whichever status the service told of it; `nil` where there is none, or an earlier
        /// version of this library did not note it.
        public var conflict: Conflict?
        /// When it happened.
        public var at: String

        /// Makes a failure.
        public init(
            status: Int?, code: String, message: String, target: String? = nil,
            details: [ODataError.Detail] = [], innerError: String? = nil, theirs: Entity? = nil,
            conflict: Conflict? = nil, at: String
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
    public let changes: Entity
    /// The same properties as they were before; for a delete all of them.
    public let base: Entity?
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
    /// `Repeatability-First-Sent`, as long as there is one.
    public internal(set) var firstSent: String?
    /// When the change was made, or asked for again after it was refused.
    public let createdAt: String
    /// How it is treated.
    public let options: ChangeOptions
    /// Why it is in the error archive.
    public internal(set) var failure: Failure?
    /// What it is about besides an entity: a stream, a relation, a call.
    let detail: RequestDetail

    /// Whether it was on its way, and nobody knows yet what became of it.
    var mayHaveActed: Bool { state == .sending && firstSent != nil }
}

/// What a request is about besides an entity.
struct RequestDetail: Codable, Hashable, Sendable {
    /// The stream that is sent; `nil` where it is deleted, and for what is about no stream.
    var stream: Int64?
    /// The stream property; `nil` for the stream of a media entity.
    var property: String?
    /// The navigation property of a relation.
    var navigation: String?
    /// The row that a relation starts from: such requests are not among those of the row.
    var sourceRow: Int64?
    /// Where a relation leads.
    var targetSet: String?
    var targetRow: Int64?
    /// The URL of the entity that a relation leads to, as it was.
    var target: String?
    /// The relations that it took the place of, by the rows at their ends; itself, where it was there already.
    var replaced: [Related]?
    /// What it took the place of when it was made, which its user has seen, whatever downloads bring since; and what requests
    /// before it have made there.
    var seen: [Related]?
    /// What the service had in that place when it was refused for that the last time.
    var shown: String?
    /// The URL of a call.
    var url: String?
    /// Its parameters as a JSON object.
    var parameters: String?
    /// The row of the entity that the action is bound to, where that was here.
    var bound: RowReference?
    /// The row of the entity that contains the one that is changed.
    var parentRow: Int64?
    /// The URL of what that row contains, as it was.
    var container: String?
    /// What the request was, once the model has no place for it.
    var former: FormerRequest?
    /// The conflict for which it was refused the last time.
    var conflict: QueuedRequest.Failure.Conflict?
    /// The further errors with which it was refused the last time.
    var errors: [FurtherError]?
    /// The ETag of what the service was found to have before the request was sent, which has none of its own: what guards it,
    /// also when it is sent again.
    var foundETag: String?
    /// The whole entity that was sent in the place of single properties (``SnapshotCoder``). A repeat sends the same bytes: a
    /// service refuses another body under one `Repeatability-Request-ID`.
    var sentEntity: String?
    /// Whether it was merged with changes of others: a change that waits behind it was not made of those.
    var isMergedWithOthers: Bool?

    /// An error behind the main one.
    struct FurtherError: Codable, Hashable, Sendable {
        var code: String
        var message: String
        var target: String?
    }

    /// Two rows that the navigation property relates.
    struct Related: Codable, Hashable, Sendable {
        var source: Int64
        var target: Int64
    }

    /// Whether the request carries nothing but properties.
    var isOfPropertiesAlone: Bool {
        var rest = self
        rest.parentRow = nil
        rest.container = nil
        rest.conflict = nil
        rest.errors = nil
        rest.foundETag = nil
        rest.sentEntity = nil
        rest.isMergedWithOthers = nil
        return rest == RequestDetail()
    }
}

/// What a request was whose entity set the service has no more: enough to read it, and to make it again elsewhere.
struct FormerRequest: Codable, Hashable, Sendable {
    var entity: String
    var method: String
    var url: String
    var body: String?
}

extension QueuedRequest {
    /// Whether it changes the row of an entity; others stand beside the rows.
    var isOfRow: Bool { kind.isOfRow && !isWithoutPlace }

    /// The row that it changes, or that the action which it calls is bound to and may change; `nil` for any other request.
    var touchedRow: RowReference? { isOfRow ? RowReference(set: entitySet, rowID: rowID) : detail.bound }

    /// Whether its ETag is one of the same thing as another's: of the entity, or of the same stream of it.
    func isAbout(sameVersionAs other: QueuedRequest) -> Bool {
        guard kind == .stream || other.kind == .stream else { return true }
        return kind == other.kind && detail.property == other.detail.property
    }

    /// The ETag in a version of the entity that guards the request: the entity's, or that of the stream.
    func etag(in version: Entity) -> String? {
        guard kind == .stream else { return version.control.etag }
        guard let property = detail.property else { return version.control.mediaEtag }
        guard case .string(let etag)? = version.control.annotations["\(property)@odata.mediaEtag"] else { return nil }
        return etag
    }

    /// Whether the service's model has no place for the request any more: it can be read, but not be sent.
    public var isWithoutPlace: Bool { detail.former != nil }
}

extension QueuedRequest {
    /// The entity as a URL relative to the service root, such as `Orders(10248)`.
    public var entityText: String {
        if let former = detail.former { return former.entity }
        guard kind != .call else { return detail.url ?? entitySet }
        var entity = KeyURL.url(set: entitySet, key: key, shape: changes.shape).description
        if let container = detail.container { entity = container + entity.dropFirst(entitySet.count) }
        switch kind {
        case .stream: return "\(entity)/\(detail.property ?? "$value")"
        case .link, .unlink: return "\(entity)/\(detail.navigation ?? "")"
        default: return entity
        }
    }
}

extension QueuedRequest: CustomStringConvertible {
    /// Number, kind and entity, without values.
    public var description: String { "#\(id) \(kind.rawValue) \(entityText) (\(state.rawValue))" }
}
