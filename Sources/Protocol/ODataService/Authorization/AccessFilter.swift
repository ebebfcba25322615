/// A condition on entities, as a `$filter` expression whose parameter aliases stand for values of the caller.
///
/// ```swift
/// let filter = AccessFilter("Owner eq @user", values: ["user": principal.name])
/// ```
///
/// The values never become part of the text, so no name and no claim can change the meaning of the expression.
public struct AccessFilter: Hashable, Sendable, ExpressibleByStringInterpolation {
    /// The `$filter` expression.
    public var text: String
    /// The values of the parameter aliases, by their names without `@`.
    public var values: [String: String]

    /// Creates a condition.
    ///
    /// - Parameters:
    ///   - text: the `$filter` expression.
    ///   - values: the values of the parameter aliases, by their names without `@`.
    public init(_ text: String, values: [String: String] = [:]) {
        self.text = text
        self.values = values
    }

    /// Creates a condition without parameter aliases.
    public init(stringLiteral text: String) { self.init(text) }

    /// Returns the condition that one of two conditions holds. Both have their values from the same caller.
    func or(_ other: AccessFilter) -> AccessFilter {
        self == other
            ? self
            : AccessFilter("(\(text)) or (\(other.text))", values: values.merging(other.values) { own, _ in own })
    }
}
