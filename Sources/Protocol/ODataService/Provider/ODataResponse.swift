import ODataModel

/// The answer to a request that was not refused.
public struct ODataResponse: Sendable {
    /// The HTTP status that goes with it, 200 to 299 or 304.
    public var status: Int
    /// What came back.
    public var body: ResponseBody
    /// The ETag of the entity addressed or created.
    public var etag: String?
    /// Whether the client can know the representation that ``etag`` stands for: without a body, the ETag is only sent then
    /// (OData Protocol 4.01, 9.1.4).
    public var isETagForeseeable = true
    /// `Location`: the edit URL of what was created.
    public var location: String?
    /// `OData-EntityId`: the id of what was created, where no body is returned.
    public var entityID: String?
    /// The id of the entity that a property in the body belongs to: the context URL names it (OData Protocol 4.01, 10.13).
    public var owner: String?
    /// The preferences that were followed, such as `track-changes` and `maxpagesize=100`.
    public var preferencesApplied: [String]
    /// `Repeatability-Result`.
    public var repeatabilityResult: RepeatabilityResult?
    /// What links within an encoded body are relative to; `nil` where they are the provider's own and to be followed as
    /// they are.
    public var baseURL: String?
    /// Further header fields.
    public var headers: [String: String]
    /// `X-CorrelationID` of the request, where an online client sent one: the same id stands in its log and its trace.
    public var correlationID: String?

    /// Makes a response.
    public init(status: Int = 200, body: ResponseBody = .none, etag: String? = nil) {
        self.status = status
        self.body = body
        self.etag = etag
        preferencesApplied = []
        headers = [:]
    }
}

/// Whether a repeatable request was taken as one (OData Repeatable Requests 1.0).
public enum RepeatabilityResult: String, Hashable, Sendable {
    /// The request acted now, or had acted before and its answer is repeated.
    case accepted
    /// The service did not act.
    case rejected
}

/// What a response carries.
public enum ResponseBody: Sendable {
    /// Nothing.
    case none
    /// An entity.
    case entity(ODataEntity)
    /// A page of entities, decoded.
    case page(EntityPage)
    /// A page of entities as encoded bytes, in the format that the request asked for.
    case encoded(ByteStream, contentType: String)
    /// The value of a property.
    case value(ODataValue, TypeReference)
    /// A number of rows.
    case count(Int64)
    /// Raw bytes: `$value` and media.
    case raw(ByteStream, contentType: String)
    /// References: entity ids; of a collection, with the number of all and the link to the next page.
    case references([String], isCollection: Bool, count: Int64? = nil, nextLink: String? = nil)
    /// The metadata.
    case metadata(EntityDataModel)
    /// The service document; its content follows from the model.
    case serviceDocument
    /// The answers to a batch, in the order of its items.
    case batch([BatchResult])
}

/// A page of a collection or of a delta (OData JSON Format 4.01, 12 to 15).
public struct EntityPage: Sendable {
    /// The entities, new and changed ones in a delta.
    public var entities: [ODataEntity]
    /// The entities that a delta says are gone.
    public var removed: [RemovedEntity]
    /// The relations that a delta says were made or taken away.
    public var links: [ChangedLink]
    /// The total number, where it was asked for.
    public var count: Int64?
    /// The link to the next page.
    public var nextLink: String?
    /// The link to what changes from now on.
    public var deltaLink: String?
    /// The kinds of the appended items, one after the other.
    private var order: [DeltaItem.Kind] = []

    /// Makes a page.
    public init(
        entities: [ODataEntity] = [], removed: [RemovedEntity] = [], links: [ChangedLink] = [], count: Int64? = nil,
        nextLink: String? = nil, deltaLink: String? = nil
    ) {
        self.entities = entities
        self.removed = removed
        self.links = links
        self.count = count
        self.nextLink = nextLink
        self.deltaLink = deltaLink
    }

    /// One item of a delta.
    public enum DeltaItem: Sendable {
        /// A new or changed entity.
        case entity(ODataEntity)
        /// An entity that is gone.
        case removed(RemovedEntity)
        /// A relation that was made or taken away.
        case link(ChangedLink)

        fileprivate enum Kind: Sendable { case entity, removed, link }
    }

    /// The items in the order in which they were appended; else entities, removed entities and links, in this order.
    public var items: [DeltaItem] {
        let isOrdered = order.count == entities.count + removed.count + links.count
        let kinds =
            isOrdered
            ? order
            : entities.map { _ in .entity } + removed.map { _ in .removed } + links.map { _ in .link }
        var (entity, gone, link) = (entities.makeIterator(), removed.makeIterator(), links.makeIterator())
        return kinds.compactMap { kind in
            switch kind {
            case .entity: entity.next().map { .entity($0) }
            case .removed: gone.next().map { .removed($0) }
            case .link: link.next().map { .link($0) }
            }
        }
    }

    /// Appends an item; ``items`` gives it back in its place.
    public mutating func append(_ item: DeltaItem) {
        switch item {
        case .entity(let entity):
            entities.append(entity)
            order.append(.entity)
        case .removed(let entity):
            removed.append(entity)
            order.append(.removed)
        case .link(let link):
            links.append(link)
            order.append(.link)
        }
    }
}

/// A relation between two entities that a delta says was made or taken away (OData JSON Format 4.01, 15.4 and 15.5).
public struct ChangedLink: Hashable, Sendable {
    /// The id of the entity that the navigation property belongs to.
    public var source: String
    /// The path of the navigation property.
    public var relationship: String
    /// The id of the related entity; `nil` where a relation to a single entity is taken away.
    public var target: String?
    /// Whether the relation was taken away.
    public var isDeleted: Bool
    /// The annotations of the item, by their qualified terms.
    public var annotations: [String: ODataValue] = [:]

    /// Makes a changed relation.
    public init(source: String, relationship: String, target: String?, isDeleted: Bool) {
        self.source = source
        self.relationship = relationship
        self.target = target
        self.isDeleted = isDeleted
    }
}

/// An entity that is gone from a result.
public struct RemovedEntity: Hashable, Sendable {
    /// The entity id; empty when only the key is given.
    public var id: String
    /// The key, where the service gave it.
    public var key: EntityKey?
    /// Why it is gone.
    public var reason: Reason
    /// In a request, the ETag that the entity must have to be removed; `nil` for whichever.
    public var etag: String?

    /// Why an entity is gone (OData JSON Format 4.01, 15.3).
    public enum Reason: String, Hashable, Sendable {
        /// It was deleted.
        case deleted
        /// It no longer belongs to the result.
        case changed
    }

    /// Makes a removed entity.
    public init(id: String, key: EntityKey? = nil, reason: Reason, etag: String? = nil) {
        self.id = id
        self.key = key
        self.reason = reason
        self.etag = etag
    }
}

/// The answer to one request of a batch.
public struct BatchResult: Sendable {
    /// The request's id.
    public var id: String
    /// The answer, or why the request was refused.
    public var result: Result<ODataResponse, ODataError>

    /// Makes a result.
    public init(id: String, result: Result<ODataResponse, ODataError>) {
        self.id = id
        self.result = result
    }
}
