import Foundation
import ODataService
import Synchronization

/// The limit of unauthenticated registrations of an address on this node (`design-review.md` 25).
final class RegistrationRate: Sendable {
    private static let window: TimeInterval = 3600
    private static let maxAddresses = 10_000

    private let limit: Int
    private let now: @Sendable () -> Date
    private let seen = Mutex<[String: [Date]]>([:])

    /// Creates the limit.
    ///
    /// - Parameter limit: The number of registrations in an hour.
    init(limit: Int, now: @escaping @Sendable () -> Date = { Date() }) {
        self.limit = limit
        self.now = now
    }

    /// Counts a registration.
    ///
    /// - Throws: ``ODataError`` 429 beyond the limit.
    func admit(_ address: String) throws(ODataError) {
        let now = now()
        let wait = seen.withLock { seen -> TimeInterval? in
            var recent = (seen[address] ?? []).filter { now.timeIntervalSince($0) < Self.window }
            if recent.count >= limit {
                seen[address] = recent
                return Self.window - now.timeIntervalSince(recent.first ?? now)
            }
            recent.append(now)
            if seen.count >= Self.maxAddresses {
                seen = seen.filter { now.timeIntervalSince($0.value.last ?? .distantPast) < Self.window }
            }
            seen[address] = recent
            return nil
        }
        guard let wait else { return }
        throw ODataError(
            .tooManyRequests, "Too many registrations come from this address. Try again later.",
            retryAfter: max(1, Int(wait.rounded(.up))))
    }
}
