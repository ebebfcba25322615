import ErrorCodes
import ODataModel
import ODataQuery

/// What an app reads and writes with: entities by set, key and query, over any provider, online or offline.
///
/// Every method is one request of the provider (OData Protocol 4.01, 11), but those that follow pages.
/// Errors are the provider's own: ``ODataError`` for refusals, and ``DataServiceError`` where an answer is
/// of another kind than was asked for.
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
    /// Who answers.
    public let provider: any ODataProvider
    /// What goes with every request.
    public var defaults: RequestDefaults

    /// Makes a service over a provider.
    ///
    /// - Parameter defaults: what goes with every request.
    public init(_ provider: any ODataProvider, defaults: RequestDefaults = RequestDefaults()) {
        self.provider = provider
        self.defaults = defaults
    }

    // MARK: Collections

    /// One page of a collection: all of it where the provider does not page.
    ///
    /// - Parameter preferences: `maxPageSize` limits the page, `trackChanges` asks for a delta link.
    /// - Throws: ``DataServiceError/answeredLater(location:)`` where `respondAsync` has the service answer later.
    public func page(_ url: ODataURL, preferences: Preferences = Preferences()) async throws -> EntityPage {
        try await page(ODataRequest(.read, url, preferences: preferences))
    }

    /// The page that a next or delta link leads to.
    public func page(following link: String, preferences: Preferences = Preferences()) async throws -> EntityPage {
        try await page(ODataRequest(following: link, preferences: preferences))
    }

    /// All pages of a collection, each read when it is asked for. The last one has the delta link, if
    /// changes are tracked.
    public func pages(_ url: ODataURL, preferences: Preferences = Preferences()) -> EntityPages {
        EntityPages(
            service: self, first: ODataRequest(.read, url, preferences: preferences), lookAhead: defaults.lookAhead)
    }

    /// The changes since a delta link was given (OData Protocol 4.01, 11.3), page by page.
    public func changes(since deltaLink: String, preferences: Preferences = Preferences()) -> EntityPages {
        EntityPages(
            service: self, first: ODataRequest(following: deltaLink, preferences: preferences),
            lookAhead: defaults.lookAhead)
    }

    /// All entities of a collection, following its pages.
    public func entities(_ url: ODataURL, preferences: Preferences = Preferences()) async throws -> [ODataEntity] {
        var all: [ODataEntity] = []
        // All pages will be wanted: the next one comes while this one is taken apart.
        for try await page in pages(url, preferences: preferences).lookingAhead(1) { all += page.entities }
        return all
    }

    /// All entities of a set that satisfy a query, following its pages.
    public func entities(_ set: String, _ options: QueryOptions = QueryOptions()) async throws -> [ODataEntity] {
        try await entities(ODataURL(set: set, options: options))
    }

    /// The first entity of a collection; `nil` when it is empty. Asks for no more than one.
    public func first(_ url: ODataURL) async throws -> ODataEntity? {
        var url = url
        url.options.top = min(url.options.top ?? 1, 1)
        return try await page(url).entities.first
    }

    /// The number of entities of a collection that satisfy the filter and search of a URL
    /// (OData Protocol 4.01, 11.2.10).
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

    /// The number of entities of a set that satisfy a filter.
    public func count(_ set: String, where filter: CommonExpression? = nil) async throws -> Int64 {
        var url = ODataURL(set: set)
        url.options.filter = filter
        return try await count(url)
    }

    // MARK: Single entities

    /// The entity with a key; `nil` when there is none.
    ///
    /// - Parameter options: `select`, `expand` and `compute`.
    public func entity(
        _ set: String, key: EntityKey, _ options: QueryOptions = QueryOptions()
    ) async throws -> ODataEntity? {
        try await entity(ODataURL(set: set, key: key, model: try await provider.model, options: options))
    }

    /// The entity with a key of one part; `nil` when there is none.
    ///
    /// - Throws: ``DataServiceError/unknownEntitySet(_:)``, ``DataServiceError/notAddressable(type:)`` where
    ///   the key has several parts, besides what the provider throws.
    public func entity(_ set: String, key: ODataValue) async throws -> ODataEntity? {
        try await entity(set, key: try await singlePartKey(key, of: set))
    }

    /// The entity at a URL: by key, a singleton, or at the end of a navigation; `nil` when there is none.
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

    /// The answer to a request whose result is wanted now.
    ///
    /// - Throws: ``DataServiceError/answeredLater(location:)`` for 202, which has none: where it says `Location`, a status
    ///   monitor is found there and no entity (OData Protocol 4.01, 11.6).
    func answer(to request: ODataRequest) async throws -> ODataResponse {
        let response = try await send(request)
        // An action that an offline store queues has no result either, and nowhere to ask for it.
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
        // A navigation that leads nowhere is no error: the answer has no content (11.2.7).
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

/// What an app asked of a ``DataService`` that cannot be done or was answered with something else.
public enum DataServiceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The provider's answer is of another kind.
    case unexpectedAnswer(expected: String)
    /// The service has taken the request and goes on with it, and gives the result later (OData Protocol 4.01, 11.6): the
    /// request is not to be sent again. `location` is where it tells how far it is, as it said so.
    case answeredLater(location: String?)
    /// The provider's model has no such type: the code was generated from other metadata.
    case unknownType(QualifiedName)
    /// The metadata in the generated code, edited since, are none or do not declare this type.
    case generatedMetadata(QualifiedName, reason: String)
    /// The model has no such entity set.
    case unknownEntitySet(String)
    /// Which set an entity belongs to cannot be told from its type: these have it.
    case ambiguousEntitySet(type: QualifiedName, candidates: [String])
    /// The model has no such function, action or function import.
    case unknownOperation(String)
    /// A batch has no request with this id, or it was not answered: a request before it was refused.
    case unansweredRequest(id: String)
    /// The entity has no complete key and no edit link, so that it cannot be addressed.
    case notAddressable(type: QualifiedName)

    /// What is wrong and what helps.
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
