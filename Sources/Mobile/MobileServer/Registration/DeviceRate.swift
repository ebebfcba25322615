import Foundation
import ODataService
import Synchronization

/// The rate limit of each device on this node: a bucket of tokens that fills evenly. Further pages of a result do not
/// count (`design-review.md` 25).
final class DeviceRate: Sendable {
    private struct Bucket {
        var tokens: Double
        var at: TimeInterval
    }

    private static let maxBuckets = 200_000

    private let perMinute: Double
    private let clock: @Sendable () -> TimeInterval
    private let buckets = Mutex<[String: Bucket]>([:])

    /// Creates the limit.
    ///
    /// - Parameters:
    ///   - perMinute: The number of requests in a minute.
    ///   - clock: A clock that never goes back, in seconds.
    init(perMinute: Int, clock: @escaping @Sendable () -> TimeInterval = { ProcessInfo.processInfo.systemUptime }) {
        self.perMinute = Double(max(1, perMinute))
        self.clock = clock
    }

    /// Counts a request of a device.
    ///
    /// - Parameter device: Application and registration, or address and subject.
    /// - Throws: ``ODataError`` 429 if the bucket is empty.
    func admit(_ device: String) throws(ODataError) {
        let now = clock()
        let wait = buckets.withLock { buckets -> TimeInterval? in
            if buckets.count >= Self.maxBuckets {
                // A full bucket is the same as none.
                buckets = buckets.filter { now - $0.value.at < 60 }
            }
            var bucket = buckets[device] ?? Bucket(tokens: perMinute, at: now)
            bucket.tokens = min(perMinute, bucket.tokens + (now - bucket.at) * perMinute / 60)
            bucket.at = now
            defer { buckets[device] = bucket }
            guard bucket.tokens >= 1 else { return (1 - bucket.tokens) * 60 / perMinute }
            bucket.tokens -= 1
            return nil
        }
        guard let wait else { return }
        throw ODataError(
            .tooManyRequests, "The device sends too many requests. Try again later.",
            retryAfter: max(1, Int(wait.rounded(.up))))
    }
}
