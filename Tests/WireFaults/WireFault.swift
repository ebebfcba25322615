/// A fault on the way between client and service.
public enum WireFault: Sendable, Hashable, CaseIterable {
    /// The request does not reach the service.
    case drop
    /// All data is delayed.
    case delay
    /// The response is truncated.
    case truncate
    /// The service executes the request, and then the connection is lost without a response.
    case resetAfterAct
    /// The service receives the request twice.
    case duplicate
    /// No response arrives, and the connection stays open.
    case stall
}
