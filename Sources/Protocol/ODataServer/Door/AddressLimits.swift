/// How much the clients behind one network address may ask of a server.
///
/// Requests beyond a limit are refused with 429 and `Retry-After` (RFC 6585, 4) before anything else is done for them.
/// Addresses of IPv6 are taken together by their first 64 bits, which one client has to itself. Health checks do not count.
public struct AddressLimits: Hashable, Sendable {
    /// The most requests of one address that are answered at the same time; `nil` for no limit. A request ends with the
    /// last byte of its response.
    public var requestsAtOnce: Int?
    /// The most requests of one address in any sixty seconds; `nil` for no limit. Further pages, whose URL holds the token
    /// of a next link, do not count unless they are refused: a client that follows links is as fast as the service.
    public var requestsPerMinute: Int?

    /// 64 requests.
    public static let defaultRequestsAtOnce = 64
    /// 600 requests.
    public static let defaultRequestsPerMinute = 600

    /// No limits: for servers that count at a proxy before them, and for measurements.
    public static let none = AddressLimits(requestsAtOnce: nil, requestsPerMinute: nil)

    /// Makes limits.
    public init(
        requestsAtOnce: Int? = AddressLimits.defaultRequestsAtOnce,
        requestsPerMinute: Int? = AddressLimits.defaultRequestsPerMinute
    ) {
        self.requestsAtOnce = requestsAtOnce
        self.requestsPerMinute = requestsPerMinute
    }
}
