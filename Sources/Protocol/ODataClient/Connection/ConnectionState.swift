/// How things stand between a client and its service.
public enum ConnectionState: Int, Sendable, Hashable, CaseIterable {
    /// The service answers.
    case connected = 1
    /// The service does not answer, or there is no network.
    case disconnected = 2
    /// All radios are switched off.
    case flightMode = 3
    /// The device is out of reach of any network.
    case outOfCoverage = 4
    /// A connection failed and is tried again after a while.
    case waitingToConnect = 5
    /// The device is in another provider's network.
    case roaming = 6
    /// The device has little storage left, so that nothing more should be downloaded.
    case lowOnStorage = 7
}

/// Looks at the device and its networks.
///
/// On Linux ``NetworkInterfaceProbe`` looks at interfaces, radios and storage; on Apple's platforms `PathProbe` asks
/// the system. What a device cannot tell, an app's own probe may.
public protocol ConnectionProbe: Sendable {
    /// What the device says, each time it changes, from now on.
    func findings() -> AsyncStream<ConnectionFinding>
}

/// What a probe has found.
public struct ConnectionFinding: Sendable, Hashable {
    /// What stands in the way, such as ``ConnectionState/flightMode``; ``ConnectionState/connected`` when nothing does.
    public var state: ConnectionState
    /// Whether the network costs by volume.
    public var isExpensive: Bool

    /// Makes a finding.
    public init(_ state: ConnectionState, isExpensive: Bool = false) {
        self.state = state
        self.isExpensive = isExpensive
    }
}
