import ODataModel
import ToolLanguage

/// Writes the entities of a query as they arrive: as a table with widths from the first rows, or one property
/// on a line.
struct EntityRows {
    /// The form of the rows.
    enum Form {
        /// A table, unless the terminal is too narrow for it.
        case fitting
        /// A line for each property, and an empty line between entities.
        case lines
    }

    private let table: EntityTable
    private let room: TableLayout.Room
    private var form: Form
    private var names: [String] = []
    private var layout: TableLayout?
    /// The first rows, until the widths are known.
    private var sample: [[(String, String)]] = []
    private var laterColumns: Set<String> = []
    private var keys: Set<String> = []
    private(set) var count = 0

    /// The number of rows from which the widths follow.
    static let sampleSize = 1000
    /// The most rows that are shown one property a line if a table would leave out columns.
    private static let fewRows = 3

    init(_ table: EntityTable, form: Form, room: TableLayout.Room = .init(.output)) {
        self.table = table
        self.form = form
        self.room = room
    }

    /// Takes entities, and returns the text that can be written.
    mutating func add(_ entities: [ODataEntity]) -> TerminalText {
        if keys.isEmpty, let first = entities.first { keys = Set(first.shape.key.map(\.name)) }
        let rows = entities.map { table.pairs($0) }
        if layout != nil || form == .lines { return text(rows) }
        sample += rows
        return sample.count >= Self.sampleSize ? begin() : ""
    }

    /// Returns the rest of the text, with notes about columns that are left out.
    mutating func finish() -> TerminalText {
        var text = layout == nil && form == .fitting ? begin() : ""
        if count == 0 { return Terminal.dim("no rows") + "\n" }
        guard let layout, form == .fitting else { return text }
        if layout.hidden > 0 {
            let columns = Terminal.plural(layout.hidden, "more column")
            text += Terminal.dim("\(columns): choose columns with $select, or see all with --lines.") + "\n"
        }
        if !laterColumns.isEmpty {
            let columns = Terminal.plural(laterColumns.count, "column")
            text += Terminal.dim("\(columns) of later rows not shown: see all with --lines.") + "\n"
        }
        return text
    }

    /// Decides on the form and the widths, and returns the first rows.
    private mutating func begin() -> TerminalText {
        let first = sample
        sample = []
        var seen: Set<String> = []
        for row in first {
            for (name, _) in row where seen.insert(name).inserted { names.append(name) }
        }
        // Some rows may lack a related entity that has columns of its own.
        let parents = Set(names.compactMap { name in name.lastIndex(of: "/").map { String(name[..<$0]) } })
        names.removeAll { parents.contains($0) }
        guard !names.isEmpty else { return "" }
        let texts = first.map { cells($0) }
        let fixed = Set(names.indices.filter { keys.contains(names[$0]) })
        let layout = TableLayout(names, sample: texts, keys: fixed, room: room)
        if layout.isTooNarrow || layout.hidden > 0 && first.count <= Self.fewRows {
            form = .lines
            return text(first)
        }
        self.layout = layout
        return layout.head(for: .output) + "\n" + text(first)
    }

    private func cells(_ row: [(String, String)]) -> [String] {
        let texts = Dictionary(row, uniquingKeysWith: { first, _ in first })
        return names.map { texts[$0] ?? "" }
    }

    private mutating func text(_ rows: [[(String, String)]]) -> TerminalText {
        guard form == .fitting, let layout else {
            var lines: [TerminalText] = []
            for row in rows {
                if count > 0 { lines.append("") }
                count += 1
                lines += row.map { "\(Terminal.bold($0.0)): \($0.1)" }
            }
            return lines.isEmpty ? "" : lines.joined(separator: "\n") + "\n"
        }
        count += rows.count
        let known = Set(names)
        for row in rows {
            for (name, text) in row where !text.isEmpty && !known.contains(name) {
                let isParent = names.contains { $0.hasPrefix(name + "/") }
                if !isParent { laterColumns.insert(name) }
            }
        }
        return rows.map { TerminalText(layout.line(cells($0))) }.joined(separator: "\n") + (rows.isEmpty ? "" : "\n")
    }
}
