/// A literal in the source of a tool.
public struct ToolLiteral: Sendable, CustomStringConvertible {
    /// The path of the file in the folder of the tool.
    public var file: String
    /// The literal.
    public var literal: SourceLiteral
    /// The first line of a paragraph with examples, of which only the heading is translated.
    var exampleHeading: String

    /// The place and the text.
    public var description: String { "\(file):\(literal.line): \(literal.text)" }

    /// Whether a text of the tool, and not one for a program, is looked up here.
    var isForPerson: Bool {
        if literal.before.hasSuffix("commandName:") || literal.before.firstMatch(of: /logger\.\w+\($/) != nil {
            return false
        }
        let words = TextCensus.words(in: literal.text)
        return words > 1 && literal.text.contains(" ") || words > 0 && isShown
    }

    /// Whether the literal is an argument of a function that shows texts.
    private var isShown: Bool {
        // A choice between texts, such as `isNew ? "Added" : "Changed"`, stands in the place of a text.
        let code = literal.before.replacing(/(?:[^()":,?]*\?(?:"":)?)+$/, with: "")
        let call =
            /(?:^|\W)(?:print|write|line|error|red|green|yellow|bold|dim|confirm|askSecret|translated|during|update)\($/
        let label = /(?:^|\W)(?:message|advice|title):$/
        let header = /(?:^|\W)[Tt]able\(\[(?:"",)*$/
        return code.firstMatch(of: call) != nil || code.firstMatch(of: label) != nil
            || code.firstMatch(of: header) != nil || isNoun
    }

    /// Whether the literal is a noun that follows a number.
    private var isNoun: Bool { literal.before.firstMatch(of: /plural\((?:[^()]|\([^()]*\))*,$/) != nil }

    /// The English texts that are looked up.
    var texts: [String] {
        if literal.before.hasSuffix("translated(paragraphs:") {
            return literal.text.split(separator: "\n\n").map { String($0) }.filter {
                !$0.hasPrefix(exampleHeading + "\n")
            }
        }
        let hasOwnPlural = literal.after.hasPrefix(", plural:")
        return isNoun && !hasOwnPlural ? [literal.text, literal.text + "s"] : [literal.text]
    }
}
