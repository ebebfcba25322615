import ErrorCodes

/// The reason why a search in a cache failed.
public enum SearchError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The pattern is not a valid regular expression.
    case invalidPattern(String)
    /// The pattern is longer than ``RegularExpressionSearch/maximumPatternLength`` characters.
    case patternTooLong(length: Int)
    /// The regular expression exceeded the time limit; the remaining entities were not tested.
    case timedOut(limit: Duration)

    /// An explanation of the error. The pattern is the user's own text.
    public var description: String {
        switch self {
        case .invalidPattern(let pattern): "\(pattern.debugDescription) is not a regular expression"
        case .patternTooLong(let length):
            "a pattern has at most \(RegularExpressionSearch.maximumPatternLength) characters, this one \(length)"
        case .timedOut(let limit): "the search took longer than \(limit)"
        }
    }
}

extension SearchError: CodedError {
    /// The code `search.` with the name of the error, such as `search.timed-out`.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .invalidPattern: "invalid-pattern"
            case .patternTooLong: "too-long"
            case .timedOut: "timed-out"
            }
        return ErrorCode(rawValue: "search.\(name)")
    }

    /// Always `FailureKind.request`: the pattern must be changed.
    public var failureKind: FailureKind { .request }
}
