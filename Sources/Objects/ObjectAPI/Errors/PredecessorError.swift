import ErrorCodes
import ODataService
import OfflineOData

/// An error in the terms of the predecessor: its exception class, and its number on the channel for data
/// synchronization. The same number means something else on another channel.
///
/// ```swift
/// catch {
///     let former = PredecessorError(error)
///     print(former.className, former.number ?? 0)                        // SUPSynchronizeException 401
/// }
/// ```
public struct PredecessorError: Hashable, Sendable {
    /// The class of the exception.
    public var className: String
    /// The number that the callback for errors of communication got: the HTTP status, or 63 if the service was not
    /// reached; `nil` for an error without one.
    public var number: Int?

    /// The number for a service that was not reached.
    public static let unreachable = 63

    /// Describes an error.
    ///
    /// - Parameter error: an error of a verb of ``PackageDatabase``, or of the store below.
    public init(_ error: any Error) {
        if let error = error as? ObjectError {
            className = error.legacyName ?? "SUPPersistenceException"
            return
        }
        if let status = Self.status(of: error) {
            (className, number) = ("SUPSynchronizeException", status)
            return
        }
        switch FailureKind(error) {
        case .connection, .trust: (className, number) = ("SUPSynchronizeException", Self.unreachable)
        case .transient, .service, .answer, .cancelled, .inDoubt: className = "SUPSynchronizeException"
        default: className = "SUPPersistenceException"
        }
    }

    private static func status(of error: any Error) -> Int? {
        if case OfflineError.queriesRefused(let refusals, _) = error { return refusals.first?.error.status }
        return (error as? ODataError)?.status
    }
}
