import HTTPTypes
import ODataService

/// An endpoint that tells load balancers and supervisors whether the service can answer. It needs no
/// authentication and is independent of the service root.
public struct HealthEndpoint: Sendable {
    /// The path, such as `/health`.
    public let path: String
    private let check: @Sendable () async -> Bool

    /// Creates an endpoint.
    ///
    /// - Parameters:
    ///   - path: The path, which must not belong to the service.
    ///   - check: Returns whether the service can answer; by default, always `true`.
    public init(path: String = "/health", check: @escaping @Sendable () async -> Bool = { true }) {
        self.path = path
        self.check = check
    }

    func answer(_ head: HTTPRequest) async -> (HTTPResponse, ByteStream) {
        guard head.method == .get || head.method == .head else {
            return (HTTPResponse(status: .methodNotAllowed, headerFields: [.allow: "GET, HEAD"]), ByteStream([]))
        }
        let isWell = await check()
        let body = Array(#"{"status":"\#(isWell ? "pass" : "fail")"}"#.utf8)
        var response = HTTPResponse(status: isWell ? .ok : .serviceUnavailable)
        response.headerFields[.contentType] = "application/health+json"
        response.headerFields[.cacheControl] = "no-store"
        response.headerFields[.contentLength] = String(body.count)
        return (response, head.method == .head ? ByteStream([]) : ByteStream(body))
    }
}
