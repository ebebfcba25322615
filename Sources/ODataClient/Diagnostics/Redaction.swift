import HTTPTypes

/// Leaves out of a log what is secret: credentials, tokens, cookies, and query options that hold such.
public struct Redaction: Sendable {
    /// The names of header fields whose values are never shown, in lower case.
    public var headers: Set<String>
    /// The names of query options whose values are never shown, in lower case.
    public var options: Set<String>

    /// What stands in the place of a secret.
    public static let mark = "‹redacted›"

    /// What is known to be secret.
    public static let standard = Redaction(
        headers: [
            "authorization", "proxy-authorization", "cookie", "set-cookie", "x-csrf-token", "x-xsrf-token", "apikey",
            "api-key", "x-api-key", "x-auth-token", "www-authenticate", "proxy-authenticate",
            "authentication-info", "repeatability-client-id",
        ],
        options: [
            "access_token", "id_token", "refresh_token", "token", "apikey", "api_key", "key", "password",
            "sap-password", "sap-user", "client_secret", "code", "sig", "signature",
        ])

    /// Makes rules.
    public init(headers: Set<String>, options: Set<String>) {
        self.headers = Set(headers.map { $0.lowercased() })
        self.options = Set(options.map { $0.lowercased() })
    }

    /// A header field as a log shows it.
    public func text(_ field: HTTPField) -> String {
        headers.contains(field.name.canonicalName) ? "\(field.name): \(Self.mark)" : "\(field.name): \(field.value)"
    }

    /// A path with its query as a log shows it.
    public func path(_ path: String) -> String {
        guard let question = path.firstIndex(of: "?") else { return path }
        let items = path[path.index(after: question)...].split(separator: "&", omittingEmptySubsequences: false)
        let shown = items.map { item in
            guard let equals = item.firstIndex(of: "=") else { return String(item) }
            let name = String(item[..<equals]).removingEncodedLetters.lowercased()
            return options.contains(name) ? "\(item[..<equals])=\(Self.mark)" : String(item)
        }
        return path[...question] + shown.joined(separator: "&")
    }

    /// A path without its query.
    static func withoutQuery(_ path: String?) -> String { String((path ?? "/").prefix { $0 != "?" }) }
}

extension String {
    /// The text with percent-encoded ASCII taken back: a name may be written so to hide.
    fileprivate var removingEncodedLetters: String {
        var bytes: [UInt8] = []
        var rest = utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2, let code = UInt8(String(rest.prefix(2)) ?? "", radix: 16) {
                bytes.append(code)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
