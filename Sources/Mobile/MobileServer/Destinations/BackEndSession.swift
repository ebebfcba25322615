import HTTPTypes
import ODataClient
import ODataHTTP
import ODataService
import Synchronization

/// The session of one user, or of the technical user, at a back end: cookies and the token against cross-site request
/// forgery stay on the server.
final class BackEndSession: Sendable {
    private let session: HTTPSession
    private let root: ServiceRoot
    private let token = Mutex<String?>(nil)
    private static let field = HTTPField.Name("X-CSRF-Token")

    /// - Throws: `TransportError` if the root is not an absolute URL.
    init(
        root: ServiceRoot, authentication: Authentication, identity: ClientIdentity?, transport: any HTTPTransport
    ) throws {
        self.root = root
        var configuration = HTTPSession.Configuration(
            authentication: authentication, redirects: .sameOrigin, retry: .none,
            queue: try TransferQueue(limit: TransferQueue.maxLimit), minimumRate: nil)
        configuration.cookies = CookieJar()
        session = try HTTPSession(
            IdentityTransport(base: transport, identity: identity), serviceRoot: root.description,
            configuration: configuration)
    }

    /// Sends a request. A change that is refused for want of a token is sent once more with a new token. The refusal
    /// proves that nothing happened.
    func send(_ request: HTTPRequest, body: ByteStream?) async throws -> (HTTPResponse, ByteStream) {
        var request = request
        let isChange = ![.get, .head, .options].contains(request.method)
        if isChange, let name = Self.field, let known = token.withLock({ $0 }) { request.headerFields[name] = known }
        let (response, answer) = try await session.send(request, body: body)
        guard isChange, response.status == .forbidden, let name = Self.field,
            response.headerFields[name]?.lowercased() == "required"
        else { return (response, answer) }
        let again = body?.fromStart()
        guard body == nil || again != nil else {
            // The next change will have a token.
            _ = try? await fetchToken()
            return (response, answer)
        }
        _ = try? await answer.collect(limit: ErrorMapping.bodyLimit)
        guard let fresh = try await fetchToken() else { return (response, ByteStream([])) }
        request.headerFields[name] = fresh
        return try await session.send(request, body: again)
    }

    private func fetchToken() async throws -> String? {
        var request = try root.request(.get, url: root.description)
        guard let name = Self.field else { return nil }
        request.headerFields[name] = "Fetch"
        request.headerFields[.accept] = "application/json, application/xml;q=0.5"
        let (response, body) = try await session.send(request, body: nil)
        _ = try? await body.collect(limit: 1 << 20)
        let fresh = response.headerFields[name].flatMap { $0.lowercased() == "required" ? nil : $0 }
        token.withLock { $0 = fresh }
        return fresh
    }
}
