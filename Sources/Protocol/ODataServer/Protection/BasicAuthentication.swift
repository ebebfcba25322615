import Foundation
import HTTPTypes
import NIOSSL
import ODataService

/// HTTP basic authentication (RFC 7617): a user name and a password with each request. Use it over TLS only.
public struct BasicAuthentication: RequestAuthenticator {
    /// What the client's password dialogue shows.
    public let realm: String
    private let verify: @Sendable (_ user: String, _ password: String) async -> Bool

    /// Authentication by a function that knows the users.
    public init(
        realm: String = "OData", verify: @escaping @Sendable (_ user: String, _ password: String) async -> Bool
    ) {
        self.realm = realm
        self.verify = verify
    }

    /// Authentication of a single user.
    public init(realm: String = "OData", user: String, password: String) {
        self.init(realm: realm, users: [user: password])
    }

    /// Authentication of some users, by name with their passwords.
    public init(realm: String = "OData", users: [String: String]) {
        let expected = users.mapValues { Array($0.utf8) }
        self.init(realm: realm) { user, password in
            // An unknown user's password is compared as well: the time that takes tells nobody who is known.
            let isEqual = Self.isEqual(Array(password.utf8), expected[user] ?? [0])
            return isEqual && expected[user] != nil
        }
    }

    /// The user whose name and password the request has, if they are right.
    public func principal(of request: HTTPRequest, certificate: NIOSSLCertificate?) async -> Principal? {
        guard let (user, password) = Self.credentials(of: request) else { return nil }
        return await verify(user, password) ? Principal(name: user) : nil
    }

    /// The user whose name a request has, right or not.
    static func user(of request: HTTPRequest) -> String? { credentials(of: request)?.user }

    static func credentials(of request: HTTPRequest) -> (user: String, password: String)? {
        guard let encoded = request.credentials("basic"), let bytes = Data(base64Encoded: encoded),
            let text = String(bytes: bytes, encoding: .utf8), let colon = text.utf8.firstIndex(of: UInt8(ascii: ":"))
        else { return nil }
        return (String(text[..<colon]), String(text[text.utf8.index(after: colon)...]))
    }

    /// What is needed.
    public var explanation: String { "A user name and a password are needed." }

    /// The challenge for `WWW-Authenticate`.
    public var challenge: String? {
        let escaped = realm.filter { $0.isASCII && $0 >= " " }
            .replacingOccurrences(of: "\\", with: "\\\\").replacingOccurrences(of: "\"", with: "\\\"")
        return "Basic realm=\"\(escaped)\", charset=\"UTF-8\""
    }

    /// Compares in time that depends on the lengths alone, so that guessing learns nothing from delays.
    static func isEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        var difference = left.count ^ right.count
        for index in 0..<max(left.count, right.count) {
            let (a, b) = (index < left.count ? left[index] : 0, index < right.count ? right[index] : 0)
            difference |= Int(a ^ b)
        }
        return difference == 0
    }
}
