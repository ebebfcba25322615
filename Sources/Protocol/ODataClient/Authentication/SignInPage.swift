import HTTPTypes
import ODataHTTP

/// Answers an edge that wants a person to sign in: a web page with a form in place of data, or a redirect to another
/// origin (as reverse proxies with single sign-on do).
///
/// The closure signs in as it likes: it posts the form with what the user types, or shows the page in a browser, and
/// puts the cookies it got into the session's ``CookieJar``. When the session at the edge ends, it is asked again.
///
/// ```swift
/// let step = SignInPage { challenge in
///     guard let password = await dialogue.ask(challenge.origin.host) else { return .stop }
///     try await postForm(challenge.page, password, jar)
///     return .retry
/// }
/// ```
public struct SignInPage: AuthenticationStep {
    private let isSignIn: @Sendable (HTTPResponse, HTTPRequest) -> Bool
    private let signIn: @Sendable (AuthenticationChallenge) async throws -> AuthenticationAnswer

    /// Makes the step.
    ///
    /// - Parameters:
    ///   - isSignIn: whether an answer is a sign-in page; by default a web page that was not asked for, and a redirect
    ///     to another origin.
    ///   - signIn: signs in; ``AuthenticationAnswer/retry`` sends the request again.
    public init(
        when isSignIn: @escaping @Sendable (HTTPResponse, HTTPRequest) -> Bool = SignInPage.isUnexpectedPage,
        signIn: @escaping @Sendable (AuthenticationChallenge) async throws -> AuthenticationAnswer
    ) {
        self.isSignIn = isSignIn
        self.signIn = signIn
    }

    /// Whether an answer is a web page that was not asked for, or a redirect to another origin.
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

    /// What the step was made with says it.
    public func recognizes(_ response: HTTPResponse, to request: HTTPRequest, isProxy: Bool) -> Bool {
        !isProxy && isSignIn(response, request)
    }

    /// Signs in.
    public func answer(_ challenge: AuthenticationChallenge) async throws -> AuthenticationAnswer {
        try await signIn(challenge)
    }
}
