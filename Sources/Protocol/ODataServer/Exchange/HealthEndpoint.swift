import HTTPTypes
import ODataService

/// Tells load balancers and supervisors whether the service can answer, without authentication and beside the
/// service root.
public struct HealthEndpoint: Sendable {
    /// The path, such as `/health`.
    public let path: String
    private let check: @Sendable () async -> Bool

    /// Makes an endpoint.
    ///
    /// - Parameters:
    ///   - path: the path; it must not be one of the service's own.
    ///   - check: whether the service can answer; a server that runs can, unless told otherwise.
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
