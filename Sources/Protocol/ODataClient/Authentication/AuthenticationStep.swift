import HTTPTypes
import ODataHTTP

/// One way to authenticate a client (RFC 9110, 11; OData Protocol 4.01, 13.1 *Authentication*).
///
/// Steps are composed in order. Each step completes the request; after a challenge, the first step that answers
/// it decides. A step receives only requests to its own origins; see ``AuthenticatingTransport``.
///
/// ```swift
/// import HTTPTypes
///
/// struct TenantKey: AuthenticationStep {
///     var field: HTTPField.Name
///     var key: String
///
///     func prepare(_ request: inout HTTPRequest) async throws { request.headerFields[field] = key }
/// }
/// ```
public protocol AuthenticationStep: Sendable {
    /// Completes a request before it is sent, and again before each repeat.
    func prepare(_ request: inout HTTPRequest) async throws

    /// Completes the options of the transport, such as the client certificate or the credentials for a proxy.
    func prepare(_ options: inout TransferOptions) async throws

    /// Returns whether this step may be able to answer a response; by default, only 401 of the service.
    ///
    /// A step that signs in with a form recognizes web pages; a step that follows a redirect to a sign-in page
    /// recognizes redirects.
    func recognizes(_ response: HTTPResponse, to request: HTTPRequest, isProxy: Bool) -> Bool

    /// Answers a challenge, so that the next ``prepare(_:)-(HTTPRequest)`` can add better credentials.
    ///
    /// - Returns: ``AuthenticationAnswer/retry`` if the request is worth sending again.
    func answer(_ challenge: AuthenticationChallenge) async throws -> AuthenticationAnswer
}

extension AuthenticationStep {
    /// Leaves the request unchanged.
    public func prepare(_ request: inout HTTPRequest) async throws {}
    /// Leaves the options unchanged.
    public func prepare(_ options: inout TransferOptions) async throws {}
    /// Recognizes 401 of the service, but no response of a proxy.
    public func recognizes(_ response: HTTPResponse, to request: HTTPRequest, isProxy: Bool) -> Bool {
        response.status == .unauthorized && !isProxy
    }
    /// Declines every challenge.
    public func answer(_ challenge: AuthenticationChallenge) async throws -> AuthenticationAnswer { .decline }
}

/// The decision of a step about a challenge.
public enum AuthenticationAnswer: Sendable, Hashable {
    /// Sends the request again.
    case retry
    /// Leaves the challenge to the next step. If every step declines, the caller receives the response
    /// unchanged.
    case decline
    /// Ends the authentication without asking further steps, because the user has given up. The caller receives
    /// the response unchanged.
    case stop
}
