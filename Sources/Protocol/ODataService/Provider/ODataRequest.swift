import ODataModel
import ODataQuery

/// A request to a service, independent of HTTP (OData Protocol 4.01, 11).
///
/// ```swift
/// var request = ODataRequest(.read, try ODataURL(parsing: "Orders?$top=10"))
/// request.preferences.maxPageSize = 5
/// let response = try await client.execute(request)
/// ```
public struct ODataRequest: Sendable {
    /// The operation on the resource.
    public enum Method: String, Hashable, Sendable {
        /// Reads the resource (GET).
        case read = "GET"
        /// Creates an entity in the resource, or calls an action (POST).
        case create = "POST"
        /// Changes the given properties (PATCH).
        case update = "PATCH"
        /// Replaces the resource as a whole (PUT).
        case replace = "PUT"
        /// Deletes the resource (DELETE).
        case delete = "DELETE"
    }

    /// The operation on the resource.
    public var method: Method
    /// The resource and the query, relative to the service root. Setting the URL clears ``resolution``.
    public var url: ODataURL { didSet { resolution = nil } }
    /// The resolved ``url``; `nil` if it is not resolved yet (``init(_:_:format:)``).
    public private(set) var resolution: ResolvedURL?
    /// A next or delta link of the service, which is followed instead of ``url``: absolute, or relative to the
    /// service root. A provider must not interpret the link of another service.
    public var link: String?
    /// The body of the request.
    public var body: RequestBody
    /// The preferences of the request.
    public var preferences: Preferences
    /// `If-Match`: the ETag that the resource must have; `*` for any existing resource.
    public var ifMatch: String?
    /// `If-None-Match`: the ETag that the resource must not have; `*` if it must not exist.
    public var ifNoneMatch: String?
    /// The id by which the service recognises a repeated request.
    public var repeatability: Repeatability?
    /// The digest of the received ``body``, which distinguishes a repeat from another request with the same
    /// ``repeatability``.
    package var bodyDigest: String?
    /// Whether no provider may add a ``repeatability``. The caller sets it if the service refuses the id, or the
    /// device's time in it.
    public var isUnidentified = false
    /// Whether an earlier attempt of the request got no response. The attempt may have succeeded, so a refusal of
    /// this one does not prove that nothing was changed.
    public var mayHaveBeenSent = false
    /// The encoding of collections that the caller wants; `nil` for decoded entities.
    public var format: ResponseFormat?
    /// Additional header fields, which online providers send.
    ///
    /// If ``link`` leads to another origin than the service's, only fields that describe the form of the response
    /// are sent.
    public var headers: [String: String]
    /// `OData-Isolation`: the consistency of the pages of a result (OData Protocol 4.01, 8.2.6).
    public var isolation: Isolation?
    /// The arguments of the request that stay within the process.
    public var context = RequestContext()
    /// Receives results of a batch while other requests are still executed. A provider may ignore it.
    public var batchObserver: BatchObserver?
    /// Is called if the request fails before its first byte is sent and therefore has no effect. A provider may
    /// ignore it.
    public var unsentObserver: (@Sendable () -> Void)?

    /// A function that receives the result of one request, or of one change set, as soon as it is known.
    public typealias BatchObserver = @Sendable ([BatchResult]) async -> Void

    /// The degree to which a result is isolated from concurrent changes.
    public enum Isolation: String, Hashable, Sendable {
        /// All pages show the data as of the first page.
        case snapshot
    }

    /// Creates a request.
    public init(
        _ method: Method, _ url: ODataURL, body: RequestBody = .none, preferences: Preferences = Preferences(),
        ifMatch: String? = nil, ifNoneMatch: String? = nil, repeatability: Repeatability? = nil,
        format: ResponseFormat? = nil, headers: [String: String] = [:]
    ) {
        self.method = method
        self.url = url
        self.body = body
        self.preferences = preferences
        self.ifMatch = ifMatch
        self.ifNoneMatch = ifNoneMatch
        self.repeatability = repeatability
        self.format = format
        self.headers = headers
    }

    /// Creates a request that follows a link of the service.
    public init(following link: String, preferences: Preferences = Preferences(), format: ResponseFormat? = nil) {
        self.init(.read, ODataURL(), preferences: preferences, format: format)
        self.link = link
    }
}

extension ODataRequest {
    /// Creates a request for a URL that is already resolved, so that the provider does not resolve it again.
    public init(_ method: Method, _ resolution: ResolvedURL, format: ResponseFormat? = nil) {
        self.init(method, resolution.url, format: format)
        self.resolution = resolution
    }

    /// Resolves the URL for later calls of ``bound(in:_:)``. A URL that does not fit the model stays unresolved,
    /// and ``bound(in:_:)`` throws the error.
    public mutating func resolve(in model: EntityDataModel) {
        guard resolution?.model !== model, let bound = try? Binder(model: model).bind(url) else { return }
        resolution = ResolvedURL(url: url, bound: bound, model: model)
    }

    /// Returns the request's URL resolved against a model.
    ///
    /// - Returns: the ``resolution`` if it was made with the same model object, or else a new one.
    /// - Throws: `QueryError` if the URL does not fit the model.
    public func bound(
        in model: EntityDataModel, _ language: QueryLanguage = QueryLanguage()
    ) throws(QueryError) -> BoundURL {
        if let resolution, resolution.model === model { return resolution.bound }
        return try language.bind(url, model: model)
    }

    /// Returns the same request with its ``link`` parsed into ``url``. A provider may parse only its own links.
    ///
    /// - Throws: ``ODataError`` with status 400 if the link is not a URL relative to the service root.
    public func parsingLink() throws(ODataError) -> ODataRequest {
        guard var link else { return self }
        // A link is absolute if the request that produced it specified the service root.
        if let root = format?.serviceRoot, !root.isEmpty, link.hasPrefix(root) { link.removeFirst(root.count) }
        var request = self
        do throws(QueryError) {
            request.url = try ODataURL(parsing: link)
        } catch {
            throw ODataError(error)
        }
        request.link = nil
        return request
    }
}

/// The body of a request.
public enum RequestBody: Sendable {
    /// No body.
    case none
    /// An entity, complete or partial, with related entities and references.
    case entity(ODataEntity)
    /// The value of a single property.
    case value(ODataValue, TypeReference)
    /// The parameters of an action.
    case parameters([String: ODataValue])
    /// The id of an entity to link to.
    case reference(String)
    /// The ids of all entities that a collection is to link to: the body of a PUT to its `$ref` (OData Protocol
    /// 4.01, 11.4.6.3).
    case references([String])
    /// Members of a collection to create, change or remove (OData Protocol 4.01, 11.4.12 *Update a Collection of
    /// Entities*).
    case delta(EntityPage)
    /// The bytes of a media entity or stream property.
    case media(ByteStream, contentType: String)
    /// Several requests in one (OData Protocol 4.01, 11.7).
    case batch([BatchItem])
}

/// One request of a batch.
public struct BatchItem: Sendable {
    /// The id of the request within the batch.
    public var id: String
    /// The request.
    public var request: ODataRequest
    /// The name of the change set that the request belongs to; `nil` for a request outside change sets.
    public var atomicityGroup: String?
    /// The ids of requests or change sets that must succeed first; ignored if the request has a ``condition``.
    public var dependsOn: [String]
    /// The condition on earlier responses, which takes the place of ``dependsOn``.
    public var condition: BatchCondition?
    /// The references to values in earlier responses, by the parameter aliases that take their place in the URL.
    public var values: [String: BatchValueReference]

    /// Creates an item.
    public init(
        id: String, request: ODataRequest, atomicityGroup: String? = nil, dependsOn: [String] = [],
        condition: BatchCondition? = nil, values: [String: BatchValueReference] = [:]
    ) {
        self.condition = condition
        self.values = values
        self.id = id
        self.request = request
        self.atomicityGroup = atomicityGroup
        self.dependsOn = dependsOn
    }
}

/// The id of a request, by which the service executes a repeated request only once (OData Repeatable Requests 1.0).
public struct Repeatability: Hashable, Sendable {
    /// The `Repeatability-Request-ID` field.
    public var requestID: String
    /// The `Repeatability-First-Sent` field, an HTTP date: the time at which the request was first sent.
    public var firstSent: String
    /// The `Repeatability-Client-ID` field.
    public var clientID: String?

    /// Creates an id.
    public init(requestID: String, firstSent: String, clientID: String? = nil) {
        self.requestID = requestID
        self.firstSent = firstSent
        self.clientID = clientID
    }
}

/// The preferences of a request (OData Protocol 4.01, 8.2.8).
///
/// ```swift
/// var preferences = Preferences()
/// preferences.maxPageSize = 500
/// let orders = try await service.entities(ODataURL(parsing: "Orders"), preferences: preferences)
/// ```
public struct Preferences: Hashable, Sendable {
    /// The content of the response to a change.
    public enum Return: String, Hashable, Sendable {
        /// The entity after the change.
        case representation
        /// No content.
        case minimal
    }

    /// `maxpagesize`: the maximum number of rows per page, 1 or more.
    public var maxPageSize: Int?
    /// `return`: the content of the response to a change.
    public var returns: Return?
    /// `track-changes`: whether a delta link is requested.
    public var trackChanges: Bool
    /// `continue-on-error`: whether requests of a batch, or members of a collection, after a failed one are
    /// processed.
    public var continueOnError: Bool
    /// `include-annotations`: the annotations to include.
    public var includeAnnotations: String?
    /// `omit-values`: the omitted properties, `nulls` or `defaults`.
    public var omitValues: String?
    /// `allow-entityreferences`: whether the response may have references in place of entities.
    public var allowEntityReferences: Bool
    /// `respond-async`: whether the service may respond asynchronously.
    public var respondAsync: Bool
    /// `wait`: the number of seconds in which the service should respond.
    public var wait: Int?
    /// Other preferences, unparsed.
    public var others: [String]

    /// Creates preferences.
    public init(maxPageSize: Int? = nil, returns: Return? = nil, trackChanges: Bool = false) {
        self.maxPageSize = maxPageSize
        self.returns = returns
        self.trackChanges = trackChanges
        continueOnError = false
        allowEntityReferences = false
        respondAsync = false
        others = []
    }
}

/// The encoding of a collection or entity (OData JSON Format 4.01, 3).
public struct ResponseFormat: Hashable, Sendable {
    /// The amount of control information.
    public enum Metadata: String, Hashable, Sendable {
        /// Only the control information that paging and deltas need.
        case none
        /// The control information that a client cannot compute from the model.
        case minimal
        /// All control information.
        case full
    }

    /// The amount of control information.
    public var metadata: Metadata
    /// Whether 64-bit integers and decimals are written as strings.
    public var isIEEE754Compatible: Bool
    /// The OData version of the response.
    public var version: ODataVersion
    /// Whether control information is written as `@odata.…`. Version 4.0 requires it; version 4.01 also allows `@…`
    /// (OData JSON Format 4.01, 4.5).
    public var isPrefixed: Bool
    /// The absolute URL of the service root with a final slash, for context, next and delta links.
    public var serviceRoot: String

    /// Creates a format.
    ///
    /// - Parameter isPrefixed: whether control information is written as `@odata.…`; `nil` for the default of the
    ///   version.
    public init(
        metadata: Metadata = .minimal, isIEEE754Compatible: Bool = false, version: ODataVersion = .v401,
        isPrefixed: Bool? = nil, serviceRoot: String = ""
    ) {
        self.isPrefixed = isPrefixed ?? (version < .v401)
        self.metadata = metadata
        self.isIEEE754Compatible = isIEEE754Compatible
        self.version = version
        self.serviceRoot = serviceRoot
    }
}
