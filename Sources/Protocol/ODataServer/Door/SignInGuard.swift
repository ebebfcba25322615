import HTTPTypes
import Synchronization

/// Delays sign-in attempts according to ``SignInDelays``.
final class SignInGuard: Sendable {
    /// The maximum number of remembered users, addresses and pairs of both; the least recently seen ones are
    /// removed first.
    static let maxEntries = 10_000
    /// The maximum number of concurrent attempts.
    static let maxAttempts = 256
    /// The time for which failures count, and the maximum delay of an attempt.
    static let window = Duration.seconds(60)
    /// The time for which a user is known at an address after a sign-in.
    static let memory = Duration.seconds(24 * 3600)

    /// A user, an address, or a user at an address.
    private enum Subject: Hashable {
        case user(String)
        case address(String)
        case pair(String, String)
    }

    private struct Record {
        /// The times of the last failed sign-ins, each with its user.
        var failures: [(time: ContinuousClock.Instant, user: String)] = []
        var pending: [String: Int] = [:]
        var delays = 0
        /// The earliest start of the next attempt.
        var next: ContinuousClock.Instant?
        var signedIn: ContinuousClock.Instant?
        var lastSeen: ContinuousClock.Instant
    }

    private struct State {
        var records: [Subject: Record] = [:]
        var attempts = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private enum Decision {
        case begin
        case sleep(until: ContinuousClock.Instant)
        case waitForOthers
        case refuse(seconds: Int64)
    }

    private let delays: SignInDelays
    private let now: @Sendable () -> ContinuousClock.Instant
    private let sleep: @Sendable (ContinuousClock.Instant) async throws -> Void
    private let state = Mutex(State())

    init(
        _ delays: SignInDelays, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        sleep: @escaping @Sendable (ContinuousClock.Instant) async throws -> Void = {
            try await Task.sleep(until: $0, clock: .continuous)
        }
    ) {
        self.delays = delays
        self.now = now
        self.sleep = sleep
    }

    /// Waits until an attempt may begin. Its result must then be passed to ``ended(_:_:hasSucceeded:)``.
    ///
    /// - Returns: A refusal if the delay would be too long.
    func begin(_ user: String, from address: String) async -> Refusal? {
        let user = Self.bounded(user)
        while true {
            switch state.withLock({ decide(user, address, state: &$0) }) {
            case .begin: return nil
            case .sleep(let until):
                do {
                    try await sleep(until)
                    return nil
                } catch {
                    ended(user, address, hasSucceeded: nil)
                    return Self.refusal(seconds: 1)
                }
            case .waitForOthers: await waitForOthers()
            case .refuse(let seconds): return Self.refusal(seconds: seconds)
            }
        }
    }

    /// Records the result of an attempt; `nil` if it was cancelled.
    func ended(_ user: String, _ address: String, hasSucceeded: Bool?) {
        let user = Self.bounded(user)
        let waiting = state.withLock { state in
            let now = now()
            let wasKnown = isKnown(user, address, state: state, now: now)
            for subject in Self.subjects(user, address) {
                guard var record = state.records[subject] else { continue }
                let left = (record.pending[user] ?? 0) - 1
                record.pending[user] = left > 0 ? left : nil
                record.lastSeen = now
                if hasSucceeded == false {
                    record.failures = record.failures.suffix(Self.maxFailures - 1) + [(now, user)]
                } else if hasSucceeded == true, resets(subject, wasKnown) {
                    record.failures = []
                    record.delays = 0
                    record.next = nil
                    if case .pair = subject { record.signedIn = now }
                }
                state.records[subject] = record
            }
            state.attempts = max(0, state.attempts - 1)
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Returns whether a sign-in ends the delays of a subject.
    ///
    /// An address stays delayed, because someone else may be guessing from it. A user stays delayed after a
    /// sign-in from a known address, because the failures at other addresses did not count for it.
    private func resets(_ subject: Subject, _ wasKnown: Bool) -> Bool {
        switch subject {
        case .address: false
        case .user: !wasKnown
        case .pair: true
        }
    }

    private func isKnown(_ user: String, _ address: String, state: State, now: ContinuousClock.Instant) -> Bool {
        state.records[.pair(user, address)]?.signedIn.map { now - $0 < Self.memory } ?? false
    }

    /// The maximum number of bytes of a remembered name.
    private static let maxNameLength = 256
    private static let maxFailures = 64

    private static func subjects(_ user: String, _ address: String) -> [Subject] {
        [.user(user), .address(address), .pair(user, address)]
    }

    /// Returns the beginning of a name. One character may have any number of bytes, so bytes are counted.
    static func bounded(_ user: String) -> String {
        user.utf8.count <= maxNameLength ? user : String(decoding: user.utf8.prefix(maxNameLength), as: UTF8.self)
    }

    private static func refusal(seconds: Int64) -> Refusal {
        Refusal(
            status: .tooManyRequests, code: "TooManySignIns",
            message: "Too many sign-ins have failed: wait before the next one.",
            fields: [.retryAfter: String(max(1, seconds))])
    }

    /// Waits until any attempt is decided.
    private func waitForOthers() async {
        await withCheckedContinuation { continuation in
            let isAlone = state.withLock { state in
                guard state.attempts > 0 else { return true }
                state.waiting.append(continuation)
                return false
            }
            if isAlone { continuation.resume() }
        }
    }

    private func decide(_ user: String, _ address: String, state: inout State) -> Decision {
        let now = now()
        guard state.attempts < Self.maxAttempts else { return .refuse(seconds: 1) }
        let subjects = subjectsThatCount(user, address, state: state, now: now)
        var start = now
        for subject in subjects {
            guard let record = state.records[subject], isSlowed(subject, record, state: state, now: now) else {
                continue
            }
            start = max(start, max(record.next ?? now, now) + delay(after: record.delays))
        }
        guard start - now <= Self.window else { return .refuse(seconds: (start - now).components.seconds + 1) }
        if start == now, subjects.contains(where: { isFull($0, state, now: now) }) { return .waitForOthers }
        if start > now {
            for subject in subjects {
                guard var record = state.records[subject], isSlowed(subject, record, state: state, now: now) else {
                    continue
                }
                record.delays += 1
                record.next = start
                state.records[subject] = record
            }
        }
        for subject in Self.subjects(user, address) {
            var record = state.records[subject] ?? Record(lastSeen: now)
            record.pending[user, default: 0] += 1
            record.lastSeen = now
            state.records[subject] = record
        }
        state.attempts += 1
        if state.records.count > Self.maxEntries { Self.forgetOldest(&state) }
        return start > now ? .sleep(until: start) : .begin
    }

    /// Returns the subjects with failures that delay an attempt.
    private func subjectsThatCount(
        _ user: String, _ address: String, state: State, now: ContinuousClock.Instant
    ) -> [Subject] {
        isKnown(user, address, state: state, now: now) ? [.pair(user, address)] : [.user(user), .address(address)]
    }

    private func isSlowed(
        _ subject: Subject, _ record: Record, state: State, now: ContinuousClock.Instant
    ) -> Bool {
        let recent = recentFailures(subject, record, state: state, now: now)
        // A delayed subject stays delayed until a minute has passed without a failure.
        return recent >= delays.freeFailures || record.delays > 0 && recent > 0
    }

    private func recentFailures(
        _ subject: Subject, _ record: Record, state: State, now: ContinuousClock.Instant
    ) -> Int {
        let recent = record.failures.filter { now - $0.time < Self.window }
        guard case .address = subject else { return recent.count }
        let slowed = Set(recent.map(\.user)).filter { user in
            let subject = Subject.user(user)
            return state.records[subject].map { isSlowed(subject, $0, state: state, now: now) } ?? false
        }
        return recent.count { !slowed.contains($0.user) }
    }

    /// Returns whether the pending attempts, if they fail, use up the free failures.
    private func isFull(_ subject: Subject, _ state: State, now: ContinuousClock.Instant) -> Bool {
        guard let record = state.records[subject], !record.pending.isEmpty else { return false }
        // For an address, the attempts of one user count once.
        let isAddress = if case .address = subject { true } else { false }
        let pending = isAddress ? record.pending.count : record.pending.values.reduce(0, +)
        return recentFailures(subject, record, state: state, now: now) + pending >= delays.freeFailures
    }

    private func delay(after count: Int) -> Duration {
        var delay = delays.firstDelay
        for _ in 0..<min(count, 32) where delay < delays.longestDelay { delay *= 2 }
        return min(delay, delays.longestDelay)
    }

    /// Removes a tenth of all records: the least recently seen ones without pending attempts.
    private static func forgetOldest(_ state: inout State) {
        let old = state.records.filter { $0.value.pending.isEmpty }.sorted { $0.value.lastSeen < $1.value.lastSeen }
        for (subject, _) in old.prefix(maxEntries / 10) { state.records[subject] = nil }
    }
}
