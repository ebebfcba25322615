import ODataModel
import ODataSQL

/// Which columns of a row an update has changed, as the bits of one number: what lets a delta leave out rows of which
/// nothing changed that its query shows (OData Protocol 4.01, 11.3.1).
struct ChangedColumns {
    /// The bit that all columns share which have none of their own.
    static let lastBit = 62

    private let columns: [String]

    init(_ table: TableStorage) { columns = table.digestColumns }

    /// The number, in an update's trigger.
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

    /// The bits of some columns.
    func mask(of names: Set<String>) -> Int64 {
        columns.enumerated().reduce(0) { mask, column in
            names.contains(column.element) ? mask | 1 << Int64(min(column.offset, Self.lastBit)) : mask
        }
    }
}
