/// A condition on the rows of a store that none of their properties tells, such as whether a row has changes that wait:
/// the meaning in SQL of a function without parameters that queries may call (``StorageMapping/rowConditions``).
///
/// ```swift
/// mapping.rowConditions["App.isMarked"] = RowCondition(
///     sql: "EXISTS (SELECT 1 FROM app_mark WHERE entity_set = :set AND row_id = :row)")
/// ```
public struct RowCondition: Hashable, Sendable {
    /// SQL that is 1 or 0. In it, `:set` stands for the name of the row's entity set, `:row` for its internal id and
    /// `:owner` for the defining query that it belongs to. It is written by the program, never made of input.
    public let sql: String

    /// Makes a condition.
    public init(sql: String) { self.sql = sql }
}
