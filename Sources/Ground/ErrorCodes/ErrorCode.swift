import Foundation

/// A stable identifier of an error for messages, statistics and support, independent of language and version.
/// The part before the dot is the level that failed.
///
/// ```swift
/// do {
///     try await store.sync()
/// } catch where ErrorCode(error) == .cancelled {
///     show("Interrupted")
/// }
/// ```
public struct ErrorCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The identifier, such as `service.not-found`.
    public let rawValue: String

    /// Creates a code.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The identifier.
    public var description: String { rawValue }

    /// An error without a code.
    public static let unknown = ErrorCode(rawValue: "unknown")
    /// The task was cancelled.
    public static let cancelled = ErrorCode(rawValue: "cancelled")
    /// Someone else changed the entity.
    public static let conflict = ErrorCode(rawValue: "service.changed-by-others")
    /// The service's metadata excludes the request, so it was not sent.
    public static let unsupportedByService = ErrorCode(rawValue: "request.unsupported-by-service")
    /// The service has forgotten the request, so its outcome is unknown.
    public static let repeatExpired = ErrorCode(rawValue: "service.repeat-expired")

    /// Creates the code of an error, which is ``unknown`` if the error has none.
    public init(_ error: any Error) {
        switch error {
        case let error as any CodedError: self = error.errorCode
        case is CancellationError: self = .cancelled
        default: self = .unknown
        }
    }
}

/// An error with a stable code, like every public error of this package. An app's own transport or
/// authentication errors can conform too, so that they are reported in the same way.
///
/// Its `localizedDescription` is the message of ``ErrorMessages`` in the language of the user, and its
/// `recoverySuggestion` is the advice.
///
/// ```swift
/// struct FarmError: CodedError {
///     public var errorCode: ErrorCode { ErrorCode(rawValue: "farm.closed") }
///     public var failureKind: FailureKind { .transient }
/// }
/// ```
public protocol CodedError: LocalizedError {
    /// The stable code of the error.
    var errorCode: ErrorCode { get }
    /// The named values for messages: `host`, `url`, `status` and so on. They contain no secrets.
    var errorArguments: [String: String] { get }
    /// The kind of the failure, which determines the recovery.
    var failureKind: FailureKind { get }
}

extension CodedError {
    /// The English description of the error, as `reason`, and the texts and numbers of an enumeration case under
    /// their labels.
    ///
    /// The first value without a label is `value`. A value with the label `reason` is `detail`.
    public var errorArguments: [String: String] {
        caseArguments.merging(["reason": "\(self)"]) { $1 }
    }

    private var caseArguments: [String: String] {
        let mirror = Mirror(reflecting: self)
        guard mirror.displayStyle == .enum, let payload = mirror.children.first?.value else { return [:] }
        if let value = Self.text(of: payload) { return ["value": value] }
        var arguments: [String: String] = [:]
        for (label, value) in Mirror(reflecting: payload).children {
            guard let label, let value = Self.text(of: value) else { continue }
            arguments[label == ".0" ? "value" : label == "reason" ? "detail" : label] = value
        }
        return arguments
    }

    /// The text of a string or an integer, also of an optional one; `nil` for other values.
    private static func text(of value: Any) -> String? {
        switch value {
        case let text as String: text
        case let number as any BinaryInteger: "\(number)"
        default: nil
        }
    }

    /// The message for the error in the language of the user.
    public var errorDescription: String? { ErrorMessages.current.message(for: self) }
    /// The advice for the error in the language of the user.
    public var recoverySuggestion: String? { ErrorMessages.current.recoveryHint(for: self) }
}

/// The kinds of failures, grouped by their recovery.
///
/// ```swift
/// do {
///     try await store.sync()
/// } catch let error as any CodedError where error.failureKind == .transient {
///     show("Try again later: \(error.errorCode)")
/// }
/// ```
public enum FailureKind: String, Hashable, Sendable, CaseIterable {
    /// A temporary failure: the same request may succeed later.
    case transient
    /// A failure of the network or the address.
    case connection
    /// A problem with the certificate of the server.
    case trust
    /// A problem with the caller's credentials or permissions.
    case credentials
    /// An invalid request, which fails until it is changed.
    case request
    /// The target of the request does not exist.
    case missing
    /// Someone else changed the entity.
    case conflict
    /// The service does not support the operation.
    case unsupported
    /// A failure of the service.
    case service
    /// An unknown outcome: the request may have been executed, so check before you send it again.
    case inDoubt
    /// An invalid response: the service, or a device on the way, does not behave as expected.
    case answer
    /// Data on this device is damaged or cannot be opened.
    case damaged
    /// A problem of this device: no space, no access, or a failing disk.
    case device
    /// The app cancelled the operation.
    case cancelled
    /// A failure of unknown kind.
    case unknown

    /// The kind of failure that an error describes, which is ``unknown`` if the error has no code.
    public init(_ error: any Error) {
        self = (error as? any CodedError)?.failureKind ?? (error is CancellationError ? .cancelled : .unknown)
    }

    /// The recommended recovery.
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

/// The ways to recover from a failure.
///
/// ```swift
/// switch ErrorDiagnosis(error).recovery {
/// case .signIn: show("Sign in again.")
/// case .retryLater, .checkConnection: show("Try again later.")
/// default: show(ErrorDiagnosis(error).message())
/// }
/// ```
public enum RecoveryAction: String, Hashable, Sendable, CaseIterable {
    /// No action is needed.
    case none
    /// Repeat the same operation later.
    case retryLater
    /// Check the network connection.
    case checkConnection
    /// Check the certificate and the identity of the server.
    case checkCertificate
    /// Sign in, or request the permission.
    case signIn
    /// Correct the input.
    case correctRequest
    /// Read the current data again.
    case refresh
    /// Compare both versions and choose.
    case resolveConflict
    /// Use another way.
    case avoid
    /// Check whether the change was made, then decide.
    case lookBeforeRepeating
    /// Check the address: it may lead to a sign-in page, a proxy or another service.
    case checkAddress
    /// Repair the local data, or download it again.
    case repair
    /// Check the device: space, access, the disk.
    case checkDevice
    /// Contact the operator of the service, with the request id.
    case contactSupport
}
