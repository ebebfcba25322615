import ODataModel
import ODataQuery

/// What goes with every request of a ``DataService``, unless the request says otherwise.
public struct RequestDefaults: Hashable, Sendable {
    /// Header fields. Providers without a wire ignore them. Where a link leads to another origin than the service's, those
    /// that only say how the answer is to look go along.
    public var headers: [String: String]
    /// Custom query options (OData URL Conventions 4.01, 5.2), added to URLs that are not links of the service.
    public var options: [QueryOptions.CustomOption]
    /// `maxpagesize` for collections.
    public var maxPageSize: Int?
    /// Whether creations and changes ask for the entity as it is afterwards, or for nothing.
    public var returns: Preferences.Return
    /// How many pages are read ahead of the one that is being worked on, 0 to ``EntityPages/maxLookAhead``.
    public var lookAhead: Int

    /// Makes defaults.
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

    /// A request completed by these.
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
    /// The same service with a header field for every request to the service's own origin; see ``RequestDefaults/headers``.
    ///
    /// ```swift
    /// let traced = service.header("X-Tenant", "blue")
    /// ```
    public func header(_ name: String, _ value: String) -> DataService {
        with { $0.headers[name] = value }
    }

    /// The same service with a custom query option for every request.
    public func option(_ name: String, _ value: String) -> DataService {
        with {
            $0.options.removeAll { $0.name == name }
            $0.options.append(.init(name: name, value: value))
        }
    }

    /// The same service answering in a language, as far as the service has it: `Accept-Language`
    /// (OData Protocol 4.01, 8.2.3).
    ///
    /// - Parameter tag: a language tag such as `de-AT` (RFC 5646).
    public func language(_ tag: String) -> DataService { header("Accept-Language", tag) }

    /// The same service with pages of at most so many entities.
    public func pageSize(_ size: Int) -> DataService { with { $0.maxPageSize = max(1, size) } }

    /// The same service with changes that ask for nothing in return: ``create(_:in:)`` and the like then give what
    /// was sent. What has an ETag is read again all the same where a change is answered without a new one.
    public var returningNothing: DataService { with { $0.returns = .minimal } }

    /// The same service with other defaults.
    public func with(_ change: (inout RequestDefaults) -> Void) -> DataService {
        var service = self
        change(&service.defaults)
        return service
    }

    /// Sends a request with the defaults: every method of a data service comes here.
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
