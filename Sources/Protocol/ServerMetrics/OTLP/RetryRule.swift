import Foundation
import HTTPTypes
import ODataHTTP

/// The rule for the repetition of a request (OTLP, OTLP/HTTP response).
struct RetryRule: Sendable {
    let attempts: Int
    let firstDelay: Duration
    let longestDelay: Duration

    /// Whether a response asks for a repetition: 429, 502, 503 and 504. Every other failure is final.
    static func isRepeatable(_ status: HTTPResponse.Status) -> Bool { [429, 502, 503, 504].contains(status.code) }

    /// Returns the delay before the next attempt; `nil` if there is none.
    ///
    /// - Parameters:
    ///   - attempt: The number of attempts so far.
    ///   - retryAfter: The field `Retry-After` of the response, which is a minimum up to the longest delay.
    ///   - random: A number from 0 to 1.
    func delay(
        after attempt: Int, retryAfter: String? = nil, now: Double = Date.now.timeIntervalSince1970,
        random: Double = .random(in: 0...1)
    ) -> Duration? {
        guard attempt < attempts else { return nil }
        let doubled = firstDelay * Double(1 << min(max(0, attempt - 1), 20))
        let wait = min(doubled, longestDelay) * (0.5 + random / 2)
        guard let asked = retryAfter.flatMap({ RetryAfter.seconds($0, now: now) }) else { return wait }
        return min(max(wait, .seconds(asked)), longestDelay)
    }
}
