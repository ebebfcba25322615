import Synchronization

/// Delivers the events of a package to all listeners, in one order.
final class EventHub<Package: ObjectPackage>: Sendable {
    typealias Buffer = EventBuffer<PackageEvent<Package>>

    private struct State {
        var buffers: [Int: Buffer] = [:]
        var last = 0
        var isFinished = false
    }

    /// Takes the buffer of a listener away when nobody can read it any more.
    private final class Registration: Sendable {
        let id: Int
        let buffer: Buffer
        let hub: EventHub

        init(_ id: Int, _ buffer: Buffer, hub: EventHub) {
            self.id = id
            self.buffer = buffer
            self.hub = hub
        }

        deinit { hub.remove(id) }
    }

    private let state = Mutex(State())
    private let limit: Int

    /// - Parameter limit: the number of events that are kept for a listener that is behind.
    init(limit: Int = 10_000) { self.limit = limit }

    /// Delivers an event.
    func publish(_ event: PackageEvent<Package>) {
        state.withLock { state in
            for buffer in state.buffers.values { buffer.add(event) }
        }
    }

    /// Returns the events from now on.
    func events() -> AsyncStream<PackageEvent<Package>> {
        let buffer = Buffer(limit: limit) { .overflowed($0) }
        let id = state.withLock { state -> Int in
            state.last += 1
            if state.isFinished { buffer.finish() } else { state.buffers[state.last] = buffer }
            return state.last
        }
        let registration = Registration(id, buffer, hub: self)
        return AsyncStream(unfolding: { await registration.buffer.next() })
    }

    /// Ends all streams. Listeners still get the events that they have not taken.
    func finish() {
        let buffers = state.withLock { state -> [Buffer] in
            state.isFinished = true
            defer { state.buffers = [:] }
            return Array(state.buffers.values)
        }
        for buffer in buffers { buffer.finish() }
    }

    private func remove(_ id: Int) { state.withLock { _ = $0.buffers.removeValue(forKey: id) } }
}
