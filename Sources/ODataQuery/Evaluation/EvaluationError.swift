/// Why a value cannot be computed although the query is right: the response is an error of the request, never a
/// rounded or wrapped value.
public enum EvaluationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A result that does not fit its type, with the operation's name.
    case overflow(String)
    /// What `matchesPattern` was given is no regular expression of the supported kind.
    case pattern(String)

    /// A full sentence.
    public var description: String {
        switch self {
        case .overflow(let operation): "The result of \(operation) has too many digits."
        case .pattern(let pattern): "matchesPattern: \u{201C}\(pattern)\u{201D} is not a regular expression."
        }
    }
}
