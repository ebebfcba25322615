import Foundation
import HTTPTypes
import Logging
import ODataHTTP
import ODataModel
import ODataServer
import ODataService
import Secrets
import ServerState

/// The part of a node with the operators' API: sessions, sets and actions (`mobile-server.md` 6.6).
///
/// | path | effect |
/// | --- | --- |
/// | `POST /operator/v1/session` | Signs in with `name`, `password` and `code`. |
/// | `GET`, `DELETE /operator/v1/session` | Shows the session with its form token, or ends it. |
/// | `POST /operator/v1/session/confirm` | Shows password and one-time password again. |
/// | `POST /operator/v1/session/totp` | Returns a new secret for an authenticator app. |
/// | `POST /operator/v1/session/credentials` | Sets `password`, and the `secret` with its present `code`. |
/// | `GET /sign-in/first?code=…` | Signs in once by a link. |
/// | `/operator/v1/…` | The OData service. |
///
/// ```swift
/// let operators = try OperatorsPart(services: services)
/// let code = try await OperatorsPart.makeLink(state: state, keys: keys, operator: "admin")
/// ```
public final class OperatorsPart: ServerPart {
    private static let path = "/operator/v1/"

    private let services: NodeServices
    private let shapes: OperatorModel
    private let sessions: OperatorSessions
    private let handler: ODataHandler
    private let networks: NetworkList
    private let downloads: OperatorDownloads

    /// Creates the part.
    ///
    /// - Throws: ``ODataError`` if `operators.networks` has a text that is no network.
    public init(services: NodeServices) throws {
        self.services = services
        let shapes = try OperatorModel()
        self.shapes = shapes
        sessions = OperatorSessions(services: services)
        downloads = OperatorDownloads(services: services)
        guard let networks = NetworkList(services.configuration.operators.networks) else {
            throw ODataError(.invalidProperty, "operators.networks has a text that is no network.")
        }
        self.networks = networks
        let provider = OperatorProvider(
            shapes: shapes, services: services, sets: OperatorSets(shapes: shapes, services: services),
            mirror: OperatorReadModel(shapes: shapes, state: services.state), devices: try DeviceModel())
        handler = try ODataHandler(
            provider: provider, serviceRoot: Self.path,
            options: ODataHandler.Options(maxBodySize: 4 << 20, statusMonitors: nil))
    }

    /// Makes a link by which an operator signs in once, within 15 minutes.
    ///
    /// The operator is made, with the role security, if the server has no operators yet.
    ///
    /// - Returns: The code for `/sign-in/first?code=…`.
    /// - Throws: ``ServerStateError/missing(kind:name:)`` for an unknown operator.
    public static func makeLink(
        state: any ServerState, keys: ServerKeys, operator name: String
    ) async throws(ServerStateError) -> String {
        if try await state.operators.named(name) == nil {
            guard try await state.operators.all().isEmpty else { throw .missing(kind: "operator", name: name) }
            _ = try await state.operators.add(OperatorRecord(name: name, role: .security))
        }
        return try await OperatorLinks(state: state, keys: keys).make(for: name, now: try await state.now())
    }

    /// The mounts of the operators' listener.
    public func mounts(of listener: NodeListener) -> [Mount] {
        guard listener == .operators else { return [] }
        return [
            Mount(path: Self.path, authentication: .byHandler) { head, body, context in
                await self.answer(head, body, in: context)
            },
            Mount(path: "/sign-in/", authentication: .byHandler, maxBodySize: 0) { head, _, context in
                await self.signInByLink(head, context)
            },
        ]
    }

    // MARK: Requests

    private func answer(
        _ head: HTTPRequest, _ body: ByteStream, in context: MountContext
    ) async -> (HTTPResponse, ByteStream) {
        do {
            try admit(context)
            let path = String((head.path ?? "/").prefix { $0 != "?" }.dropFirst(Self.path.count))
            if path == "session", head.method == .post { return try await signIn(body, context) }
            guard let sender = try await sessions.sender(of: head, context) else {
                throw ODataError(.unauthorized, "The request needs a session or a service key.")
            }
            if let token = sender.token, ![.get, .head, .options].contains(head.method),
                !sessions.hasCSRFToken(head, token)
            {
                throw ODataError(
                    status: 403, code: "CSRFTokenRequired",
                    message: "A change needs the token that GET session gives, in the field X-CSRF-Token.")
            }
            if path == "session" || path.hasPrefix("session/") {
                return try await session(head, body, path: path, from: sender, in: context)
            }
            if let answer = try await downloads.answer(head, body, path: path, from: sender.request) { return answer }
            var (response, stream) = await OperatorRequest.$current.withValue(sender.request) {
                await handler.handle(head, body, principal: sender.request.principal)
            }
            response.headerFields[.cacheControl] = "no-store"
            return (response, stream)
        } catch {
            return refuse(error)
        }
    }

    private func admit(_ context: MountContext) throws(ODataError) {
        guard context.isSecure || context.isLoopback else { throw UserSignIn.plain }
        guard networks.contains(context.address) else {
            throw ODataError(
                status: 403, code: "NetworkRefused", message: "Operators do not sign in from this network.")
        }
    }

    private func refuse(_ error: any Error) -> (HTTPResponse, ByteStream) {
        let answer: ODataError
        switch error {
        case let error as ODataError: answer = error
        case is CancellationError: answer = ODataError(.busy, "The request was given up.", retryAfter: 1)
        default:
            services.logger.error("The operators' API failed: \(type(of: error))")
            answer = ODataError(status: 500, code: "InternalError", message: "The server has failed. See its log.")
        }
        var (response, stream) = ResponseEncoder(model: shapes.model).encode(answer)
        response.headerFields[.cacheControl] = "no-store"
        if response.status == .unauthorized {
            response.headerFields[.wwwAuthenticate] = #"Bearer realm="Outpost operators""#
        }
        return (response, stream)
    }

    // MARK: Sessions

    private struct Credentials: Decodable {
        var name: String?
        var password: String?
        var code: String?
        var secret: String?
    }

    private static let maxBodySize = 8192

    private func credentials(_ body: ByteStream) async throws -> Credentials {
        var bytes: [UInt8] = []
        while let chunk = try await body.next() {
            bytes += chunk
            guard bytes.count <= Self.maxBodySize else { throw ODataError(.tooLarge, "The body is too large.") }
        }
        guard let credentials = try? JSONDecoder().decode(Credentials.self, from: Data(bytes)) else {
            throw ODataError(.emptyParameter, "The body is a JSON object with name, password and code.")
        }
        return credentials
    }

    private func signIn(_ body: ByteStream, _ context: MountContext) async throws -> (HTTPResponse, ByteStream) {
        let given = try await credentials(body)
        guard let name = given.name, let password = given.password, let code = given.code else {
            throw ODataError(.emptyParameter, "The body is a JSON object with name, password and code.")
        }
        let begun = try await sessions.signIn(name: name, password: password, code: code, context)
        var (response, stream) = show(begun.record, begun.token)
        response.headerFields.append(
            HTTPField(name: .setCookie, value: OperatorSessions.cookie(begun.token, context)))
        return (response, stream)
    }

    private func signInByLink(_ head: HTTPRequest, _ context: MountContext) async -> (HTTPResponse, ByteStream) {
        do {
            try admit(context)
            let path = head.path ?? ""
            guard head.method == .get, path.hasPrefix("/sign-in/first?") else { throw ODataError.notFound("This path") }
            let option = path.drop { $0 != "?" }.dropFirst().split(separator: "&").first { $0.hasPrefix("code=") }
            let code = option.map { String($0.dropFirst("code=".count)) } ?? ""
            guard let begun = try await sessions.signIn(link: code, context) else {
                throw ODataError(
                    .unauthorized, "The link is unknown, used or older than 15 minutes. Ask for another one.")
            }
            var response = HTTPResponse(status: .seeOther)
            response.headerFields[.location] = "/"
            response.headerFields[.cacheControl] = "no-store"
            response.headerFields.append(
                HTTPField(name: .setCookie, value: OperatorSessions.cookie(begun.token, context)))
            return (response, ByteStream([]))
        } catch {
            return refuse(error)
        }
    }

    private func session(
        _ head: HTTPRequest, _ body: ByteStream, path: String, from sender: OperatorSessions.Sender,
        in context: MountContext
    ) async throws -> (HTTPResponse, ByteStream) {
        guard let token = sender.token, let record = sender.record else {
            throw ODataError(.roleMissing, "A service key has no session.")
        }
        switch (head.method, path) {
        case (.get, "session"): return show(record, token)
        case (.delete, "session"):
            try await translatingState { () async throws(ServerStateError) in
                try await services.state.operators.end(OperatorSessions.hash(token))
            }
            return ended(context)
        case (.post, "session/confirm"):
            let given = try await credentials(body)
            _ = try await sessions.check(
                name: record.name, password: given.password ?? "", code: given.code ?? "", context)
            try await translatingState { () async throws(ServerStateError) in
                try await services.state.operators.confirm(OperatorSessions.hash(token))
            }
            return show(record, token)
        case (.post, "session/totp"):
            let secret = OneTimePassword.makeSecret()
            let url = OneTimePassword(secret: secret).url(for: record.name, issuer: "Outpost \(services.nodeName)")
            return json(["secret": Base64URL.encode(secret), "url": url])
        case (.post, "session/credentials"):
            let given = try await credentials(body)
            try await sessions.setCredentials(
                password: given.password ?? "", secret: given.secret ?? "", code: given.code ?? "", of: sender,
                context)
            return ended(context)
        default: throw ODataError.notFound(path)
        }
    }

    private func ended(_ context: MountContext) -> (HTTPResponse, ByteStream) {
        var response = HTTPResponse(status: .noContent)
        response.headerFields[.cacheControl] = "no-store"
        response.headerFields.append(HTTPField(name: .setCookie, value: OperatorSessions.noCookie(context)))
        return (response, ByteStream([]))
    }

    private func show(_ record: OperatorRecord, _ token: String) -> (HTTPResponse, ByteStream) {
        json([
            "name": record.name, "role": record.role.rawValue, "csrf": sessions.csrfToken(token),
            "credentials": record.password == nil || record.totp == nil ? "missing" : "set",
        ])
    }

    private func json(_ values: [String: String]) -> (HTTPResponse, ByteStream) {
        let bytes = OperatorAudit.json(values)
        var response = HTTPResponse(status: .ok)
        response.headerFields[.contentType] = "application/json"
        response.headerFields[.cacheControl] = "no-store"
        response.headerFields[.contentLength] = String(bytes.count)
        return (response, ByteStream(bytes))
    }
}
