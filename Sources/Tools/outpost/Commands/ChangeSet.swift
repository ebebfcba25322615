import ArgumentParser
import ODataService
import OfflineOData
import ToolLanguage

struct ChangeSet: AsyncParsableCommand, StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "change-set",
        abstract: translated("Make several changes in a clone together or not at all."),
        discussion: translated(
            paragraphs: """
                Each line of the file is a change as on the command line: create, update, delete, link, unlink or \
                call, with its arguments. Empty lines and lines that begin with # are left out. $1 stands for the \
                entity of the first change, $2 for that of the second. Both may begin an address, or be the value of a \
                relation.

                The next push sends the changes as one, if the service has change sets. Undoing one of them undoes all.

                EXAMPLE
                  outpost change-set shop changes.txt
                  printf '%s\\n' 'create Orders CustomerID=ALFKI' \\
                    'create $1/Order_Lines ProductID=11 Quantity=2' | outpost change-set shop -
                """))

    @OptionGroup var store: StoreOptions
    @Argument(help: .text("The file with the changes; - reads the input."), completion: .file()) var file: String
    @OptionGroup var queuing: QueuingOptions
    @Flag(help: .text("Report as JSON.")) var json = false

    func run() async throws {
        let lines = try ChangeLines(bytes: NamedFile.contentsOrInput(of: file), name: file)
        let options = queuing.changeOptions
        let (made, pending) = try await store.reading { store in
            let editor = Edit.Editor(provider: store, options: options)
            let made = try await store.changes.transaction(options: options) { try lines.make(in: $0, by: editor) }
            return (made, try await store.changes.pending().count)
        }
        guard !json else { return print(JSONText(Report(changes: made, pending: pending)).text) }
        for change in made { print("\(change.done) \(change.entity).") }
        print(
            "\(Terminal.plural(made.count, "change")) together. "
                + Terminal.dim("\(Terminal.plural(pending, "change")) to push."))
    }

    private struct Report: Encodable {
        var changes: [ChangeLines.Made]
        var pending: Int
    }
}

/// Changes that are written as lines.
struct ChangeLines: Sendable {
    /// A change that was made.
    struct Made: Encodable, Sendable {
        var done: String
        var entity: String
    }

    private struct Line: Sendable {
        let number: Int
        let words: [String]
    }

    private let lines: [Line]
    private let name: String

    /// - Parameter name: the file, for failures.
    /// - Throws: ``Failure`` for a file that is no text, is empty, or has a quote that does not end.
    init(bytes: [UInt8], name: String) throws {
        self.name = name == "-" ? translated("the input") : name
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(message: "\(self.name) is no text in UTF-8.", status: .misused)
        }
        var lines: [Line] = []
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            guard let words = ShellWords.split(String(line)) else {
                throw Failure(
                    message: "Line \(index + 1) of \(self.name): a quote does not end.",
                    advice: "Quotes end on the line on which they begin.", status: .misused)
            }
            if !words.isEmpty { lines.append(Line(number: index + 1, words: words)) }
        }
        guard !lines.isEmpty else {
            throw Failure(
                message: "There is no change in \(self.name).",
                advice: "A line is such as: create Orders CustomerID=ALFKI",
                status: .misused)
        }
        self.lines = lines
    }

    /// Makes the changes.
    ///
    /// - Throws: ``Failure`` with the number of the line; nothing is changed then.
    func make(in transaction: LocalTransaction, by editor: Edit.Editor) throws -> [Made] {
        var editor = editor
        var made: [Made] = []
        for line in lines {
            do {
                let change = try Self.change(line.words, by: editor)
                let entity = change.entity(in: try transaction.perform(change.request))
                made.append(Made(done: change.done, entity: entity))
                editor.named["$\(made.count)"] = entity
            } catch {
                var failure = Failure(error)
                failure.message = "Line \(line.number) of \(name): \(failure.message)"
                failure.advice = failure.advice.map { "\($0)\nNothing was changed." } ?? "Nothing was changed."
                throw failure
            }
        }
        return made
    }

    private static func change(_ words: [String], by editor: Edit.Editor) throws -> Edit.Editor.Change {
        let arguments = Array(words.dropFirst(2))
        guard let command = words.first, let subject = words.dropFirst().first else {
            throw wrong("A change has a command and an entity.")
        }
        switch command {
        case "create": return try editor.creation(in: subject, arguments)
        case "update":
            guard !arguments.isEmpty else { throw wrong("An update has properties: NAME=VALUE.") }
            return try editor.update(of: subject, arguments)
        case "delete":
            guard arguments.isEmpty else { throw wrong("A deletion has one entity.") }
            return try editor.deletion(of: subject)
        case "link":
            guard arguments.count == 1 else { throw wrong("A link has a relation and an entity.") }
            return try editor.link(subject, to: arguments[0])
        case "unlink":
            guard arguments.count < 2 else { throw wrong("An unlink has a relation and at most one entity.") }
            return try editor.unlink(subject, from: arguments.first)
        case "call":
            let operation = try CalledOperation(subject, arguments, editor: editor)
            guard operation.isAction else { throw wrong("\(subject) is a function, which changes nothing.") }
            return try editor.call(operation, arguments)
        default: throw wrong("\(command) is no change.")
        }
    }

    private static func wrong(_ message: TerminalText) -> Failure {
        Failure(
            message: message, advice: "The changes are create, update, delete, link, unlink and call.", status: .misused
        )
    }
}

/// The words of a line as a shell would find them.
enum ShellWords {
    /// Splits a line at blanks outside quotes. A backslash outside single quotes takes the next character as it is, and
    /// # at the beginning of a word starts a comment.
    ///
    /// - Returns: `nil` for a quote that does not end.
    static func split(_ line: String) -> [String]? {
        var words: [String] = []
        var word: String?
        var quote: Character?
        var isEscaped = false
        for character in line {
            if isEscaped {
                word = (word ?? "") + String(character)
                isEscaped = false
            } else if character == "\\", quote != "'" {
                isEscaped = true
            } else if let open = quote {
                if character == open { quote = nil } else { word = (word ?? "") + String(character) }
            } else if character == "'" || character == "\"" {
                quote = character
                word = word ?? ""
            } else if character == " " || character == "\t" {
                if let ended = word { words.append(ended) }
                word = nil
            } else if character == "#", word == nil {
                break
            } else {
                word = (word ?? "") + String(character)
            }
        }
        guard quote == nil, !isEscaped else { return nil }
        if let word { words.append(word) }
        return words
    }
}
