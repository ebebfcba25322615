import ODataModel

/// The response to a successful request.
///
/// ```swift
/// let response = try await client.execute(ODataRequest(.read, try ODataURL(parsing: "Orders")))
/// if case .page(let page) = response.body { show(response.status, page.entities) }
/// ```
public struct ODataResponse: Sendable {
    /// The HTTP status, 200 to 299 or 304.
    public var status: Int
    /// The body of the response.
    public var body: ResponseBody
    /// The ETag of the addressed or created entity.
    public var etag: String?
    /// Whether the client can know the representation with the ``etag``. A response without a body has an ETag only
    /// in this case (OData Protocol 4.01, 9.1.4).
    public var isETagForeseeable = true
    /// `Location`: the edit URL of the created entity, or the status monitor of an asynchronous request.
    public var location: String?
    /// `OData-EntityId`: the id of the created entity, if the response has no body.
    public var entityID: String?
    /// The id of the entity that a property in the body belongs to, which becomes part of the context URL (OData
    /// Protocol 4.01, 10.13).
    public var owner: String?
    /// The applied preferences, such as `track-changes` and `maxpagesize=100`.
    public var preferencesApplied: [String]
    /// The `Repeatability-Result` field.
    public var repeatabilityResult: RepeatabilityResult?
    /// The base URL of the links within an encoded body; `nil` if the links need no base.
    public var baseURL: String?
    /// Additional header fields.
    public var headers: [String: String]
    /// The `X-CorrelationID` of the request, which also appears in the client's log and trace; `nil` for a local
    /// provider.
    public var correlationID: String?

    /// Creates a response.
    public init(status: Int = 200, body: ResponseBody = .none, etag: String? = nil) {
        self.status = status
        self.body = body
        self.etag = etag
        preferencesApplied = []
        headers = [:]
    }
}

/// Whether the service accepted a repeatable request (OData Repeatable Requests 1.0).
public enum RepeatabilityResult: String, Hashable, Sendable {
    /// The request was executed now, or was executed before and its response is repeated.
    case accepted
    /// The service did not execute the request.
    case rejected
}

/// The body of a response.
public enum ResponseBody: Sendable {
    /// No body.
    case none
    /// An entity.
    case entity(ODataEntity)
    /// A page of decoded entities.
    case page(EntityPage)
    /// A page of entities as encoded bytes, in the requested format.
    case encoded(ByteStream, contentType: String)
    /// The value of a property.
    case value(ODataValue, TypeReference)
    /// A number of rows.
    case count(Int64)
    /// Raw bytes: a `$value` or a stream.
    case raw(ByteStream, contentType: String)
    /// Entity ids. References to a collection may have the total number and a link to the next page.
    case references([String], isCollection: Bool, count: Int64? = nil, nextLink: String? = nil)
    /// The metadata document.
    case metadata(EntityDataModel)
    /// The service document, whose content is derived from the model.
    case serviceDocument
    /// The results of a batch, in the order of its items.
    case batch([BatchResult])
}

/// A page of a collection or of a delta (OData JSON Format 4.01, 12 to 15).
///
/// ```swift
/// let page = try await service.page(try ODataURL(parsing: "Orders?$count=true"))
/// show(page.entities.count, page.count ?? 0, page.deltaLink ?? "")
/// ```
public struct EntityPage: Sendable {
    /// The entities; in a delta, the new and changed ones.
    public var entities: [ODataEntity]
    /// The removed entities of a delta.
    public var removed: [RemovedEntity]
    /// The added and removed relations of a delta.
    public var links: [ChangedLink]
    /// The total number of entities, if it was requested.
    public var count: Int64?
    /// The next link; `nil` on the last page.
    public var nextLink: String?
    /// The delta link, at which later changes are read.
    public var deltaLink: String?
    /// The kinds of the appended items, in order.
    private var order: [DeltaItem.Kind] = []

    /// Creates a page.
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

    /// An item of a delta.
    public enum DeltaItem: Sendable {
        /// A new or changed entity.
        case entity(ODataEntity)
        /// A removed entity.
        case removed(RemovedEntity)
        /// An added or removed relation.
        case link(ChangedLink)

        fileprivate enum Kind: Sendable { case entity, removed, link }
    }

    /// The items in the order in which they were appended. A page that was not built with ``append(_:)`` has its
    /// entities first, then removed entities, then links.
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

    /// Appends an item, which keeps its place in ``items``.
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

/// An added or removed relation between two entities in a delta (OData JSON Format 4.01, 15.4 and 15.5).
public struct ChangedLink: Hashable, Sendable {
    /// The id of the entity that the navigation property belongs to.
    public var source: String
    /// The path of the navigation property.
    public var relationship: String
    /// The id of the related entity; `nil` if the relation of a single-valued property is removed.
    public var target: String?
    /// Whether the relation was removed.
    public var isDeleted: Bool
    /// The annotations of the item, by qualified term.
    public var annotations: [String: ODataValue] = [:]

    /// Creates a changed relation.
    public init(source: String, relationship: String, target: String?, isDeleted: Bool) {
        self.source = source
        self.relationship = relationship
        self.target = target
        self.isDeleted = isDeleted
    }
}

/// An entity that was removed from a result.
public struct RemovedEntity: Hashable, Sendable {
    /// The entity id; empty if only the key is known.
    public var id: String
    /// The key, if the service gave it.
    public var key: EntityKey?
    /// The reason of the removal.
    public var reason: Reason
    /// In a request, the ETag that the entity must have; `nil` for any.
    public var etag: String?

    /// The reason of a removal (OData JSON Format 4.01, 15.3).
    public enum Reason: String, Hashable, Sendable {
        /// The entity was deleted.
        case deleted
        /// The entity does not satisfy the query any more.
        case changed
    }

    /// Creates a removed entity.
    public init(id: String, key: EntityKey? = nil, reason: Reason, etag: String? = nil) {
        self.id = id
        self.key = key
        self.reason = reason
        self.etag = etag
    }
}

/// The result of one request in a batch.
public struct BatchResult: Sendable {
    /// The id of the request.
    public var id: String
    /// The response, or the error of a refused request.
    public var result: Result<ODataResponse, ODataError>

    /// Creates a result.
    public init(id: String, result: Result<ODataResponse, ODataError>) {
        self.id = id
        self.result = result
    }
}
