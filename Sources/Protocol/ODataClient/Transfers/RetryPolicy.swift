import Foundation
import HTTPTypes
import ODataHTTP

/// When and how often a request is sent again after a failure that may pass.
///
/// What may be retried:
///
/// | what happened | reading requests, and those with `isRepeatable` | other changes |
/// |---|---|---|
/// | no connection was made | yes | yes: the service saw nothing |
/// | lost, late or cut before the head of the answer | yes | no: it may have acted |
/// | 429, and 503 with `Retry-After` | yes | yes: the service says that it did not act, and when to come again |
/// | 408, 502, 503, 504 | yes | no: something behind may have acted |
///
/// Nothing else is: certificates do not become trusted by asking again. A body that cannot be had again is sent once.
/// The delay before the n-th repeat is drawn evenly from zero to ``firstDelay`` · ``factor``ⁿ⁻¹, at most ``maxDelay``
/// (full jitter, so that clients that failed together do not come back together). `Retry-After` (RFC 9110, 10.2.3),
/// in seconds or as a date, is the least delay; one that exceeds ``maxRetryAfter`` ends the retries.
public struct RetryPolicy: Sendable {
    /// How often a request is sent at most, the first time included; 1 retries nothing.
    public var maxAttempts: Int
    /// The longest delay before the first repeat.
    public var firstDelay: Duration
    /// By how much the delay grows with each repeat.
    public var factor: Double
    /// The longest delay before any repeat, unless the service asks for more.
    public var maxDelay: Duration
    /// The longest delay that a service can ask for.
    public var maxRetryAfter: Duration
    /// Draws a number from 0 to 1; another source makes delays predictable.
    public var random: @Sendable () -> Double
    /// The seconds since 1970, for `Retry-After` as a date.
    public var now: @Sendable () -> Double
    /// Waits.
    public var sleep: @Sendable (Duration) async throws -> Void

    /// Makes a policy.
    public init(
        maxAttempts: Int = 4, firstDelay: Duration = .milliseconds(250), factor: Double = 2,
        maxDelay: Duration = .seconds(20), maxRetryAfter: Duration = .seconds(120),
        random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) },
        now: @escaping @Sendable () -> Double = { Date().timeIntervalSince1970 },
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.maxAttempts = maxAttempts
        self.firstDelay = firstDelay
        self.factor = factor
        self.maxDelay = maxDelay
        self.maxRetryAfter = maxRetryAfter
        self.random = random
        self.now = now
        self.sleep = sleep
    }

    /// Retries nothing.
    public static let none = RetryPolicy(maxAttempts: 1)

    /// The delay before the n-th repeat, counted from 1.
    func delay(before number: Int) -> Duration {
        let longest = min(firstDelay / .seconds(1) * pow(factor, Double(number - 1)), maxDelay / .seconds(1))
        return .seconds(longest * random())
    }

    /// Whether an error may pass and the request may be sent again.
    func allowsRetry(after error: any Error, of request: HTTPRequest, isRepeatable: Bool?) -> Bool {
        switch error as? TransportError {
        case .cannotConnect: true
        case .timedOut, .connectionLost, .truncated: isRepeatable ?? request.isReading
        default: false
        }
    }

    /// How long to wait at least after an answer before the request is sent again; `nil` when it is not.
    func leastDelay(after response: HTTPResponse, to request: HTTPRequest, isRepeatable: Bool?) -> Duration? {
        let seconds = response.headerFields[.retryAfter].flatMap { RetryAfter.seconds($0, now: now()) }
        let wish = seconds.map { Duration.seconds($0) }
        switch response.status.code {
        case 429: break
        case 503 where wish != nil: break
        case 408, 502, 503, 504: guard isRepeatable ?? request.isReading else { return nil }
        default: return nil
        }
        guard let wish else { return .zero }
        return wish <= maxRetryAfter ? wish : nil
    }
}

extension HTTPRequest {
    /// Whether it asks for no change (RFC 9110, 9.2.1).
    var isReading: Bool { method == .get || method == .head || method == .options }
}
