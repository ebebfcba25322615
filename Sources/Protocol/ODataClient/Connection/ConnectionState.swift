/// The state of the connection between a client and its service.
///
/// ```swift
/// let monitor = ConnectionMonitor(probe: NetworkInterfaceProbe())
/// for await state in monitor.states where state == .connected { try await store.sync() }
/// ```
public enum ConnectionState: Int, Sendable, Hashable, CaseIterable {
    /// The service answers.
    case connected = 1
    /// The service does not answer, or there is no network.
    case disconnected = 2
    /// All radios are switched off.
    case flightMode = 3
    /// The device is out of reach of any network.
    case outOfCoverage = 4
    /// A connection failed and is going to be retried after a delay.
    case waitingToConnect = 5
    /// The device uses the network of another provider.
    case roaming = 6
    /// The device is low on storage, so no more data should be downloaded.
    case lowOnStorage = 7
}

/// A source of information about the device and its networks.
///
/// On Linux, ``NetworkInterfaceProbe`` observes interfaces, radios and storage; on Apple platforms, `PathProbe`
/// asks the system. An app can provide its own probe for further states.
public protocol ConnectionProbe: Sendable {
    /// Returns a stream of findings, one for each change.
    func findings() -> AsyncStream<ConnectionFinding>
}

/// A finding of a probe.
public struct ConnectionFinding: Sendable, Hashable {
    /// The obstacle, such as ``ConnectionState/flightMode``, or ``ConnectionState/connected`` if there is none.
    public var state: ConnectionState
    /// Whether the network is metered.
    public var isExpensive: Bool

    /// Creates a finding.
    public init(_ state: ConnectionState, isExpensive: Bool = false) {
        self.state = state
        self.isExpensive = isExpensive
    }
}
