import Foundation
import ToolLanguage

/// The report of a command as JSON for scripts. Harmful characters are escaped.
struct JSONText {
    let text: TerminalText

    init(_ value: some Encodable) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let data = (try? encoder.encode(value)) ?? Data("null".utf8)
        text = TerminalText(json: String(decoding: data, as: UTF8.self))
    }
}
