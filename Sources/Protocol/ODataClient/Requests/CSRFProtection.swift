import HTTPTypes
import ODataHTTP
import ODataService

/// The use of tokens against cross-site request forgery: the service issues a token in response to a read, and
/// the client sends it with each change.
///
/// ```swift
/// var configuration = ODataClient.Configuration()
/// configuration.csrf = .always
/// ```
public enum CSRFPolicy: Hashable, Sendable {
    /// Tokens are not used.
    case off
    /// Reads request a token until a response shows whether the service issues tokens. A change that is refused
    /// because of a missing token is repeated once with a new one.
    case automatic
    /// Like ``automatic``, but a change before the first read obtains a token first.
    case always
}

/// The token of one session in the protocol of SAP Gateway, which other services have adopted. A client
/// requests it with `X-CSRF-Token: Fetch`; the service refuses a missing token with 403 and `X-CSRF-Token:
/// Required`.
actor CSRFProtection {
    private let policy: CSRFPolicy
    private let field: HTTPField.Name
    private var token: String?
    /// Whether a response to a token request contained none, so that the service does not use tokens.
    private var isKnownToHaveNone = false
    private var fetching: Task<String?, any Error>?

    /// - Parameter field: The name of the header field. An invalid name is replaced by `X-CSRF-Token`.
    init(policy: CSRFPolicy, field: String) {
        self.policy = policy
        self.field = HTTPField.Name(field) ?? .csrfToken
    }

    /// Adds the token, or a request for one.
    ///
    /// - Parameters:
    ///   - canRepeat: Whether the body can be sent again if the service refuses the token.
    ///   - fetch: Sends a small read with the given fields.
    func complete(
        _ message: inout HTTPRequest, canRepeat: Bool,
        fetch: @escaping @Sendable (HTTPFields) async throws -> HTTPResponse
    ) async throws {
        guard policy != .off, message.headerFields[field] == nil else { return }
        if Self.isSafe(message.method) {
            if token == nil, !isKnownToHaveNone { message.headerFields[field] = "Fetch" }
            return
        }
        // A body that cannot be sent again must not be refused because of a missing or expired token.
        if !isKnownToHaveNone, !canRepeat || (token == nil && policy == .always) {
            _ = try await fetched(fetch)
        }
        if let token { message.headerFields[field] = token }
    }

    /// Learns the token, or that the service has none, from a response.
    func take(_ response: HTTPResponse, to message: HTTPRequest) {
        guard policy != .off, Self.isSafe(message.method) else { return }
        guard let value = response.headerFields[field], !Self.isDemand(value) else {
            // Metadata may come from a cache that does not know tokens; data does not.
            let isData = !(message.path ?? "").prefix { $0 != "?" }.hasSuffix("$metadata")
            if message.headerFields[field] == "Fetch", response.status.code < 300, isData { isKnownToHaveNone = true }
            return
        }
        token = value
        isKnownToHaveNone = false
    }

    /// Returns whether a change may have been refused because of a missing token. Its body has to be examined.
    nonisolated func mayWantToken(_ response: HTTPResponse, to message: HTTPRequest) -> Bool {
        policy != .off && response.status.code == 403 && !Self.isSafe(message.method)
    }

    /// Returns whether a change was refused because of a missing token. The header says so, or the body if an
    /// intermediary has removed the header.
    nonisolated func wantsToken(_ response: HTTPResponse, saying bytes: [UInt8]) -> Bool {
        if let value = response.headerFields[field] { return Self.isDemand(value) }
        let text = String(decoding: bytes, as: UTF8.self).lowercased()
        return ["csrf", "xsrf", "cross-site request forgery"].contains { text.contains($0) }
    }

    /// Returns a new token after a change was refused because of its token, or `nil` if the service issues
    /// none.
    func renewed(
        after message: HTTPRequest, fetch: @escaping @Sendable (HTTPFields) async throws -> HTTPResponse
    ) async throws -> String? {
        // Another request may have obtained a new token since this one was sent.
        if let token, token != message.headerFields[field] { return token }
        token = nil
        return try await fetched(fetch)
    }

    nonisolated var name: HTTPField.Name { field }

    private func fetched(
        _ fetch: @escaping @Sendable (HTTPFields) async throws -> HTTPResponse
    ) async throws -> String? {
        // All callers wait for the same token.
        if let fetching { return try await fetching.valueUnlessCancelled }
        let task = Task { try await self.token(by: fetch) }
        fetching = task
        return try await task.valueUnlessCancelled
    }

    /// Requests a token. The result is stored before any waiting caller resumes.
    private func token(by fetch: @Sendable (HTTPFields) async throws -> HTTPResponse) async throws -> String? {
        defer { fetching = nil }
        let answer = try await fetch([field: "Fetch"])
        if let value = answer.headerFields[field], !Self.isDemand(value) {
            token = value
            isKnownToHaveNone = false
        } else {
            token = nil
            // A refusal does not show whether the service uses tokens.
            if answer.status.code < 300 { isKnownToHaveNone = true }
        }
        return token
    }

    private static func isSafe(_ method: HTTPRequest.Method) -> Bool {
        [.get, .head, .options].contains(method)
    }

    private static func isDemand(_ value: String) -> Bool {
        ["required", "fetch"].contains(value.lowercased())
    }
}

extension HTTPField.Name {
    /// `X-CSRF-Token`. The fallback is never reached.
    static let csrfToken = HTTPField.Name("X-CSRF-Token") ?? .accept
}
