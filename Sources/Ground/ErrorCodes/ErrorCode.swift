/// What went wrong, as a name that stays the same whatever the language and the version: for messages, statistics and
/// support. The part before the dot is the level that failed.
public struct ErrorCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The name, such as `service.not-found`.
    public let rawValue: String

    /// Makes a code.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The name.
    public var description: String { rawValue }

    /// An error that nobody here knows.
    public static let unknown = ErrorCode(rawValue: "unknown")
    /// The task was cancelled.
    public static let cancelled = ErrorCode(rawValue: "cancelled")
    /// Somebody else changed the entity.
    public static let conflict = ErrorCode(rawValue: "service.changed-by-others")
    /// The metadata of the service say that it cannot answer the request, which was not sent.
    public static let unsupportedByService = ErrorCode(rawValue: "request.unsupported-by-service")
    /// The service remembers the request no longer: whether it acted is not known.
    public static let repeatExpired = ErrorCode(rawValue: "service.repeat-expired")

    /// The code of any error.
    public init(_ error: any Error) {
        switch error {
        case let error as any CodedError: self = error.errorCode
        case is CancellationError: self = .cancelled
        default: self = .unknown
        }
    }
}

/// An error with a stable code, as every public error of this package is. Errors of an app's own transport or
/// authentication conform to it to be told of like those.
///
/// ```swift
/// extension FarmError: CodedError {
///     public var errorCode: ErrorCode { ErrorCode(rawValue: "farm.closed") }
///     public var failureKind: FailureKind { .transient }
/// }
/// ```
public protocol CodedError: Error {
    /// What went wrong.
    var errorCode: ErrorCode { get }
    /// What messages may name, by name: `host`, `url`, `status` and so on. Nothing secret.
    var errorArguments: [String: String] { get }
    /// Which kind of failure it is, and so what helps.
    var failureKind: FailureKind { get }
}

extension CodedError {
    /// What is wrong in English, as `reason`.
    public var errorArguments: [String: String] { ["reason": "\(self)"] }
}

/// The kinds of failure, by what helps.
public enum FailureKind: String, Hashable, Sendable, CaseIterable {
    /// It passes: the same request later.
    case transient
    /// The network or the address.
    case connection
    /// The certificate of the other side.
    case trust
    /// Who asks: other credentials, or a right to be given.
    case credentials
    /// The request is wrong and stays so until it is changed.
    case request
    /// What was to be read or changed is not there.
    case missing
    /// Somebody else changed it.
    case conflict
    /// The service does not do that.
    case unsupported
    /// The service failed.
    case service
    /// The request may have acted: see before it is sent again.
    case inDoubt
    /// The answer cannot be understood: the service, or something on the way, is not what it should be.
    case answer
    /// What is kept on this device is not whole any more, or cannot be opened.
    case damaged
    /// This device: no room, no access, a failing disk.
    case device
    /// The app gave up.
    case cancelled
    /// Not known.
    case unknown

    /// What the app can do.
    public var recovery: RecoveryAction {
        switch self {
        case .transient: .retryLater
        case .connection: .checkConnection
        case .trust: .checkCertificate
        case .credentials: .signIn
        case .request: .correctRequest
        case .missing: .refresh
        case .conflict: .resolveConflict
        case .unsupported: .avoid
        case .service: .contactSupport
        case .inDoubt: .lookBeforeRepeating
        case .answer: .checkAddress
        case .damaged: .repair
        case .device: .checkDevice
        case .cancelled: .none
        case .unknown: .contactSupport
        }
    }
}

/// What helps against a failure.
public enum RecoveryAction: String, Hashable, Sendable, CaseIterable {
    /// Nothing is to be done.
    case none
    /// The same later.
    case retryLater
    /// See to the network.
    case checkConnection
    /// See to the certificate, or to who is really there.
    case checkCertificate
    /// Sign in, or ask for the right.
    case signIn
    /// Correct what was entered.
    case correctRequest
    /// Read again what there is.
    case refresh
    /// Compare both versions and decide.
    case resolveConflict
    /// Do it in another way.
    case avoid
    /// Read whether the change was made, then decide.
    case lookBeforeRepeating
    /// See to the address: a sign-in page, a proxy, another service.
    case checkAddress
    /// Repair what is kept, or fetch it anew.
    case repair
    /// See to the device: room, access, the disk.
    case checkDevice
    /// Tell those who run the service, with the request id.
    case contactSupport
}
