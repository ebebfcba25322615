extension OfflineStore {
    /// The state of the store, its progress, and the changing results of queries.
    public var observe: Observation { Observation(store: self) }

    /// The state of a store, its progress, and the results of queries, as they change.
    ///
    /// ```swift
    /// let query = try ODataURL(parsing: "Orders?$filter=ShippedDate eq null")
    /// for try await orders in store.observe.results(of: query) { show(orders) }
    ///
    /// for await report in store.observe.reports() { print(report) }
    /// print(try await store.observe.status().pending.count)
    /// ```
    public struct Observation: Sendable {
        let store: OfflineStore
    }
}

extension OfflineStore.Observation {
    /// The current state of the store.
    public var state: StoreState { store.progressChannel.state }

    /// Returns the progress of uploads and downloads from this call on; it ends when the store is closed.
    public func progress() -> AsyncStream<SyncProgress> { store.progressChannel.stream() }

    /// Returns the states and steps of the store from this call on; they end when the store is closed.
    public func reports() -> AsyncStream<StoreReport> { store.progressChannel.reports() }
}
