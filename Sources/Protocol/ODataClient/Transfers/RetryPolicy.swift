import Foundation
import HTTPTypes
import ODataHTTP

/// The conditions under which a request is sent again after a temporary failure.
///
/// | failure | reads, and requests with `isRepeatable` | other changes |
/// |---|---|---|
/// | no connection was made | yes | yes: the service received nothing |
/// | lost, late or truncated before the head of the response | yes | no: the change may have taken effect |
/// | 429, and 503 with `Retry-After` | yes | yes: the service has not processed the request |
/// | 408, 502, 503, 504 | yes | no: a back end may have processed the change |
///
/// Other failures are not retried; an untrusted certificate, for instance, stays untrusted. A body that cannot
/// be read again is sent once. The delay before the n-th repeat is a random value from zero to ``firstDelay`` ·
/// ``factor``ⁿ⁻¹, at most ``maxDelay``. The random delays (full jitter) spread the repeats of clients that
/// failed together. `Retry-After` (RFC 9110, 10.2.3), in seconds or as a date, is the minimum delay. A value
/// greater than ``maxRetryAfter`` ends the retries.
///
/// ```swift
/// let policy = RetryPolicy(maxAttempts: 3, firstDelay: .milliseconds(500))
/// let session = try HTTPSession(transport, serviceRoot: root, configuration: .init(retry: policy))
/// let client = try ODataClient(serviceRoot: root, transport: session)
/// ```
public struct RetryPolicy: Sendable {
    /// The maximum number of attempts, including the first; 1 disables retries.
    public var maxAttempts: Int
    /// The maximum delay before the first repeat.
    public var firstDelay: Duration
    /// The factor by which the delay grows with each repeat.
    public var factor: Double
    /// The maximum delay before any repeat, unless the service requests a longer one.
    public var maxDelay: Duration
    /// The maximum delay that a service can request.
    public var maxRetryAfter: Duration
    /// Returns a random number from 0 to 1; tests can pass a predictable source.
    public var random: @Sendable () -> Double
    /// Returns the current time in seconds since 1970, for a `Retry-After` with a date.
    public var now: @Sendable () -> Double
    /// Waits for a duration.
    public var sleep: @Sendable (Duration) async throws -> Void

    /// Creates a policy.
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

    /// A policy without retries.
    public static let none = RetryPolicy(maxAttempts: 1)

    /// Returns the delay before the n-th repeat, counted from 1.
    func delay(before number: Int) -> Duration {
        let longest = min(firstDelay / .seconds(1) * pow(factor, Double(number - 1)), maxDelay / .seconds(1))
        return .seconds(longest * random())
    }

    /// Returns whether an error is temporary and the request may be sent again.
    func allowsRetry(after error: any Error, of request: HTTPRequest, isRepeatable: Bool?) -> Bool {
        switch error as? TransportError {
        case .cannotConnect: true
        case .timedOut, .connectionLost, .truncated: isRepeatable ?? request.isReading
        default: false
        }
    }

    /// Returns the minimum delay before the request is sent again, or `nil` if it must not be repeated.
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
    /// Whether the method is safe (RFC 9110, 9.2.1).
    var isReading: Bool { method == .get || method == .head || method == .options }
}
