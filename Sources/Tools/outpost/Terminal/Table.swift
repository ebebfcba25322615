import Foundation
import ODataModel
import ToolLanguage

/// A short table that is written as a whole, with the width of the terminal.
struct Table {
    private var header: [String]
    private var rows: [[String]] = []

    init(_ header: [TerminalText]) { self.header = header.map(\.description) }

    mutating func add(_ row: [String]) { rows.append(row) }

    /// The text: the line of column names, then a line for each row.
    func rendered(for output: Terminal.Output = .output) -> TerminalText {
        guard !header.isEmpty else { return "" }
        // All columns of a report count: texts are cut, and no column is left out.
        let layout = TableLayout(header, sample: rows, keepsAll: true, room: .init(output))
        let lines = [layout.head(for: output)] + rows.map { TerminalText(layout.line($0)) }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension ODataValue {
    /// The value as a table shows it, on one line.
    func cell(type: TypeReference?, model: EntityDataModel) -> String {
        switch self {
        case .null: return ""
        case .string(let text): return HarmlessText.line(text)
        case .binary(let bytes): return translated("<\(bytes.count) bytes>")
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
