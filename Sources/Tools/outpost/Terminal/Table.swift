import Foundation
import ODataModel

/// Rows in aligned columns, cut to the width of the terminal. Names and cells are texts of strangers, each on one line.
struct Table {
    private var header: [String]
    private var rows: [[String]] = []
    private var isNumeric: [Bool]

    init(_ header: [String]) {
        self.header = header.map(HarmlessText.line)
        isNumeric = header.map { _ in true }
    }

    mutating func add(_ row: [String]) {
        for (column, cell) in row.enumerated() where !cell.isEmpty && Double(cell.replacing(",", with: "")) == nil {
            isNumeric[column] = false
        }
        rows.append(row.map(HarmlessText.line))
    }

    /// The text, a line per row, with a line of column names before.
    func rendered(for output: Terminal.Output = .output) -> TerminalText {
        guard !header.isEmpty else { return "" }
        let isInteractive = Terminal.isInteractive(output)
        let width = isInteractive ? Terminal.width(of: output) : .max
        // Outside a terminal nothing is cut: a cell that is longer than the greatest padding moves only its own line.
        let greatest = isInteractive ? .max : Self.greatestPadding
        var widths = header.map { Self.columns($0) }
        for row in rows {
            for (column, cell) in row.enumerated() {
                widths[column] = max(widths[column], min(greatest, Self.columns(cell)))
            }
        }
        // The widest column gives way first.
        while widths.reduce(0, +) + 2 * (widths.count - 1) > width, let widest = widths.max(), widest > 8 {
            guard let index = widths.firstIndex(of: widest) else { break }
            widths[index] -= 1
        }
        var lines = [Terminal.bold(line(header, widths, cuts: isInteractive), on: output)]
        for row in rows { lines.append(TerminalText(line(row, widths, cuts: isInteractive))) }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The widest column that all lines are padded to outside a terminal.
    private static let greatestPadding = 80

    private func line(_ cells: [String], _ widths: [Int], cuts: Bool) -> String {
        var text = ""
        for (column, cell) in cells.enumerated() {
            let shown = cuts ? Self.cut(cell, to: widths[column]) : cell
            let padding = String(repeating: " ", count: max(0, widths[column] - Self.columns(shown)))
            let isLast = column == cells.count - 1
            text += isNumeric[column] ? padding + shown : shown + (isLast ? "" : padding)
            if !isLast { text += "  " }
        }
        return text
    }

    private static func columns(_ text: String) -> Int { text.count }

    private static func cut(_ text: String, to width: Int) -> String {
        text.count <= width ? text : text.prefix(max(0, width - 1)) + "…"
    }
}

extension ODataValue {
    /// The value as a table shows it, on one line.
    func cell(type: TypeReference?, model: EntityDataModel) -> String {
        switch self {
        case .null: return ""
        case .string(let text): return HarmlessText.line(text)
        case .binary(let bytes): return "<\(bytes.count) bytes>"
        case .collection(let values):
            return values.map { $0.cell(type: type?.element, model: model) }.joined(separator: ", ")
        case .complex(let entity):
            return entity.shape.properties.indices.compactMap { ordinal in
                entity.values[ordinal].map {
                    $0.cell(type: entity.shape.properties[ordinal].type, model: model)
                }
            }.joined(separator: ", ")
        default:
            var writer = JSONWriter()
            writer.value(self, type: type, model: model)
            let text = String(decoding: writer.bytes, as: UTF8.self)
            return text.hasPrefix("\"") ? String(text.dropFirst().dropLast()) : text
        }
    }
}
