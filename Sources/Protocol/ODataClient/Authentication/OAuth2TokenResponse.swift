import Foundation

/// A successful response of a token endpoint (RFC 6749, 5.1). Its content is checked before it is used.
struct OAuth2TokenResponse: Decodable {
    /// The maximum number of characters of a token.
    static let maxTokenLength = 16_384

    private let access_token: String
    private let token_type: String?
    private let expires_in: Seconds?
    private let refresh_token: String?

    /// Reads the tokens in a response.
    ///
    /// - Parameter issued: The time of the request in seconds since 1970.
    /// - Throws: ``OAuth2Error/invalidResponse(status:reason:)``.
    static func tokens(in data: Data, issued: Int64) throws(OAuth2Error) -> OAuth2Tokens {
        func invalid(_ reason: String) -> OAuth2Error { .invalidResponse(status: 200, reason: reason) }
        guard let answer = try? JSONDecoder().decode(Self.self, from: data), !answer.access_token.isEmpty else {
            throw invalid("it holds no access token")
        }
        guard answer.token_type?.lowercased() ?? "bearer" == "bearer" else {
            throw invalid("its tokens are not bearer tokens")
        }
        guard isToken(answer.access_token, from: 0x21) else { throw invalid("its access token is malformed") }
        let refreshToken = answer.refresh_token.flatMap { $0.isEmpty ? nil : $0 }
        if let refreshToken {
            guard isToken(refreshToken, from: 0x20) else { throw invalid("its refresh token is malformed") }
        }
        return OAuth2Tokens(
            accessToken: answer.access_token, refreshToken: refreshToken,
            expires: answer.expires_in?.value.map { issued + $0 }, issued: issued)
    }

    /// Returns whether a token has a legal length and only printable ASCII characters (RFC 6749, A.12 and A.17). An
    /// access token must have no spaces, because it is sent in a header field.
    private static func isToken(_ text: String, from lowest: UInt8) -> Bool {
        text.utf8.count <= maxTokenLength && text.utf8.allSatisfy { (lowest...0x7E).contains($0) }
    }

    /// A lifetime in seconds: a number (RFC 6749, 5.1), or digits in a string, as in Microsoft's v1 endpoint.
    ///
    /// Any other value counts as unknown, and so does a lifetime of less than a second: the token is then used until
    /// a service refuses it. A lifetime is cut at 31 years.
    struct Seconds: Decodable {
        let value: Int64?

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            let number =
                (try? container.decode(Double.self)) ?? (try? container.decode(String.self)).flatMap(Double.init)
            value = number.flatMap { $0.isFinite && $0 >= 1 ? Int64(min($0, 1e9)) : nil }
        }
    }
}
