import Foundation
import ToolLanguage

/// The output of the commands, in the language of the person. Control characters of names from outside never reach a
/// terminal.
enum Console {
    /// Writes a line to standard output.
    static func line(_ text: TerminalText) { write(text.description + "\n", to: .standardOutput) }

    /// Writes a foreign text as a line to standard output.
    @_disfavoredOverload
    static func line(_ text: String) { line(TerminalText(text)) }

    /// Writes a line to standard error.
    static func error(_ text: TerminalText) { write(text.description + "\n", to: .standardError) }

    /// Writes a foreign text as a line to standard error.
    @_disfavoredOverload
    static func error(_ text: String) { error(TerminalText(text)) }

    /// Writes a document as it is, such as an exported configuration.
    static func document(_ text: String) { write(text, to: .standardOutput) }

    /// Writes a value as JSON.
    static func json(_ value: some Encodable) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        let data = (try? encoder.encode(value)) ?? Data("null".utf8)
        document(String(decoding: data, as: UTF8.self) + "\n")
    }

    /// Writes rows below their titles, in columns.
    static func table(_ titles: [TerminalText], _ rows: [[String]]) {
        let cells = [titles.map(\.description)] + rows.map { $0.map(HarmlessText.line) }
        let widths = titles.indices.map { column in
            cells.map { $0.indices.contains(column) ? $0[column].count : 0 }.max() ?? 0
        }
        for row in cells {
            let padded = row.enumerated().map { index, text in
                index == row.count - 1 ? text : text + String(repeating: " ", count: widths[index] - text.count)
            }
            document(padded.joined(separator: "  ") + "\n")
        }
    }

    private static func write(_ text: String, to file: FileHandle) {
        // A reader that has gone ends the output, not the command.
        try? file.write(contentsOf: Data(text.utf8))
    }
}
