import ODataService

extension OfflineStore {
    /// The local changes of the store.
    public var changes: Changes { Changes(store: self) }

    /// The local changes that the service has not accepted yet: the queue and the error archive.
    ///
    /// ```swift
    /// try await store.changes.transaction { changes in
    ///     try changes.update("Orders(7)", ["Freight": 12])
    ///     try changes.create("Notes", ["ID": 1, "OrderID": 7])
    /// }
    /// try await store.upload()
    /// for change in try await store.changes.archived() { print(change.id, change.failure?.message ?? "") }
    /// try await store.changes.retry([3])
    /// try await store.changes.discard([4])
    /// ```
    public struct Changes: Sendable {
        let store: OfflineStore
    }
}

extension OfflineStore.Changes {
    /// Returns the pending changes in the order of the queue, including sent ones without a response.
    ///
    /// - Throws: `StoreError`.
    public func pending() async throws -> [QueuedRequest] {
        try await store.database.read { [queue = store.queue] in try queue.requests(QueuedRequest.State.ofQueue, in: $0)
        }
    }

    /// Returns the changes that the app has not submitted yet (``ChangeOptions/isHeld``), in the order of the queue.
    ///
    /// - Throws: `StoreError`.
    public func held() async throws -> [QueuedRequest] {
        try await store.database.read { [queue = store.queue] in try queue.requests([.held], in: $0) }
    }

    /// Returns the error archive: refused changes, conflicts, and changes with an unknown outcome.
    ///
    /// - Throws: `StoreError`.
    public func archived() async throws -> [QueuedRequest] {
        try await store.database.read { [queue = store.queue] in
            try queue.requests(QueuedRequest.State.ofArchive, in: $0)
        }
    }

    /// Returns the store as a provider that queues its changes with options.
    ///
    /// ```swift
    /// let visits = DataService(store.changes.provider(with: ChangeOptions(category: "visits")))
    /// ```
    public func provider(with options: ChangeOptions) -> any ODataProvider {
        ChangingProvider(base: store, options: options)
    }
}
