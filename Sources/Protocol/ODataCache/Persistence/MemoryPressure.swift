import Synchronization

#if canImport(Darwin)
    import Dispatch
#endif

/// Says when memory is short. Apple's platforms have a source of their own (``SystemMemoryPressure``); elsewhere an app
/// or its supervisor says it, through ``MemoryPressureSignal``.
public protocol MemoryPressureSource: Sendable {
    /// The moments at which memory is short, from now on.
    func events() -> AsyncStream<MemoryPressure>
}

/// How short memory is.
public enum MemoryPressure: String, Hashable, Sendable {
    /// Something should be let go.
    case warning
    /// The process will be ended soon.
    case critical
}

/// Memory pressure that somebody else notices: a signal handler, a watcher of the control group's `memory.pressure`, a
/// test.
///
/// ```swift
/// let pressure = MemoryPressureSignal()
/// let saving = AutomaticSaving(cache, in: store, as: "orders", on: pressure)
/// …
/// pressure.send(.warning)
/// ```
public final class MemoryPressureSignal: MemoryPressureSource {
    private let listeners = Mutex<[UInt64: AsyncStream<MemoryPressure>.Continuation]>([:])

    /// Makes a signal.
    public init() {}

    /// What is sent from now on. One that is not taken yet is replaced by the next.
    public func events() -> AsyncStream<MemoryPressure> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: MemoryPressure.self, bufferingPolicy: .bufferingNewest(1))
        let id = UInt64.random(in: .min ... .max)
        continuation.onTermination = { [weak self] _ in self?.listeners.withLock { _ = $0.removeValue(forKey: id) } }
        listeners.withLock { $0[id] = continuation }
        return stream
    }

    /// Says that memory is short.
    public func send(_ pressure: MemoryPressure) {
        for listener in listeners.withLock({ Array($0.values) }) { listener.yield(pressure) }
    }
}

#if canImport(Darwin)
    /// The memory pressure of Apple's platforms.
    public struct SystemMemoryPressure: MemoryPressureSource {
        /// Makes a source.
        public init() {}

        /// What the system says from now on.
        public func events() -> AsyncStream<MemoryPressure> {
            let (stream, continuation) = AsyncStream.makeStream(
                of: MemoryPressure.self, bufferingPolicy: .bufferingNewest(1))
            let source = Source(dispatch: DispatchSource.makeMemoryPressureSource(eventMask: [.warning, .critical]))
            source.dispatch.setEventHandler {
                continuation.yield(source.dispatch.data.contains(.critical) ? .critical : .warning)
            }
            continuation.onTermination = { _ in source.dispatch.cancel() }
            source.dispatch.activate()
            return stream
        }

        /// `@unchecked Sendable`: a dispatch source may be used from any thread, which its protocol does not say.
        private struct Source: @unchecked Sendable {
            let dispatch: any DispatchSourceMemoryPressure
        }
    }
#endif

/// Saves a cache whenever memory is short, and then lets go of a part of it.
///
/// It works from when it is made until it is released or ``stop()`` is called. Off is not to make it: nothing is saved
/// by itself otherwise.
public final class AutomaticSaving: Sendable {
    /// How it went so far.
    public struct Report: Sendable {
        /// How often the cache was saved.
        public var saved = 0
        /// Why it could not be saved the last time that it could not.
        public var lastFailure: (any Error)?
    }

    private let state = Mutex(Report())
    private let task: Mutex<Task<Void, Never>?>

    /// Begins.
    ///
    /// - Parameters:
    ///   - cache: What is saved.
    ///   - store: Where.
    ///   - name: The name of the snapshot.
    ///   - source: Who says that memory is short.
    ///   - trimming: The part of a ``MemoryEntityCache`` that stays afterwards, 0 to 1; half of it if not said. A
    ///     critical shortage leaves nothing but the app's changes.
    public init(
        _ cache: any EntityCache, in store: PersistentStore, as name: String, on source: any MemoryPressureSource,
        trimming: Double = 0.5
    ) {
        let events = source.events()
        task = Mutex(nil)
        let work = Task { [weak self] in
            for await pressure in events {
                do {
                    try await store.save(cache, as: name)
                    self?.state.withLock { $0.saved += 1 }
                } catch {
                    self?.state.withLock { $0.lastFailure = error }
                    // What is not saved is not let go of.
                    continue
                }
                guard let cache = cache as? MemoryEntityCache else { continue }
                let part = pressure == .critical ? 0 : min(1, max(0, trimming))
                await cache.trim(toBytes: Int(Double(cache.byteCount) * part))
            }
        }
        task.withLock { $0 = work }
    }

    deinit { stop() }

    /// How it went so far.
    public var report: Report { state.withLock { $0 } }

    /// Ends it.
    public func stop() { task.withLock { $0?.cancel() } }
}
