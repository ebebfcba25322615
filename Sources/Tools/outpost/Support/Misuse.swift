import ArgumentParser
import ODataQuery
import ToolLanguage

/// A wrong command line, with the nearest command for a misspelt one.
struct Misuse {
    let message: TerminalText
    let advice: TerminalText?

    /// Describes an error of the argument parser.
    ///
    /// - Parameter arguments: the arguments of the process.
    init(_ error: any Error, arguments: [String]) {
        var lines = Self.harmless(Outpost.fullMessage(for: error), arguments).split(
            separator: "\n", omittingEmptySubsequences: false)
        let first = lines.isEmpty ? "" : String(lines.removeFirst())
        let told = first.hasPrefix("Error: ") ? String(first.dropFirst("Error: ".count)) : first
        advice = lines.isEmpty ? nil : TerminalText(lines: ParserText.text(lines.joined(separator: "\n")))
        guard told.contains("nexpected argument") || told.contains("nknown option"),
            let unknown = Self.unknownCommand(arguments)
        else {
            message = TerminalText(lines: ParserText.text(told))
            return
        }
        let near: TerminalText =
            unknown.suggestions.isEmpty
            ? "" : " Did you mean \(unknown.suggestions.joined(separator: translated(" or ")))?"
        message = "There is no command '\(unknown.name)'.\(near)"
    }

    /// Puts each argument that the text repeats on one line.
    private static func harmless(_ text: String, _ arguments: [String]) -> String {
        var text = text
        for argument in arguments {
            let value = argument.drop { $0 != "=" }.dropFirst()
            for part in [argument, String(value)] where HarmlessText.line(part) != part {
                text = text.replacing(part, with: HarmlessText.line(part))
            }
        }
        return text
    }

    /// Returns the first word that stands in the place of a command but is none, with similar commands.
    static func unknownCommand(_ arguments: [String]) -> (name: String, suggestions: [String])? {
        var command: any ParsableCommand.Type = Outpost.self
        var path: [String] = []
        for word in arguments {
            let subcommands = command.configuration.subcommands
            guard !subcommands.isEmpty, !word.hasPrefix("-") else { return nil }
            if let next = subcommands.first(where: { names(of: $0).contains(word) }) {
                command = next
                path.append(word)
                continue
            }
            let shown = subcommands.filter { $0.configuration.shouldDisplay }.flatMap(names)
            let near = QueryError.suggestions(for: word, among: shown)
            // A command that runs without a word of its own takes other arguments.
            if command.configuration.defaultSubcommand != nil, near.isEmpty { return nil }
            return ((path + [word]).joined(separator: " "), near.map { (path + [$0]).joined(separator: " ") })
        }
        return nil
    }

    private static func names(of command: any ParsableCommand.Type) -> [String] {
        [command._commandName] + command.configuration.aliases
    }
}
