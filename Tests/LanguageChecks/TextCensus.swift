import Foundation

/// The texts in the sources of a tool, beside its German texts.
public struct TextCensus: Sendable {
    /// All literals of the tool.
    public let literals: [ToolLiteral]
    /// The German texts by the English ones.
    private let german: [String: String]
    private let tables: [[String: String]]
    private let forPrograms: Set<String>

    /// Reads the sources of a tool.
    ///
    /// - Parameters:
    ///   - folder: the folder of the sources; files with names such as `GermanTexts…` are left out.
    ///   - tables: the German texts of the tool.
    ///   - forPrograms: the texts with several words that are not for a person.
    ///   - exampleHeading: the first line of a paragraph with examples.
    ///   - documents: the folder within it with documents that the tool writes, which are English.
    public init(
        folder: URL, tables: [[String: String]], forPrograms: Set<String>, exampleHeading: String,
        documents: String? = nil
    ) throws {
        self.tables = tables
        self.forPrograms = forPrograms
        german = tables.reduce(into: [:]) { $0.merge($1) { first, _ in first } }
        literals = try Self.literals(in: folder).filter { found in
            !found.file.contains("GermanTexts") && !(documents.map { found.file.hasPrefix($0 + "/") } ?? false)
        }.map {
            ToolLiteral(file: $0.file, literal: $0.literal, exampleHeading: exampleHeading)
        }
    }

    /// Returns all literals of the sources in a folder.
    static func literals(in folder: URL) throws -> [(file: String, literal: SourceLiteral)] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted().filter { $0.hasSuffix(".swift") }
            .flatMap { file in
                let source = try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
                return SourceLiterals(source).literals.map { (file, $0) }
            }
    }

    /// Returns the number of words outside the places of values.
    static func words(in text: String) -> Int {
        text.replacing(/%\d/, with: "").matches(of: /\p{L}{2,}/).count
    }

    // MARK: Findings

    /// The texts for a person without a German counterpart.
    public var missing: [String] {
        literals.filter { found in
            found.isForPerson && !forPrograms.contains(found.literal.text)
                && found.texts.contains { Self.words(in: $0) > 0 && german[$0] == nil }
        }.map(\.description)
    }

    /// The German texts without an English text in the source.
    public var unused: [String] {
        let used = Set(literals.flatMap(\.texts))
        return german.keys.filter { !used.contains($0) }.sorted()
    }

    /// The English texts in more than one table.
    public var doubled: [String] {
        Dictionary(grouping: tables.flatMap(\.keys)) { $0 }.filter { $0.value.count > 1 }.keys.sorted()
    }

    /// The German texts with an option, a command or a variable that the English text does not have.
    public var unknownNames: [String] {
        let names = /--[a-z][a-z-]+|[A-Z]+_[A-Z_]+/
        return german.filter { english, german in
            let found = [english, german].map { text in Set(text.matches(of: names).map { String($0.output) }) }
            return !found[1].isSubset(of: found[0])
        }.keys.sorted()
    }

    /// The help texts and usage errors that are not looked up.
    public var bareHelp: [String] {
        literals.filter { found in
            ["abstract:", "discussion:", "help:", "ArgumentHelp(", "ValidationError("].contains {
                found.literal.before.hasSuffix($0)
            }
        }.map(\.description)
    }

    /// The texts that are put into another one without being looked up.
    public var bareNested: [String] {
        let lookups = /(?:^|\W)(?:translated|plural|red|green|yellow|bold|dim)\([^"]*(""[^"]*)*$|joined\(/
        return literals.filter { found in
            found.literal.isInterpolated && german[found.literal.text] != nil
                && found.literal.before.firstMatch(of: lookups) == nil
        }.map(\.description)
    }

    /// The styled literals within another text. There, the overload for foreign text would take them.
    public var bareStyled: [String] {
        literals.filter { found in
            found.literal.isInterpolated && found.literal.interpolations == 0
                && found.literal.before.firstMatch(of: /Terminal\.(?:red|bold|dim)\($/) != nil
        }.map(\.description)
    }

    /// Returns the English texts with other values in German.
    public static func otherValues(in table: [String: String]) -> [String] {
        table.filter { english, german in
            let places = [english, german].map { text in text.matches(of: /%\d/).map { String($0.output) }.sorted() }
            return places[0] != places[1]
        }.keys.sorted()
    }
}
