/// Receives the progress of synchronisation, for apps that prefer calls to
/// ``OfflineStore/Observation/progress()``. Methods are called on the tasks that synchronise, and must return
/// soon.
///
/// ```swift
/// final class Listener: OfflineStoreDelegate {
///     func offlineStore(_ store: OfflineStore, didUpdate progress: SyncProgress) { show(progress.phase) }
/// }
/// let listener = Listener()
/// store.observe.setDelegate(listener)
/// ```
public protocol OfflineStoreDelegate: AnyObject, Sendable {
    /// Reports the progress of an upload or download.
    func offlineStore(_ store: OfflineStore, didUpdate progress: SyncProgress)
    /// Reports a request that the service refused, or with an unknown outcome; called once for each.
    func offlineStore(_ store: OfflineStore, requestDidFail request: QueuedRequest)
    /// Reports the results of an upload that is about to throw, because of a lost connection or a cancelled task.
    /// Pending requests are not included.
    func offlineStore(_ store: OfflineStore, uploadDidEndEarly report: UploadReport)
    /// Reports a new step or state. Steps of opening the store reach ``OfflineStore/RuntimeOptions/observer``
    /// only.
    func offlineStore(_ store: OfflineStore, didReport report: StoreReport)
}

extension OfflineStoreDelegate {
    /// Does nothing.
    public func offlineStore(_ store: OfflineStore, didUpdate progress: SyncProgress) {}
    /// Does nothing.
    public func offlineStore(_ store: OfflineStore, requestDidFail request: QueuedRequest) {}
    /// Does nothing.
    public func offlineStore(_ store: OfflineStore, uploadDidEndEarly report: UploadReport) {}
    /// Does nothing.
    public func offlineStore(_ store: OfflineStore, didReport report: StoreReport) {}
}

extension OfflineStore.Observation {
    /// Sets the delegate for the progress of synchronisation; `nil` for none. The delegate is not retained.
    public func setDelegate(_ delegate: (any OfflineStoreDelegate)?) {
        store.progressChannel.setHandlers(
            progress: { [weak store, weak delegate] progress in
                guard let store else { return }
                delegate?.offlineStore(store, didUpdate: progress)
            },
            failure: { [weak store, weak delegate] request in
                guard let store else { return }
                delegate?.offlineStore(store, requestDidFail: request)
            },
            earlyEnd: { [weak store, weak delegate] report in
                guard let store else { return }
                delegate?.offlineStore(store, uploadDidEndEarly: report)
            },
            successor: { [weak delegate] store in store.observe.setDelegate(delegate) },
            report: { [weak store, weak delegate] report in
                guard let store else { return }
                delegate?.offlineStore(store, didReport: report)
            })
    }
}

/// The former name of ``OfflineStoreDelegate``.
@available(*, deprecated, renamed: "OfflineStoreDelegate")
public typealias OfflineODataProviderDelegate = OfflineStoreDelegate
