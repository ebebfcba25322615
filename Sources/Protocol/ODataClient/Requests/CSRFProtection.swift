import HTTPTypes
import ODataHTTP
import ODataService

/// Whether and how a client proves that a change is made by the app itself and not by a page in its name: with a
/// token that the service gave to a read, sent with each change.
public enum CSRFPolicy: Hashable, Sendable {
    /// No tokens.
    case off
    /// Reads ask for a token until an answer shows whether the service has them; a change that is refused for
    /// want of one is sent again with a new one, once.
    case automatic
    /// As automatic; and a change that comes before any read waits for a token.
    case always
}

/// The token of one session (SAP Gateway's protocol, which others have taken over): asked for with
/// `X-CSRF-Token: Fetch`, refused with 403 and `X-CSRF-Token: Required`.
actor CSRFProtection {
    private let policy: CSRFPolicy
    private let field: HTTPField.Name
    private var token: String?
    /// Whether an answer to a read that asked came without a token: the service has none.
    private var isKnownToHaveNone = false
    private var fetching: Task<String?, any Error>?

    /// - Parameter field: the name of the header field; a name that is none stands for `X-CSRF-Token`.
    init(policy: CSRFPolicy, field: String) {
        self.policy = policy
        self.field = HTTPField.Name(field) ?? .csrfToken
    }

    /// Completes a request.
    ///
    /// - Parameters:
    ///   - canRepeat: whether the body can be sent again, should the service refuse for want of a token.
    ///   - fetch: reads something small with the given fields.
    func complete(
        _ message: inout HTTPRequest, canRepeat: Bool,
        fetch: @escaping @Sendable (HTTPFields) async throws -> HTTPResponse
    ) async throws {
        guard policy != .off, message.headerFields[field] == nil else { return }
        if Self.isSafe(message.method) {
            if token == nil, !isKnownToHaveNone { message.headerFields[field] = "Fetch" }
            return
        }
        // What cannot be sent again must not be refused for want of a token, or for one whose session has ended.
        if !isKnownToHaveNone, !canRepeat || (token == nil && policy == .always) {
            _ = try await fetched(fetch)
        }
        if let token { message.headerFields[field] = token }
    }

    /// Takes what an answer says of tokens.
    func take(_ response: HTTPResponse, to message: HTTPRequest) {
        guard policy != .off, Self.isSafe(message.method) else { return }
        guard let value = response.headerFields[field], !Self.isDemand(value) else {
            // Metadata may come from a cache that knows nothing of tokens; data do not.
            let isData = !(message.path ?? "").prefix { $0 != "?" }.hasSuffix("$metadata")
            if message.headerFields[field] == "Fetch", response.status.code < 300, isData { isKnownToHaveNone = true }
            return
        }
        token = value
        isKnownToHaveNone = false
    }

    /// Whether a change may have been refused for want of a token: its answer tells.
    nonisolated func mayWantToken(_ response: HTTPResponse, to message: HTTPRequest) -> Bool {
        policy != .off && response.status.code == 403 && !Self.isSafe(message.method)
    }

    /// Whether a refusal of a change is for want of a token: its head says so, or, where something on the way took that away,
    /// its text.
    nonisolated func wantsToken(_ response: HTTPResponse, saying bytes: [UInt8]) -> Bool {
        if let value = response.headerFields[field] { return Self.isDemand(value) }
        let text = String(decoding: bytes, as: UTF8.self).lowercased()
        return ["csrf", "xsrf", "cross-site request forgery"].contains { text.contains($0) }
    }

    /// A new token after a change was refused for want of one; `nil` when no token is to be had.
    func renewed(
        after message: HTTPRequest, fetch: @escaping @Sendable (HTTPFields) async throws -> HTTPResponse
    ) async throws -> String? {
        // Another request may have got a new one since this one was sent.
        if let token, token != message.headerFields[field] { return token }
        token = nil
        return try await fetched(fetch)
    }

    /// The name of the field, to set a token.
    nonisolated var name: HTTPField.Name { field }

    private func fetched(
        _ fetch: @escaping @Sendable (HTTPFields) async throws -> HTTPResponse
    ) async throws -> String? {
        // All that wait for a token wait for the same one.
        if let fetching { return try await fetching.valueUnlessCancelled }
        let task = Task { try await self.token(by: fetch) }
        fetching = task
        return try await task.valueUnlessCancelled
    }

    /// Asks for a token, and keeps what is said before anybody who waits for it goes on.
    private func token(by fetch: @Sendable (HTTPFields) async throws -> HTTPResponse) async throws -> String? {
        defer { fetching = nil }
        let answer = try await fetch([field: "Fetch"])
        if let value = answer.headerFields[field], !Self.isDemand(value) {
            token = value
            isKnownToHaveNone = false
        } else {
            token = nil
            // A refusal says nothing of tokens.
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
    /// `X-CSRF-Token`; the fallback can never be reached.
    static let csrfToken = HTTPField.Name("X-CSRF-Token") ?? .accept
}
