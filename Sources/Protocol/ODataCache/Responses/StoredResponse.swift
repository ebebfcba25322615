public import Foundation
public import HTTPTypes

/// A cached response with the conditions for its reuse.
public struct StoredResponse: Hashable, Sendable, Codable {
    /// The status and the header fields.
    public var head: HTTPResponse
    /// The content of the response.
    public var body: Data
    /// The request fields that `Vary` names; `nil` for a missing field.
    public var varying: [String: String?]
    /// The time at which the request was sent.
    public var requestTime: Date
    /// The time at which the response was received.
    public var responseTime: Date

    /// Creates a response for a cache.
    public init(
        head: HTTPResponse, body: Data, varying: [String: String?], requestTime: Date, responseTime: Date
    ) {
        self.head = head
        self.body = body
        self.varying = varying
        self.requestTime = requestTime
        self.responseTime = responseTime
    }
}

extension StoredResponse {
    /// Returns the request fields on which a response depends, or `nil` if it depends on everything (`Vary:
    /// *`).
    static func varying(_ response: HTTPResponse, _ request: HTTPRequest) -> [String: String?]? {
        var values: [String: String?] = [:]
        for name in response.headerFields[values: .vary].joined(separator: ",").split(separator: ",") {
            let name = name.trimmingCharacters(in: .whitespaces).lowercased()
            if name == "*" { return nil }
            values[name] = .some(Self.value(of: name, in: request))
        }
        return values
    }

    private static func value(of name: String, in request: HTTPRequest) -> String? {
        guard let name = HTTPField.Name(name) else { return nil }
        let values = request.headerFields[values: name]
        guard !values.isEmpty else { return nil }
        // Spaces around the commas of a list are not significant.
        return values.joined(separator: ",").split(separator: ",", omittingEmptySubsequences: false)
            .map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: ",")
    }

    /// Returns whether the response matches a request according to `Vary` (RFC 9111, 4.1).
    func fits(_ request: HTTPRequest) -> Bool {
        varying.allSatisfy { Self.value(of: $0.key, in: request) == $0.value }
    }

    // MARK: Age

    var control: CacheControl { CacheControl(head.headerFields) }

    private var date: Date { head.headerFields[.date].flatMap(HTTPTime.date) ?? responseTime }

    /// Returns the age of the response in seconds (RFC 9111, 4.2.3).
    func age(_ now: Date) -> Double {
        let apparent = max(0, responseTime.timeIntervalSince(date))
        let stated = head.headerFields[.age].flatMap { Double($0.trimmingCharacters(in: .whitespaces)) } ?? 0
        let corrected = max(0, stated.isFinite ? stated : 0) + max(0, responseTime.timeIntervalSince(requestTime))
        return max(apparent, corrected) + max(0, now.timeIntervalSince(responseTime))
    }

    /// The maximum heuristic lifetime of a response without an explicit one, in seconds: one day.
    static let longestHeuristicLifetime: Double = 86_400

    /// The freshness lifetime of the response in seconds (RFC 9111, 4.2.1 and 4.2.2).
    var lifetime: Double {
        if let seconds = control.seconds("max-age") { return seconds }
        if let expires = head.headerFields[.expires] {
            // An invalid date, such as 0, counts as the past.
            return max(0, HTTPTime.date(expires)?.timeIntervalSince(date) ?? 0)
        }
        guard let modified = head.headerFields[.lastModified].flatMap(HTTPTime.date) else { return 0 }
        return min(max(0, date.timeIntervalSince(modified)) / 10, Self.longestHeuristicLifetime)
    }

    /// Returns whether the response may be used without asking the service (RFC 9111, 4.2).
    func isFresh(for request: CacheControl, _ now: Date) -> Bool {
        guard !control.has("no-cache"), !request.has("no-cache") else { return false }
        let age = age(now)
        if let limit = request.seconds("max-age"), age > limit { return false }
        if let margin = request.seconds("min-fresh"), lifetime - age < margin { return false }
        if age < lifetime { return true }
        guard request.has("max-stale"), !mustRevalidate else { return false }
        guard let limit = request.directives["max-stale"].flatMap({ Double($0) }) else { return true }
        return age - lifetime <= limit
    }

    var mustRevalidate: Bool { control.has("must-revalidate") || control.has("no-cache") }

    /// Returns whether the stale response may be used because the service fails (RFC 5861, 4).
    func mayStandIn(for request: CacheControl, _ now: Date, default seconds: Double) -> Bool {
        guard !mustRevalidate, !request.has("no-cache") else { return false }
        let allowed = request.seconds("stale-if-error") ?? control.seconds("stale-if-error") ?? seconds
        return age(now) - lifetime <= allowed
    }

    /// Whether the response can be revalidated.
    var hasValidator: Bool { head.headerFields[.eTag] != nil || head.headerFields[.lastModified] != nil }

    /// Returns the response with the fields of a 304 (RFC 9111, 3.2) and the new times.
    func freshened(by head: HTTPResponse, requestTime: Date, responseTime: Date) -> StoredResponse {
        var result = self
        for name in Set(head.headerFields.map(\.name)) where !Self.unchanging.contains(name) {
            result.head.headerFields[values: name] = head.headerFields[values: name]
        }
        // The previous `Age` belongs to the older response.
        if head.headerFields[.age] == nil { result.head.headerFields[.age] = nil }
        result.requestTime = requestTime
        result.responseTime = responseTime
        return result
    }

    /// Fields that describe the content or the connection.
    private static let unchanging: Set<HTTPField.Name> = [
        .contentLength, .contentEncoding, .contentType, .contentRange, .transferEncoding, .connection, .trailer,
        .upgrade,
    ]
}
