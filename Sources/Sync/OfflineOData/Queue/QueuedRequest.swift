import ODataModel
import ODataService

/// A local change that is pending, sent, or in the error archive.
///
/// ```swift
/// for change in try await store.changes.pending() {
///     print(change.id, change.kind, change.entityText)  // 3 update Orders(10248)
/// }
/// ```
public struct QueuedRequest: Sendable, Identifiable {
    /// The kind of change.
    public enum Kind: String, Hashable, Sendable {
        /// Creates the entity.
        case create
        /// Changes some of its properties.
        case update
        /// Deletes it.
        case delete
        /// Replaces the stream of a media entity, or of a stream property.
        case stream
        /// Adds a relation to another entity that has no foreign key.
        case link
        /// Removes such a relation.
        case unlink
        /// Calls an action.
        case call

        /// Whether it changes the row of its entity. Other kinds are stored beside the row's own changes.
        var isOfRow: Bool {
            switch self {
            case .create, .update, .delete, .stream: true
            case .link, .unlink, .call: false
            }
        }

        /// Whether it adds or removes a relation.
        var isRelation: Bool { self == .link || self == .unlink }

        /// Whether a second execution has another effect than the first one.
        var isHarmfulTwice: Bool { self == .create || self == .call }
    }

    /// The state of the request.
    public enum State: String, Hashable, Sendable {
        /// Waits until the app submits it (``ChangeOptions/isHeld``). No upload sends it.
        case held
        /// Waits for the next upload, or for a request that it depends on.
        case pending
        /// Its first byte has left, and no response is stored yet.
        case sending
        /// The service refused it: it is in the error archive.
        case refused
        /// Its outcome is unknown: it is in the error archive.
        case inDoubt

        /// The states of pending changes, sent ones included.
        static let ofQueue: [Self] = [.pending, .sending]
        /// The states of changes in the error archive.
        static let ofArchive: [Self] = [.refused, .inDoubt]
        /// The states of changes that a submission releases.
        static let releasable: [Self] = [.held, .refused]
    }

    /// The reason for which a request is in the error archive, or waits in the queue.
    ///
    /// ```swift
    /// for change in try await store.changes.archived() {
    ///     guard let failure = change.failure else { continue }
    ///     show(failure.message, failure.isConflict ? "changed by someone else" : "refused")
    /// }
    /// ```
    public struct Failure: Hashable, Sendable {
        /// The change of the entity by someone else.
        public enum Conflict: String, Hashable, Sendable {
            /// It was changed. The local change can be sent on top of the server version, or withdrawn.
            case changed
            /// It was deleted. Sent again, the change would be refused again. It can be withdrawn, and the entity
            /// created anew.
            case deleted
        }

        /// The code of a change that was pending for too long (``UploadOptions/expiresAfter``).
        static let expired = "Expired"

        /// The HTTP status; `nil` without a response.
        public var status: Int?
        /// The service's code.
        public var code: String
        /// The service's message.
        public var message: String
        /// The property at fault.
        public var target: String?
        /// Further errors behind the main one.
        public var details: [ODataError.Detail]
        /// The inner error of the service, as JSON.
        public var innerError: String?
        /// The server version, if a conflict was found.
        public var theirs: ODataEntity?
        /// The conflict, whichever status reported it; `nil` without a conflict, or for entries of earlier
        /// versions of this library.
        public var conflict: Conflict?
        /// The time of the failure; `nil` if the queue is damaged there.
        public var at: ODataDateTimeOffset?

        /// Creates a failure.
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

        /// Whether someone else has changed the entity.
        public var isConflict: Bool { conflict != nil || status == 412 }
    }

    /// The number, growing in the order of the changes.
    public let id: Int64
    /// The entity set.
    public let entitySet: String
    /// The internal id of the row.
    public let rowID: Int64
    /// The kind of change.
    public let kind: Kind
    /// The key of the entity, which is temporary until the service has assigned one.
    public let key: EntityKey
    /// The properties that are sent. A deletion has none.
    public let changes: ODataEntity
    /// The base version of these properties; for a deletion, of all properties.
    public let base: ODataEntity?
    /// The ETag that the change is based on.
    public let etag: String?
    /// The key properties that the service assigns and that are therefore not sent.
    public let omitted: Set<String>
    /// The requests that must succeed first.
    public let dependsOn: [Int64]
    /// The state of the request.
    public internal(set) var state: State
    /// `Repeatability-Request-ID`. A change has it from the beginning, so that a copy of the store sends the same
    /// one. It gets another one after a refusal. The requests of a change set are sent with the id of the first.
    public internal(set) var requestID: String?
    /// `Repeatability-First-Sent` in the form in which it is sent, while there is one. A repeat sends the same
    /// text.
    var firstSentField: String?
    /// The time of the change, or of its retry after a refusal; `nil` if the queue is damaged there.
    public let createdAt: ODataDateTimeOffset?
    /// The treatment of the change.
    public let options: ChangeOptions
    /// The reason for which it is in the error archive, or for which the service does not take it for now (423): then it
    /// is ``State/pending``, or ``State/sending`` with an unknown outcome, and the next upload sends it again.
    public internal(set) var failure: Failure?
    /// The subject: an entity, a stream, a relation or a call.
    public let subject: Subject
    /// The ETag of the current entity that was found before the request was sent, if it has none of its own. It
    /// guards the request also when that is sent again.
    let foundETag: String?
    /// The whole entity that was sent instead of single properties (``SnapshotCoder``). A repeat sends the same
    /// bytes: a service refuses another body under one `Repeatability-Request-ID`.
    let sentEntity: String?
    /// Whether it was merged with changes of other clients that are not part of a later change's base version.
    let isMergedWithOthers: Bool
    /// The replay counter of its row when it was last submitted; `nil` for a change that never was.
    let counter: Int64?

    /// The time of the first transmission (`Repeatability-First-Sent`), while there is one.
    public var firstSent: ODataDateTimeOffset? { firstSentField.flatMap(ODataDateTimeOffset.httpDate) }

    /// Whether it was sent and its outcome is unknown.
    var mayHaveActed: Bool { state == .sending && firstSentField != nil }

    /// Whether it waits here, and nothing of it has left.
    var isUnsent: Bool { (state == .held || state == .pending) && firstSentField == nil }
}

extension QueuedRequest {
    /// Whether it changes the row of an entity. Other requests are stored beside the rows.
    var isOfRow: Bool { kind.isOfRow && !isWithoutPlace }

    /// The row that it changes, or to which its action is bound; `nil` for any other request.
    var touchedRow: RowReference? { isOfRow ? RowReference(set: entitySet, rowID: rowID) : boundRow }

    /// Whether its ETag and another request's ETag belong to the same value: the entity, or the same stream.
    func isAbout(sameVersionAs other: QueuedRequest) -> Bool {
        guard kind == .stream || other.kind == .stream else { return true }
        return kind == other.kind && streamProperty == other.streamProperty
    }

    /// The ETag in a version of the entity that guards the request: the entity's own, or the one of its stream.
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

    /// The entity under another key, such as the one that the service gave, as a URL relative to the service root.
    public func entityText(under key: EntityKey) -> String { entityURL(under: key) }

    private var entityURL: String { entityURL(under: key) }

    private func entityURL(under key: EntityKey) -> String {
        let entity = KeyURL.url(set: entitySet, key: key, shape: changes.shape).description
        guard let container = subject.container?.url else { return entity }
        return container + entity.dropFirst(entitySet.count)
    }
}

extension QueuedRequest: CustomStringConvertible {
    /// Number, kind and entity, without values.
    public var description: String { "#\(id) \(kind.rawValue) \(entityText) (\(state.rawValue))" }
}
