import HTTPTypes

/// The policy for scripts of other origins: cross-origin resource sharing (WHATWG Fetch, 3.2).
public struct CrossOriginPolicy: Sendable, Hashable {
    /// The allowed origins.
    public enum Origins: Sendable, Hashable {
        /// All origins, but never with credentials.
        case any
        /// The given origins, such as `https://shop.example`.
        case these(Set<String>)
    }

    /// The allowed origins.
    public var origins: Origins
    /// Whether a browser sends cookies and passwords; it applies only to explicitly listed origins.
    public var allowsCredentials: Bool
    /// The number of seconds for which a browser caches the result of a preflight.
    public var maxAge: Int

    /// Creates a policy.
    public init(origins: Origins, allowsCredentials: Bool = false, maxAge: Int = 600) {
        self.origins = origins
        self.allowsCredentials = allowsCredentials
        self.maxAge = maxAge
    }

    /// The response fields that scripts may read in addition to the safelisted ones.
    private static let exposed = [
        "ETag", "Location", "OData-EntityId", "OData-Version", "DataServiceVersion", "Preference-Applied",
        "Repeatability-Result", "AsyncResult", "Retry-After", "X-CSRF-Token", "X-Request-ID", "Content-Range",
    ].joined(separator: ", ")

    /// Returns the response to a preflight, or `nil` for any other request.
    func preflight(_ head: HTTPRequest) -> HTTPResponse? {
        guard head.method == .options, head.headerFields[.origin] != nil,
            head.headerFields[.accessControlRequestMethod] != nil
        else { return nil }
        var response = HTTPResponse(status: .noContent)
        guard allow(&response, for: head) else { return response }
        response.headerFields[.accessControlAllowMethods] = "GET, HEAD, POST, PATCH, PUT, DELETE, OPTIONS, MERGE"
        if let wanted = head.headerFields[.accessControlRequestHeaders] {
            response.headerFields[.accessControlAllowHeaders] = wanted
        }
        response.headerFields[.accessControlMaxAge] = String(maxAge)
        return response
    }

    /// Adds the fields that allow a script of an allowed origin to read the response.
    ///
    /// - Returns: Whether the origin is allowed.
    @discardableResult
    func allow(_ response: inout HTTPResponse, for head: HTTPRequest) -> Bool {
        guard let origin = head.headerFields[.origin] else { return false }
        switch origins {
        case .any: response.headerFields[.accessControlAllowOrigin] = "*"
        case .these(let allowed):
            let vary = response.headerFields[.vary]
            if vary.map({ !$0.contains("Origin") }) ?? true {
                response.headerFields[.vary] = vary.map { "\($0), Origin" } ?? "Origin"
            }
            guard allowed.contains(origin) else { return false }
            response.headerFields[.accessControlAllowOrigin] = origin
            if allowsCredentials { response.headerFields[.accessControlAllowCredentials] = "true" }
        }
        response.headerFields[.accessControlExposeHeaders] = Self.exposed
        return true
    }
}
