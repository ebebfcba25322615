import Foundation
import HTTPTypes
import ODataHTTP

/// Where in a request a token stands.
public enum TokenPlacement: Sendable, Hashable {
    /// In `Authorization`, after `Bearer` (RFC 6750, 2.1).
    case bearer
    /// In a field of its own.
    case header(HTTPField.Name)
    /// In a cookie, as single sign-on has it.
    case cookie(String)
    /// In the query. It then stands in logs: use it only where a service wants nothing else.
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

    /// Whether a request carries a token.
    func holds(_ token: String, in request: HTTPRequest) -> Bool {
        switch self {
        case .bearer: request.headerFields[.authorization] == "Bearer \(token)"
        case .header(let name): request.headerFields[name] == token
        case .cookie(let name): request.headerFields[.cookie]?.contains("\(name)=\(token)") == true
        case .query: request.path?.contains(FormEncoding.encode(token)) == true
        }
    }
}

/// A key or token with each request: an API key, a sign-on cookie, a token that another part of the app renews.
///
/// A 401 asks for a new token once; however many requests are refused at the same time, it is asked for once.
///
/// ```swift
/// let step = TokenAuthentication(.cookie("MYSAPSSO2")) { isRefused in try await portal.ticket(renewing: isRefused) }
/// ```
public final class TokenAuthentication: AuthenticationStep {
    private let placement: TokenPlacement
    private let tokens: SingleFlight<String>

    /// Makes the step.
    ///
    /// - Parameters:
    ///   - placement: where the token stands.
    ///   - token: gives it; called at the first request, and with `true` when the last one was refused.
    public init(_ placement: TokenPlacement, token: @escaping @Sendable (_ isRefused: Bool) async throws -> String) {
        self.placement = placement
        tokens = SingleFlight { refused in try await token(refused != nil) }
    }

    /// A key that never changes.
    public convenience init(_ placement: TokenPlacement, key: String) { self.init(placement) { _ in key } }

    /// Adds the token.
    public func prepare(_ request: inout HTTPRequest) async throws {
        placement.put(try await tokens.value(), into: &request)
    }

    /// Asks for another token, once; one that is the same is not worth a repeat.
    public func answer(_ challenge: AuthenticationChallenge) async throws -> AuthenticationAnswer {
        guard challenge.attempt == 1, let refused = await tokens.current else { return .decline }
        // Another request may have got a new token while this one was on its way.
        guard placement.holds(refused, in: challenge.request) else { return .retry }
        return try await tokens.value(otherThan: refused) == refused ? .decline : .retry
    }
}

/// Gets a value once for all who want it at the same time.
actor SingleFlight<Value: Sendable & Equatable> {
    private let load: @Sendable (_ refused: Value?) async throws -> Value
    private(set) var current: Value?
    private var flight: Task<Value, any Error>?

    init(_ load: @escaping @Sendable (_ refused: Value?) async throws -> Value) { self.load = load }

    /// The value at hand, or the one that is on its way.
    ///
    /// - Parameter refused: one that is no good any more.
    func value(otherThan refused: Value? = nil, isGood: (Value) -> Bool = { _ in true }) async throws -> Value {
        if let current, current != refused, isGood(current) { return current }
        if let flight { return try await flight.valueUnlessCancelled }
        let task = Task { try await land() }
        flight = task
        return try await task.valueUnlessCancelled
    }

    /// Loads, and keeps the value before anybody who waits for it goes on and asks again.
    private func land() async throws -> Value {
        defer { flight = nil }
        let value = try await load(current)
        current = value
        return value
    }

    /// Takes a value that came another way.
    func set(_ value: Value?) { current = value }
}

/// `application/x-www-form-urlencoded` (RFC 6749, B).
enum FormEncoding {
    static func encode(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                result += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return result
    }

    static func encode(_ pairs: [(String, String)]) -> String {
        pairs.map { "\(encode($0.0))=\(encode($0.1))" }.joined(separator: "&")
    }

    /// The names and values of a query.
    static func decode(_ query: some StringProtocol) -> [String: String] {
        var result: [String: String] = [:]
        for pair in query.split(separator: "&") {
            let end = pair.firstIndex(of: "=") ?? pair.endIndex
            let value = end == pair.endIndex ? "" : String(pair[pair.index(after: end)...])
            func decoded(_ text: String) -> String {
                text.replacingOccurrences(of: "+", with: " ").removingPercentEncoding ?? text
            }
            result[decoded(String(pair[..<end]))] = decoded(value)
        }
        return result
    }
}
