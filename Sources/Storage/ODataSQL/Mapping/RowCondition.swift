/// A condition on stored rows that does not depend on their properties, such as whether a row has pending changes.
///
/// Queries use the condition by calling a function without parameters (``StorageMapping/rowConditions``).
///
/// ```swift
/// mapping.rowConditions["App.isMarked"] = RowCondition(
///     sql: "EXISTS (SELECT 1 FROM app_mark WHERE entity_set = :set AND row_id = :row)")
/// ```
public struct RowCondition: Hashable, Sendable {
    /// An SQL expression with the value 1 or 0.
    ///
    /// In the expression, `:set` is the name of the row's entity set, `:row` its internal id and `:owner` its
    /// defining query. The expression must not contain user input.
    public let sql: String

    /// Creates a condition.
    public init(sql: String) { self.sql = sql }
}
