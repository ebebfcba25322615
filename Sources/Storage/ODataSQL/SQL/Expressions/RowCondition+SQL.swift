import GRDB

extension RowCondition {
    /// Returns the condition on a row of a table; `nil` if the table has no row ids.
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
