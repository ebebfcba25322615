import ODataModel
import OfflineOData

/// An event of a package. Events come after the change that they report is stored, in the order of the changes.
///
/// ```swift
/// for await event in crm.events() {
///     switch event {
///     case .synchronization(let status, let context): print(status, context ?? "")
///     case .replayFailed(let failures): print(failures.map(\.message))
///     default: break
///     }
/// }
/// ```
public enum PackageEvent<Package: ObjectPackage>: Sendable {
    /// A synchronization has another status. The context is the one of the call.
    case synchronization(SynchronizationStatus, context: String?)
    /// The service accepted changes of objects.
    case replaySucceeded([ReplaySuccess])
    /// The service refused changes, or their outcome is unknown.
    case replayFailed([ReplayFailure])
    /// The service executed an operation.
    case operationCompleted(PendingOperation<Package>)
    /// A download brought the changes of others.
    case imported(ImportSummary)
    /// The package was subscribed, and its first download is complete.
    case subscribed
    /// The subscriptions were removed.
    case unsubscribed
    /// The subscriptions are suspended.
    case suspended
    /// The subscriptions are active again.
    case resumed
    /// All rows were downloaded again.
    case recovered
    /// The service ended the subscriptions of some entity sets.
    case subscriptionEnded(entitySets: [String])
    /// The service did not accept the credentials.
    case loginFailed(message: String)
    /// The listener was so far behind that events were left out.
    case overflowed(Int)
}

/// A change of an object that the service accepted.
public struct ReplaySuccess: Hashable, Sendable {
    /// The object.
    public var object: ObjectReference
    /// The change.
    public var change: PendingChange
    /// The values as they were sent, before the download that follows. The change log names the rows that it changes.
    public var values: ODataEntity

    init(_ request: QueuedRequest, key: EntityKey?) {
        object = ObjectReference(request)
        if let key { object.description = request.entityText(under: key) }
        values = request.changes
        change =
            switch request.kind {
            case .create: .create
            case .delete: .delete
            case .update, .stream, .link, .unlink, .call: .update
            }
    }
}

/// The numbers of the rows that a download changed.
public struct ImportSummary: Hashable, Sendable {
    /// The number of new rows.
    public var inserted: Int
    /// The number of changed rows.
    public var updated: Int
    /// The number of removed rows.
    public var removed: Int
    /// The numbers of changed rows by entity set, of sets with any.
    public var entitySets: [String: Int]
}
