import Foundation

/// A string literal of a Swift source file.
public struct SourceLiteral: Sendable {
    /// The text as the running program looks it up: escapes are resolved, and interpolations are `%1`, `%2`, ….
    public var text: String
    /// The number of interpolations.
    public var interpolations: Int
    /// The line of the literal, from one.
    public var line: Int
    /// The code of the same statement before the literal, without white space; at most 80 characters.
    public var before: String
    /// The code that follows the literal, at most 20 characters.
    public var after: String
    /// Whether the literal stands in an interpolation of another one; the code before it begins there.
    public var isInterpolated: Bool
}

/// A reader that finds the string literals of a Swift source file, also those within interpolations.
public struct SourceLiterals {
    private let source: [Character]
    private var place = 0
    private var line = 1
    private var code = ""
    private var depth = 0
    /// The literals in the order of the source; one within an interpolation stands after its outer one.
    public private(set) var literals: [SourceLiteral] = []

    /// Reads a source.
    public init(_ text: String) {
        source = Array(text)
        readCode(untilParenthesis: false)
    }

    private func character(_ offset: Int = 0) -> Character? {
        place + offset < source.count ? source[place + offset] : nil
    }

    private func starts(with text: String) -> Bool {
        text.enumerated().allSatisfy { character($0.offset) == $0.element }
    }

    private mutating func advance(_ count: Int = 1) {
        for _ in 0..<count {
            if character()?.isNewline == true { line += 1 }
            place += 1
        }
    }

    /// Reads code up to the end, or up to the parenthesis that ends an interpolation.
    private mutating func readCode(untilParenthesis: Bool) {
        var depth = 0
        while let next = character() {
            if starts(with: "//") {
                while let next = character(), !next.isNewline { advance() }
                continue
            }
            if starts(with: "/*") {
                while character() != nil, !starts(with: "*/") { advance() }
                advance(2)
                continue
            }
            if next == "\"" || next == "#" && (character(1) == "\"" || starts(with: "##")) {
                readLiteral()
                continue
            }
            if next == "(" { depth += 1 }
            if next == ")" {
                if depth == 0, untilParenthesis { return }
                depth -= 1
            }
            if !next.isWhitespace { code.append(next) }
            advance()
        }
    }

    private mutating func readLiteral() {
        var marks = 0
        while character() == "#" {
            marks += 1
            advance()
        }
        // A `#` that begins no literal, such as a macro.
        guard character() == "\"" else { return }
        let quote = starts(with: "\"\"\"") ? "\"\"\"" : "\""
        let end = quote + String(repeating: "#", count: marks)
        let escape = "\\" + String(repeating: "#", count: marks)
        let (begin, before) = (line, String(code.suffix(80)))
        advance(quote.count)
        var text = ""
        var interpolations = 0
        let slot = literals.count
        while let next = character(), !starts(with: end) {
            guard starts(with: escape) else {
                text.append(next)
                advance()
                continue
            }
            advance(escape.count)
            if character() == "(" {
                advance()
                let outer = code
                code = ""
                depth += 1
                readCode(untilParenthesis: true)
                depth -= 1
                code = outer
                advance()
                interpolations += 1
                text += "%\(interpolations)"
            } else {
                text += readEscape()
            }
        }
        advance(end.count)
        if quote.count == 3 { text = Self.unindented(text) }
        // A quotation mark in a regular expression may open a literal that the file does not close.
        let after = String(source[min(place, source.count)..<min(place + 20, source.count)])
        literals.insert(
            SourceLiteral(
                text: text.replacing("\u{E001}", with: "\n"), interpolations: interpolations, line: begin,
                before: before, after: after, isInterpolated: depth > 0),
            at: slot)
        code += "\"\""
    }

    /// Reads the characters after the mark of an escape. An escaped line end
    /// becomes U+E000, and `\n` U+E001, since neither is a line end of the source.
    private mutating func readEscape() -> String {
        defer { advance() }
        switch character() {
        case "n": return "\u{E001}"
        case "t": return "\t"
        case "r": return "\r"
        case "0": return "\0"
        case "u":
            var digits = ""
            advance(2)
            while let next = character(), next != "}" {
                digits.append(next)
                advance()
            }
            return UInt32(digits, radix: 16).flatMap { UnicodeScalar($0) }.map { String($0) } ?? ""
        case .some(let next) where next.isNewline: return "\u{E000}\n"
        case .some(let next): return String(next)
        case nil: return ""
        }
    }

    /// Returns the text of a literal with three quotes without its indentation.
    private static func unindented(_ text: String) -> String {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropFirst().map { String($0) }
        let indentation = lines.popLast()?.count ?? 0
        lines = lines.map { String($0.dropFirst(indentation)) }
        return lines.joined(separator: "\n").replacing("\u{E000}\n", with: "")
    }
}
