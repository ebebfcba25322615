/// The texts of the argument parser, which it has in English only.
package enum ParserText {
    /// Returns a message or a help of the parser in a language.
    ///
    /// - Parameter text: the text of the parser; texts of the tool in it have that language already.
    package static func text(_ text: String, in language: Language = .current) -> String {
        guard language == .german else { return text }
        let translated = text.split(separator: "\n", omittingEmptySubsequences: false).map { german(String($0)) }
        return words.reduce(translated.joined(separator: "\n")) {
            $0.replacing($1.english, with: $1.german)
        }
    }

    private static func german(_ line: String) -> String {
        for (english, german) in lines {
            guard let value = between(english, in: line) else { continue }
            return german.before + value + german.after
        }
        return line
    }

    /// Returns the part of a line between two texts; `nil` if the line has another form.
    private static func between(_ frame: Frame, in line: String) -> Substring? {
        guard line.count >= frame.before.count + frame.after.count, line.hasPrefix(frame.before),
            line.hasSuffix(frame.after)
        else { return nil }
        return line.dropFirst(frame.before.count).dropLast(frame.after.count)
    }

    /// A line with one part that varies.
    struct Frame: Sendable {
        var before: String
        var after: String

        init(_ before: String, _ after: String = "") {
            self.before = before
            self.after = after
        }
    }
}
