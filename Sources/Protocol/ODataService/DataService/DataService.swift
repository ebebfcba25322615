import ErrorCodes
import ODataModel
import ODataQuery

/// The interface through which an app reads and writes entities by set, key and query.
///
/// The provider may be online or offline. Every method sends one request to it (OData Protocol 4.01, 11), except
/// for methods that follow pages. The errors are those of the provider, such as ``ODataError`` for refusals, and
/// ``DataServiceError`` if the response has an unexpected kind.
///
/// ```swift
/// let service = DataService(store)
/// let large = try await service.entities(ResourceQuery("Orders").filter(.property("Freight") > 500))
/// if var order = try await service.entity("Orders", key: 10248) {
///     order["Freight"] = .decimal(ODataDecimal(12))
///     order = try await service.update(order)
/// }
/// ```
public struct DataService: Sendable {
    /// The provider that answers the requests.
    public let provider: any ODataProvider
    /// The header fields, query options and preferences that are added to every request.
    public var defaults: RequestDefaults

    /// Creates a service over a provider.
    ///
    /// - Parameter defaults: the header fields, query options and preferences that are added to every request.
    public init(_ provider: any ODataProvider, defaults: RequestDefaults = RequestDefaults()) {
        self.provider = provider
        self.defaults = defaults
    }

    // MARK: Collections

    /// Returns one page of a collection, or the whole collection if the provider does not page.
    ///
    /// - Parameter preferences: `maxPageSize` limits the page, `trackChanges` requests a delta link.
    /// - Throws: ``DataServiceError/answeredLater(location:)`` if `respondAsync` makes the service respond
    ///   asynchronously.
    public func page(_ url: ODataURL, preferences: Preferences = Preferences()) async throws -> EntityPage {
        try await page(ODataRequest(.read, url, preferences: preferences))
    }

    /// Returns the page at a next link or delta link.
    public func page(following link: String, preferences: Preferences = Preferences()) async throws -> EntityPage {
        try await page(ODataRequest(following: link, preferences: preferences))
    }

    /// Returns all pages of a collection, each of which is read on demand. The last one has the delta link if
    /// changes are tracked.
    public func pages(_ url: ODataURL, preferences: Preferences = Preferences()) -> EntityPages {
        EntityPages(
            service: self, first: ODataRequest(.read, url, preferences: preferences), lookAhead: defaults.lookAhead)
    }

    /// Returns the changes since a delta link (OData Protocol 4.01, 11.3), page by page.
    public func changes(since deltaLink: String, preferences: Preferences = Preferences()) -> EntityPages {
        EntityPages(
            service: self, first: ODataRequest(following: deltaLink, preferences: preferences),
            lookAhead: defaults.lookAhead)
    }

    /// Returns all entities of a collection, following its pages.
    public func entities(_ url: ODataURL, preferences: Preferences = Preferences()) async throws -> [ODataEntity] {
        var all: [ODataEntity] = []
        // All pages are needed, so the next one is requested while this one is decoded.
        for try await page in pages(url, preferences: preferences).lookingAhead(1) { all += page.entities }
        return all
    }

    /// Returns all entities of a set that satisfy a query, following its pages.
    public func entities(_ set: String, _ options: QueryOptions = QueryOptions()) async throws -> [ODataEntity] {
        try await entities(ODataURL(set: set, options: options))
    }

    /// Returns the first entity of a collection; `nil` if the collection is empty. Requests one entity only.
    public func first(_ url: ODataURL) async throws -> ODataEntity? {
        var url = url
        url.options.top = min(url.options.top ?? 1, 1)
        return try await page(url).entities.first
    }

    /// Returns the number of entities in a collection that satisfy the filter and search of a URL (OData Protocol
    /// 4.01, 11.2.10).
    public func count(_ url: ODataURL) async throws -> Int64 {
        var url = url
        var options = QueryOptions()
        options.filter = url.options.filter
        options.search = url.options.search
        options.apply = url.options.apply
        options.aliases = url.options.aliases
        options.custom = url.options.custom
        url.options = options
        url.path.segments.append(.count)
        guard case .count(let count) = try await answer(to: ODataRequest(.read, url)).body else {
            throw DataServiceError.unexpectedAnswer(expected: "a count")
        }
        return count
    }

    /// Returns the number of entities in a set that satisfy a filter.
    public func count(_ set: String, where filter: CommonExpression? = nil) async throws -> Int64 {
        var url = ODataURL(set: set)
        url.options.filter = filter
        return try await count(url)
    }

    // MARK: Single entities

    /// Returns the entity with a key; `nil` if there is none.
    ///
    /// - Parameter options: `select`, `expand` and `compute`.
    public func entity(
        _ set: String, key: EntityKey, _ options: QueryOptions = QueryOptions()
    ) async throws -> ODataEntity? {
        try await entity(ODataURL(set: set, key: key, model: try await provider.model, options: options))
    }

    /// Returns the entity with a single-part key; `nil` if there is none.
    ///
    /// - Throws: ``DataServiceError/unknownEntitySet(_:)``, ``DataServiceError/notAddressable(type:)`` if the key
    ///   has several parts, and the errors of the provider.
    public func entity(_ set: String, key: ODataValue) async throws -> ODataEntity? {
        try await entity(set, key: try await singlePartKey(key, of: set))
    }

    /// Returns the entity at a URL: by key, a singleton, or at the end of a navigation; `nil` if there is none.
    public func entity(_ url: ODataURL) async throws -> ODataEntity? {
        do {
            return try await entity(ODataRequest(.read, url))
        } catch let error as ODataError where error.status == 404 || error.status == 410 {
            return nil
        }
    }

    private func singlePartKey(_ value: ODataValue, of set: String) async throws -> EntityKey {
        guard let shape = try await provider.model.shape(ofSet: set) else {
            throw DataServiceError.unknownEntitySet(set)
        }
        guard shape.key.count == 1 else { throw DataServiceError.notAddressable(type: shape.name) }
        return EntityKey(shape.key[0].name, value)
    }

    // MARK: Answers

    /// Sends a request that needs its result at once, and returns the response.
    ///
    /// - Throws: ``DataServiceError/answeredLater(location:)`` for 202. The `Location` of that response is a status
    ///   monitor, not an entity (OData Protocol 4.01, 11.6).
    func answer(to request: ODataRequest) async throws -> ODataResponse {
        let response = try await send(request)
        // An action in the queue of an offline store also gives 202, but has no status monitor.
        guard response.status == 202, response.location != nil || !request.callsAction else { return response }
        throw DataServiceError.answeredLater(location: response.location)
    }

    func page(_ request: ODataRequest) async throws -> EntityPage {
        switch try await answer(to: request).body {
        case .page(let page): return page
        case .none: return EntityPage()
        default: throw DataServiceError.unexpectedAnswer(expected: "a collection of entities")
        }
    }

    func entity(_ request: ODataRequest) async throws -> ODataEntity? {
        let response = try await answer(to: request)
        switch response.body {
        case .entity(var entity):
            if entity.control.etag == nil { entity.control.etag = response.etag }
            return entity
        // An empty navigation property is not an error: the response has no content (11.2.7).
        case .none: return nil
        default: throw DataServiceError.unexpectedAnswer(expected: "an entity")
        }
    }
}

extension ODataRequest {
    fileprivate var callsAction: Bool {
        guard method == .create else { return false }
        switch body {
        case .none, .parameters: return true
        default: return false
        }
    }
}

/// An error in the use of a ``DataService``, or a response of an unexpected kind.
///
/// ```swift
/// do {
///     try await service.update(order)
/// } catch DataServiceError.answeredLater(let location) {
///     show("The service goes on at \(location ?? "an unknown place").")  // do not send it again
/// }
/// ```
public enum DataServiceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The response of the provider is of another kind.
    case unexpectedAnswer(expected: String)
    /// The service accepted the request and processes it asynchronously (OData Protocol 4.01, 11.6).
    ///
    /// Do not send the request again. `location` is the URL of the status monitor, as the service wrote it.
    case answeredLater(location: String?)
    /// The provider's model does not declare the type: the code was generated from other metadata.
    case unknownType(QualifiedName)
    /// The metadata in the generated code were edited: they cannot be read or do not declare the type.
    case generatedMetadata(QualifiedName, reason: String)
    /// The model does not declare the entity set.
    case unknownEntitySet(String)
    /// The type does not determine the entity set; `candidates` are the sets that hold it.
    case ambiguousEntitySet(type: QualifiedName, candidates: [String])
    /// The model does not declare the function, action or function import.
    case unknownOperation(String)
    /// The batch has no request with the id, or the request has no response because an earlier one was refused.
    case unansweredRequest(id: String)
    /// The entity has neither a complete key nor an edit link, so it has no URL.
    case notAddressable(type: QualifiedName)

    /// A message with the cause and the remedy.
    public var description: String {
        switch self {
        case .unexpectedAnswer(let expected): "The answer is not \(expected)."
        case .answeredLater: "The service has taken the request and answers it later; it is not to be sent again."
        case .unknownOperation(let name): "There is no function or action \(name) that can be called so."
        case .unansweredRequest(let id): "The batch has no answer to a request \(id)."
        case .unknownType(let name): "The service has no type \(name); generate the code from its metadata again."
        case .generatedMetadata(let type, let reason):
            "The metadata generated with \(type) were changed; generate the code again. \(reason)"
        case .unknownEntitySet(let name): "There is no entity set \(name)."
        case .ambiguousEntitySet(let type, let candidates):
            candidates.isEmpty
                ? "No entity set holds \(type); name the set."
                : "\(type) is in several entity sets (\(candidates.joined(separator: ", "))); name the one meant."
        case .notAddressable(let type): "This \(type) has neither a complete key nor an edit link."
        }
    }
}

extension DataServiceError: CodedError {
    /// `request.…`.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .unexpectedAnswer: "unexpected-answer"
            case .answeredLater: "answered-later"
            case .unknownType: "unknown-type"
            case .generatedMetadata: "generated-metadata"
            case .unknownEntitySet: "unknown-set"
            case .unknownOperation: "unknown-operation"
            case .ambiguousEntitySet: "ambiguous-set"
            case .unansweredRequest: "unanswered"
            case .notAddressable: "not-addressable"
            }
        return ErrorCode(rawValue: "request.\(name)")
    }
    /// What was asked for.
    public var errorArguments: [String: String] { ["reason": description] }
    /// The request is wrong, or was taken and is not to be repeated.
    public var failureKind: FailureKind { if case .answeredLater = self { .inDoubt } else { .request } }
}
