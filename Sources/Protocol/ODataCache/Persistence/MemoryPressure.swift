import Synchronization

#if canImport(Darwin)
    import Dispatch
#endif

/// A source of memory warnings. Apple platforms have ``SystemMemoryPressure``; elsewhere an app or its
/// supervisor sends warnings through ``MemoryPressureSignal``.
public protocol MemoryPressureSource: Sendable {
    /// Returns a stream of all further warnings.
    func events() -> AsyncStream<MemoryPressure>
}

/// The severity of a memory shortage.
public enum MemoryPressure: String, Hashable, Sendable {
    /// The process should release memory.
    case warning
    /// The system is about to end the process.
    case critical
}

/// A source of memory warnings that the app sends itself. They can come from a signal handler, a watcher of the
/// control group's `memory.pressure`, or a test.
///
/// ```swift
/// let pressure = MemoryPressureSignal()
/// let saving = AutomaticSaving(cache, in: store, as: "orders", on: pressure)
/// …
/// pressure.send(.warning)
/// ```
public final class MemoryPressureSignal: MemoryPressureSource {
    private let listeners = Mutex<[UInt64: AsyncStream<MemoryPressure>.Continuation]>([:])

    /// Creates a source without listeners.
    public init() {}

    /// Returns a stream of all further warnings. An unread warning is replaced by the next one.
    public func events() -> AsyncStream<MemoryPressure> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: MemoryPressure.self, bufferingPolicy: .bufferingNewest(1))
        let id = UInt64.random(in: .min ... .max)
        continuation.onTermination = { [weak self] _ in self?.listeners.withLock { _ = $0.removeValue(forKey: id) } }
        listeners.withLock { $0[id] = continuation }
        return stream
    }

    /// Sends a warning to all listeners.
    public func send(_ pressure: MemoryPressure) {
        for listener in listeners.withLock({ Array($0.values) }) { listener.yield(pressure) }
    }
}

#if canImport(Darwin)
    /// The memory warnings of Apple platforms.
    public struct SystemMemoryPressure: MemoryPressureSource {
        /// Creates a source.
        public init() {}

        /// Returns a stream of the system's further warnings.
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

/// Saves a cache after each memory warning and then removes part of its content.
///
/// It works until it is deallocated or ``stop()`` is called.
///
/// ```swift
/// let files = PersistentStore(folder: folder, key: .generated(in: keys, named: try SecretName("cache")))
/// let pressure = MemoryPressureSignal()
/// let saving = AutomaticSaving(cache, in: files, as: "orders", on: pressure)
/// pressure.send(.warning)  // saves the cache, then drops half of it from memory
/// ```
public final class AutomaticSaving: Sendable {
    /// The results of automatic saving so far.
    public struct Report: Sendable {
        /// The number of times that the cache was saved.
        public var saved = 0
        /// The error of the last failed attempt.
        public var lastFailure: (any Error)?
    }

    private let state = Mutex(Report())
    private let task: Mutex<Task<Void, Never>?>

    /// Starts to listen for memory warnings.
    ///
    /// - Parameters:
    ///   - cache: The cache to save.
    ///   - store: The store that receives the snapshot.
    ///   - name: The name of the snapshot.
    ///   - source: The source of memory warnings.
    ///   - trimming: The fraction of a ``MemoryEntityCache`` that is kept, from 0 to 1; by default, half of it.
    ///     After a critical warning, only local changes are kept.
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
                    // Content that was not saved is not removed.
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

    /// The results so far.
    public var report: Report { state.withLock { $0 } }

    /// Stops listening for memory warnings.
    public func stop() { task.withLock { $0?.cancel() } }
}
