import ErrorCodes
import ODataModel
import ODataQuery

// The model and the query language stand on floors that know no codes of errors; here is the first that knows all.

extension QueryError: CodedError {
    /// `query.…`.
    public var errorCode: ErrorCode {
        let name =
            switch kind {
            case .unsupported: "unsupported"
            case .unknownName: "unknown-name"
            case .syntax: "syntax"
            case .type: "type"
            case .limit: "limit"
            }
        return ErrorCode(rawValue: "query.\(name)")
    }
    /// The place.
    public var errorArguments: [String: String] { ["reason": description] }
    /// The request is wrong.
    public var failureKind: FailureKind { .request }
}

extension EntityError: CodedError {
    /// `entity.…`.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .notLoaded: "not-loaded"
            case .unknownProperty: "unknown-property"
            case .typeMismatch: "type-mismatch"
            case .malformed: "malformed"
            }
        return ErrorCode(rawValue: "entity.\(name)")
    }
    /// The property.
    public var errorArguments: [String: String] { ["reason": description] }
    /// The request is wrong.
    public var failureKind: FailureKind { .request }
}

extension EvaluationError: CodedError {
    /// `query.…`.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .overflow: "overflow"
            case .pattern: "pattern"
            case .limit: "limit"
            case .type: "type"
            case .unsupported: "unsupported"
            }
        return ErrorCode(rawValue: "query.\(name)")
    }
    /// The query is wrong for the values that it meets.
    public var failureKind: FailureKind { .request }
}

extension ModelError: CodedError {
    /// `model.…`.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .duplicateName: "duplicate-name"
            case .unknownType: "unknown-type"
            case .circularInheritance: "circular"
            case .noEntityType: "no-type"
            }
        return ErrorCode(rawValue: "model.\(name)")
    }
    /// The metadata contradict themselves.
    public var failureKind: FailureKind { .service }
}

extension CSDLError: CodedError {
    /// `csdl.invalid`.
    public var errorCode: ErrorCode { ErrorCode(rawValue: "csdl.invalid") }
    /// The metadata cannot be read.
    public var failureKind: FailureKind { .service }
}

extension XMLTreeError: CodedError {
    /// `xml.invalid`.
    public var errorCode: ErrorCode { ErrorCode(rawValue: "xml.invalid") }
    /// The document cannot be read.
    public var failureKind: FailureKind { .answer }
}

extension JSONError: CodedError {
    /// `json.invalid`.
    public var errorCode: ErrorCode { ErrorCode(rawValue: "json.invalid") }
    /// The document cannot be read.
    public var failureKind: FailureKind { .answer }
}

extension LexicalError: CodedError {
    /// `value.malformed`.
    public var errorCode: ErrorCode { ErrorCode(rawValue: "value.malformed") }
    /// The text is no value of its type.
    public var failureKind: FailureKind { .request }
}

extension GeoError: CodedError {
    /// `value.malformed-geo`.
    public var errorCode: ErrorCode { ErrorCode(rawValue: "value.malformed-geo") }
    /// The text is no place.
    public var failureKind: FailureKind { .request }
}

extension InvalidValueError: CodedError {
    /// `value.invalid`.
    public var errorCode: ErrorCode { ErrorCode(rawValue: "value.invalid") }
    /// The value does not fit its property.
    public var failureKind: FailureKind { .request }
}
