import ODataHTTP
import ODataService
import Synchronization

/// Measures how many bytes go through, averaged over the last five seconds, and slows transfers down to a limit.
///
/// One object serves any number of requests. Only bodies count. The limit is approximate: a chunk is let through
/// whole and then paid for.
///
/// ```swift
/// let bandwidth = Bandwidth(limits: .init(standard: nil, expensive: 64_000))
/// bandwidth.isExpensive = true
/// ```
public final class Bandwidth: Sendable {
    /// The window that is averaged over.
    public static let window: Duration = .seconds(5)

    /// The most bytes for each second; `nil` for no limit.
    public struct Limits: Sendable, Hashable {
        /// On ordinary networks.
        public var standard: Int?
        /// On networks that cost by volume, such as mobile data; `nil` for what ``standard`` says.
        public var expensive: Int?

        /// Makes limits; those below 1 count as 1.
        public init(standard: Int? = nil, expensive: Int? = nil) {
            self.standard = standard.map { max(1, $0) }
            self.expensive = expensive.map { max(1, $0) }
        }
    }

    fileprivate struct State {
        var limits: Limits
        var isExpensive = false
        var samples: [(at: ContinuousClock.Instant, bytes: Int)] = []
        /// When what was let through is paid for.
        var free: ContinuousClock.Instant
    }

    private let state: Mutex<State>
    private let now: @Sendable () -> ContinuousClock.Instant
    private let sleep: @Sendable (Duration) async throws -> Void

    /// Makes a meter.
    ///
    /// - Parameters:
    ///   - now: the time; another clock makes tests exact.
    ///   - sleep: waits.
    public init(
        limits: Limits = Limits(), now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.now = now
        self.sleep = sleep
        state = Mutex(State(limits: limits, free: now()))
    }

    /// The limits; a change holds from the next chunk on.
    public var limits: Limits {
        get { state.withLock { $0.limits } }
        set { state.withLock { $0.limits = newValue } }
    }

    /// Whether the network at hand costs by volume; a ``ConnectionMonitor`` may set it.
    public var isExpensive: Bool {
        get { state.withLock { $0.isExpensive } }
        set { state.withLock { $0.isExpensive = newValue } }
    }

    /// Whether a limit is in force.
    public var isLimited: Bool { state.withLock { $0.limit != nil } }

    /// The bytes for each second, sent and received, averaged over the last five seconds.
    public var bytesPerSecond: Int {
        let now = now()
        return state.withLock { state in
            state.forget(before: now - Self.window)
            return state.samples.map(\.bytes).reduce(0, +) / Int(Self.window.components.seconds)
        }
    }

    /// Counts bytes and waits as long as the limit asks for.
    func pass(_ bytes: Int) async throws {
        let now = now()
        let delay = state.withLock { state -> Duration in
            state.forget(before: now - Self.window)
            // Samples within a hundredth of a second are one, so that small chunks cost no memory.
            if let last = state.samples.last, now - last.at < .milliseconds(10) {
                state.samples[state.samples.count - 1].bytes += bytes
            } else {
                state.samples.append((now, bytes))
            }
            guard let limit = state.limit else {
                state.free = now
                return .zero
            }
            state.free = max(state.free, now) + .seconds(Double(bytes) / Double(limit))
            return state.free - now
        }
        if delay > .zero { try await sleep(delay) }
    }
}

extension Bandwidth.State {
    fileprivate var limit: Int? { isExpensive ? limits.expensive ?? limits.standard : limits.standard }

    fileprivate mutating func forget(before limit: ContinuousClock.Instant) {
        let old = samples.prefix { $0.at < limit }.count
        samples.removeFirst(old)
    }
}
