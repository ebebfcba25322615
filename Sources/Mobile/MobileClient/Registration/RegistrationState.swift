/// The state of a registration; the numbers are those of the older products.
///
/// ```swift
/// if session.registration.state == .registered { show("This device is known to the server.") }
/// ```
public enum RegistrationPhase: Int, Sendable, Hashable, Codable, CaseIterable {
    /// The last attempt failed for good. The library does not repeat it.
    case error = 201
    /// The device is being registered.
    case registering = 202
    /// The device is registered.
    case registered = 203
    /// The registration is being removed.
    case unregistering = 204
    /// The device is not registered.
    case unregistered = 205
}

/// The state of the connection of a registration; the numbers are those of the older products.
///
/// ```swift
/// for await event in session.registration.changes {
///     if case .connection(.connected) = event { show("Online") }
/// }
/// ```
public enum ConnectionPhase: Int, Sendable, Hashable, Codable, CaseIterable {
    /// The connection failed. The library repeats the attempt by itself.
    case error = 101
    /// The device connects.
    case connecting = 102
    /// The device is connected.
    case connected = 103
    /// The device disconnects.
    case disconnecting = 104
    /// The device is disconnected.
    case disconnected = 105
    /// The device waits for a notification before it connects again.
    case waitingForNotification = 106
}

/// A change of a registration or of its connection.
///
/// ```swift
/// for await event in session.registration.changes {
///     switch event {
///     case .registration(let phase): show("Registration: \(phase)")
///     case .connection(let phase): show("Connection: \(phase)")
///     }
/// }
/// ```
public enum RegistrationEvent: Sendable, Hashable {
    /// The registration has another state.
    case registration(RegistrationPhase)
    /// The connection has another state.
    case connection(ConnectionPhase)

    /// The number of the new state, as the older products report it.
    public var code: Int {
        switch self {
        case .registration(let phase): phase.rawValue
        case .connection(let phase): phase.rawValue
        }
    }
}
