import Synchronization

/// `matchesPattern`: regular expressions, compiled once each.
///
/// Matching is done by Swift's engine on code points. Patterns are limited in length, and few are kept, since
/// they come from requests.
public enum PatternMatching {
    /// The greatest length of a pattern in characters.
    public static let maxPatternLength = 256
    /// How many compiled patterns are kept.
    private static let capacity = 16

    /// `Regex` is not Sendable; each access to one is made under the lock of the table that holds it.
    private struct Table {
        var patterns: [String: Regex<AnyRegexOutput>] = [:]
    }

    private static let table = Mutex(Table())

    /// Whether some part of the text matches.
    ///
    /// - Throws: ``EvaluationError/pattern(_:)``.
    public static func matches(_ text: String, pattern: String) throws -> Bool {
        guard pattern.count <= maxPatternLength else { throw EvaluationError.pattern(String(pattern.prefix(40)) + "…") }
        return try table.withLock { table in
            let regex: Regex<AnyRegexOutput>
            if let known = table.patterns[pattern] {
                regex = known
            } else {
                do {
                    regex = try Regex(pattern).matchingSemantics(.unicodeScalar)
                } catch {
                    throw EvaluationError.pattern(pattern)
                }
                if table.patterns.count >= capacity { table.patterns.removeAll() }
                table.patterns[pattern] = regex
            }
            return try regex.firstMatch(in: text) != nil
        }
    }
}
