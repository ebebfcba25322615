import Foundation
import HTTPTypes
import NIOSSL
import ODataService

/// HTTP basic authentication (RFC 7617): a user name and a password with each request. Use it over TLS only.
public struct BasicAuthentication: RequestAuthenticator {
    /// The text in the client's password dialogue.
    public let realm: String
    private let verify: @Sendable (_ user: String, _ password: String) async -> Bool

    /// Creates an authentication that checks credentials with a closure.
    public init(
        realm: String = "OData", verify: @escaping @Sendable (_ user: String, _ password: String) async -> Bool
    ) {
        self.realm = realm
        self.verify = verify
    }

    /// Creates an authentication for a single user.
    public init(realm: String = "OData", user: String, password: String) {
        self.init(realm: realm, users: [user: password])
    }

    /// Creates an authentication for users with their passwords.
    public init(realm: String = "OData", users: [String: String]) {
        let expected = users.mapValues { Array($0.utf8) }
        self.init(realm: realm) { user, password in
            // A password is compared even for an unknown user, so that the time does not reveal which users
            // exist.
            let isEqual = Self.isEqual(Array(password.utf8), expected[user] ?? [0])
            return isEqual && expected[user] != nil
        }
    }

    /// Returns the user of a request with a correct name and password.
    public func principal(of request: HTTPRequest, certificate: NIOSSLCertificate?) async -> Principal? {
        guard let (user, password) = Self.credentials(of: request) else { return nil }
        return await verify(user, password) ? Principal(name: user) : nil
    }

    /// Returns the user name in a request, whether the password is correct or not.
    static func user(of request: HTTPRequest) -> String? { credentials(of: request)?.user }

    static func credentials(of request: HTTPRequest) -> (user: String, password: String)? {
        guard let encoded = request.credentials("basic"), let bytes = Data(base64Encoded: encoded),
            let text = String(bytes: bytes, encoding: .utf8), let colon = text.utf8.firstIndex(of: UInt8(ascii: ":"))
        else { return nil }
        return (String(text[..<colon]), String(text[text.utf8.index(after: colon)...]))
    }

    /// The required credentials in words.
    public var explanation: String { "A user name and a password are needed." }

    /// The challenge for `WWW-Authenticate`.
    public var challenge: String? {
        let escaped = realm.filter { $0.isASCII && $0 >= " " }
            .replacingOccurrences(of: "\\", with: "\\\\").replacingOccurrences(of: "\"", with: "\\\"")
        return "Basic realm=\"\(escaped)\", charset=\"UTF-8\""
    }

    /// Compares bytes in a time that depends only on the lengths, so that delays reveal nothing about the
    /// content.
    static func isEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        var difference = left.count ^ right.count
        for index in 0..<max(left.count, right.count) {
            let (a, b) = (index < left.count ? left[index] : 0, index < right.count ? right[index] : 0)
            difference |= Int(a ^ b)
        }
        return difference == 0
    }
}
