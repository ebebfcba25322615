/// Text for the terminal. Literals of the tool are put into the language of the person (``Language``); interpolated
/// values are made harmless (``HarmlessText/line(_:)``). No name, code, message or value can therefore move the
/// cursor, forge a line or reverse the text behind it.
///
/// ```swift
/// let text: TerminalText = "Cloned \(rows) of \(name)."
/// ```
package struct TerminalText: Sendable, Equatable, CustomStringConvertible, ExpressibleByStringInterpolation {
    /// The text with the codes of styles.
    package private(set) var description: String

    private init(harmless text: String) { description = text }

    package init(stringLiteral text: String) { description = Language.current.text(text) }

    package init(stringInterpolation pieces: Pieces) {
        description = Language.current.text(pieces.template, pieces.values)
    }

    /// Creates a text from foreign text, on one line.
    package init(_ text: some CustomStringConvertible) { description = HarmlessText.line(text.description) }

    package init(lines text: String) { description = HarmlessText.lines(text) }

    /// Creates a text from JSON.
    package init(json text: String) { description = HarmlessText.json(text) }

    /// Creates a text in a style of the terminal.
    ///
    /// - Parameter code: the number of the style (ECMA-48, 8.3.117).
    package init(_ text: TerminalText, style code: Int) { description = "\u{1B}[\(code)m\(text.description)\u{1B}[0m" }

    /// Whether the text is empty.
    package var isEmpty: Bool { description.isEmpty }

    /// Returns the text with another text in place of a word of the tool.
    package func replacing(word: String, with text: TerminalText) -> TerminalText {
        let parts = description.split(separator: word, omittingEmptySubsequences: false)
        var result = parts.first.map(String.init) ?? ""
        for (before, part) in zip(parts, parts.dropFirst()) {
            let stands = !(before.last?.isWordCharacter ?? false) && !(part.first?.isWordCharacter ?? false)
            result += (stands ? text.description : word) + part
        }
        return TerminalText(harmless: result)
    }

    package static func + (left: TerminalText, right: TerminalText) -> TerminalText {
        TerminalText(harmless: left.description + right.description)
    }

    package static func += (left: inout TerminalText, right: TerminalText) { left.description += right.description }

    /// The pieces of a literal.
    package struct Pieces: StringInterpolationProtocol {
        /// The literal with `%1` in the place of the first value and so on.
        fileprivate var template = ""
        fileprivate var values: [String] = []

        package init(literalCapacity: Int, interpolationCount: Int) {}

        package mutating func appendLiteral(_ literal: String) { template += literal }
        package mutating func appendInterpolation(_ value: TerminalText) { append(value.description) }
        package mutating func appendInterpolation(_ value: some Any) { append(HarmlessText.line("\(value)")) }

        private mutating func append(_ value: String) {
            values.append(value)
            template += "%\(values.count)"
        }
    }
}

extension TerminalText {
    package typealias StringInterpolation = Pieces
}

extension Sequence where Element == TerminalText {
    /// Returns the texts with a separator between them.
    package func joined(separator: TerminalText = "") -> TerminalText {
        var result: TerminalText = ""
        for (index, text) in enumerated() { result += index == 0 ? text : separator + text }
        return result
    }
}

extension Character {
    fileprivate var isWordCharacter: Bool { isLetter || isNumber || self == "_" }
}
