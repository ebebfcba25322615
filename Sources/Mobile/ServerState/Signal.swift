/// A subject of which a notice tells that it changed. It carries identifiers only.
public enum SignalTopic: Hashable, Sendable {
    /// A feed has a new head.
    case feed(RecordNumber)
    /// The rows of a scope changed; see ``ServerState/head(of:)``.
    case scope(String)
    /// A job became due.
    case jobs
}

/// Notices between the nodes of a server.
///
/// A notice may be lost; polling each second is the truth, so that a lost notice costs a second.
public protocol Signal: Sendable {
    /// Sends notices to all nodes, this one included.
    func send(_ topics: Set<SignalTopic>) async

    /// Returns the notices from now on. The stream keeps the newest 1,000 groups for a slow reader.
    func topics() -> AsyncStream<Set<SignalTopic>>
}
