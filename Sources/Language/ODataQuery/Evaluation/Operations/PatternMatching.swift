import ODataModel

/// The function `matchesPattern`, with regular expressions that match in linear time.
///
/// The patterns are those of ECMAScript in Unicode mode. Back references and lookarounds are refused, since no
/// automaton can match them. For each character of the text the matcher executes at most as many steps as the
/// compiled pattern has instructions, without backtracking.
public enum PatternMatching {
    /// The maximum length of a pattern in code points.
    public static let maxPatternLength = RegularExpression.maxPatternLength
    /// The maximum number of instructions of a compiled pattern; `{n}` repeats the instructions of its operand.
    public static let maxInstructions = RegularExpression.maxInstructions
    /// The maximum number of steps of one match: characters times instructions.
    public static let maxSteps = RegularExpression.maxSteps

    /// Returns whether a part of the text matches.
    ///
    /// - Throws: ``EvaluationError/pattern(_:)`` for an invalid pattern, ``EvaluationError/limit(_:)`` beyond the
    ///   limits.
    public static func matches(_ text: String, pattern: String) throws(EvaluationError) -> Bool {
        do throws(RegularExpression.Failure) {
            return try RegularExpression.matches(text, pattern: pattern)
        } catch {
            switch error {
            case .malformed(let pattern): throw .pattern(pattern)
            case .limit(let name): throw .limit("PatternMatching.\(name)")
            }
        }
    }
}
