/// Text for a person. Literals of the program stand in it as they are; whatever is put into them is made harmless
/// (``HarmlessText/line(_:)``), so that no name, code, message or value moves the cursor, forges a line or turns what follows.
///
/// Nothing else is written to the terminal but by ``Terminal``, which takes this type, bytes, or a `String` that it makes harmless
/// as a whole.
///
/// ```swift
/// print("Cloned \(rows) of \(Terminal.bold(name)).")
/// ```
struct TerminalText: Sendable, Equatable, CustomStringConvertible, ExpressibleByStringInterpolation {
    /// What is written, with the codes of styles.
    private(set) var description: String

    private init(harmless text: String) { description = text }

    /// A text of the program.
    init(stringLiteral text: String) { description = text }

    init(stringInterpolation pieces: Pieces) { description = pieces.text }

    /// A text of a stranger, on one line.
    init(_ text: some CustomStringConvertible) { description = HarmlessText.line(text.description) }

    /// A text with lines that a part of the program has made, and names in it that it has not.
    init(lines text: String) { description = HarmlessText.lines(text) }

    /// JSON text.
    init(json text: String) { description = HarmlessText.json(text) }

    /// A text in a style of the terminal.
    ///
    /// - Parameter code: the number of the style (ECMA-48, 8.3.117).
    init(_ text: TerminalText, style code: Int) { description = "\u{1B}[\(code)m\(text.description)\u{1B}[0m" }

    /// Whether there is nothing.
    var isEmpty: Bool { description.isEmpty }

    /// The text with another one in place of a word of the program.
    func replacing(word: String, with text: TerminalText) -> TerminalText {
        let parts = description.split(separator: word, omittingEmptySubsequences: false)
        var result = parts.first.map(String.init) ?? ""
        for (before, part) in zip(parts, parts.dropFirst()) {
            let stands = !(before.last?.isWordCharacter ?? false) && !(part.first?.isWordCharacter ?? false)
            result += (stands ? text.description : word) + part
        }
        return TerminalText(harmless: result)
    }

    static func + (left: TerminalText, right: TerminalText) -> TerminalText {
        TerminalText(harmless: left.description + right.description)
    }

    static func += (left: inout TerminalText, right: TerminalText) { left.description += right.description }

    /// The pieces of a literal.
    struct Pieces: StringInterpolationProtocol {
        fileprivate var text = ""

        init(literalCapacity: Int, interpolationCount: Int) {}

        mutating func appendLiteral(_ literal: String) { text += literal }
        mutating func appendInterpolation(_ value: TerminalText) { text += value.description }
        mutating func appendInterpolation(_ value: some Any) { text += HarmlessText.line("\(value)") }
    }
}

extension TerminalText {
    typealias StringInterpolation = Pieces
}

extension Sequence where Element == TerminalText {
    /// The texts with another one between them.
    func joined(separator: TerminalText = "") -> TerminalText {
        var result: TerminalText = ""
        for (index, text) in enumerated() { result += index == 0 ? text : separator + text }
        return result
    }
}

extension Character {
    fileprivate var isWordCharacter: Bool { isLetter || isNumber || self == "_" }
}

/// Hides the function of the standard library, which writes anything: of two functions with one signature the module's own counts,
/// and one that is not available gives way to those below.
@available(*, unavailable, message: "Texts of strangers must be made harmless: give print a TerminalText.")
func print(_ items: Any..., separator: String = " ", terminator: String = "\n") {}

/// Writes a line to standard output.
func print(_ text: TerminalText) { Terminal.write(text + "\n") }

/// Writes a text of a stranger as a line to standard output.
@_disfavoredOverload
func print(_ text: some CustomStringConvertible) { print(TerminalText(text)) }
