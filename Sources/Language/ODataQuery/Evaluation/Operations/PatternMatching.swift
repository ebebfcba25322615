import ODataModel

/// `matchesPattern`: regular expressions in time that grows with the text's length only.
///
/// The expressions are those of ECMAScript in its Unicode mode, without back references and looking around, which no
/// automaton can do: they are refused. Whatever the pattern, each character of the text takes at most as many steps as
/// the compiled pattern has instructions; there is no backtracking.
public enum PatternMatching {
    /// The greatest length of a pattern in code points.
    public static let maxPatternLength = RegularExpression.maxPatternLength
    /// The greatest number of instructions of a compiled pattern; `{n}` repeats what it is about.
    public static let maxInstructions = RegularExpression.maxInstructions
    /// The greatest number of steps of one match: characters times instructions.
    public static let maxSteps = RegularExpression.maxSteps

    /// Whether some part of the text matches.
    ///
    /// - Throws: ``EvaluationError/pattern(_:)`` for what is no pattern, ``EvaluationError/limit(_:)`` beyond the limits.
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
