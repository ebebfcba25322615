/// The request limits for the clients behind one network address.
///
/// Requests beyond a limit are refused with 429 and `Retry-After` (RFC 6585, 4) before any other processing.
/// IPv6 addresses are grouped by their first 64 bits, which usually belong to one client. Health checks do not
/// count.
public struct AddressLimits: Hashable, Sendable {
    /// The maximum number of concurrent requests of one address; `nil` for no limit. A request ends with the
    /// last byte of its response.
    public var requestsAtOnce: Int?
    /// The maximum number of requests of one address in any sixty seconds; `nil` for no limit. Requests for
    /// further pages, with the token of a next link, count only if they are refused. A client that follows
    /// links cannot be faster than the service.
    public var requestsPerMinute: Int?

    /// The default limit of 64 concurrent requests.
    public static let defaultRequestsAtOnce = 64
    /// The default limit of 600 requests per minute.
    public static let defaultRequestsPerMinute = 600

    /// No limits, for servers behind a proxy that enforces its own, and for measurements.
    public static let none = AddressLimits(requestsAtOnce: nil, requestsPerMinute: nil)

    /// Creates limits.
    public init(
        requestsAtOnce: Int? = AddressLimits.defaultRequestsAtOnce,
        requestsPerMinute: Int? = AddressLimits.defaultRequestsPerMinute
    ) {
        self.requestsAtOnce = requestsAtOnce
        self.requestsPerMinute = requestsPerMinute
    }
}
