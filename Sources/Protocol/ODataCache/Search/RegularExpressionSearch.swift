public import Foundation

/// Searching by regular expression (ICU syntax), with a limit on its time.
///
/// A pattern such as `(a+)+$` can take longer than anybody waits. One search as a whole may take ``timeLimit``; then
/// it ends with ``SearchError/timedOut(limit:)``, and the thread that it ran on is free again.
public struct RegularExpressionSearch: EntitySearch {
    /// The longest pattern, in characters.
    public static let maximumPatternLength = 1000

    /// How long one search may take.
    public let timeLimit: Duration
    /// Whether upper and lower case differ.
    public let isCaseSensitive: Bool

    /// - Parameters:
    ///   - timeLimit: How long one search may take over all entities, half a second if not said.
    ///   - isCaseSensitive: Whether upper and lower case differ.
    public init(timeLimit: Duration = .milliseconds(500), isCaseSensitive: Bool = false) {
        self.timeLimit = timeLimit
        self.isCaseSensitive = isCaseSensitive
    }

    /// The test for a pattern, which may stand anywhere in a property.
    ///
    /// - Throws: ``SearchError/invalidPattern(_:)``, ``SearchError/patternTooLong(length:)``.
    public func matcher(for pattern: String, locale: Locale) throws -> SearchMatcher {
        guard pattern.count <= Self.maximumPatternLength else {
            throw SearchError.patternTooLong(length: pattern.count)
        }
        let options: NSRegularExpression.Options = isCaseSensitive ? [] : .caseInsensitive
        guard let expression = try? NSRegularExpression(pattern: pattern, options: options) else {
            throw SearchError.invalidPattern(pattern)
        }
        let limit = timeLimit
        let deadline = ContinuousClock().now + limit
        return SearchMatcher { fields in
            try fields.contains { field in try Self.isFound(expression, in: field, deadline: deadline, limit: limit) }
        }
    }

    private static func isFound(
        _ expression: NSRegularExpression, in field: String, deadline: ContinuousClock.Instant, limit: Duration
    ) throws(SearchError) -> Bool {
        guard ContinuousClock().now < deadline else { throw .timedOut(limit: limit) }
        var isFound = false
        var isLate = false
        // The engine reports now and then that it is still at work, and asks whether to stop.
        expression.enumerateMatches(
            in: field, options: .reportProgress, range: NSRange(field.startIndex..., in: field)
        ) { result, _, stop in
            if result != nil {
                isFound = true
                stop.pointee = true
            } else if ContinuousClock().now >= deadline {
                isLate = true
                stop.pointee = true
            }
        }
        if isLate, !isFound { throw .timedOut(limit: limit) }
        return isFound
    }
}
