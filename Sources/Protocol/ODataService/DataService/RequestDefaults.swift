import ODataModel
import ODataQuery

/// The settings that a ``DataService`` adds to every request that does not set them itself.
///
/// ```swift
/// let service = DataService(client, defaults: RequestDefaults(headers: ["X-Tenant": "blue"], maxPageSize: 500))
/// ```
public struct RequestDefaults: Hashable, Sendable {
    /// The header fields. Providers that do not use HTTP ignore them.
    ///
    /// If a link leads to another origin than the service's, only fields that describe the form of the response are
    /// sent.
    public var headers: [String: String]
    /// The custom query options (OData URL Conventions 4.01, 5.2), which are added to URLs but not to links.
    public var options: [QueryOptions.CustomOption]
    /// The `maxpagesize` preference for collections; `nil` for none.
    public var maxPageSize: Int?
    /// Whether the response to a creation or change contains the entity.
    public var returns: Preferences.Return
    /// The number of pages that are read ahead, 0 to ``EntityPages/maxLookAhead``.
    public var lookAhead: Int

    /// Creates defaults.
    public init(
        headers: [String: String] = [:], options: [QueryOptions.CustomOption] = [], maxPageSize: Int? = nil,
        returns: Preferences.Return = .representation, lookAhead: Int = 0
    ) {
        self.headers = headers
        self.options = options
        self.maxPageSize = maxPageSize
        self.returns = returns
        self.lookAhead = lookAhead
    }

    /// Returns a request completed by the defaults.
    func applied(to request: ODataRequest) -> ODataRequest {
        var request = request
        request.headers.merge(headers) { own, _ in own }
        if request.link == nil {
            for option in options where !request.url.options.custom.contains(where: { $0.name == option.name }) {
                request.url.options.custom.append(option)
            }
        }
        if request.method == .read, request.preferences.maxPageSize == nil {
            request.preferences.maxPageSize = maxPageSize
        }
        if request.method != .read, request.preferences.returns == .representation {
            request.preferences.returns = returns
        }
        return request
    }
}

extension DataService {
    /// Returns the same service with a header field for every request to the service's own origin; see
    /// ``RequestDefaults/headers``.
    ///
    /// ```swift
    /// let traced = service.header("X-Tenant", "blue")
    /// ```
    public func header(_ name: String, _ value: String) -> DataService {
        with { $0.headers[name] = value }
    }

    /// Returns the same service with a custom query option for every request.
    public func option(_ name: String, _ value: String) -> DataService {
        with {
            $0.options.removeAll { $0.name == name }
            $0.options.append(.init(name: name, value: value))
        }
    }

    /// Returns the same service with a preferred language for its responses: `Accept-Language` (OData Protocol
    /// 4.01, 8.2.3).
    ///
    /// - Parameter tag: a language tag such as `de-AT` (RFC 5646).
    public func language(_ tag: String) -> DataService { header("Accept-Language", tag) }

    /// Returns the same service with a maximum page size.
    public func pageSize(_ size: Int) -> DataService { with { $0.maxPageSize = max(1, size) } }

    /// The same service, but with responses that do not contain changed entities.
    ///
    /// ``create(_:in:)`` and similar methods then return the sent entity. An entity with an ETag is still read if
    /// the response to a change has no new ETag.
    public var returningNothing: DataService { with { $0.returns = .minimal } }

    /// Returns the same service with changed defaults.
    public func with(_ change: (inout RequestDefaults) -> Void) -> DataService {
        var service = self
        change(&service.defaults)
        return service
    }

    /// Sends a request completed by the defaults. Every method of a data service calls this method.
    public func send(_ request: ODataRequest) async throws -> ODataResponse {
        var request = defaults.applied(to: request)
        if case .batch(let items) = request.body {
            request.body = .batch(
                items.map { item in
                    var item = item
                    item.request = defaults.applied(to: item.request)
                    return item
                })
        }
        return try await provider.execute(request)
    }
}
