@_exported import ErrorCodes
import ODataService

/// All that can be told of an error: its stable code, what kind it is, a message in English, in German or in a
/// language that the app adds, what helps, and what the service said.
///
/// ```swift
/// } catch {
///     let diagnosis = ErrorDiagnosis(error)
///     show(diagnosis.message(), diagnosis.recoveryHint())
///     if diagnosis.recovery == .signIn { signIn() }
/// }
/// ```
public struct ErrorDiagnosis: Sendable, CustomStringConvertible {
    /// The error.
    public let error: any Error
    /// What went wrong, as a stable name.
    public let code: ErrorCode
    /// Which kind of failure it is.
    public let kind: FailureKind
    /// What the service said, where it refused.
    public let serviceError: ODataError?

    /// Looks at an error.
    public init(_ error: any Error) {
        self.error = error
        code = ErrorCode(error)
        kind = (error as? any CodedError)?.failureKind ?? (error is CancellationError ? .cancelled : .unknown)
        serviceError =
            switch error {
            case let error as ODataError: error
            case let error as ConflictError: error.refusal
            case MetadataError.refused(_, let error): error
            default: nil
            }
    }

    /// What helps.
    public var recovery: RecoveryAction { kind.recovery }
    /// The HTTP status, where an answer came.
    public var status: Int? { serviceError?.status }
    /// The header fields of the answer that refused.
    public var headers: [String: String] { serviceError?.headers ?? [:] }
    /// The identification of the request in the service's logs.
    public var requestID: String? { serviceError?.requestID }
    /// The id that the request shares with its lines in the log and its trace.
    public var correlationID: String? { serviceError?.correlationID }

    /// What went wrong, for people.
    ///
    /// - Parameters:
    ///   - locale: an identifier such as `de_AT`; `nil` for the current one.
    ///   - messages: the texts; those that are installed unless others are given.
    public func message(locale: String? = nil, messages: ErrorMessages = .current) -> String {
        let arguments = (error as? any CodedError)?.errorArguments ?? ["reason": "\(error)"]
        return messages.text(code.rawValue, locale: locale, arguments: arguments) ?? "\(error)"
    }

    /// What helps, for people.
    public func recoveryHint(locale: String? = nil, messages: ErrorMessages = .current) -> String {
        let arguments = (error as? any CodedError)?.errorArguments ?? [:]
        let own = messages.text("\(code.rawValue).recovery", locale: locale, arguments: arguments)
        return own ?? messages.text("recovery.\(recovery.rawValue)", locale: locale, arguments: arguments) ?? ""
    }

    /// Code and message in English.
    public var description: String { "[\(code)] \(message(locale: "en"))" }
}
