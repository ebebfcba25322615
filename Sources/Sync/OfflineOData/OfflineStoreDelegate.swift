/// Hears how synchronisation goes, for apps that would rather be called than follow
/// ``OfflineStore/Observation/progress()``. Methods are called on the tasks that sync, and must return soon.
///
/// ```swift
/// final class Listener: OfflineStoreDelegate {
///     func offlineStore(_ store: OfflineStore, didUpdate progress: SyncProgress) { show(progress.phase) }
/// }
/// let listener = Listener()
/// store.observe.setDelegate(listener)
/// ```
public protocol OfflineStoreDelegate: AnyObject, Sendable {
    /// An upload or download has come further.
    func offlineStore(_ store: OfflineStore, didUpdate progress: SyncProgress)
    /// The service refused a request, or nobody knows whether it acted; called once for each.
    func offlineStore(_ store: OfflineStore, requestDidFail request: QueuedRequest)
    /// An upload is about to throw, since the way to the service was cut or the task was cancelled: what came through before.
    /// What waits is not among it.
    func offlineStore(_ store: OfflineStore, uploadDidEndEarly report: UploadReport)
    /// A step has begun, or the store is doing something else. What happens while the store is opened,
    /// ``OfflineStore/RuntimeOptions/observer`` hears alone.
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
    /// Sets the delegate that hears how synchronisation goes; `nil` for none. The delegate is not kept alive.
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
