import HTTPTypes
import ODataHTTP

/// Answers a reverse proxy that requires a person to sign in: a web form in place of data, or a redirect to
/// another origin, as with single sign-on.
///
/// The closure signs in, for instance by posting the form or by showing the page in a browser. The closure also
/// stores the received cookies in the session's ``CookieJar``. It is called again when the session at the proxy
/// ends.
///
/// ```swift
/// let step = SignInPage { challenge in
///     guard let credentials = await ask("Sign in to \(challenge.origin.host)", nil) else { return .stop }
///     try await send(credentials, to: challenge)
///     return .retry
/// }
/// ```
public struct SignInPage: AuthenticationStep {
    private let isSignIn: @Sendable (HTTPResponse, HTTPRequest) -> Bool
    private let signIn: @Sendable (AuthenticationChallenge) async throws -> AuthenticationAnswer

    /// Creates a step that signs in by a page.
    ///
    /// - Parameters:
    ///   - isSignIn: Returns whether a response is a sign-in page. By default, these are web pages that were
    ///     not requested and redirects to another origin.
    ///   - signIn: Signs in; ``AuthenticationAnswer/retry`` sends the request again.
    public init(
        when isSignIn: @escaping @Sendable (HTTPResponse, HTTPRequest) -> Bool = SignInPage.isUnexpectedPage,
        signIn: @escaping @Sendable (AuthenticationChallenge) async throws -> AuthenticationAnswer
    ) {
        self.isSignIn = isSignIn
        self.signIn = signIn
    }

    /// Returns whether a response is a web page that was not requested, or a redirect to another origin.
    public static func isUnexpectedPage(_ response: HTTPResponse, to request: HTTPRequest) -> Bool {
        switch response.status.code {
        case 301, 302, 303, 307, 308:
            guard let location = response.headerFields[.location], let next = request.following(location) else {
                return false
            }
            return Origin(next) != Origin(request)
        case 200, 401, 403:
            let type = response.headerFields[.contentType]?.prefix { $0 != ";" }.lowercased() ?? ""
            let wantsPages = request.headerFields[.accept]?.contains("html") ?? false
            return !wantsPages && type.hasSuffix("html")
        default: return false
        }
    }

    /// Returns the result of the closure `isSignIn`; `false` for a proxy.
    public func recognizes(_ response: HTTPResponse, to request: HTTPRequest, isProxy: Bool) -> Bool {
        !isProxy && isSignIn(response, request)
    }

    /// Calls the closure that signs in.
    public func answer(_ challenge: AuthenticationChallenge) async throws -> AuthenticationAnswer {
        try await signIn(challenge)
    }
}
