import Synchronization

/// The events that one listener has not taken yet.
///
/// When the listener is too far behind, further events are counted instead of kept. The count is delivered when the
/// listener has taken all kept events.
final class EventBuffer<Event: Sendable>: Sendable {
    private struct State {
        var events: [Event] = []
        /// The number of taken events at the beginning of `events`.
        var taken = 0
        var lost = 0
        var isFinished = false
        var listener: CheckedContinuation<Event?, Never>?
    }

    private let limit: Int
    private let overflow: @Sendable (Int) -> Event
    private let state = Mutex(State())

    /// - Parameters:
    ///   - limit: the number of events that are kept.
    ///   - overflow: the event for a number of events that were left out.
    init(limit: Int, overflow: @escaping @Sendable (Int) -> Event) {
        self.limit = limit
        self.overflow = overflow
    }

    func add(_ event: Event) {
        state.withLock { state in
            guard !state.isFinished else { return }
            if let listener = state.listener {
                state.listener = nil
                listener.resume(returning: event)
            } else if state.lost > 0 || state.events.count - state.taken >= limit {
                state.lost += 1
            } else {
                state.events.append(event)
            }
        }
    }

    /// Ends the events. The listener still gets those that it has not taken.
    func finish() {
        state.withLock { state in
            state.isFinished = true
            state.listener?.resume(returning: nil)
            state.listener = nil
        }
    }

    /// Waits for the next event.
    ///
    /// - Returns: `nil` after the last event, and when the task is cancelled.
    func next() async -> Event? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { state in
                    if Task.isCancelled {
                        continuation.resume(returning: nil)
                    } else if let event = Self.take(&state, overflow) {
                        continuation.resume(returning: event)
                    } else if state.isFinished || state.listener != nil {
                        continuation.resume(returning: nil)
                    } else {
                        state.listener = continuation
                    }
                }
            }
        } onCancel: {
            state.withLock { state in
                state.listener?.resume(returning: nil)
                state.listener = nil
            }
        }
    }

    private static func take(_ state: inout State, _ overflow: (Int) -> Event) -> Event? {
        if state.taken < state.events.count {
            let event = state.events[state.taken]
            state.taken += 1
            if state.taken >= 256, state.taken * 2 >= state.events.count {
                state.events.removeFirst(state.taken)
                state.taken = 0
            }
            return event
        }
        guard state.lost > 0 else { return nil }
        defer { state.lost = 0 }
        return overflow(state.lost)
    }
}
