import Crypto
import Foundation
import HTTPTypes
import ODataService

/// Keeps pages of other origins from changing data with a user's cookies or cached password, as SAP's gateways do it:
/// a client fetches a token by `X-CSRF-Token: Fetch` and sends it with each change.
///
/// The token is a digest of the session's cookie and of the caller under a key that only this object has: the token of one
/// user is of no use with the password of another, or to another session. Nothing is stored, and a restart makes all tokens
/// invalid, which clients answer by fetching another.
public struct CSRFProtection: Sendable {
    private static let cookie = "outpost-csrf"
    private let key: SymmetricKey
    private let isSecure: Bool

    /// Makes a protection with a key of its own.
    ///
    /// - Parameter isSecure: whether the cookie is for TLS only.
    public init(isSecure: Bool = false) {
        key = SymmetricKey(size: .bits256)
        self.isSecure = isSecure
    }

    /// What stands against a request: a change without the token of its session.
    func refusal(of head: HTTPRequest, by principal: Principal?) -> Refusal? {
        guard ![.get, .head, .options].contains(head.method) else { return nil }
        if let session = session(of: head), let sent = head.headerFields[.csrfToken],
            BasicAuthentication.isEqual(Array(sent.utf8), Array(token(session, principal).utf8))
        {
            return nil
        }
        return Refusal(
            status: .forbidden, code: "CSRFTokenRequired",
            message: "A change needs the token that a GET with X-CSRF-Token: Fetch gives.",
            fields: [.csrfToken: "Required"])
    }

    /// Answers the wish for a token.
    func addToken(to response: inout HTTPResponse, for head: HTTPRequest, by principal: Principal?) {
        guard head.method == .get || head.method == .head,
            head.headerFields[.csrfToken]?.lowercased() == "fetch"
        else { return }
        var session = session(of: head)
        if session == nil {
            let fresh = SymmetricKey(size: .bits128).withUnsafeBytes { Self.text(Array($0)) }
            session = fresh
            let attributes = "Path=/; HttpOnly; SameSite=Strict" + (isSecure ? "; Secure" : "")
            response.headerFields.append(
                HTTPField(name: .setCookie, value: "\(Self.cookie)=\(fresh); \(attributes)"))
        }
        response.headerFields[.csrfToken] = session.map { token($0, principal) }
        // Nobody else may get this answer.
        response.headerFields[.cacheControl] = "no-store"
    }

    private func session(of head: HTTPRequest) -> String? {
        for field in head.headerFields[values: .cookie] {
            for pair in field.split(separator: ";") {
                let parts = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
                if parts.count == 2, parts[0] == Self.cookie, (16...64).contains(parts[1].utf8.count) {
                    return String(parts[1])
                }
            }
        }
        return nil
    }

    private func token(_ session: String, _ principal: Principal?) -> String {
        var digest = HMAC<SHA256>(key: key)
        // A byte that no UTF-8 has keeps the parts apart.
        for part in [session] + (principal?.identity ?? []) { digest.update(data: Array(part.utf8) + [0xFF]) }
        return Self.text(Array(digest.finalize()))
    }

    /// Hexadecimal digits: they need no escape in a cookie or a field.
    private static func text(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}

extension HTTPField.Name {
    /// A name known to be well formed; the fallback can never be reached, but nothing may trap.
    static let csrfToken = HTTPField.Name("X-CSRF-Token") ?? .accept
}
