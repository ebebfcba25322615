import Synchronization

/// The delays that slow down guessing of passwords.
///
/// After ``freeFailures`` failed sign-ins in a minute, for one user or from one address, each further attempt
/// is delayed. The first delay is ``firstDelay``; each later one is twice as long, up to ``longestDelay``. A
/// minute without a failure ends the delays.
///
/// - Other users are not delayed. Failures of a user who is already delayed do not count for the address. A
///   user who has signed in from an address before is delayed only by failures of this user from this address.
/// - Concurrent attempts count as failures until they are decided.
/// - An attempt that would be delayed for more than a minute is refused with 429 and `Retry-After`.
public struct SignInDelays: Hashable, Sendable {
    /// The number of failed sign-ins in a minute before attempts are delayed.
    public var freeFailures: Int
    /// The delay of the first attempt after these failures.
    public var firstDelay: Duration
    /// The maximum delay of an attempt.
    public var longestDelay: Duration

    /// Creates delays. By default, five failures are free; then the delay is 1 second and doubles up to 30
    /// seconds.
    public init(
        freeFailures: Int = 5, firstDelay: Duration = .seconds(1), longestDelay: Duration = .seconds(30)
    ) {
        self.freeFailures = max(1, freeFailures)
        self.firstDelay = firstDelay
        self.longestDelay = longestDelay
    }
}
