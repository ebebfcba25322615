public import Foundation

/// A search by regular expression (ICU syntax) with a time limit.
///
/// A pattern such as `(a+)+$` can take extremely long. After ``timeLimit``, a search ends with
/// ``SearchError/timedOut(limit:)``, and its thread is free again.
public struct RegularExpressionSearch: EntitySearch {
    /// The maximum number of characters of a pattern.
    public static let maximumPatternLength = 1000

    /// The time limit of one search.
    public let timeLimit: Duration
    /// Whether upper and lower case are distinguished.
    public let isCaseSensitive: Bool

    /// Creates a search.
    ///
    /// - Parameters:
    ///   - timeLimit: The time limit of one search over all entities; half a second by default.
    ///   - isCaseSensitive: Whether upper and lower case are distinguished.
    public init(timeLimit: Duration = .milliseconds(500), isCaseSensitive: Bool = false) {
        self.timeLimit = timeLimit
        self.isCaseSensitive = isCaseSensitive
    }

    /// Returns the test for a pattern, which may match any part of a property.
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
        // The engine periodically reports progress and allows the search to be stopped.
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
