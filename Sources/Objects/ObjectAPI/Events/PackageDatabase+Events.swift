import ODataModel

/// Events, and change notifications of the service.
extension PackageDatabase {
    /// Returns the events of the package from now on, until the database is closed. Each call returns a stream of its
    /// own. If a listener is 10,000 events behind, further ones are counted in ``PackageEvent/overflowed(_:)``.
    public func events() -> AsyncStream<PackageEvent<Package>> { hub.events() }

    /// Sets the observer of all events in place of the former one; `nil` for none. It is retained until the database
    /// is closed.
    public func observe(with observer: (any PackageObserver<Package>)?) { observers.set(observer, for: nil, hub: hub) }

    /// Sets the observer of the replays of one type of objects in place of the former one; `nil` for none. They are
    /// then not delivered to the observer of all events.
    public func observe<Object: BusinessObject>(
        with observer: (any PackageObserver<Package>)?, for type: Object.Type
    ) where Object.Package == Package {
        observers.set(observer, for: Object.typeName, hub: hub)
    }

    /// Adds a closure that is asked before a change notification starts a synchronization. If any closure answers
    /// ``SyncAction/cancel``, nothing is sent. No answer within 5 seconds counts as ``SyncAction/proceed``.
    ///
    /// ```swift
    /// crm.onNotification { group in group == .sales ? .proceed : .cancel }
    /// ```
    public func onNotification(_ veto: @escaping @Sendable (GroupName<Package>) async -> SyncAction) {
        listener.add(veto)
    }

    /// Listens to a source of change notifications in place of the former one; `nil` for none. Each notification of a
    /// group with notifications synchronizes the group.
    public func listen(to source: (any NotificationSource)?) { listener.listen(to: source) }

    /// Switches the change notifications of a group on or off. They are off unless they were switched on since the
    /// database was opened.
    ///
    /// - Parameters:
    ///   - group: the group.
    ///   - interval: the shortest time between two notifications; `nil` or zero for none.
    /// - Throws: the error of the source.
    public func setNotifications(for group: GroupName<Package>, interval: Duration?) async throws {
        try await listener.set(interval, for: group)
    }
}
