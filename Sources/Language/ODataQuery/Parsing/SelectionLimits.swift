/// The limits of dynamic queries. A query beyond a limit is refused with ``SelectionError/Kind/limit(_:)``, which
/// contains the name of the constant.
public enum SelectionLimits {
    /// The maximum depth of queries within queries, and of tests within tests.
    public static let maxDepth = 32
    /// The maximum number of sources of one query.
    public static let maxSources = 16
    /// The maximum number of columns of a result.
    public static let maxColumns = 500
    /// The maximum number of combinations of one query.
    public static let maxCombinations = 64
    /// The maximum number of values in a list.
    public static let maxListed = 10_000
    /// The maximum number of tests, values and queries of a query, including those within it.
    public static let maxNodes = 50_000
    /// The maximum length of the JSON form in bytes.
    public static let maxLength = 1_048_576
}
