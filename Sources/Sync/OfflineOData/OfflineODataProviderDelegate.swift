/// Hears how synchronisation goes, for apps that would rather be called than follow
/// ``OfflineODataProvider/progress()``. Methods are called on the tasks that sync, and must return soon.
public protocol OfflineODataProviderDelegate: AnyObject, Sendable {
    /// An upload or download has come further.
    func offlineODataProvider(_ provider: OfflineODataProvider, didUpdate progress: SyncProgress)
    /// The service refused a request, or nobody knows whether it acted; called once for each.
    func offlineODataProvider(_ provider: OfflineODataProvider, requestDidFail request: QueuedRequest)
    /// An upload is about to throw, since the way to the service was cut or the task was cancelled: what came through before.
    /// What waits is not among it.
    func offlineODataProvider(_ provider: OfflineODataProvider, uploadDidEndEarly report: UploadReport)
    /// A step has begun, or the store is doing something else. What happens while the store is opened,
    /// ``OfflineODataProvider/Options/observer`` hears alone.
    func offlineODataProvider(_ provider: OfflineODataProvider, didReport report: StoreReport)
}

extension OfflineODataProviderDelegate {
    /// Does nothing.
    public func offlineODataProvider(_ provider: OfflineODataProvider, didUpdate progress: SyncProgress) {}
    /// Does nothing.
    public func offlineODataProvider(_ provider: OfflineODataProvider, requestDidFail request: QueuedRequest) {}
    /// Does nothing.
    public func offlineODataProvider(_ provider: OfflineODataProvider, uploadDidEndEarly report: UploadReport) {}
    /// Does nothing.
    public func offlineODataProvider(_ provider: OfflineODataProvider, didReport report: StoreReport) {}
}

extension OfflineODataProvider {
    /// Sets who hears how synchronisation goes; `nil` for nobody. The delegate is not kept alive.
    public func setDelegate(_ delegate: (any OfflineODataProviderDelegate)?) {
        progressChannel.setHandlers(
            progress: { [weak self, weak delegate] progress in
                guard let self else { return }
                delegate?.offlineODataProvider(self, didUpdate: progress)
            },
            failure: { [weak self, weak delegate] request in
                guard let self else { return }
                delegate?.offlineODataProvider(self, requestDidFail: request)
            },
            earlyEnd: { [weak self, weak delegate] report in
                guard let self else { return }
                delegate?.offlineODataProvider(self, uploadDidEndEarly: report)
            },
            successor: { [weak delegate] store in store.setDelegate(delegate) },
            report: { [weak self, weak delegate] report in
                guard let self else { return }
                delegate?.offlineODataProvider(self, didReport: report)
            })
    }
}
