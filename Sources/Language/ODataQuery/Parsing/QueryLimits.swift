/// The limits of the parser and binder. A URL beyond a limit is refused with ``QueryError/Kind/limit(name:)``,
/// which contains the name of the constant.
public enum QueryLimits {
    /// The maximum depth of parentheses, calls, lambdas, lists, nested options and operator trees.
    ///
    /// Recursive code may rely on it. At this depth, the parser and the binder need less than half a megabyte of
    /// stack in an optimised build. An unoptimised build may need three times as much.
    public static let maxDepth = 64
    /// The maximum number of nodes of all expressions of one URL.
    public static let maxNodes = 50_000
    /// The maximum length of a URL, an option's value or an expression, in bytes of UTF-8.
    public static let maxLength = 1_048_576
    /// The maximum length of a simple identifier in characters (OData CSDL 4.01, 15.3 *Simple Identifier*).
    public static let maxIdentifierLength = 128
    /// The maximum length of a chain of `and` or `or` that keeps its written shape. Longer chains are balanced,
    /// which preserves the meaning and keeps the tree shallow.
    static let maxUnbalancedChain = 16
}
