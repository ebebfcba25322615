import OfflineOData
import Synchronization

/// Turns change notifications into synchronizations, unless the app objects.
final class NotificationListener<Package: ObjectPackage>: Sendable {
    /// Decides about a notification.
    typealias Veto = @Sendable (GroupName<Package>) async -> SyncAction

    private struct State {
        var vetoes: [Veto] = []
        /// The intervals of the groups with notifications.
        var intervals: [GroupName<Package>: Duration] = [:]
        var source: (any NotificationSource)?
        var task: Task<Void, Never>?
    }

    private let state = Mutex(State())
    private let queue: SynchronizationQueue
    private let sleep: @Sendable (Duration) async throws -> Void

    init(queue: SynchronizationQueue, sleep: @escaping @Sendable (Duration) async throws -> Void) {
        self.queue = queue
        self.sleep = sleep
    }

    /// The time in which a veto must be given.
    static var patience: Duration { .seconds(5) }

    func add(_ veto: @escaping Veto) { state.withLock { $0.vetoes.append(veto) } }

    /// Sets the interval of a group, and tells the source.
    func set(_ interval: Duration?, for group: GroupName<Package>) async throws {
        // An interval of no length means no notifications, as in the predecessor.
        let interval = interval.flatMap { $0 > .zero ? $0 : nil }
        let source = state.withLock { state in
            state.intervals[group] = interval
            return state.source
        }
        try await source?.setNotifications(for: group.rawValue, interval: interval)
    }

    /// Listens to a source in place of the former one; `nil` for none.
    func listen(to source: (any NotificationSource)?) {
        state.withLock { state in
            state.task?.cancel()
            state.source = source
            state.task = nil
            guard let source else { return }
            let intervals = state.intervals
            state.task = Task { [weak self] in
                for (group, interval) in intervals {
                    try? await source.setNotifications(for: group.rawValue, interval: interval)
                }
                for await name in source.notifications() {
                    guard let self else { return }
                    await self.receive(GroupName(rawValue: name))
                }
            }
        }
    }

    /// Synchronizes a group, unless it has no notifications, or the app objects. Nothing is sent before all have
    /// answered.
    func receive(_ group: GroupName<Package>) async {
        let (isOn, vetoes) = state.withLock { ($0.intervals[group] != nil, $0.vetoes) }
        guard isOn, queue.isEnabled else { return }
        guard await isWelcome(group, vetoes) else { return }
        _ = queue.begin([group.rawValue], context: nil, first: .startingOnNotification)
    }

    private func isWelcome(_ group: GroupName<Package>, _ vetoes: [Veto]) async -> Bool {
        guard !vetoes.isEmpty else { return true }
        let sleep = sleep
        // The answers race with the clock. A closure that never returns must not hold up the synchronization, so that
        // its task is left alone.
        return await withCheckedContinuation { continuation in
            let race = AnswerRace(vetoes.count, continuation)
            for veto in vetoes { Task { race.take(await veto(group)) } }
            Task {
                try? await sleep(Self.patience)
                race.timeOut()
            }
        }
    }
}

/// The answers to a notification: the first refusal, the last consent or the clock decides.
private final class AnswerRace: Sendable {
    private struct State {
        var missing: Int
        var continuation: CheckedContinuation<Bool, Never>?
    }

    private let state: Mutex<State>

    init(_ count: Int, _ continuation: CheckedContinuation<Bool, Never>) {
        state = Mutex(State(missing: count, continuation: continuation))
    }

    func take(_ action: SyncAction) {
        state.withLock { state in
            state.missing -= 1
            if action == .cancel { Self.decide(false, &state) } else if state.missing == 0 { Self.decide(true, &state) }
        }
    }

    func timeOut() { state.withLock { Self.decide(true, &$0) } }

    private static func decide(_ answer: Bool, _ state: inout State) {
        state.continuation?.resume(returning: answer)
        state.continuation = nil
    }
}
