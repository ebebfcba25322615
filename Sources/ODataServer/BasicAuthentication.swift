import Foundation

/// HTTP basic authentication (RFC 7617): a user name and a password with each request. Use it over TLS only.
public struct BasicAuthentication: Sendable {
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
        let expected = Array("\(user):\(password)".utf8)
        self.init(realm: realm) { Self.isEqual(Array("\($0):\($1)".utf8), expected) }
    }

    /// Whether the value of an `Authorization` header names a user who may enter.
    func accepts(_ header: String?) async -> Bool {
        guard let header, let space = header.firstIndex(of: " "), header[..<space].lowercased() == "basic",
            let bytes = Data(base64Encoded: header[header.index(after: space)...].drop { $0 == " " }.description),
            let text = String(bytes: bytes, encoding: .utf8), let colon = text.firstIndex(of: ":")
        else { return false }
        return await verify(String(text[..<colon]), String(text[text.index(after: colon)...]))
    }

    /// The challenge for `WWW-Authenticate`.
    var challenge: String {
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
