import OfflineOData

/// Subscribing to a package, and the state of the subscription as a whole.
extension PackageDatabase {
    /// The subscriptions of the package.
    public var subscriptions: PackageSubscriptions<Package> { PackageSubscriptions(database: self) }

    /// Subscribes to the package and synchronizes it. The first ``synchronize(_:context:)`` does the same.
    ///
    /// Each set without a subscription gets one if it has no parameters, or if a personalization key or a default stands
    /// for each of them. ``SyncReport/unsubscribedSets`` names the other sets.
    @discardableResult
    public func subscribe() async throws -> SyncReport { try await synchronize() }

    /// Removes all subscriptions with their rows.
    ///
    /// - Parameter discardingChanges: whether changes that the service does not have are cancelled.
    /// - Throws: ``ObjectError/pendingChanges`` if there are changes and they are not to be cancelled;
    ///   ``ObjectError/alreadySubmitted(object:)`` if a change is on its way. Nothing is removed then.
    public func unsubscribe(discardingChanges: Bool = false) async throws {
        try await queue.perform { [self] in
            if try await hasPendingChanges() {
                guard discardingChanges else { throw ObjectError.pendingChanges }
                try await cancelAllPending()
                guard try await !hasPendingChanges() else {
                    throw ObjectError.alreadySubmitted(object: package.name)
                }
            }
            try await keeper.unsubscribe()
            hub.publish(.unsubscribed)
        }
    }

    /// Suspends the subscriptions: synchronizations send changes, and bring none of others. It lasts until
    /// ``resume()``, also after the database was opened again.
    public func suspend() async throws {
        try await queue.perform { [self] in
            try await keeper.setSuspended(true)
            hub.publish(.suspended)
        }
    }

    /// Ends the suspension. The next synchronization brings the changes of others.
    public func resume() async throws {
        try await queue.perform { [self] in
            try await keeper.setSuspended(false)
            hub.publish(.resumed)
        }
    }

    /// Downloads all rows of the package anew. Changes that the service does not have stay.
    ///
    /// - Throws: as ``synchronize(_:context:)``. The next synchronization then continues.
    @discardableResult
    public func recover() async throws -> SyncReport {
        let store = store
        try await queue.perform { try await store.queries.forgetLinks() }
        let report = try await synchronize()
        hub.publish(.recovered)
        return report
    }
}
