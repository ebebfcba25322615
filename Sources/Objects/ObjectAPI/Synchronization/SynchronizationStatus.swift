/// The statuses of a synchronization.
///
/// Each call has ``starting`` or ``startingOnNotification`` first, and ``finished`` or ``failed`` last. Calls that share
/// one exchange have the statuses between them each with its own context.
public enum SynchronizationStatus: String, Hashable, Sendable, CaseIterable {
    /// The synchronization was asked for.
    case starting
    /// A change notification of the service asked for the synchronization.
    case startingOnNotification
    /// Changes are being sent.
    case uploading
    /// Changes of others are being downloaded.
    case downloading
    /// The synchronization is complete.
    case finished
    /// The synchronization ended with an error, or was cancelled.
    case failed
    /// The changes were sent, and the service executes at least one of them later.
    case replayUploaded
    /// The service has executed all changes that it had accepted for later. Synchronize to bring their results.
    case replayCompleted

    /// Whether the status is the last one of a call.
    public var isLast: Bool { self == .finished || self == .failed }
}
