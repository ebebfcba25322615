@_exported import ErrorCodes
import ODataService

/// A description of an error: its stable code, its kind, a localized message, a remedy, and the error of the
/// service.
///
/// Messages exist in English and German; an app can add other languages.
///
/// ```swift
/// do {
///     try await store.sync()
/// } catch {
///     let diagnosis = ErrorDiagnosis(error)
///     show(diagnosis.message(), diagnosis.recoveryHint())
///     if diagnosis.recovery == .signIn { show("Sign in") }
/// }
/// ```
public struct ErrorDiagnosis: Sendable, CustomStringConvertible {
    /// The error that is described.
    public let error: any Error
    /// The stable code of the error.
    public let code: ErrorCode
    /// The kind of failure.
    public let kind: FailureKind
    /// The error that the service returned, if it refused the request.
    public let serviceError: ODataError?

    /// Creates the diagnosis of an error.
    public init(_ error: any Error) {
        self.error = error
        code = ErrorCode(error)
        kind = FailureKind(error)
        serviceError =
            switch error {
            case let error as ODataError: error
            case let error as ConflictError: error.refusal
            case MetadataError.refused(_, let error): error
            default: nil
            }
    }

    /// The remedy for this kind of failure.
    public var recovery: RecoveryAction { kind.recovery }
    /// The HTTP status, if there was a response.
    public var status: Int? { serviceError?.status }
    /// The header fields of the refusal.
    public var headers: [String: String] { serviceError?.headers ?? [:] }
    /// The id of the request in the logs of the service.
    public var requestID: String? { serviceError?.requestID }
    /// The id that links the request with its log lines and its trace.
    public var correlationID: String? { serviceError?.correlationID }

    /// Returns a message for users.
    ///
    /// - Parameters:
    ///   - locale: An identifier such as `de_AT`; `nil` for the current locale.
    ///   - messages: The messages; by default, the installed ones.
    public func message(locale: String? = nil, messages: ErrorMessages = .current) -> String {
        messages.message(for: error, locale: locale)
    }

    /// Returns a description of the remedy for users.
    public func recoveryHint(locale: String? = nil, messages: ErrorMessages = .current) -> String {
        messages.recoveryHint(for: error, locale: locale) ?? ""
    }

    /// The code and the English message.
    public var description: String { "[\(code)] \(message(locale: "en"))" }
}
