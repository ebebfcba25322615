import Crypto
import Foundation
import HTTPTypes
import ODataService

/// Prevents pages of other origins from changing data with a user's cookies or saved password, in the same way
/// as SAP Gateway. A client requests a token with `X-CSRF-Token: Fetch` and sends it with each change.
///
/// The token is a digest of the session cookie and the caller, with a key that only this object has. The token
/// of one user is therefore invalid with another user's credentials or in another session. Nothing is stored. A
/// restart makes all tokens invalid, and clients then request new ones.
public struct CSRFProtection: Sendable {
    private static let cookie = "outpost-csrf"
    private let key: SymmetricKey
    private let isSecure: Bool

    /// Creates a protection with a random key.
    ///
    /// - Parameter isSecure: Whether the cookie is sent over TLS only.
    public init(isSecure: Bool = false) {
        key = SymmetricKey(size: .bits256)
        self.isSecure = isSecure
    }

    /// Returns a refusal of a change without the token of its session.
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

    /// Adds a token to the response if the request asks for it.
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
        // A shared cache must not return this response to other users.
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
        // The byte 0xFF never occurs in UTF-8, so it separates the parts.
        for part in [session] + (principal?.identity ?? []) { digest.update(data: Array(part.utf8) + [0xFF]) }
        return Self.text(Array(digest.finalize()))
    }

    /// Returns hexadecimal digits, which need no escaping in a cookie or a field.
    private static func text(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}

extension HTTPField.Name {
    /// The field `X-CSRF-Token`. The fallback is never reached, but avoids a trap.
    static let csrfToken = HTTPField.Name("X-CSRF-Token") ?? .accept
}
