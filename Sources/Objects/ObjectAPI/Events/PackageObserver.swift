/// Receives the events of a package, for apps that prefer calls to a stream (``PackageDatabase/events()``). Every method
/// does nothing unless it is implemented.
///
/// The methods are called after the change is stored, one at a time and in order, on no particular thread. The next
/// event waits until a method returns. Work that takes long belongs in a task of its own.
///
/// ```swift
/// struct Failures: PackageObserver {
///     typealias Package = Crm
///     func replayFailed(_ failures: [ReplayFailure]) async { show(failures.map(\.message)) }
/// }
/// crm.observe(with: Failures())
/// ```
public protocol PackageObserver<Package>: Sendable {
    /// The package.
    associatedtype Package: ObjectPackage
    /// Reports a status of a synchronization, with the context of the call.
    func synchronizationChanged(to status: SynchronizationStatus, context: String?) async
    /// Reports changes of objects that the service accepted.
    func replaySucceeded(_ successes: [ReplaySuccess]) async
    /// Reports changes that the service refused, or whose outcome is unknown.
    func replayFailed(_ failures: [ReplayFailure]) async
    /// Reports an operation that the service executed.
    func operationCompleted(_ operation: PendingOperation<Package>) async
    /// Reports rows that a download changed.
    func imported(_ summary: ImportSummary) async
    /// Reports that the first download of a subscribed package is complete.
    func subscribed() async
    /// Reports that the subscriptions were removed.
    func unsubscribed() async
    /// Reports that the subscriptions are suspended.
    func suspended() async
    /// Reports that the subscriptions are active again.
    func resumed() async
    /// Reports that all rows were downloaded again.
    func recovered() async
    /// Reports that the service ended the subscriptions of some entity sets.
    func subscriptionEnded(entitySets: [String]) async
    /// Reports that the service did not accept the credentials.
    func loginFailed(message: String) async
    /// Reports the number of events that were left out because the observer was too far behind.
    func overflowed(_ count: Int) async
}

extension PackageObserver {
    /// Does nothing.
    public func synchronizationChanged(to status: SynchronizationStatus, context: String?) async {}
    /// Does nothing.
    public func replaySucceeded(_ successes: [ReplaySuccess]) async {}
    /// Does nothing.
    public func replayFailed(_ failures: [ReplayFailure]) async {}
    /// Does nothing.
    public func operationCompleted(_ operation: PendingOperation<Package>) async {}
    /// Does nothing.
    public func imported(_ summary: ImportSummary) async {}
    /// Does nothing.
    public func subscribed() async {}
    /// Does nothing.
    public func unsubscribed() async {}
    /// Does nothing.
    public func suspended() async {}
    /// Does nothing.
    public func resumed() async {}
    /// Does nothing.
    public func recovered() async {}
    /// Does nothing.
    public func subscriptionEnded(entitySets: [String]) async {}
    /// Does nothing.
    public func loginFailed(message: String) async {}
    /// Does nothing.
    public func overflowed(_ count: Int) async {}

    /// Calls the method for an event.
    func receive(_ event: PackageEvent<Package>) async {
        switch event {
        case .synchronization(let status, let context): await synchronizationChanged(to: status, context: context)
        case .replaySucceeded(let successes): await replaySucceeded(successes)
        case .replayFailed(let failures): await replayFailed(failures)
        case .operationCompleted(let operation): await operationCompleted(operation)
        case .imported(let summary): await imported(summary)
        case .subscribed: await subscribed()
        case .unsubscribed: await unsubscribed()
        case .suspended: await suspended()
        case .resumed: await resumed()
        case .recovered: await recovered()
        case .subscriptionEnded(let sets): await subscriptionEnded(entitySets: sets)
        case .loginFailed(let message): await loginFailed(message: message)
        case .overflowed(let count): await overflowed(count)
        }
    }
}
