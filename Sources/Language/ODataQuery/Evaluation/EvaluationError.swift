import ErrorCodes

/// Why a value cannot be computed although the query is right: the response is an error of the request, never a
/// rounded or wrapped value.
public enum EvaluationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A result that does not fit its type, with the operation's name.
    case overflow(String)
    /// What `matchesPattern` was given is no regular expression of the supported kind.
    case pattern(String)
    /// Beyond a documented limit, by the constant's name.
    case limit(String)
    /// Something else than what the query's types promise was found: the place, and what was expected there.
    case type(String, expected: String)
    /// What is not evaluated in memory, by its name.
    case unsupported(String)

    /// A full sentence.
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
