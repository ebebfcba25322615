import HTTPTypes
import ODataService

extension HTTPResponse {
    /// Keeps shared caches from storing a response to an authenticated caller (RFC 9111, 5.2.2.7).
    ///
    /// A cache knows a private response by the field `Authorization` of its request. Callers that are known by a cookie or a
    /// certificate send no such field.
    ///
    /// - Parameter principal: the caller; `nil` if it was not authenticated. A `Cache-Control` of the service stays as it is.
    mutating func keepPrivate(to principal: Principal?) {
        if principal != nil, headerFields[.cacheControl] == nil { headerFields[.cacheControl] = "private" }
    }
}
