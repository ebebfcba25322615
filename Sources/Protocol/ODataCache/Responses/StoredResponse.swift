public import Foundation
public import HTTPTypes

/// A response as a cache keeps it, with what the requests that it may answer have in common.
public struct StoredResponse: Hashable, Sendable, Codable {
    /// The head.
    public var head: HTTPResponse
    /// The content.
    public var body: Data
    /// The header fields of the request that `Vary` names; a field that was not there is `nil`.
    public var varying: [String: String?]
    /// When the request was sent.
    public var requestTime: Date
    /// When the response came.
    public var responseTime: Date

    /// Makes a response to be kept.
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
    /// The fields of a request that a response depends on.
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
        // Blanks around the commas of a list mean nothing.
        return values.joined(separator: ",").split(separator: ",", omittingEmptySubsequences: false)
            .map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: ",")
    }

    /// Whether the response may answer a request, as far as `Vary` goes (RFC 9111, 4.1).
    func fits(_ request: HTTPRequest) -> Bool {
        varying.allSatisfy { Self.value(of: $0.key, in: request) == $0.value }
    }

    // MARK: Age

    var control: CacheControl { CacheControl(head.headerFields) }

    private var date: Date { head.headerFields[.date].flatMap(HTTPTime.date) ?? responseTime }

    /// How old the response is, in seconds (RFC 9111, 4.2.3).
    func age(_ now: Date) -> Double {
        let apparent = max(0, responseTime.timeIntervalSince(date))
        let stated = head.headerFields[.age].flatMap { Double($0.trimmingCharacters(in: .whitespaces)) } ?? 0
        let corrected = max(0, stated.isFinite ? stated : 0) + max(0, responseTime.timeIntervalSince(requestTime))
        return max(apparent, corrected) + max(0, now.timeIntervalSince(responseTime))
    }

    /// The longest time that a response is taken for fresh which does not say how long it is, in seconds: one day.
    static let longestHeuristicLifetime: Double = 86_400

    /// How long the response is fresh, in seconds (RFC 9111, 4.2.1 and 4.2.2).
    var lifetime: Double {
        if let seconds = control.seconds("max-age") { return seconds }
        if let expires = head.headerFields[.expires] {
            // What is no date, 0 above all, is in the past.
            return max(0, HTTPTime.date(expires)?.timeIntervalSince(date) ?? 0)
        }
        guard let modified = head.headerFields[.lastModified].flatMap(HTTPTime.date) else { return 0 }
        return min(max(0, date.timeIntervalSince(modified)) / 10, Self.longestHeuristicLifetime)
    }

    /// Whether it may answer a request without the service being asked (RFC 9111, 4.2).
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

    /// Whether it may answer although it is stale, because the service does not (RFC 5861, 4).
    func mayStandIn(for request: CacheControl, _ now: Date, default seconds: Double) -> Bool {
        guard !mustRevalidate, !request.has("no-cache") else { return false }
        let allowed = request.seconds("stale-if-error") ?? control.seconds("stale-if-error") ?? seconds
        return age(now) - lifetime <= allowed
    }

    /// Whether the service can be asked if it is still so.
    var hasValidator: Bool { head.headerFields[.eTag] != nil || head.headerFields[.lastModified] != nil }

    /// The response with the fields of a 304 (RFC 9111, 3.2), as of now.
    func freshened(by head: HTTPResponse, requestTime: Date, responseTime: Date) -> StoredResponse {
        var result = self
        for name in Set(head.headerFields.map(\.name)) where !Self.unchanging.contains(name) {
            result.head.headerFields[values: name] = head.headerFields[values: name]
        }
        // An age that was stated before is that of the older response.
        if head.headerFields[.age] == nil { result.head.headerFields[.age] = nil }
        result.requestTime = requestTime
        result.responseTime = responseTime
        return result
    }

    /// Fields that tell of the content, or of the connection.
    private static let unchanging: Set<HTTPField.Name> = [
        .contentLength, .contentEncoding, .contentType, .contentRange, .transferEncoding, .connection, .trailer,
        .upgrade,
    ]
}
