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

    /// The recommended recovery for the code.
    public var recovery: Recovery {
        switch code {
        case 409, 423, 429, 502, 503, 504: .retry
        case 401: .signIn
        default: .repair
        }
    }

    init(_ request: QueuedRequest) {
        object = request.kind == .call ? nil : ObjectReference(request)
        code = request.failure?.status ?? 500
        backEndCode = (request.failure?.code).flatMap { $0.isEmpty ? nil : $0 }
        message = request.failure?.message ?? ""
        conflict = request.failure?.conflict
    }
}
