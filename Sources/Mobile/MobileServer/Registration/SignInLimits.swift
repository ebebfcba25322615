import ODataService
import ServerState

/// Delays for failed sign-ins (`design-review.md` 25).
///
/// Failures are counted in the state, so that all nodes count together: by user and address, and by address alone. A
/// user with an earlier sign-in at the address is delayed and never refused.
struct SignInLimits: Sendable {
    /// The failures of a user at an address without a delay.
    static let freeOfUser = 4
    /// The longest delay, and the time for which an address is blocked, in seconds.
    static let longest: Int64 = 60
    /// The longest time for which a known user waits in the request, in seconds.
    private static let longestHeld: Int64 = 4
    /// The name under which the failures of an address alone are counted. No user has an empty name.
    private static let anyUser = ""

    let state: any ServerState
    /// The failures of an address in a minute that block it.
    let addressPerMinute: Int

    /// Waits, or refuses an attempt.
    ///
    /// - Parameters:
    ///   - user: The user, with the application in front.
    ///   - address: The address; IPv6 as its /64.
    func admit(_ user: String, from address: String) async throws {
        let (own, all, now) = try await translatingState { () async throws(ServerStateError) in
            (
                try await state.operators.signIns(of: user, from: address),
                try await state.operators.signIns(of: Self.anyUser, from: address), try await state.now()
            )
        }
        let seconds = max(Self.left(own, free: Self.freeOfUser, now), own.isKnown ? 0 : Self.blocked(all, now))
        guard seconds > 0 else { return }
        guard own.isKnown else {
            throw ODataError(
                .tooManyRequests, "Too many sign-ins have failed. Wait before the next one.", retryAfter: Int(seconds))
        }
        try await Task.sleep(for: .seconds(min(seconds, Self.longestHeld)))
    }

    /// Notes the result of an attempt. Too many failures of an address in a minute block it, except for known users.
    func note(_ user: String, from address: String, hasSucceeded: Bool) async throws {
        try await translatingState { () async throws(ServerStateError) in
            try await state.operators.noteSignIn(of: user, from: address, hasSucceeded: hasSucceeded)
            guard !hasSucceeded else { return }
            let now = try await state.now()
            let minute = now.rawValue / 60_000_000
            let failures = try await state.once.count(
                Array("sign-in \(address) \(minute)".utf8), .captcha, until: now + .seconds(120))
            guard failures >= addressPerMinute else { return }
            try await state.operators.noteSignIn(of: Self.anyUser, from: address, hasSucceeded: false)
        }
    }

    /// Returns the seconds until the next attempt: 1 after the free failures, twice as long after each further one.
    static func left(_ record: SignInRecord, free: Int, _ now: ServerInstant) -> Int64 {
        guard record.failures >= free, let last = record.failedAt else { return 0 }
        let delay = min(longest, 1 << Int64(min(record.failures - free, 6)))
        let passed = (now - last).components.seconds
        return passed >= delay ? 0 : delay - max(0, passed)
    }

    /// Returns the seconds for which an address is blocked after its last failure beyond the limit.
    private static func blocked(_ record: SignInRecord, _ now: ServerInstant) -> Int64 {
        guard let last = record.failedAt else { return 0 }
        return max(0, longest - max(0, (now - last).components.seconds))
    }
}
