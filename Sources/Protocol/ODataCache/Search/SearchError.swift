import ErrorCodes

/// Why a search in a cache gives no answer.
public enum SearchError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The pattern is no regular expression.
    case invalidPattern(String)
    /// The pattern is longer than ``RegularExpressionSearch/maximumPatternLength`` characters.
    case patternTooLong(length: Int)
    /// The regular expression took longer than it may; nothing is known of the entities that were left.
    case timedOut(limit: Duration)

    /// What is wrong. The pattern is the user's own text.
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
    /// `search.…`.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .invalidPattern: "invalid-pattern"
            case .patternTooLong: "too-long"
            case .timedOut: "timed-out"
            }
        return ErrorCode(rawValue: "search.\(name)")
    }

    /// Another pattern.
    public var failureKind: FailureKind { .request }
}
