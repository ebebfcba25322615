import ObjectAPI

/// The replay attributes of one row by the table of events.
struct ReplayModel {
    /// A request of the queue.
    struct Request {
        enum State { case held, submitted, sending, refused }

        var state: State
        /// The counter with which the request was submitted.
        var snapshot: Int64?
        var value: String
    }

    private(set) var counter: Int64 = 0
    private(set) var queue: [Request] = []
    /// The value of the service.
    private(set) var known: String

    init(known: String) { self.known = known }

    var value: String { queue.last?.value ?? known }
    var isClean: Bool { queue.isEmpty }
    var last: Request.State? { queue.last?.state }
    var isSending: Bool { queue.contains { $0.state == .sending } }
    var isRefused: Bool { queue.first?.state == .refused }
    var canBeSent: Bool { queue.first?.state == .submitted || queue.first?.state == .sending }

    var numbers: ObjectState.Numbers {
        func newest(_ states: Request.State...) -> Int64 {
            queue.filter { states.contains($0.state) }.compactMap(\.snapshot).max() ?? 0
        }
        return ObjectState.Numbers(
            counter, newest(.submitted, .sending), newest(.refused, .held), queue.isEmpty ? .none : .update)
    }

    mutating func edit(_ value: String, counter: Int64) {
        self.counter = counter
        if let refused = queue.firstIndex(where: { $0.state == .refused }) {
            // The requests behind it join it.
            queue.removeSubrange((refused + 1)...)
            queue[refused] = Request(state: .held, snapshot: queue[refused].snapshot, value: value)
        } else if last == .held {
            queue[queue.count - 1].value = value
        } else {
            queue.append(Request(state: .held, snapshot: nil, value: value))
        }
    }

    mutating func submit() {
        if let refused = queue.firstIndex(where: { $0.state == .refused }), last == .held {
            // The requests behind it join it.
            queue[refused].value = value
            queue.removeSubrange((refused + 1)...)
        }
        for index in queue.indices where [.held, .refused].contains(queue[index].state) {
            queue[index].state = .submitted
            queue[index].snapshot = counter
        }
    }

    /// The answer to the first request is lost.
    mutating func lose() { if canBeSent { queue[0].state = .sending } }

    mutating func accept() {
        while canBeSent { known = queue.removeFirst().value }
    }

    mutating func refuse() {
        guard canBeSent else { return }
        let snapshot = queue[0].snapshot
        // Requests that were submitted together are refused together.
        for index in queue.indices
        where index == 0 || (queue[index].state == .submitted && queue[index].snapshot == snapshot) {
            queue[index].state = .refused
        }
    }

    /// - Returns: whether anything was taken back.
    mutating func cancel() -> Bool {
        guard isSending else {
            defer { queue = [] }
            return !queue.isEmpty
        }
        let count = queue.count
        queue.removeAll { $0.state == .held }
        return queue.count < count
    }
}
