import ODataModel
import ODataQuery

/// A bound dynamic query as text for display: one line for each clause, with queries within it indented.
struct SelectionOutline {
    private(set) var lines: [String] = []

    init(_ selection: BoundSelection) { add(selection, indent: "") }

    /// All clauses on one line.
    var line: String { lines.map { $0.drop { $0 == " " } }.joined(separator: "; ") }

    private mutating func add(_ selection: BoundSelection, indent: String) {
        for (index, source) in selection.sources.enumerated() {
            let keyword = index == 0 ? "from" : "join"
            let condition = source.condition.map { " on \(QueryOutline.text($0))" } ?? ""
            switch source.rows {
            case .entities(let set, _):
                lines.append("\(indent)\(keyword) \(set.name) as \(source.variable.name)\(condition)")
            case .selection(let inner):
                lines.append("\(indent)\(keyword) a query as \(source.variable.name)\(condition)")
                add(inner, indent: indent + "  ")
            }
        }
        if let filter = selection.filter { lines.append("\(indent)where \(QueryOutline.text(filter))") }
        if let grouping = selection.grouping {
            let keys = grouping.keys.map(QueryOutline.text).joined(separator: ", ")
            lines.append("\(indent)group by \(keys.isEmpty ? "all rows" : keys)")
            if !grouping.aggregates.isEmpty {
                lines.append("\(indent)aggregate \(QueryOutline.text(grouping.aggregates))")
            }
            if let having = grouping.having { lines.append("\(indent)having \(QueryOutline.text(having))") }
        }
        let columns = selection.columns.map { "\($0.name) = \(QueryOutline.text($0.expression))" }
        lines.append("\(indent)select \(selection.isDistinct ? "distinct " : "")\(columns.joined(separator: ", "))")
        for combination in selection.combinations {
            lines.append("\(indent)\(combination.symbol.rawValue)")
            add(combination.selection, indent: indent + "  ")
        }
        if !selection.order.isEmpty { lines.append("\(indent)order by \(QueryOutline.text(selection.order))") }
        if let skip = selection.skip { lines.append("\(indent)skip \(skip)") }
        if let take = selection.take { lines.append("\(indent)take \(take)") }
    }
}
