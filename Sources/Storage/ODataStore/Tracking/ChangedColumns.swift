import ODataModel
import ODataSQL

/// The columns that an update has changed, as the bits of a number. With them, a delta omits rows without
/// changes in the columns of the query (OData Protocol 4.01, 11.3.1).
struct ChangedColumns {
    /// The bit that all columns after the first 62 share.
    static let lastBit = 62

    private let columns: [String]

    init(_ table: TableStorage) { columns = table.digestColumns }

    /// The SQL expression of the number, in the trigger of an update.
    var expression: String {
        var terms = columns.prefix(Self.lastBit).enumerated().map { bit, column in
            "((OLD.\(column.sqlIdentifier) IS NOT NEW.\(column.sqlIdentifier)) << \(bit))"
        }
        let rest = columns.dropFirst(Self.lastBit)
        if !rest.isEmpty {
            func row(_ name: String) -> String { rest.map { "\(name).\($0.sqlIdentifier)" }.joined(separator: ", ") }
            let differ =
                rest.count == 1 ? "\(row("OLD")) IS NOT \(row("NEW"))" : "(\(row("OLD"))) IS NOT (\(row("NEW")))"
            terms.append("((\(differ)) << \(Self.lastBit))")
        }
        return terms.isEmpty ? "NULL" : terms.joined(separator: " | ")
    }

    /// Returns the bits of some columns.
    func mask(of names: Set<String>) -> Int64 {
        columns.enumerated().reduce(0) { mask, column in
            names.contains(column.element) ? mask | 1 << Int64(min(column.offset, Self.lastBit)) : mask
        }
    }
}
