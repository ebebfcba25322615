import HTTPTypes
import ODataHTTP

/// One way of showing who a client is (RFC 9110, 11; OData Protocol 4.01, 13.1 *Authentication*).
///
/// Steps are composed in order: each completes the request, and when the answer is a challenge the first step that
/// answers it decides. A step gets only requests to the origins it is meant for; see ``AuthenticatingTransport``.
///
/// ```swift
/// struct TenantKey: AuthenticationStep {
///     func prepare(_ request: inout HTTPRequest) async throws { request.headerFields[.tenantKey] = key }
/// }
/// ```
public protocol AuthenticationStep: Sendable {
    /// Completes a request before it is sent, each time it is sent.
    func prepare(_ request: inout HTTPRequest) async throws

    /// Completes what the transport needs to know: a client certificate, the credentials for a proxy.
    func prepare(_ options: inout TransferOptions) async throws

    /// Whether an answer asks for something that this step may have; 401 by default. A step that signs in by a form
    /// says so of web pages, one that follows a redirect to a sign-in page of redirects.
    func recognizes(_ response: HTTPResponse, to request: HTTPRequest, isProxy: Bool) -> Bool

    /// Answers a challenge, so that the next ``prepare(_:)-(HTTPRequest)`` does better.
    ///
    /// - Returns: ``AuthenticationAnswer/retry`` when the request is worth sending again.
    func answer(_ challenge: AuthenticationChallenge) async throws -> AuthenticationAnswer
}

extension AuthenticationStep {
    /// Leaves the request as it is.
    public func prepare(_ request: inout HTTPRequest) async throws {}
    /// Leaves the options as they are.
    public func prepare(_ options: inout TransferOptions) async throws {}
    /// 401 of the service itself.
    public func recognizes(_ response: HTTPResponse, to request: HTTPRequest, isProxy: Bool) -> Bool {
        response.status == .unauthorized && !isProxy
    }
    /// Has no answer.
    public func answer(_ challenge: AuthenticationChallenge) async throws -> AuthenticationAnswer { .decline }
}

/// What a step says to a challenge.
public enum AuthenticationAnswer: Sendable, Hashable {
    /// Send the request again.
    case retry
    /// This step has nothing better; the next one is asked, and in the end the caller gets the answer as it came.
    case decline
    /// Nobody is to be asked any more: the user has given up. The caller gets the answer as it came.
    case stop
}
