/// The bounds of what a URL may ask of the parser and binder. What goes beyond one is refused with
/// ``QueryError/Kind/limit(name:)``, which carries the constant's name.
public enum QueryLimits {
    /// How deep parentheses, calls, lambdas, lists, nested options and operator trees may go. Everything that
    /// walks a tree recursively may rely on it. This parser and binder need less than half a megabyte of stack at it
    /// where the compiler optimises, and up to three times as much where it does not.
    public static let maxDepth = 64
    /// The number of nodes of all expressions of one URL.
    public static let maxNodes = 50_000
    /// The length of a URL, an option's value or an expression, in bytes of UTF-8.
    public static let maxLength = 1_048_576
    /// The length of a simple identifier in characters (OData CSDL 4.01, 15.3 *Simple Identifier*).
    public static let maxIdentifierLength = 128
    /// The length up to which a chain of `and` or of `or` keeps the shape in which it was written. Longer chains
    /// are balanced, which changes nothing of their meaning and keeps the tree shallow.
    static let maxUnbalancedChain = 16
}
