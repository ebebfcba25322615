import ODataModel
import ODataQuery
import ToolLanguage

/// Writes the rows of a dynamic query as they arrive: as a table with widths from the first rows, as JSON or as CSV.
struct SelectedRows {
    /// The form of the rows.
    enum Form {
        case table
        case json
        case csv
    }

    let formulas: SpreadsheetFormulas
    private let columns: [SelectionColumn]
    private let form: Form
    private let model: EntityDataModel
    private var layout: TableLayout?
    /// The first rows of a table, until the widths are known.
    private var sample: [[String]] = []
    private var count = 0

    init(_ columns: [SelectionColumn], form: Form, model: EntityDataModel, formulas: SpreadsheetFormulas) {
        self.columns = columns
        self.form = form
        self.model = model
        self.formulas = formulas
        if form == .csv {
            writeLine(columns.map { formulas.guarded($0.name) })
        }
    }

    /// Writes a row, or keeps it until the widths of the table are known.
    mutating func add(_ row: SelectionRow) {
        switch form {
        case .table:
            let cells = zip(columns, row.values).map { $1.cell(type: $0.type, model: model) }
            if let layout {
                Terminal.write("\(layout.line(cells))\n")
            } else {
                sample.append(cells)
                if sample.count >= EntityRows.sampleSize { begin() }
            }
        case .json:
            var json = JSONWriter()
            json.beginObject()
            for (column, value) in zip(columns, row.values) {
                json.key(column.name)
                json.value(value, type: column.type, model: model)
            }
            json.endObject()
            let text = String(decoding: json.bytes, as: UTF8.self)
            Terminal.write(TerminalText(json: "\(count == 0 ? "[" : ",")\n\(text)"))
        case .csv: writeLine(zip(columns, row.values).map { csvText($1, $0.type) })
        }
        count += 1
    }

    /// Writes the rest.
    mutating func finish() {
        switch form {
        case .table:
            if count == 0 { return Terminal.write(Terminal.dim("no rows") + "\n") }
            if layout == nil { begin() }
            guard let layout, layout.hidden > 0 else { return }
            let hidden = Terminal.plural(layout.hidden, "more column")
            Terminal.write(Terminal.dim("\(hidden): select fewer columns, or see all with --json.") + "\n")
        case .json:
            let end: TerminalText = count == 0 ? "[]\n" : "\n]\n"
            Terminal.write(end)
        case .csv: break
        }
    }

    private mutating func begin() {
        let layout = TableLayout(columns.map(\.name), sample: sample, room: .init(.output))
        Terminal.write(layout.head(for: .output) + "\n")
        for cells in sample { Terminal.write("\(layout.line(cells))\n") }
        sample = []
        self.layout = layout
    }

    // MARK: CSV

    private func writeLine(_ fields: [String?]) {
        let isShown = Terminal.isTerminal(.output)
        let line = fields.map { $0.map { CSVField.text($0, isShown: isShown) } ?? "" }.joined(separator: ",")
        Terminal.write(Array("\(line)\n".utf8), isDocument: true)
    }

    /// Returns the text of a value; `nil` for null, which is an empty field without quotation marks.
    private func csvText(_ value: ODataValue, _ type: TypeReference) -> String? {
        switch value {
        case .null: return nil
        case .string(let text): return formulas.guarded(text)
        case .enumeration: return value.cell(type: type, model: model)
        default: return value.lexicalText
        }
    }
}
