import HTTPTypes
import Synchronization

/// Counts the requests of each address against ``AddressLimits``.
final class AddressLimiter: Sendable {
    /// The most addresses that are counted each by itself. Further ones share one count until some of these have been
    /// silent for a minute.
    static let maxAddresses = 10_000

    /// A place among the requests that are answered at the same time; it is free again when nothing holds it.
    final class Place: Sendable {
        private let limiter: AddressLimiter
        private let address: String

        fileprivate init(in limiter: AddressLimiter, of address: String) {
            self.limiter = limiter
            self.address = address
        }

        deinit { limiter.leave(address) }

        /// Counts the request after all: the further page that it asked for was refused.
        func count() { limiter.count(address) }
    }

    private struct Entry {
        var atOnce = 0
        var minute = SlidingMinute()
    }

    private struct State {
        var entries: [String: Entry] = [:]
        var lastCleanup: Int64 = .min
    }

    private let limits: AddressLimits
    private let now: @Sendable () -> ContinuousClock.Instant
    private let start: ContinuousClock.Instant
    private let state = Mutex(State())

    init(_ limits: AddressLimits, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.limits = limits
        self.now = now
        start = now()
    }

    /// Admits a request, or says why not.
    ///
    /// - Parameter isCounted: whether the request counts among those of the minute.
    func enter(_ address: String, isCounted: Bool) -> Result<Place, LimitExceeded> {
        let second = second
        return state.withLock { state in
            let key = Self.key(of: address, at: second, &state)
            var entry = state.entries[key] ?? Entry()
            defer { state.entries[key] = entry }
            if let most = limits.requestsAtOnce, entry.atOnce >= most { return .failure(.atOnce(most)) }
            if isCounted, let most = limits.requestsPerMinute {
                if let wait = entry.minute.wait(toStayBelow: most, at: second) {
                    return .failure(.perMinute(most, retryAfter: wait))
                }
                entry.minute.add(at: second)
            }
            entry.atOnce += 1
            return .success(Place(in: self, of: key))
        }
    }

    private var second: Int64 { start.duration(to: now()).components.seconds }

    private func leave(_ key: String) {
        state.withLock { state in
            guard var entry = state.entries[key] else { return }
            entry.atOnce -= 1
            // An address that is not counted by the minute leaves nothing behind.
            state.entries[key] = entry.atOnce == 0 && entry.minute.isEmpty ? nil : entry
        }
    }

    private func count(_ key: String) {
        let second = second
        state.withLock { $0.entries[key, default: Entry()].minute.add(at: second) }
    }

    /// The entry of an address: its own, or the one that all others share when there are too many.
    private static func key(of address: String, at second: Int64, _ state: inout State) -> String {
        guard state.entries[address] == nil, state.entries.count >= maxAddresses else { return address }
        if state.lastCleanup != second {
            state.lastCleanup = second
            state.entries = state.entries.filter { $0.value.atOnce > 0 || !$0.value.minute.isQuiet(at: second) }
        }
        return state.entries.count < maxAddresses ? address : ""
    }

    /// A limit that a request would exceed.
    enum LimitExceeded: Error, Hashable {
        case atOnce(Int)
        case perMinute(Int, retryAfter: Int64)

        var refusal: Refusal {
            let message: String
            let seconds: Int64
            switch self {
            case .atOnce(let most):
                message = "The service answers \(most) requests of one address at a time: wait for some of yours."
                seconds = 1
            case .perMinute(let most, let retryAfter):
                message = "The service answers \(most) requests of one address in a minute: send fewer, larger ones."
                seconds = retryAfter
            }
            return Refusal(
                status: .tooManyRequests, code: "TooManyRequests", message: message,
                fields: [.retryAfter: String(seconds)])
        }
    }
}

/// How many events there were in the last sixty seconds, by the second.
struct SlidingMinute {
    private static let length: Int64 = 60

    private var counts: [UInt32] = []
    private var total = 0
    /// The second of the last event.
    private var last: Int64 = 0

    /// Whether there never was an event.
    var isEmpty: Bool { counts.isEmpty }

    /// Whether there was no event in the last minute.
    func isQuiet(at second: Int64) -> Bool { total == 0 || second - last >= Self.length }

    /// Counts an event.
    mutating func add(at second: Int64) {
        advance(to: second)
        counts[Int(second % Self.length)] += 1
        total += 1
    }

    /// How many seconds it takes until there were fewer events than a limit in the last minute; `nil` if that is so now.
    mutating func wait(toStayBelow limit: Int, at second: Int64) -> Int64? {
        advance(to: second)
        guard total >= limit else { return nil }
        var left = total
        for age in stride(from: Self.length - 1, through: 0, by: -1) where second - age >= 0 {
            left -= Int(counts[Int((second - age) % Self.length)])
            if left < limit { return Self.length - age }
        }
        return Self.length
    }

    /// Forgets what is older than a minute.
    private mutating func advance(to second: Int64) {
        if counts.isEmpty { counts = [UInt32](repeating: 0, count: Int(Self.length)) }
        if second - last >= Self.length {
            for index in counts.indices { counts[index] = 0 }
            total = 0
        } else if second > last {
            for passed in (last + 1)...second {
                total -= Int(counts[Int(passed % Self.length)])
                counts[Int(passed % Self.length)] = 0
            }
        }
        last = max(last, second)
    }
}
