/// The key of a repeatable request (`design-review.md` 12).
public struct ReplayKey: Hashable, Sendable {
    /// The week of `Repeatability-First-Sent`, counted from 1970.
    public var week: Int
    /// The hash of application, destination and registration or subject.
    public var owner: [UInt8]
    /// `Repeatability-Request-ID`.
    public var requestID: String

    /// Creates a key.
    ///
    /// - Parameters:
    ///   - owner: The hash of application, destination and registration or subject.
    ///   - requestID: `Repeatability-Request-ID`.
    ///   - firstSent: `Repeatability-First-Sent`.
    public init(owner: [UInt8], requestID: String, firstSent: ServerInstant) {
        let micros: Int64 = 7 * 86_400 * 1_000_000
        let (quotient, remainder) = firstSent.rawValue.quotientAndRemainder(dividingBy: micros)
        week = Int(remainder < 0 ? quotient - 1 : quotient)
        self.owner = owner
        self.requestID = requestID
    }
}

/// A repeatable request, or a whole change set with one id.
public struct ReplayRequest: Hashable, Sendable {
    /// The key.
    public var key: ReplayKey
    /// The hash over method, URL and body of all parts.
    public var hash: [UInt8]
    /// `Repeatability-First-Sent`.
    public var firstSent: ServerInstant
    /// The node that forwards the request.
    public var node: String
    /// The time for which the node has the request. After it, the outcome is unknown.
    public var lease: Duration

    /// Creates a request.
    public init(key: ReplayKey, hash: [UInt8], firstSent: ServerInstant, node: String, lease: Duration) {
        self.key = key
        self.hash = hash
        self.firstSent = firstSent
        self.node = node
        self.lease = lease
    }
}

/// A stored response of a repeatable request.
public struct ReplayAnswer: Hashable, Sendable {
    /// The status.
    public var status: Int
    /// The header fields as the caller encodes them.
    public var fields: [UInt8]
    /// The body, at most 64 KB; `nil` if it was longer and was not kept.
    public var body: [UInt8]?

    /// Creates a response.
    public init(status: Int, fields: [UInt8], body: [UInt8]?) {
        self.status = status
        self.fields = fields
        self.body = body
    }
}

/// The decision about a repeatable request.
public enum ReplayDecision: Hashable, Sendable {
    /// The request is new: forward it, and end with ``ReplayStore/finish(_:fence:_:)`` or
    /// ``ReplayStore/release(_:fence:)`` under this fence.
    case forward(fence: Fence)
    /// The request was answered.
    case answered(ReplayAnswer)
    /// A node forwards the request at present.
    case underWay
    /// The request was forwarded, and nobody knows the outcome: 409 `OutcomeUnknown`.
    case outcomeUnknown
    /// Another request has this id: 400.
    case mismatch
    /// The request was first sent more than 50 days ago: 412 with `rejected`.
    case expired
    /// The request was first sent more than a day ahead: 400 with `rejected`.
    case fromFuture
}

/// Repeatable requests (OASIS Repeatable Requests 1.0), remembered for 50 days.
public protocol ReplayStore: Sendable {
    /// Begins a request, or tells its former outcome. A request without a row whose first sending lies before the
    /// incarnation (less 5 minutes) has an unknown outcome (`design-review.md` 4).
    func begin(_ request: ReplayRequest) async throws(ServerStateError) -> ReplayDecision

    /// Stores a final response.
    ///
    /// - Returns: `false` if the fence is an old one: nothing was written.
    func finish(
        _ key: ReplayKey, fence: Fence, _ answer: ReplayAnswer
    ) async throws(ServerStateError) -> Bool

    /// Forgets a request after a response that proves that nothing happened.
    ///
    /// - Returns: `false` if the fence is an old one: nothing was written.
    func release(_ key: ReplayKey, fence: Fence) async throws(ServerStateError) -> Bool

    /// Forgets all requests of owners with their stored responses, when a person is erased.
    ///
    /// - Returns: The number of forgotten requests.
    func forget(owners: [[UInt8]]) async throws(ServerStateError) -> Int
}
