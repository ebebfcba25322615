/// Why the queue of a store is not sent: the store was copied, restored or rolled back, so that its changes may have been
/// sent already, by the store that it is a copy of.
///
/// ```swift
/// if let hold = try await store.observe.status().hold { show(hold.reason, hold.count) }
/// ```
public struct QueueHold: Hashable, Sendable, CustomStringConvertible {
    /// What this device knows of the store.
    public enum Reason: String, Hashable, Sendable, Codable {
        /// The store is in another file than the one that was noted: a copy, a restored backup, or moved to another volume.
        case otherFile
        /// The store has sent fewer requests than were noted: it was put back to an earlier state.
        case rolledBack
        /// Nothing is noted of the store here: it comes from another device, or from another user of this one.
        case unknown
    }

    /// What this device knows of the store.
    public let reason: Reason
    /// How many changes are held.
    public let count: Int

    /// Makes a hold.
    public init(reason: Reason, count: Int) {
        self.reason = reason
        self.count = count
    }

    /// What is held, and why.
    public var description: String {
        let cause =
            switch reason {
            case .otherFile: "the store is a copy, was restored from a backup, or was moved to another volume"
            case .rolledBack: "the store was put back to an earlier state"
            case .unknown: "the store was not made by this user on this device"
            }
        let changes = count == 1 ? "1 change is" : "\(count) changes are"
        return "\(changes) held, since \(cause): another copy of the store may have sent the same."
    }
}
