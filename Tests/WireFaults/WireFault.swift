/// Something that goes wrong on the way.
public enum WireFault: Sendable, Hashable, CaseIterable {
    /// Nothing reaches the service.
    case drop
    /// Everything comes a little later.
    case delay
    /// The answer ends in its midst.
    case truncate
    /// The service acts, and then the connection is lost without an answer.
    case resetAfterAct
    /// The service gets the request twice.
    case duplicate
    /// Nothing comes back at all, and the connection stays.
    case stall
}
