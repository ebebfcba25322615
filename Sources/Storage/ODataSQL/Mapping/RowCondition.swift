import GRDB

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

    /// The condition on a row of a table; `nil` where the table has no row ids.
    func fragment(of table: TableStorage, in scope: SQLScope) -> SQLFragment? {
        guard let rowID = table.rowID else { return nil }
        var result: SQLFragment = "("
        var rest = Substring(sql)
        while let mark = rest.firstIndex(of: ":") {
            result += SQLFragment(stringLiteral: String(rest[..<mark]))
            rest = rest[rest.index(after: mark)...]
            let name = rest.prefix { $0.isLetter }
            rest = rest.dropFirst(name.count)
            switch name {
            case "set": result += "\(bind: table.set.databaseValue)"
            case "row": result += scope.sql(rowID)
            case "owner": result += table.visibility.map { scope.sql($0.ownerColumn) } ?? "NULL"
            default: return nil
            }
        }
        result += SQLFragment(stringLiteral: String(rest))
        result += ")"
        return result
    }
}
