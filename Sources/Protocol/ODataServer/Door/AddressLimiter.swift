import HTTPTypes
import Synchronization

/// Counts the requests of each address and enforces ``AddressLimits``.
final class AddressLimiter: Sendable {
    /// The maximum number of addresses with separate counts. Further addresses share one count until some
    /// addresses have been idle for a minute.
    static let maxAddresses = 10_000

    /// The place of a running request. Deallocation releases the place.
    final class Place: Sendable {
        private let limiter: AddressLimiter
        private let address: String

        fileprivate init(in limiter: AddressLimiter, of address: String) {
            self.limiter = limiter
            self.address = address
        }

        deinit { limiter.leave(address) }

        /// Counts the request afterwards, because the further page that it requested was refused.
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

    /// Admits a request, or returns the limit that it exceeds.
    ///
    /// - Parameter isCounted: Whether the request counts towards the limit per minute.
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
            // The entry of an address without counts per minute is removed.
            state.entries[key] = entry.atOnce == 0 && entry.minute.isEmpty ? nil : entry
        }
    }

    private func count(_ key: String) {
        let second = second
        state.withLock { $0.entries[key, default: Entry()].minute.add(at: second) }
    }

    /// Returns the key of an address: the address itself, or the shared key if there are too many addresses.
    private static func key(of address: String, at second: Int64, _ state: inout State) -> String {
        guard state.entries[address] == nil, state.entries.count >= maxAddresses else { return address }
        if state.lastCleanup != second {
            state.lastCleanup = second
            state.entries = state.entries.filter { $0.value.atOnce > 0 || !$0.value.minute.isQuiet(at: second) }
        }
        return state.entries.count < maxAddresses ? address : ""
    }

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

/// The number of events in the last sixty seconds, with a resolution of one second.
struct SlidingMinute {
    private static let length: Int64 = 60

    private var counts: [UInt32] = []
    private var total = 0
    /// The second of the last event.
    private var last: Int64 = 0

    /// Whether no event was ever counted.
    var isEmpty: Bool { counts.isEmpty }

    /// Returns whether there was no event in the last minute.
    func isQuiet(at second: Int64) -> Bool { total == 0 || second - last >= Self.length }

    mutating func add(at second: Int64) {
        advance(to: second)
        counts[Int(second % Self.length)] += 1
        total += 1
    }

    /// Returns the number of seconds until the last minute has fewer events than a limit; `nil` if that is
    /// already so.
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

    /// Removes events older than a minute.
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
