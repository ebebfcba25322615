import ErrorCodes

/// An error in the evaluation of a valid query. A value is never rounded or wrapped instead.
public enum EvaluationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The result of an operation does not fit its type.
    case overflow(String)
    /// The pattern of `matchesPattern` is not a supported regular expression.
    case pattern(String)
    /// A documented limit was exceeded; the value is the name of its constant.
    case limit(String)
    /// A value does not have the type that the query expects: the place and the expected kind.
    case type(String, expected: String)
    /// The named feature is not supported by the in-memory evaluator.
    case unsupported(String)

    /// A message in a full sentence.
    public var description: String {
        switch self {
        case .overflow(let operation): "The result of \(operation) has too many digits."
        case .pattern(let pattern): "matchesPattern: \u{201C}\(pattern)\u{201D} is not a regular expression."
        case .limit(let name): "The query takes more than the limit \(name) allows."
        case .type(let place, let expected): "\(place) is something else than \(expected)."
        case .unsupported(let feature): "\(feature) is not evaluated in memory."
        }
    }
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
