extension QueuedRequest {
    /// The subject of a request, with the facts of its kind.
    public indirect enum Subject: Hashable, Sendable {
        /// An entity that is created, updated or deleted.
        case entity(EntityChange)
        /// A stream that is replaced or deleted.
        case stream(StreamChange)
        /// A relation that is made or taken away.
        case relation(RelationChange)
        /// An action that is called.
        case call(ActionCall)
        /// A request without a place in the current model of the service, with its former subject. It can be
        /// read, but not sent.
        case unmapped(FormerRequest, Subject)
    }

    /// The creation, update or deletion of an entity. Its properties are ``QueuedRequest/changes``.
    public struct EntityChange: Hashable, Sendable {
        /// The number of the stream with which a media entity is created.
        var stream: Int64?
        /// The entity that contains the changed one.
        var container: Container?
    }

    /// The replacement or deletion of a stream.
    public struct StreamChange: Hashable, Sendable {
        /// The number of the stream that is sent; `nil` if the stream is deleted.
        var stream: Int64?
        /// The stream property; `nil` for the stream of a media entity.
        public let property: String?
        /// The entity that contains the one with the stream.
        var container: Container?

        /// Whether the stream is deleted.
        public var isDeletion: Bool { stream == nil }
    }

    /// A relation without a foreign key that is added or removed.
    public struct RelationChange: Hashable, Sendable {
        /// The navigation property.
        public let navigation: String
        /// The row at which the relation starts: such requests are not among those of the row.
        var sourceRow: Int64
        /// The entity set to which the relation leads.
        public let targetSet: String
        /// The row to which the relation leads.
        var targetRow: Int64
        /// The URL of the entity to which the relation leads, relative to the service root, as it was when the
        /// change was made.
        public internal(set) var target: String
        /// The relations that the change replaced, by the rows at their ends; the relation itself if it existed
        /// already.
        var replaced: [RelatedPair]?
        /// The replaced relations as the user has seen them at the time of the change, unaffected by later
        /// downloads; and those that earlier requests have added.
        var seen: [RelatedPair]?
        /// The URL of the entity to which the service's relation led when the service last refused the change
        /// because of it.
        var shown: String?
    }

    /// Two rows that a navigation property relates.
    struct RelatedPair: Codable, Hashable, Sendable {
        var source: Int64
        var target: Int64
    }

    /// The call of an action.
    public struct ActionCall: Hashable, Sendable {
        /// The URL of the action, relative to the service root, with the keys that were known when it was called.
        public let url: String
        /// The parameters as a JSON object.
        public let parameters: String
        /// The row of the entity that the action is bound to, if that is in the store.
        var bound: RowReference?
    }

    /// The request as it was when the model of the service had a place for it: enough to read it, and to make it
    /// again elsewhere.
    public struct FormerRequest: Codable, Hashable, Sendable {
        /// The entity as a URL relative to the service root.
        public let entity: String
        /// The HTTP method.
        public let method: String
        /// The URL relative to the service root.
        public let url: String
        /// The body as JSON; `nil` for a request without properties.
        public let body: String?
    }

    /// The row that contains an entity.
    struct Container: Hashable, Sendable {
        var row: Int64
        /// The URL of the collection or property in that row, as it was when the change was made.
        var url: String?
    }
}

extension QueuedRequest.Subject {
    /// The subject, also of a request that the model has no place for.
    var former: QueuedRequest.Subject { if case .unmapped(_, let former) = self { former } else { self } }

    /// The row that contains the entity.
    var container: QueuedRequest.Container? {
        get {
            switch self {
            case .entity(let change): change.container
            case .stream(let change): change.container
            case .unmapped(_, let former): former.container
            case .relation, .call: nil
            }
        }
        set {
            switch self {
            case .entity(var change):
                change.container = newValue
                self = .entity(change)
            case .stream(var change):
                change.container = newValue
                self = .stream(change)
            case .unmapped(let request, var former):
                former.container = newValue
                self = .unmapped(request, former)
            case .relation, .call: break
            }
        }
    }
}

extension QueuedRequest {
    /// Whether the service's model has no place for the request any more: it can be read, but not be sent.
    public var isWithoutPlace: Bool { former != nil }

    /// The request as it was, if the model has no place for it any more.
    var former: FormerRequest? { if case .unmapped(let former, _) = subject { former } else { nil } }

    /// The relation that the request makes or takes away; `nil` for any other request.
    var relation: RelationChange? { if case .relation(let change) = subject.former { change } else { nil } }

    /// The action that the request calls; `nil` for any other request.
    var actionCall: ActionCall? { if case .call(let call) = subject.former { call } else { nil } }

    /// The row of the entity that the called action is bound to.
    var boundRow: RowReference? { actionCall?.bound }

    /// The stream that the request sends.
    var stream: Int64? {
        switch subject.former {
        case .entity(let change): change.stream
        case .stream(let change): change.stream
        case .relation, .call, .unmapped: nil
        }
    }

    /// The stream property that the request is about.
    var streamProperty: String? { if case .stream(let change) = subject.former { change.property } else { nil } }

    /// The row of the entity that contains the changed one.
    var parentRow: Int64? { subject.container?.row }

    /// Whether the request carries nothing but properties.
    var carriesPropertiesAlone: Bool { if case .entity(let change) = subject { change.stream == nil } else { false } }
}
