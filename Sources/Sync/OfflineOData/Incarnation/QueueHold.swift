/// The reason for which a queue is not sent: the store was copied, restored or rolled back, so that another copy
/// may have sent its changes already.
///
/// ```swift
/// if let hold = try await store.observe.status().hold { show(hold.reason, hold.count) }
/// ```
public struct QueueHold: Hashable, Sendable, CustomStringConvertible {
    /// The relation of the store to the note of this device.
    public enum Reason: String, Hashable, Sendable, Codable {
        /// The store is in another file than the one that was noted: a copy, a restored backup, or moved to
        /// another volume.
        case otherFile
        /// The store has sent fewer requests than the note says: it was rolled back to an earlier state.
        case rolledBack
        /// This device has no note of the store: it comes from another device, or from another user of this
        /// device.
        case unknown
    }

    /// The relation of the store to the note of this device.
    public let reason: Reason
    /// The number of held changes.
    public let count: Int

    /// Creates a hold.
    public init(reason: Reason, count: Int) {
        self.reason = reason
        self.count = count
    }

    /// The number of held changes and the reason.
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
