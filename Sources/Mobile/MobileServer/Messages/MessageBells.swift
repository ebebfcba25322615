import Logging
import ServerState
import Synchronization

/// Wakes the requests of this node that wait for messages.
///
/// A notice of the state rings at once. Since a notice may be lost, the numbers of all registrations are polled each
/// second, with one statement however many requests wait.
final class MessageBells: Sendable {
    private struct Duties {
        var next = 0
        var waiting: [String: [Int: Weak]] = [:]
        var tasks: [Task<Void, Never>] = []
        var isStopped = false
    }

    private struct Weak { weak var bell: Bell? }

    private let state: any ServerState
    private let logger: Logger
    private let duties = Mutex(Duties())

    init(state: any ServerState, logger: Logger) {
        self.state = state
        self.logger = logger
    }

    /// The number of requests that wait.
    var count: Int { duties.withLock { $0.waiting.values.reduce(0) { $0 + $1.count } } }

    /// Returns a bell of a registration. It rings for every message from now on.
    func bell(of registration: String, in application: RecordNumber) -> Bell {
        let topic = Self.topic(registration, application)
        return duties.withLock { duties in
            if duties.tasks.isEmpty, !duties.isStopped { duties.tasks = begin() }
            duties.next += 1
            let bell = Bell(topic: topic, number: duties.next, owner: self)
            duties.waiting[topic, default: [:]][duties.next] = Weak(bell: bell)
            if duties.isStopped { bell.stop() }
            return bell
        }
    }

    /// Ends all waiting, so that the node can end.
    func stop() {
        let (bells, tasks) = duties.withLock { duties in
            duties.isStopped = true
            defer { duties.tasks = [] }
            return (duties.waiting.values.flatMap { $0.values.compactMap(\.bell) }, duties.tasks)
        }
        for task in tasks { task.cancel() }
        for bell in bells { bell.stop() }
    }

    fileprivate func remove(_ bell: Bell) {
        duties.withLock { duties in
            duties.waiting[bell.topic]?[bell.number] = nil
            if duties.waiting[bell.topic]?.isEmpty == true { duties.waiting[bell.topic] = nil }
        }
    }

    private static func topic(_ registration: String, _ application: RecordNumber) -> String {
        if case .scope(let text) = DeviceMessageScope.topic(registration, of: application) { text } else { "" }
    }

    private func ring(_ topic: String) {
        let bells = duties.withLock { $0.waiting[topic]?.values.compactMap(\.bell) ?? [] }
        for bell in bells { bell.ring() }
    }

    private func begin() -> [Task<Void, Never>] {
        let topics = state.signal.topics()
        return [
            Task { [weak self] in
                for await group in topics {
                    for case .scope(let topic) in group { self?.ring(topic) }
                }
            },
            Task { [weak self] in
                var position: ChangeNumber?
                while !Task.isCancelled {
                    guard let self else { return }
                    position = await self.poll(after: position)
                    self.ringLate()
                    try? await Task.sleep(for: .seconds(1))
                }
            },
        ]
    }

    /// Rings for the messages after a number.
    ///
    /// - Returns: The number up to which messages are known; `nil` if the state does not answer.
    private func poll(after position: ChangeNumber?) async -> ChangeNumber? {
        do {
            guard var position else {
                let head = try await state.head(of: DeviceMessageScope.changes)
                // What came before this number was perhaps not seen by those who wait already.
                for bell in duties.withLock({ $0.waiting.values.flatMap { $0.values.compactMap(\.bell) } }) {
                    bell.ring()
                }
                return head
            }
            let store = try state.deviceServices().messages
            while true {
                let notices = try await store.notices(after: position, limit: 1000)
                for notice in notices {
                    ring(Self.topic(notice.registration, notice.application))
                    position = notice.change
                }
                guard notices.count == 1000 else { return position }
            }
        } catch {
            logger.warning("messages cannot be polled", metadata: ["reason": "\(error)"])
            return position
        }
    }

    /// Wakes the bells whose time is over.
    private func ringLate() {
        let now = ContinuousClock.now
        let bells = duties.withLock { $0.waiting.values.flatMap { $0.values.compactMap(\.bell) } }
        for bell in bells { bell.tick(now) }
    }
}

/// A request that waits for messages of one registration.
final class Bell: Sendable {
    private struct Waiting {
        var hasRung = false
        var isStopped = false
        var deadline: ContinuousClock.Instant?
        var waiter: CheckedContinuation<Void, Never>?
    }

    fileprivate let topic: String
    fileprivate let number: Int
    private let owner: MessageBells
    private let waiting = Mutex(Waiting())

    fileprivate init(topic: String, number: Int, owner: MessageBells) {
        self.topic = topic
        self.number = number
        self.owner = owner
    }

    deinit { owner.remove(self) }

    /// Whether the node ends.
    var isStopped: Bool { waiting.withLock { $0.isStopped } }

    /// Waits until the bell has rung since the last call, until a moment (within a second), or until the node or the
    /// request ends.
    ///
    /// - Returns: Whether it has rung.
    func wait(until deadline: ContinuousClock.Instant) async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let goesOn = waiting.withLock { waiting in
                    guard waiting.hasRung || waiting.isStopped || Task.isCancelled || deadline <= .now else {
                        waiting.deadline = deadline
                        waiting.waiter = waiter
                        return false
                    }
                    return true
                }
                if goesOn { waiter.resume() }
            }
        } onCancel: {
            wake()
        }
        return waiting.withLock { waiting in
            defer { waiting.hasRung = false }
            return waiting.hasRung
        }
    }

    fileprivate func ring() {
        waiting.withLock { $0.hasRung = true }
        wake()
    }

    fileprivate func stop() {
        waiting.withLock { $0.isStopped = true }
        wake()
    }

    fileprivate func tick(_ now: ContinuousClock.Instant) {
        if waiting.withLock({ waiting in waiting.deadline.map { $0 <= now } ?? false }) { wake() }
    }

    private func wake() {
        let waiter = waiting.withLock { waiting in
            defer { (waiting.waiter, waiting.deadline) = (nil, nil) }
            return waiting.waiter
        }
        waiter?.resume()
    }
}
