import OfflineOData

/// The result of a synchronization.
public struct SyncReport: Sendable {
    /// The number of changes that the service accepted.
    public var accepted = 0
    /// The changes that the service refused, or that have an unknown outcome.
    public var failures: [ReplayFailure] = []
    /// The changes of locked entities, which somebody else edits (status 423), with the reasons. They stay submitted,
    /// and the next synchronization sends them again.
    public var waiting: [ReplayFailure] = []
    /// The entity sets of the synchronized groups that have no subscription, since a parameter has no value. Their rows
    /// are not downloaded.
    public var unsubscribedSets: [String] = []

    /// Creates an empty report.
    public init() {}
}

/// A change that the service refused or does not take for now, or that has an unknown outcome.
public struct ReplayFailure: Hashable, Sendable {
    /// The recommended recovery.
    public enum Recovery: Hashable, Sendable {
        /// Submit the change again later.
        case retry
        /// Sign in, then submit the change again.
        case signIn
        /// Correct the change or cancel it.
        case repair
    }

    /// The object; `nil` for an operation that is bound to none.
    public var object: ObjectReference?
    /// The logical code, an HTTP status; 500 if the service gave none.
    public var code: Int
    /// The code of the service.
    public var backEndCode: String?
    /// The message of the service.
    public var message: String
    /// The conflict that was found.
    public var conflict: QueuedRequest.Failure.Conflict?
    /// Whether refused credentials (401) are a passing failure (``SynchronizationProfile/asksForCredentials``).
    var retriesSignIn = false

    /// The recommended recovery for the code.
    public var recovery: Recovery { Self.recovery(code, retriesSignIn: retriesSignIn) }

    /// The recommended recovery for a logical code, an HTTP status. Codes that are not in the table need a repair.
    ///
    /// - Parameter retriesSignIn: whether refused credentials are a passing failure of the back end.
    static func recovery(_ code: Int, retriesSignIn: Bool) -> Recovery {
        switch code {
        // The back end is locked, busy or away.
        case 409, 423, 429, 502, 503, 504: .retry
        case 401: retriesSignIn ? .retry : .signIn
        default: .repair
        }
    }

    init(_ request: QueuedRequest, retriesSignIn: Bool = false) {
        self.retriesSignIn = retriesSignIn
        object = request.kind == .call ? nil : ObjectReference(request)
        code = request.failure?.status ?? 500
        backEndCode = (request.failure?.code).flatMap { $0.isEmpty ? nil : $0 }
        message = request.failure?.message ?? ""
        conflict = request.failure?.conflict
    }
}
