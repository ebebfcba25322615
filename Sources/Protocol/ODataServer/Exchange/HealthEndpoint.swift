import HTTPTypes
import ODataHTTP
import ODataService

/// An endpoint that tells load balancers and supervisors how the server is. It needs no authentication and is
/// independent of the service root.
///
/// A supervisor restarts a server that is not alive, and sends no requests to one that is not ready. The response is
/// 200 or 503, never another 2xx.
public struct HealthEndpoint: Sendable {
    /// A question about the health of a server.
    public enum Probe: Hashable, Sendable, CaseIterable {
        /// Whether the process answers. The answer is always yes, so that a failing back end restarts no server.
        case liveness
        /// Whether requests can be answered. A server that stops is not ready.
        case readiness
        /// Whether the start has finished.
        case startup
    }

    /// The usual paths: `/livez`, `/readyz` and `/startupz`, and `/health` for readiness.
    public static let standardPaths: [String: Probe] = [
        "/livez": .liveness, "/readyz": .readiness, "/startupz": .startup, "/health": .readiness,
    ]

    /// The paths with their questions, which must not belong to the service.
    public let paths: [String: Probe]
    private let isReady: @Sendable () async -> Bool
    private let hasStarted: @Sendable () async -> Bool

    /// Creates an endpoint for several questions.
    ///
    /// - Parameters:
    ///   - paths: The paths with their questions.
    ///   - hasStarted: Returns whether the start has finished; by default, always `true`.
    ///   - isReady: Returns whether requests can be answered; by default, always `true`. It should return within a few
    ///     seconds.
    public init(
        paths: [String: Probe] = standardPaths, hasStarted: @escaping @Sendable () async -> Bool = { true },
        isReady: @escaping @Sendable () async -> Bool = { true }
    ) {
        self.paths = paths
        self.hasStarted = hasStarted
        self.isReady = isReady
    }

    /// Creates an endpoint with one path for readiness.
    ///
    /// - Parameters:
    ///   - path: The path, which must not belong to the service.
    ///   - check: Returns whether the service can answer; by default, always `true`.
    public init(path: String, check: @escaping @Sendable () async -> Bool = { true }) {
        self.init(paths: [path: .readiness], isReady: check)
    }

    /// Returns the answer, or `nil` if the path is none of the endpoint.
    ///
    /// - Parameter isStopping: Whether the server was told to stop.
    func answer(_ head: HTTPRequest, isStopping: Bool) async -> (HTTPResponse, ByteStream)? {
        guard let path = head.path, let probe = paths[String(path.prefix { $0 != "?" })] else { return nil }
        guard head.method == .get || head.method == .head else {
            return (HTTPResponse(status: .methodNotAllowed, headerFields: [.allow: "GET, HEAD"]), ByteStream([]))
        }
        let isWell = await isWell(probe, isStopping: isStopping)
        let body = Array(#"{"status":"\#(isWell ? "pass" : "fail")"}"#.utf8)
        var response = HTTPResponse(status: isWell ? .ok : .serviceUnavailable)
        response.headerFields[.contentType] = "application/health+json"
        response.headerFields[.cacheControl] = "no-store"
        response.headerFields[.contentLength] = String(body.count)
        return (response, head.method == .head ? ByteStream([]) : ByteStream(body))
    }

    private func isWell(_ probe: Probe, isStopping: Bool) async -> Bool {
        switch probe {
        case .liveness: true
        case .readiness: await isStopping ? false : isReady()
        case .startup: await hasStarted()
        }
    }
}
