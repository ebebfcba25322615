import HTTPTypes
import ODataHTTP

/// What a service or a proxy answered instead of what was asked for, because it wants to know who asks.
public struct AuthenticationChallenge: Sendable {
    /// The request as it was sent, with the credentials that were not enough.
    public let request: HTTPRequest
    /// The head of the answer.
    public let response: HTTPResponse
    /// Whom the request went to.
    public let origin: Origin
    /// Whether a proxy asks, not the service (407).
    public let isProxy: Bool
    /// The ways that `WWW-Authenticate` or `Proxy-Authenticate` offer, in their order.
    public let schemes: [Scheme]
    /// The start of the answer's body, up to 65,536 bytes: a sign-in form, for instance.
    public let page: [UInt8]
    /// How often the same exchange has been challenged, this time included.
    public let attempt: Int
    /// The credentials that were not enough, as the field of HTTP has them: those for the proxy where it asks.
    let authorization: String?

    /// One way to authenticate that is offered (RFC 9110, 11.6.1).
    public struct Scheme: Sendable, Hashable {
        /// The scheme's name in lower case, such as `basic`.
        public let name: String
        /// Its parameters, their names in lower case.
        public let parameters: [String: String]
        /// What the credentials are for, if it is said.
        public var realm: String? { parameters["realm"] }

        /// Makes one.
        public init(name: String, parameters: [String: String] = [:]) {
            self.name = name.lowercased()
            self.parameters = parameters
        }
    }

    /// Makes a challenge.
    ///
    /// - Parameter proxyAuthorization: what the proxy was shown.
    public init(
        request: HTTPRequest, response: HTTPResponse, origin: Origin, isProxy: Bool, page: [UInt8], attempt: Int,
        proxyAuthorization: String? = nil
    ) {
        self.request = request
        self.response = response
        self.origin = origin
        self.isProxy = isProxy
        self.page = page
        self.attempt = attempt
        authorization = isProxy ? proxyAuthorization : request.headerFields[.authorization]
        let field: HTTPField.Name = isProxy ? .proxyAuthenticate : .wwwAuthenticate
        schemes = response.headerFields[values: field].flatMap { Scheme.all(in: $0) }
    }

    /// The realm of the first scheme of a name, or of any; an empty text where none is said.
    public func realm(of scheme: String? = nil) -> String {
        schemes.first { (scheme == nil || $0.name == scheme) && $0.realm != nil }?.realm ?? ""
    }

    /// Whether a scheme is offered. An answer that offers none at all leaves it open, which counts as yes.
    public func offers(_ scheme: String) -> Bool {
        schemes.isEmpty || schemes.contains { $0.name == scheme }
    }
}

extension AuthenticationChallenge: CustomStringConvertible, CustomReflectable {
    /// Who asks, and how; nothing of the credentials.
    public var description: String {
        "\(isProxy ? "the proxy before " : "")\(origin) asks for \(schemes.map(\.name).joined(separator: " or "))"
    }
    /// Nothing of what it holds.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension AuthenticationChallenge.Scheme {
    /// The most schemes and parameters that are read of one field.
    static let maxItems = 64

    /// The schemes of a field's value. Where the text is malformed, what stands before is given.
    static func all(in text: String) -> [Self] {
        var schemes: [Self] = []
        var name: String?
        var parameters: [String: String] = [:]
        var scanner = ChallengeScanner(text)
        for _ in 0..<maxItems {
            scanner.skipSeparators()
            guard let token = scanner.token() else { break }
            if let value = scanner.value() {
                parameters[token.lowercased(), default: value] = value
            } else {
                if let name { schemes.append(Self(name: name, parameters: parameters)) }
                name = token
                parameters = [:]
                scanner.skipToken68()
            }
        }
        if let name { schemes.append(Self(name: name, parameters: parameters)) }
        return schemes
    }
}

/// Reads the grammar of challenges: `scheme token68` and `scheme name=value, name="value"`, separated by commas.
private struct ChallengeScanner {
    private var rest: Substring

    init(_ text: String) { rest = text[...] }

    mutating func skipSeparators() {
        rest = rest.drop { $0 == " " || $0 == "," || $0 == "\t" }
    }

    mutating func token() -> String? {
        let token = rest.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "!#$%&'*+-.^_`|~".contains($0)) }
        rest = rest[token.endIndex...]
        return token.isEmpty ? nil : String(token)
    }

    /// What follows an equals sign; `nil`, and nothing read, where there is none or it ends a token68.
    mutating func value() -> String? {
        let spaces = rest.drop { $0 == " " || $0 == "\t" }
        guard spaces.first == "=" else { return nil }
        let text = spaces.dropFirst().drop { $0 == " " || $0 == "\t" }
        if text.unicodeScalars.first == "\"" {
            var quoted = text.unicodeScalars.dropFirst()
            var value = ""
            while let scalar = quoted.popFirst() {
                if scalar == "\"" { break }
                if scalar == "\\", let escaped = quoted.popFirst() {
                    value.unicodeScalars.append(escaped)
                } else {
                    value.unicodeScalars.append(scalar)
                }
            }
            rest = Substring(quoted)
            return value
        }
        rest = text
        return token() ?? ""
    }

    /// A token68 after a scheme's name is padded base64 and followed by a comma or nothing.
    mutating func skipToken68() {
        let text = rest.drop { $0 == " " }
        let token = text.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "-._~+/".contains($0)) }
        let after = text[token.endIndex...].drop { $0 == "=" }.drop { $0 == " " }
        if !token.isEmpty, after.isEmpty || after.first == "," { rest = after }
    }
}
