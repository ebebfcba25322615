import ODataModel
import ODataQuery

/// A request to a service, independent of HTTP (OData Protocol 4.01, 11).
public struct ODataRequest: Sendable {
    /// What is to be done with the resource.
    public enum Method: String, Hashable, Sendable {
        /// Read it (GET).
        case read = "GET"
        /// Create an entity in it, or call an action (POST).
        case create = "POST"
        /// Change the properties given (PATCH).
        case update = "PATCH"
        /// Replace it as a whole (PUT).
        case replace = "PUT"
        /// Delete it (DELETE).
        case delete = "DELETE"
    }

    /// What is to be done.
    public var method: Method
    /// The resource and the query, relative to the service root. A new URL has no ``resolution``.
    public var url: ODataURL { didSet { resolution = nil } }
    /// ``url`` resolved, as far as somebody on the way has resolved it (``init(_:_:format:)``).
    public private(set) var resolution: ResolvedURL?
    /// A link that the service gave (next link, delta link), followed as it is instead of ``url``: absolute,
    /// or relative to the service root. Providers must not look inside one of another service.
    public var link: String?
    /// What is sent along.
    public var body: RequestBody
    /// The preferences.
    public var preferences: Preferences
    /// `If-Match`: the ETag that must still hold, `*` for any existing.
    public var ifMatch: String?
    /// `If-None-Match`: the ETag that must not hold, `*` for not existing.
    public var ifNoneMatch: String?
    /// The identification that lets a repeat be recognised.
    public var repeatability: Repeatability?
    /// A digest of ``body`` as it came, by which a repeat is told from another request with the same ``repeatability``.
    package var bodyDigest: String?
    /// Whether no identification is put there on the way either: the caller has found that the service takes none, or not the
    /// time of this device.
    public var isUnidentified = false
    /// Whether an earlier sending of the same request was not answered: it may have acted, and a refusal of this one is no proof
    /// that it has not.
    public var mayHaveBeenSent = false
    /// The encoding that the caller wants collections in; `nil` for decoded entities.
    public var format: ResponseFormat?
    /// Further header fields, passed through by online providers: to the service's own origin, and to another one that
    /// ``link`` leads to only as far as they say how the answer is to look.
    public var headers: [String: String]
    /// `OData-Isolation`: what the pages of the result must show (OData Protocol 4.01, 8.2.6).
    public var isolation: Isolation?
    /// The arguments of the request that never leave the process.
    public var context = RequestContext()
    /// Is told of the answers to a batch while others are still under way; a provider need not tell.
    public var batchObserver: BatchObserver?
    /// Is told when the request fails before its first byte has left, so that it certainly did not act; a provider need not
    /// tell.
    public var unsentObserver: (@Sendable () -> Void)?

    /// Gets the answers to one request of a batch, or to one change set, as soon as they are there.
    public typealias BatchObserver = @Sendable ([BatchResult]) async -> Void

    /// How far a result is kept apart from changes that are made while it is read.
    public enum Isolation: String, Hashable, Sendable {
        /// All pages show the data as they were when the first one was read.
        case snapshot
    }

    /// Makes a request.
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

    /// Makes a request that follows a link which the service gave.
    public init(following link: String, preferences: Preferences = Preferences(), format: ResponseFormat? = nil) {
        self.init(.read, ODataURL(), preferences: preferences, format: format)
        self.link = link
    }
}

extension ODataRequest {
    /// Makes a request for a URL that is resolved already, so that the provider does not resolve it again.
    public init(_ method: Method, _ resolution: ResolvedURL, format: ResponseFormat? = nil) {
        self.init(method, resolution.url, format: format)
        self.resolution = resolution
    }

    /// Resolves the URL for all who ask the request later on (``bound(in:_:)``). A URL that does not fit the model stays
    /// unresolved: whoever needs it resolved gets the error.
    public mutating func resolve(in model: EntityDataModel) {
        guard resolution?.model !== model, let bound = try? Binder(model: model).bind(url) else { return }
        resolution = ResolvedURL(url: url, bound: bound, model: model)
    }

    /// The request's URL resolved against a model.
    ///
    /// - Returns: the ``resolution`` if it is against this very model; a new one by the language otherwise.
    /// - Throws: `QueryError` if the model does not fit the URL.
    public func bound(
        in model: EntityDataModel, _ language: QueryLanguage = QueryLanguage()
    ) throws(QueryError) -> BoundURL {
        if let resolution, resolution.model === model { return resolution.bound }
        return try language.bind(url, model: model)
    }

    /// The same request with its ``link`` taken apart: what a provider does with a link that it gave itself.
    ///
    /// - Throws: ``ODataError`` with status 400 when the link is no URL relative to the service root.
    public func parsingLink() throws(ODataError) -> ODataRequest {
        guard var link else { return self }
        // Links are absolute where the request that got them told the service root.
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

/// What a request carries.
public enum RequestBody: Sendable {
    /// Nothing.
    case none
    /// An entity, complete or partial, with related entities and references.
    case entity(ODataEntity)
    /// The value of a single property.
    case value(ODataValue, TypeReference)
    /// The parameters of an action.
    case parameters([String: ODataValue])
    /// The id of an entity to link to.
    case reference(String)
    /// The ids of all entities that a collection is to link to: what PUT to its `$ref` carries
    /// (OData Protocol 4.01, 11.4.6.3).
    case references([String])
    /// Changes to the members of a collection: those to create or change, and those to take away
    /// (OData Protocol 4.01, 11.4.12 *Update a Collection of Entities*).
    case delta(EntityPage)
    /// The bytes of a media entity or stream property.
    case media(ByteStream, contentType: String)
    /// Several requests in one (OData Protocol 4.01, 11.7).
    case batch([BatchItem])
}

/// One request of a batch.
public struct BatchItem: Sendable {
    /// Identifies the request within the batch.
    public var id: String
    /// The request.
    public var request: ODataRequest
    /// The change set that it belongs to; requests with one name succeed or fail together.
    public var atomicityGroup: String?
    /// Requests or groups that must have succeeded before, unless there is a condition.
    public var dependsOn: [String]
    /// What must hold of earlier answers, where their success is not what counts.
    public var condition: BatchCondition?
    /// Values of earlier answers that the query of the request uses, by the parameter aliases that stand for them.
    public var values: [String: BatchValueReference]

    /// Makes an item.
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

/// Identifies a request, so that a repeat acts only once (OData Repeatable Requests 1.0).
public struct Repeatability: Hashable, Sendable {
    /// `Repeatability-Request-ID`.
    public var requestID: String
    /// `Repeatability-First-Sent`, in the form of an HTTP date: when the request was transmitted first.
    public var firstSent: String
    /// `Repeatability-Client-ID`.
    public var clientID: String?

    /// Makes an identification.
    public init(requestID: String, firstSent: String, clientID: String? = nil) {
        self.requestID = requestID
        self.firstSent = firstSent
        self.clientID = clientID
    }
}

/// The preferences of a request (OData Protocol 4.01, 8.2.8).
public struct Preferences: Hashable, Sendable {
    /// Whether changes return the entity.
    public enum Return: String, Hashable, Sendable {
        /// The entity as it is now.
        case representation
        /// Nothing.
        case minimal
    }

    /// `maxpagesize`: the most rows per page, 1 or more.
    public var maxPageSize: Int?
    /// `return`.
    public var returns: Return?
    /// `track-changes`: a delta link is wanted.
    public var trackChanges: Bool
    /// `continue-on-error`, for batches and collections.
    public var continueOnError: Bool
    /// `include-annotations`.
    public var includeAnnotations: String?
    /// `omit-values`: `nulls` or `defaults`.
    public var omitValues: String?
    /// `allow-entityreferences`.
    public var allowEntityReferences: Bool
    /// `respond-async`.
    public var respondAsync: Bool
    /// `wait`, in seconds.
    public var wait: Int?
    /// Others, as they came.
    public var others: [String]

    /// Makes preferences.
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

/// How a collection or entity is to be encoded (OData JSON Format 4.01, 3).
public struct ResponseFormat: Hashable, Sendable {
    /// How much control information is written.
    public enum Metadata: String, Hashable, Sendable {
        /// Only what paging and deltas need.
        case none
        /// What a client that knows the model cannot compute.
        case minimal
        /// Everything.
        case full
    }

    /// How much control information is written.
    public var metadata: Metadata
    /// Whether 64-bit integers and decimals are written as strings.
    public var isIEEE754Compatible: Bool
    /// The version of the response.
    public var version: ODataVersion
    /// Whether control information is written `@odata.…`: 4.0 demands it, 4.01 allows `@…` too, and who reads 4.01
    /// reads both (OData JSON Format 4.01, 4.5).
    public var isPrefixed: Bool
    /// The absolute URL of the service root, with a slash at the end, for context, next and delta links.
    public var serviceRoot: String

    /// Makes a format.
    ///
    /// - Parameter isPrefixed: whether control information is written `@odata.…`; where nothing is said, as the version
    ///   has it.
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
