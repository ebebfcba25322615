import Foundation
import Synchronization

/// A language in which a tool of this package speaks to a person.
///
/// The English text stands at its place of use. A tool names its German texts at its start (``learn(_:sentences:)``),
/// and they are found by the English ones. A text without a German counterpart stays English.
///
/// A command with `--json`, the manual pages and the completions are for programs, so they are always English.
package enum Language: String, Sendable {
    case english = "en"
    case german = "de"

    /// The variable that chooses the language of the tool alone, before those of the system.
    package static let variable = "OUTPOST_LANGUAGE"

    /// The language of this process.
    package static let current = Language(
        arguments: CommandLine.arguments.dropFirst(), environment: ProcessInfo.processInfo.environment)

    /// Chooses the language: of `OUTPOST_LANGUAGE`, `LC_ALL`, `LC_MESSAGES` and `LANG`, the first one with a value.
    ///
    /// - Parameters:
    ///   - arguments: the arguments of the tool, without its own name.
    ///   - environment: the environment.
    package init(arguments: some Sequence<String>, environment: [String: String]) {
        let isForProgram = arguments.prefix { $0 != "--" }.contains {
            $0 == "--json" || $0 == "--experimental-dump-help" || $0.hasPrefix("--generate-completion-script")
        }
        let chosen = [Self.variable, "LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { environment[$0] }
            .first { !$0.isEmpty }
        let code = chosen?.prefix { $0.isLetter }.lowercased() ?? ""
        self = isForProgram ? .english : Language(rawValue: code) ?? .english
    }

    /// The German texts of the tool that runs.
    private struct Known {
        var texts = ParserText.systemReasons.merging([exampleHeading: "BEISPIEL"]) { first, _ in first }
        var sentences = LibraryText([:])
    }

    private static let known = Mutex(Known())

    /// The German sentences of libraries that the tool has named.
    static var sentences: LibraryText { known.withLock { $0.sentences } }

    /// Names the German texts of a tool. Its first statement does that.
    ///
    /// - Parameters:
    ///   - tables: the German texts by the English ones.
    ///   - sentences: the German sentences of libraries by the English ones.
    package static func learn(_ tables: [[String: String]], sentences: [String: String]) {
        let library = LibraryText(sentences)
        known.withLock { known in
            for table in tables { known.texts.merge(table) { first, _ in first } }
            known.sentences = library
        }
    }

    /// Returns a text of the tool in this language.
    ///
    /// - Parameters:
    ///   - template: the English text, with `%1` in the place of the first value and so on.
    ///   - values: the values, which are not searched for places.
    package func text(_ template: String, _ values: [String] = []) -> String {
        let translation = self == .german ? Self.known.withLock { $0.texts[template] } : nil
        return filled(translation ?? template, values)
    }

    /// Returns a text with values in the places `%1`, `%2` and so on.
    func filled(_ template: String, _ values: [String]) -> String {
        guard !values.isEmpty else { return template }
        var text = ""
        var rest = template[...]
        while let mark = rest.firstIndex(of: "%") {
            text += rest[..<mark]
            rest = rest[rest.index(after: mark)...]
            if let number = rest.first?.wholeNumberValue, number > 0, number <= values.count {
                text += values[number - 1]
                rest = rest.dropFirst()
            } else {
                text += "%"
            }
        }
        return text + rest
    }
}

/// Returns a text of the tool in the language of the person.
package func translated(_ text: TerminalText) -> String { text.description }

/// Returns a help text in the language of the person. Each paragraph is a text of its own; of examples, only the
/// heading is translated.
package func translated(paragraphs text: String) -> String {
    text.split(separator: "\n\n").map { paragraph in
        guard paragraph.hasPrefix(exampleHeading) else { return Language.current.text(String(paragraph)) }
        return Language.current.text(exampleHeading) + paragraph.dropFirst(exampleHeading.count)
    }.joined(separator: "\n\n")
}

/// The heading of a paragraph with examples of a command.
package let exampleHeading = "EXAMPLE"
