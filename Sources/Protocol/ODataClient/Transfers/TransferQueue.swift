import ErrorCodes
import ODataHTTP
import Synchronization

/// Lets a few requests go at a time and the others wait: first come, first served.
///
/// The rule for priorities: what is of high priority goes before what is of normal priority; but when
/// ``maxHighInARow`` of high priority have gone while one of normal priority waited, that one goes next. So nobody
/// waits for ever, and within a priority nobody is overtaken.
///
/// A request keeps its place until its response is read to the end or let go.
///
/// ```swift
/// let queue = try TransferQueue(limit: 8)
/// queue.pause()
/// print(queue.size, queue.entries.map(\.label))
/// queue.resume()
/// ```
public final class TransferQueue: Sendable {
    /// How many requests go at once unless said.
    public static let standardLimit = 5
    /// How many requests can go at once at most.
    public static let maxLimit = 255
    /// How many of high priority go while one of normal priority waits.
    public static let maxHighInARow = 4

    /// A request in the queue.
    public struct Entry: Sendable, Hashable, Identifiable {
        /// Counts up in the order of coming.
        public let id: UInt64
        /// What it is called, for people.
        public let label: String
        /// Its priority.
        public let priority: TransferOptions.Priority
        /// Whether it is on its way; else it waits.
        public fileprivate(set) var isRunning: Bool
    }

    fileprivate struct Waiter {
        var entry: Entry
        let continuation: CheckedContinuation<Slot, any Error>
    }

    fileprivate struct State {
        var limit: Int
        var isPaused = false
        var lastID: UInt64 = 0
        var highInARow = 0
        var waiting: [TransferOptions.Priority: [Waiter]] = [:]
        var running: [UInt64: Entry] = [:]
        /// Those whose task was cancelled before they waited.
        var entering: Set<UInt64> = []
        var cancelled: Set<UInt64> = []
    }

    private let state: Mutex<State>

    /// Makes a queue.
    ///
    /// - Parameter limit: how many requests go at once, 1 to 255.
    /// - Throws: ``TransferQueueError/limit(_:)``.
    public init(limit: Int = standardLimit) throws(TransferQueueError) {
        guard (1...Self.maxLimit).contains(limit) else { throw .limit(limit) }
        state = Mutex(State(limit: limit))
    }

    /// A queue with the standard limit.
    public static func standard() -> TransferQueue { TransferQueue(checked: standardLimit) }

    private init(checked limit: Int) { state = Mutex(State(limit: limit)) }

    /// How many requests go at once.
    public var limit: Int { state.withLock { $0.limit } }

    /// Changes how many requests go at once, 1 to 255; those under way are not disturbed.
    ///
    /// - Throws: ``TransferQueueError/limit(_:)``.
    public func setLimit(_ limit: Int) throws(TransferQueueError) {
        guard (1...Self.maxLimit).contains(limit) else { throw .limit(limit) }
        state.withLock { $0.limit = limit }
        admit()
    }

    /// How many requests wait or are on their way.
    public var size: Int {
        state.withLock { state in state.running.count + state.waiting.values.map(\.count).reduce(0, +) }
    }

    /// The requests that are on their way and then those that wait, each in the order of coming.
    public var entries: [Entry] {
        state.withLock { state in
            state.running.values.sorted { $0.id < $1.id }
                + state.waiting.values.joined().map(\.entry).sorted { $0.id < $1.id }
        }
    }

    /// Whether requests are held back.
    public var isPaused: Bool { state.withLock { $0.isPaused } }

    /// Holds back what has not started; what is on its way goes on.
    public func pause() { state.withLock { $0.isPaused = true } }

    /// Lets requests go again.
    public func resume() {
        state.withLock { $0.isPaused = false }
        admit()
    }

    /// Cancels all that wait; each gets a `CancellationError`.
    public func cancelWaiting() {
        let waiters = state.withLock { state in
            defer { state.waiting = [:] }
            return Array(state.waiting.values.joined())
        }
        for waiter in waiters { waiter.continuation.resume(throwing: CancellationError()) }
    }

    /// Waits for a place.
    ///
    /// - Throws: `CancellationError`.
    public func enter(_ label: String, priority: TransferOptions.Priority = .normal) async throws -> Slot {
        try Task.checkCancellation()
        let (id, isAdmitted) = state.withLock { state in
            state.lastID += 1
            let entry = Entry(id: state.lastID, label: label, priority: priority, isRunning: true)
            // Where nobody waits and there is room, nothing is to be waited for.
            if state.admitsAtOnce {
                state.running[entry.id] = entry
                state.highInARow = 0
                return (entry.id, true)
            }
            state.entering.insert(entry.id)
            return (entry.id, false)
        }
        if isAdmitted { return Slot(queue: self, id: id) }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isCancelled = state.withLock { state in
                    state.entering.remove(id)
                    guard state.cancelled.remove(id) == nil else { return true }
                    let entry = Entry(id: id, label: label, priority: priority, isRunning: false)
                    state.waiting[priority, default: []].append(Waiter(entry: entry, continuation: continuation))
                    return false
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) } else { admit() }
            }
        } onCancel: {
            cancel(id)
        }
    }

    private func cancel(_ id: UInt64) {
        let waiter = state.withLock { state -> Waiter? in
            for (priority, waiters) in state.waiting {
                guard let index = waiters.firstIndex(where: { $0.entry.id == id }) else { continue }
                return state.waiting[priority]?.remove(at: index)
            }
            if state.entering.contains(id) { state.cancelled.insert(id) }
            return nil
        }
        waiter?.continuation.resume(throwing: CancellationError())
    }

    fileprivate func leave(_ id: UInt64) {
        state.withLock { _ = $0.running.removeValue(forKey: id) }
        admit()
    }

    private func admit() {
        while let waiter = state.withLock({ $0.next() }) {
            waiter.continuation.resume(returning: Slot(queue: self, id: waiter.entry.id))
        }
    }

    /// A place among those that go; given back when it is let go at the latest.
    public final class Slot: Sendable {
        private let queue: TransferQueue
        private let id: UInt64
        private let isReleased = Mutex(false)

        fileprivate init(queue: TransferQueue, id: UInt64) {
            self.queue = queue
            self.id = id
        }

        deinit { release() }

        /// Gives the place back; calling it again does nothing.
        public func release() {
            let wasReleased = isReleased.withLock { released in
                defer { released = true }
                return released
            }
            if !wasReleased { queue.leave(id) }
        }
    }
}

extension TransferQueue.State {
    /// Whether who comes now needs not wait.
    fileprivate var admitsAtOnce: Bool {
        !isPaused && running.count < limit && entering.isEmpty && waiting.values.allSatisfy(\.isEmpty)
    }

    /// Takes the next one that may go.
    fileprivate mutating func next() -> TransferQueue.Waiter? {
        guard !isPaused, running.count < limit else { return nil }
        let normalWaits = waiting[.normal]?.isEmpty == false
        let highWaits = waiting[.high]?.isEmpty == false
        guard normalWaits || highWaits else { return nil }
        let takesHigh = highWaits && !(normalWaits && highInARow >= TransferQueue.maxHighInARow)
        highInARow = takesHigh && normalWaits ? highInARow + 1 : 0
        guard var waiter = waiting[takesHigh ? .high : .normal]?.removeFirst() else { return nil }
        waiter.entry.isRunning = true
        running[waiter.entry.id] = waiter.entry
        return waiter
    }
}

/// A queue that cannot be as asked for.
public enum TransferQueueError: Error, Hashable, Sendable, CustomStringConvertible {
    /// So many requests cannot go at once.
    case limit(Int)

    /// What is wrong, and what is possible.
    public var description: String {
        switch self {
        case .limit(let limit): "\(limit) requests at once are not possible: 1 to \(TransferQueue.maxLimit) are."
        }
    }
}

extension TransferQueueError: CodedError {
    /// `transfer.…`.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .limit: "queue-limit"
            }
        return ErrorCode(rawValue: "transfer.\(name)")
    }
    /// The limit is wrong.
    public var failureKind: FailureKind { .request }
}
