import ErrorCodes
import ODataHTTP
import Synchronization

/// Limits the number of concurrent requests. Further requests wait in order of arrival.
///
/// Requests of high priority are admitted before those of normal priority. After ``maxHighInARow`` requests of
/// high priority, a waiting request of normal priority is admitted, so that none waits forever. Requests of the
/// same priority keep their order.
///
/// A request keeps its place until its response has been read to the end or is deallocated.
///
/// ```swift
/// let queue = try TransferQueue(limit: 8)
/// queue.pause()
/// print(queue.size, queue.entries.map(\.label))
/// queue.resume()
/// ```
public final class TransferQueue: Sendable {
    /// The default number of concurrent requests.
    public static let standardLimit = 5
    /// The maximum number of concurrent requests.
    public static let maxLimit = 255
    /// The number of consecutive requests of high priority that are admitted while a request of normal priority
    /// waits.
    public static let maxHighInARow = 4

    /// A request in the queue.
    public struct Entry: Sendable, Hashable, Identifiable {
        /// A number that increases in order of arrival.
        public let id: UInt64
        /// A name for users.
        public let label: String
        /// The priority of the request.
        public let priority: TransferOptions.Priority
        /// Whether the request is in progress; otherwise it is waiting.
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
        /// The requests that are about to wait. Those in `cancelled` were cancelled before they waited.
        var entering: Set<UInt64> = []
        var cancelled: Set<UInt64> = []
    }

    private let state: Mutex<State>

    /// Creates a queue.
    ///
    /// - Parameter limit: The number of concurrent requests, from 1 to 255.
    /// - Throws: ``TransferQueueError/limit(_:)``.
    public init(limit: Int = standardLimit) throws(TransferQueueError) {
        guard (1...Self.maxLimit).contains(limit) else { throw .limit(limit) }
        state = Mutex(State(limit: limit))
    }

    /// Returns a queue with the standard limit.
    public static func standard() -> TransferQueue { TransferQueue(checked: standardLimit) }

    private init(checked limit: Int) { state = Mutex(State(limit: limit)) }

    /// The number of concurrent requests.
    public var limit: Int { state.withLock { $0.limit } }

    /// Changes the number of concurrent requests, from 1 to 255. Running requests are not affected.
    ///
    /// - Throws: ``TransferQueueError/limit(_:)``.
    public func setLimit(_ limit: Int) throws(TransferQueueError) {
        guard (1...Self.maxLimit).contains(limit) else { throw .limit(limit) }
        state.withLock { $0.limit = limit }
        admit()
    }

    /// The number of waiting and running requests.
    public var size: Int {
        state.withLock { state in state.running.count + state.waiting.values.map(\.count).reduce(0, +) }
    }

    /// The running requests, followed by the waiting ones, each in order of arrival.
    public var entries: [Entry] {
        state.withLock { state in
            state.running.values.sorted { $0.id < $1.id }
                + state.waiting.values.joined().map(\.entry).sorted { $0.id < $1.id }
        }
    }

    /// Whether the queue is paused.
    public var isPaused: Bool { state.withLock { $0.isPaused } }

    /// Stops admitting requests. Running requests continue.
    public func pause() { state.withLock { $0.isPaused = true } }

    /// Starts admitting requests again.
    public func resume() {
        state.withLock { $0.isPaused = false }
        admit()
    }

    /// Cancels all waiting requests; each throws `CancellationError`.
    public func cancelWaiting() {
        let waiters = state.withLock { state in
            defer { state.waiting = [:] }
            return Array(state.waiting.values.joined())
        }
        for waiter in waiters { waiter.continuation.resume(throwing: CancellationError()) }
    }

    /// Waits until the queue admits the request.
    ///
    /// - Throws: `CancellationError`.
    public func enter(_ label: String, priority: TransferOptions.Priority = .normal) async throws -> Slot {
        try Task.checkCancellation()
        let (id, isAdmitted) = state.withLock { state in
            state.lastID += 1
            let entry = Entry(id: state.lastID, label: label, priority: priority, isRunning: true)
            // If no request waits and the limit is not reached, the request is admitted at once.
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

    /// A place of a running request. Deallocation releases it at the latest.
    public final class Slot: Sendable {
        private let queue: TransferQueue
        private let id: UInt64
        private let isReleased = Mutex(false)

        fileprivate init(queue: TransferQueue, id: UInt64) {
            self.queue = queue
            self.id = id
        }

        deinit { release() }

        /// Releases the place; further calls have no effect.
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
    /// Whether a new request can be admitted without waiting.
    fileprivate var admitsAtOnce: Bool {
        !isPaused && running.count < limit && entering.isEmpty && waiting.values.allSatisfy(\.isEmpty)
    }

    /// Removes and returns the next waiting request that may run.
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

/// An error in the settings of a queue.
public enum TransferQueueError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The number of concurrent requests is out of range.
    case limit(Int)

    /// An explanation with the valid range.
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
