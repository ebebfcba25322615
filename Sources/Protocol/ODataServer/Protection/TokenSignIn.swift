import Crypto
import Foundation
import HTTPTypes
import NIOSSL
import ODataService
import Synchronization

/// Authenticates the person who started the service, by a secret that this object generates.
///
/// - A script sends ``token`` as bearer token (RFC 6750), or as the password of basic authentication with any
///   user name.
/// - A browser opens a URL with a one-time code, `?outpost-code=…`. The server exchanges the code for a session
///   cookie and redirects to the same URL without the code. Scripts cannot read the cookie, and pages of other
///   sites do not send it (`HttpOnly; SameSite=Strict`). A code works once.
///
/// ```swift
/// let signIn = TokenSignIn()
/// configuration.authentication = [signIn]
/// print("http://127.0.0.1:8080/?\(signIn.query)")
/// ```
public final class TokenSignIn: RequestAuthenticator {
    /// The token: 256 random bits as hexadecimal digits.
    public let token: String
    /// The query of the URL for a browser, with the one-time code.
    public let query: String

    private static let option = "outpost-code"
    private let cookie: String
    private let isSecure: Bool
    private let principal: Principal
    private let code: String
    private let session = Mutex(Session.notBegun)

    private enum Session {
        case notBegun
        /// The value of the session cookie.
        case begun(String)
    }

    /// Creates a random token and a one-time code.
    ///
    /// - Parameters:
    ///   - principal: The principal of the token.
    ///   - isSecure: Whether the cookie is sent over TLS only.
    public init(principal: Principal = Principal(name: "owner"), isSecure: Bool = false) {
        self.principal = principal
        self.isSecure = isSecure
        token = Self.random(bytes: 32)
        code = Self.random(bytes: 16)
        query = "\(Self.option)=\(code)"
        // Cookies are shared between ports, so each server on this machine uses a different name.
        cookie = "outpost-session-\(Self.random(bytes: 4))"
    }

    /// The challenges for `WWW-Authenticate`.
    public var challenge: String? {
        #"Bearer realm="Outpost", Basic realm="Outpost: the token is the password", charset="UTF-8""#
    }

    /// The required credentials in words.
    public var explanation: String { "The token of the service is needed, or the link that it printed at its start." }

    /// Returns the principal if the request carries the token or the cookie.
    public func principal(of request: HTTPRequest, certificate: NIOSSLCertificate?) async -> Principal? {
        if request.headerFields[.authorization] != nil {
            let given = request.credentials("bearer") ?? BasicAuthentication.credentials(of: request)?.password
            return given.map { isEqual($0, token) } ?? false ? principal : nil
        }
        return hasSession(request) ? principal : nil
    }

    /// Returns the response to a URL with a one-time code, or `nil` for any other request.
    func session(for head: HTTPRequest) -> HTTPResponse? {
        guard head.method == .get, let path = head.path, let mark = path.firstIndex(of: "?") else { return nil }
        let options = path[mark...].dropFirst().split(separator: "&")
        guard let given = options.first(where: { $0.hasPrefix("\(Self.option)=") })?.dropFirst(Self.option.count + 1)
        else { return nil }
        let rest = options.filter { !$0.hasPrefix("\(Self.option)=") }.joined(separator: "&")
        // Only one leading slash is kept: a target such as `//host` would lead to another server.
        let target = "/" + path[..<mark].drop { $0 == "/" || $0 == "\\" } + (rest.isEmpty ? "" : "?\(rest)")
        let fresh = Self.random(bytes: 32)
        let hasBegun =
            isEqual(String(given), code)
            && session.withLock { session in
                guard case .notBegun = session else { return false }
                session = .begun(fresh)
                return true
            }
        // If the link is opened again with a valid session, the session continues.
        guard hasBegun || hasSession(head) else { return nil }
        var response = HTTPResponse(status: .seeOther)
        response.headerFields[.location] = target
        response.headerFields[.cacheControl] = "no-store"
        if hasBegun {
            let attributes = "Path=/; HttpOnly; SameSite=Strict" + (isSecure ? "; Secure" : "")
            response.headerFields.append(
                HTTPField(name: .setCookie, value: "\(cookie)=\(fresh); \(attributes)"))
        }
        return response
    }

    private func hasSession(_ head: HTTPRequest) -> Bool {
        guard case .begun(let value) = session.withLock({ $0 }) else { return false }
        return head.cookies(cookie).contains { isEqual($0, value) }
    }

    private func isEqual(_ given: String, _ secret: String) -> Bool {
        BasicAuthentication.isEqual(Array(given.utf8), Array(secret.utf8))
    }

    private static func random(bytes: Int) -> String {
        SymmetricKey(size: .init(bitCount: bytes * 8)).withUnsafeBytes { key in
            key.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
    }
}

extension HTTPRequest {
    /// Returns the values of all cookies with a name (RFC 6265, 5.4).
    func cookies(_ name: String) -> [String] {
        headerFields[values: .cookie].flatMap { $0.split(separator: ";") }.compactMap { pair in
            let parts = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
            return parts.count == 2 && parts[0] == name ? String(parts[1]) : nil
        }
    }
}
