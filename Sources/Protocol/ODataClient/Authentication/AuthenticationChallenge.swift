import HTTPTypes
import ODataHTTP

/// The response of a service or a proxy that demands authentication before it serves a request.
public struct AuthenticationChallenge: Sendable {
    /// The request as it was sent, with the credentials that were not accepted.
    public let request: HTTPRequest
    /// The head of the response.
    public let response: HTTPResponse
    /// The origin to which the request was sent.
    public let origin: Origin
    /// Whether the challenge comes from a proxy (407) and not from the service.
    public let isProxy: Bool
    /// The schemes that `WWW-Authenticate` or `Proxy-Authenticate` offers, in their order.
    public let schemes: [Scheme]
    /// The start of the response body, up to 65,536 bytes; for instance, a sign-in form.
    public let page: [UInt8]
    /// The number of challenges in this exchange, including this one.
    public let attempt: Int
    /// The value of the header field with the refused credentials; those for the proxy if the proxy sent the
    /// challenge.
    let authorization: String?

    /// One authentication scheme that a challenge offers (RFC 9110, 11.6.1).
    public struct Scheme: Sendable, Hashable {
        /// The name of the scheme in lower case, such as `basic`.
        public let name: String
        /// The parameters of the scheme, with names in lower case.
        public let parameters: [String: String]
        /// The protection space that the credentials are for, if the challenge names one.
        public var realm: String? { parameters["realm"] }

        /// Creates a scheme; the name is converted to lower case.
        public init(name: String, parameters: [String: String] = [:]) {
            self.name = name.lowercased()
            self.parameters = parameters
        }
    }

    /// Creates a challenge from a response.
    ///
    /// - Parameter proxyAuthorization: The credentials that were sent to the proxy.
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

    /// Returns the realm of the first scheme with the given name, or of any scheme if the name is `nil`. The
    /// result is empty if no realm is stated.
    public func realm(of scheme: String? = nil) -> String {
        schemes.first { (scheme == nil || $0.name == scheme) && $0.realm != nil }?.realm ?? ""
    }

    /// Returns whether a scheme is offered. A challenge without any scheme counts as offering all.
    public func offers(_ scheme: String) -> Bool {
        schemes.isEmpty || schemes.contains { $0.name == scheme }
    }
}

extension AuthenticationChallenge: CustomStringConvertible, CustomReflectable {
    /// The source of the challenge and its schemes; credentials are left out.
    public var description: String {
        "\(isProxy ? "the proxy before " : "")\(origin) asks for \(schemes.map(\.name).joined(separator: " or "))"
    }
    /// A mirror without children, so that no credentials are printed.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension AuthenticationChallenge.Scheme {
    /// The maximum number of schemes and parameters that are read from one field.
    static let maxItems = 64

    /// Returns the schemes in the value of a field. If the text is malformed, only the schemes before the error
    /// are returned.
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

    /// Returns the value after an equals sign. Returns `nil` and reads nothing if there is no equals sign, or
    /// if it is the padding of a token68.
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

    /// Skips a token68: padded base64 after the name of a scheme, followed by a comma or the end of the text.
    mutating func skipToken68() {
        let text = rest.drop { $0 == " " }
        let token = text.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "-._~+/".contains($0)) }
        let after = text[token.endIndex...].drop { $0 == "=" }.drop { $0 == " " }
        if !token.isEmpty, after.isEmpty || after.first == "," { rest = after }
    }
}
