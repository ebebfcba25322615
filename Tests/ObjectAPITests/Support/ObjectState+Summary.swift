import ObjectAPI

extension ObjectState {
    /// The three replay numbers and the pending change, as the tables of the requirements write them.
    var numbers: Numbers { Numbers(replayCounter, replayPending, replayFailure, pendingChange) }

    /// The replay numbers of an object.
    struct Numbers: Hashable, CustomStringConvertible {
        var counter: Int64
        var pending: Int64
        var failure: Int64
        var change: PendingChange

        init(_ counter: Int64, _ pending: Int64, _ failure: Int64, _ change: PendingChange) {
            self.counter = counter
            self.pending = pending
            self.failure = failure
            self.change = change
        }

        var description: String { "(\(counter), \(pending), \(failure)) \(change.rawValue)" }
    }
}
