import HTTPTypes

/// Which scripts of other origins may use the service: cross-origin resource sharing (WHATWG Fetch, 3.2).
public struct CrossOriginPolicy: Sendable, Hashable {
    /// Which origins are allowed.
    public enum Origins: Sendable, Hashable {
        /// All; never together with credentials.
        case any
        /// These, such as `https://shop.example`.
        case these(Set<String>)
    }

    /// Which origins are allowed.
    public var origins: Origins
    /// Whether a browser sends cookies and passwords along; only for origins that are named.
    public var allowsCredentials: Bool
    /// How long a browser remembers what it was told, in seconds.
    public var maxAge: Int

    /// Makes a policy.
    public init(origins: Origins, allowsCredentials: Bool = false, maxAge: Int = 600) {
        self.origins = origins
        self.allowsCredentials = allowsCredentials
        self.maxAge = maxAge
    }

    /// The fields that scripts may read besides the harmless ones.
    private static let exposed = [
        "ETag", "Location", "OData-EntityId", "OData-Version", "DataServiceVersion", "Preference-Applied",
        "Repeatability-Result", "AsyncResult", "Retry-After", "X-CSRF-Token", "X-Request-ID", "Content-Range",
    ].joined(separator: ", ")

    /// The answer to a browser that asks what a script may do; `nil` for any other request.
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

    /// Lets the browser hand an answer to a script of an allowed origin.
    ///
    /// - Returns: whether the origin is allowed.
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
