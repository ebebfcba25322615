import ODataHTTP
import ODataService
import Synchronization

/// Measures the rate of transferred bytes, averaged over five seconds, and limits it.
///
/// One object can serve any number of requests. Only bodies count. The limit is approximate: a whole chunk
/// passes, and the delay follows.
///
/// ```swift
/// let bandwidth = Bandwidth(limits: .init(standard: nil, expensive: 64_000))
/// bandwidth.isExpensive = true
/// ```
public final class Bandwidth: Sendable {
    /// The period over which the rate is averaged.
    public static let window: Duration = .seconds(5)

    /// The maximum number of bytes per second; `nil` for no limit.
    public struct Limits: Sendable, Hashable {
        /// The limit on ordinary networks.
        public var standard: Int?
        /// The limit on metered networks, such as mobile data; `nil` for the value of ``standard``.
        public var expensive: Int?

        /// Creates limits; values below 1 count as 1.
        public init(standard: Int? = nil, expensive: Int? = nil) {
            self.standard = standard.map { max(1, $0) }
            self.expensive = expensive.map { max(1, $0) }
        }
    }

    fileprivate struct State {
        var limits: Limits
        var isExpensive = false
        var samples: [(at: ContinuousClock.Instant, bytes: Int)] = []
        /// The time until which bytes already passed use up the limit.
        var free: ContinuousClock.Instant
    }

    private let state: Mutex<State>
    private let now: @Sendable () -> ContinuousClock.Instant
    private let sleep: @Sendable (Duration) async throws -> Void

    /// Creates a meter.
    ///
    /// - Parameters:
    ///   - now: Returns the current time; tests can pass their own clock.
    ///   - sleep: Waits for a duration.
    public init(
        limits: Limits = Limits(), now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.now = now
        self.sleep = sleep
        state = Mutex(State(limits: limits, free: now()))
    }

    /// The limits; a change applies from the next chunk on.
    public var limits: Limits {
        get { state.withLock { $0.limits } }
        set { state.withLock { $0.limits = newValue } }
    }

    /// Whether the current network is metered; a ``ConnectionMonitor`` can set this property.
    public var isExpensive: Bool {
        get { state.withLock { $0.isExpensive } }
        set { state.withLock { $0.isExpensive = newValue } }
    }

    /// Whether a limit applies to the current network.
    public var isLimited: Bool { state.withLock { $0.limit != nil } }

    /// The number of bytes sent and received per second, averaged over five seconds.
    public var bytesPerSecond: Int {
        let now = now()
        return state.withLock { state in
            state.forget(before: now - Self.window)
            return state.samples.map(\.bytes).reduce(0, +) / Int(Self.window.components.seconds)
        }
    }

    /// Counts bytes and waits as long as the limit requires.
    func pass(_ bytes: Int) async throws {
        let now = now()
        let delay = state.withLock { state -> Duration in
            state.forget(before: now - Self.window)
            // Samples within 10 ms are merged, so that small chunks do not use much memory.
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
