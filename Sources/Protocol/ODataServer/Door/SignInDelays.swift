import Synchronization

/// How guessing of passwords is slowed down.
///
/// After some failed sign-ins in a minute, for one user or from one address, each further attempt waits: the first one for
/// ``firstDelay``, each later one twice as long, up to ``longestDelay``. A minute without a failure ends that.
///
/// - Nobody else waits. Failures of a user who is slowed down already do not count for the address that they come from, and
///   a user who has signed in from an address before waits only for failures of this user from this address.
/// - Attempts at the same time count as failures until they are decided.
/// - An attempt that would have to wait for more than a minute is refused with 429 and `Retry-After`.
public struct SignInDelays: Hashable, Sendable {
    /// How many sign-ins may fail in a minute before attempts are slowed down.
    public var freeFailures: Int
    /// How long the first attempt after these waits.
    public var firstDelay: Duration
    /// The longest that an attempt waits because of the ones before it.
    public var longestDelay: Duration

    /// Five failures, then 1 second, then twice as long each time, up to 30 seconds.
    public init(
        freeFailures: Int = 5, firstDelay: Duration = .seconds(1), longestDelay: Duration = .seconds(30)
    ) {
        self.freeFailures = max(1, freeFailures)
        self.firstDelay = firstDelay
        self.longestDelay = longestDelay
    }
}
