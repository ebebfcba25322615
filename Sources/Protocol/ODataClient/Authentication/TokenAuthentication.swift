import Foundation
import HTTPTypes
import ODataHTTP

/// The place of a token in a request.
///
/// ```swift
/// let step = TokenAuthentication(.query("apikey"), key: password)
/// let client = try ODataClient(serviceRoot: root, transport: transport, authentication: Authentication(step))
/// ```
public enum TokenPlacement: Sendable, Hashable {
    /// The field `Authorization`, after `Bearer` (RFC 6750, 2.1).
    case bearer
    /// A separate header field.
    case header(HTTPField.Name)
    /// A cookie, as with single sign-on.
    case cookie(String)
    /// A query parameter. The token then appears in logs: use this case only if the service accepts no other.
    case query(String)

    func put(_ token: String, into request: inout HTTPRequest) {
        switch self {
        case .bearer: request.headerFields[.authorization] = "Bearer \(token)"
        case .header(let name): request.headerFields[name] = token
        case .cookie(let name):
            let cookie = "\(name)=\(token)"
            request.headerFields[.cookie] = request.headerFields[.cookie].map { "\($0); \(cookie)" } ?? cookie
        case .query(let name):
            let pair = "\(FormEncoding.encode(name))=\(FormEncoding.encode(token))"
            let path = request.path ?? "/"
            request.path = path + (path.contains("?") ? "&" : "?") + pair
        }
    }

    /// Returns whether a request carries exactly this token at this place.
    func holds(_ token: String, in request: HTTPRequest) -> Bool {
        switch self {
        case .bearer: return request.headerFields[.authorization] == "Bearer \(token)"
        case .header(let name): return request.headerFields[name] == token
        case .cookie(let name):
            let cookies = request.headerFields[.cookie]?.split(separator: ";") ?? []
            return cookies.contains { $0.trimmingCharacters(in: .whitespaces) == "\(name)=\(token)" }
        case .query(let name):
            let query = request.path?.drop { $0 != "?" }.dropFirst().prefix { $0 != "#" } ?? ""
            let pair = "\(FormEncoding.encode(name))=\(FormEncoding.encode(token))"
            return query.split(separator: "&").contains { $0 == pair }
        }
    }
}

/// Sends a key or token with each request: an API key, a sign-on cookie, or a token that the app renews itself.
///
/// After a 401, a new token is requested once, even if many requests are refused at the same time.
///
/// ```swift
/// let step = TokenAuthentication(.cookie("MYSAPSSO2")) { isRefused in try await currentToken(renewing: isRefused) }
/// ```
public final class TokenAuthentication: AuthenticationStep {
    private let placement: TokenPlacement
    private let tokens: SingleFlight<String>

    /// Creates a step with a token that can be renewed.
    ///
    /// - Parameters:
    ///   - placement: The place of the token in the request.
    ///   - token: Returns the token. It is called for the first request, and with `true` after a token was
    ///     refused.
    public init(_ placement: TokenPlacement, token: @escaping @Sendable (_ isRefused: Bool) async throws -> String) {
        self.placement = placement
        tokens = SingleFlight { refused in try await token(refused != nil) }
    }

    /// Creates a step with a key that never changes.
    public convenience init(_ placement: TokenPlacement, key: String) { self.init(placement) { _ in key } }

    /// Adds the token to the request.
    public func prepare(_ request: inout HTTPRequest) async throws {
        placement.put(try await tokens.value(), into: &request)
    }

    /// Obtains another token, once in an exchange. If the new token equals the refused one, the request is not
    /// repeated.
    public func answer(_ challenge: AuthenticationChallenge) async throws -> AuthenticationAnswer {
        guard challenge.attempt == 1, let refused = await tokens.current else { return .decline }
        // Another request may have obtained a new token while this request was in progress.
        guard placement.holds(refused, in: challenge.request) else { return .retry }
        return try await tokens.value(otherThan: refused) == refused ? .decline : .retry
    }
}

/// A value that is loaded once for all concurrent callers.
actor SingleFlight<Value: Sendable & Equatable> {
    private let load: @Sendable (_ refused: Value?) async throws -> Value
    private(set) var current: Value?
    private var flight: Task<Value, any Error>?

    init(_ load: @escaping @Sendable (_ refused: Value?) async throws -> Value) { self.load = load }

    /// Returns the current value, or waits for the load in progress.
    ///
    /// - Parameter refused: A value that is not accepted as a result.
    func value(otherThan refused: Value? = nil, isGood: (Value) -> Bool = { _ in true }) async throws -> Value {
        if let current, current != refused, isGood(current) { return current }
        if let flight { return try await flight.valueUnlessCancelled }
        let task = Task { try await land() }
        flight = task
        return try await task.valueUnlessCancelled
    }

    /// Loads the value. The value is stored before any waiting caller resumes and asks again.
    private func land() async throws -> Value {
        defer { flight = nil }
        let value = try await load(current)
        current = value
        return value
    }

    /// Replaces the current value without loading.
    func set(_ value: Value?) { current = value }
}
