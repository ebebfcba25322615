/// A source of the service's change notifications, such as a push channel. The app provides it.
///
/// ```swift
/// try await crm.setNotifications(for: .sales, interval: .seconds(60))
/// crm.listen(to: source)
/// ```
public protocol NotificationSource: Sendable {
    /// Returns the names of the synchronization groups whose rows changed at the service, as the notifications come.
    func notifications() -> AsyncStream<String>
    /// Tells the service the shortest time between two notifications of a group.
    ///
    /// - Parameters:
    ///   - group: the name of the group.
    ///   - interval: the time; `nil` for no notifications.
    func setNotifications(for group: String, interval: Duration?) async throws
}

/// The answer to a change notification.
public enum SyncAction: Hashable, Sendable {
    /// The group is synchronized.
    case proceed
    /// Nothing is sent.
    case cancel
}
