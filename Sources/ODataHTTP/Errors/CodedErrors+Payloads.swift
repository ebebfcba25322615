import ErrorCodes
import ODataFormat

// Payloads stand beside the services on floors that do not see each other; here is the first that sees both.

extension PayloadError: CodedError {
    /// `payload.…`.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .malformed: "malformed"
            case .malformedXML: "malformed"
            case .service: "service"
            case .noServiceDocument: "no-service-document"
            case .unknownType: "unknown-type"
            case .elementTooLarge: "too-large"
            case .unsupported: "unsupported"
            }
        return ErrorCode(rawValue: "payload.\(name)")
    }
    /// The document is not what it should be.
    public var failureKind: FailureKind { .answer }
}

extension ODataErrorPayload: CodedError {
    /// `payload.service`.
    public var errorCode: ErrorCode { ErrorCode(rawValue: "payload.service") }
    /// What the service said.
    public var failureKind: FailureKind { .service }
}

extension NoServiceDocument: CodedError {
    /// `payload.no-service-document`.
    public var errorCode: ErrorCode { ErrorCode(rawValue: "payload.no-service-document") }
    /// The document is none.
    public var failureKind: FailureKind { .answer }
}

extension XMLPayloadError: CodedError {
    /// `payload.malformed`.
    public var errorCode: ErrorCode { ErrorCode(rawValue: "payload.malformed") }
    /// The document cannot be read.
    public var failureKind: FailureKind { .answer }
}

extension BatchError: CodedError {
    /// `payload.batch`.
    public var errorCode: ErrorCode { ErrorCode(rawValue: "payload.batch") }
    /// The batch cannot be read.
    public var failureKind: FailureKind { .answer }
}

extension FunctionImportCall.CallError: CodedError {
    /// `request.…`.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .unsupportedVersion: "call-version"
            case .unknownImport: "unknown-operation"
            case .unknownParameter: "unknown-parameter"
            case .missingArgument: "missing-argument"
            case .unsupportedArgument: "unsupported-argument"
            }
        return ErrorCode(rawValue: "request.\(name)")
    }
    /// The call is wrong.
    public var failureKind: FailureKind { .request }
}
