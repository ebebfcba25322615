import Foundation
import LanguageChecks
import Testing

@testable import ToolLanguage
@testable import outpost

@Suite("The tool speaks English and German")
struct LanguageTests {
    /// The texts with several words that are not for a person: commands, addresses, logs and texts that are compared.
    private static let forPrograms: Set<String> = [
        "%1?$filter=IsActiveEntity eq false", "application/xml, application/json;q=0.9", "defining query",
        "outpost export %1 --query %2 --format csv", "\"$(cat %1)\"", "outpost push %1 --from-copy",
        "outpost changes %1 --failed", "parameter @", "refused request", "request in doubt", "queued request",
        "--service-language %1", "--user %1", "--follow %1", "'X-Tenant: blue'", "outpost %1 %2", "outpost changes %1",
        "reloaded; other settings change at the next start", "not reloaded, the former settings stay: %1",
        "<!doctype html><html lang=\"%1\"><meta charset=\"utf-8\"><title>Outpost</title><p>%2</p></html>\n",
        "text/html; charset=utf-8", "default-src 'none'; frame-ancestors 'none'", "nexpected argument",
        "nknown option", "The service has a new model since the request came: send it again.", "outpost tool log",
        "SRID=4326;Point(7.44 46.95)", "SQL (%1)", "  VALUES %1", "outpost pull %1", "outpost pull", "outpost changes",
        "below %1", "outpost changes retry", "outpost changes discard", "outpost changes accept",
        "Texts of strangers must be made harmless: give print a TerminalText.",
    ]

    /// The texts in the sources of the tool; `nil` if the sources cannot be read.
    private static let census = try? TextCensus(
        folder: Site.root.appendingPathComponent("Sources/Tools/outpost"), tables: GermanTexts.tables,
        forPrograms: forPrograms, exampleHeading: exampleHeading)

    init() { Language.learn(GermanTexts.tables, sentences: GermanTexts.sentences) }

    // MARK: Completeness

    @Test("Every text for a person has a German counterpart")
    func complete() throws {
        let census = try #require(Self.census)
        #expect(census.literals.count > 2000)
        #expect(census.missing == [])
    }

    @Test("Every German text has an English text in the source, and no English text is in two tables")
    func used() throws {
        let census = try #require(Self.census)
        #expect(census.unused == [])
        #expect(census.doubled == [])
        #expect(GermanTexts.tables.reduce(0) { $0 + $1.count } > 1000)
    }

    @Test("A German text has the same values as the English one")
    func values() {
        for table in GermanTexts.tables + [GermanTexts.sentences] { #expect(TextCensus.otherValues(in: table) == []) }
    }

    @Test("Options, commands and variables are the same in both languages")
    func names() throws { #expect(try #require(Self.census).unknownNames == []) }

    @Test("Help and usage errors are looked up in the tables")
    func help() throws { #expect(try #require(Self.census).bareHelp == []) }

    @Test("A text that is put into another one is looked up in the tables")
    func nested() throws {
        let census = try #require(Self.census)
        #expect(census.bareNested == [])
        #expect(census.bareStyled == [])
    }

    @Test("The reader of sources finds literals, their values and escapes")
    func reader() {
        let source = #"""
            let a = "x \(b ? "y" : z(1)) \n" // "none"
            let c = """
                One \
                line and \(d).

                  Two
                """
            """#
        let literals = SourceLiterals(source).literals
        #expect(literals.map(\.text) == ["x %1 \n", "y", "One line and %1.\n\n  Two"])
        #expect(literals.map(\.line) == [1, 1, 2])
        #expect(literals.map(\.isInterpolated) == [false, true, false])
        #expect(literals[0].before == "leta=" && literals[1].before == "b?")
    }

    // MARK: Texts of others

    @Test("Each English sentence of the store in the table stands in the source of the store")
    func library() throws {
        let folders = ["Ground", "Keys", "Language", "Storage", "Sync", "Protocol", "Transport", "Generate"].map {
            Site.root.appendingPathComponent("Sources/\($0)")
        }
        #expect(try LibrarySentences.absent(GermanTexts.sentences.keys, from: folders) == [])
    }

    @Test("A sentence of the store is put into German with its values, and others stay as they are")
    func sentences() {
        func german(_ text: String) -> String { LibraryText.text(text, in: .german) }
        #expect(german("Orders has no property Fright.") == "Orders hat keine Eigenschaft Fright.")
        #expect(german("$crossjoin here is not supported.") == "$crossjoin hier wird nicht unterstützt.")
        #expect(german("Lord of the Rings does not exist.") == "Lord of the Rings gibt es nicht.")
        #expect(german("Name holds 'a', not 'b'.") == "Name enthält 'a', nicht 'b'.")
        #expect(german("A service may say anything") == "A service may say anything")
        #expect(
            german(
                "2 changes are held, since the store was put back to an earlier state: another copy of the store may "
                    + "have sent the same."
            ).hasPrefix("2 Änderungen werden zurückgehalten, weil der Speicher auf einen"))
        #expect(LibraryText.text("Orders has no property Fright.", in: .english) == "Orders has no property Fright.")
    }

    // MARK: The choice

    @Test("The first variable with a value chooses the language")
    func choice() {
        func language(_ environment: [String: String], _ arguments: String...) -> Language {
            Language(arguments: arguments, environment: environment)
        }
        #expect(language([:]) == .english)
        #expect(language(["LANG": "de_AT.UTF-8"]) == .german)
        #expect(language(["LANG": "de_DE.UTF-8", "LC_ALL": "C"]) == .english)
        #expect(language(["LANG": "en_US.UTF-8", "LC_MESSAGES": "de"]) == .german)
        #expect(language(["LANG": "de_DE.UTF-8", "LC_ALL": ""]) == .german)
        #expect(language(["LC_ALL": "de_DE.UTF-8", "OUTPOST_LANGUAGE": "en"]) == .english)
        #expect(language(["LANG": "deu", "LC_CTYPE": "de_DE"]) == .english)
    }

    @Test("Output for programs is English", arguments: ["--json", "--experimental-dump-help"])
    func programs(option: String) {
        let environment = ["LANG": "de_DE.UTF-8"]
        #expect(Language(arguments: ["status", "shop", option], environment: environment) == .english)
        #expect(Language(arguments: ["vault", "get", "--", option], environment: environment) == .german)
    }

    @Test("A value that looks like a place is not replaced")
    func valuesAreKept() {
        #expect(Language.german.text("Clone of %1", ["%1 %2"]) == "Klon von %1 %2")
        #expect(Language.english.text("%2 of %1 (%3 %)", ["a", "b", "c"]) == "b of a (c %)")
        #expect(Language.german.text("No such text %1", ["x"]) == "No such text x")
    }

    @Test("Texts of the argument parser are put into German, and its values stay")
    func parser() {
        func german(_ text: String) -> String { ParserText.text(text, in: .german) }
        #expect(german("Unknown option '--x'") == "Die Option '--x' gibt es nicht.")
        #expect(
            german("Unknown option '--x'. Did you mean '--y'?") == "Die Option '--x' gibt es nicht. Gemeint: '--y'?")
        #expect(german("Missing expected argument '<directory>'") == "Das Argument '<directory>' fehlt.")
        #expect(
            german("The value 'x' is invalid for '--port <port>'") == "Der Wert 'x' ist ungültig für '--port <port>'")
        #expect(german("Usage: outpost pull\n  See 'outpost pull --help' for more information.").contains("Aufruf: "))
        #expect(ParserText.text("USAGE: outpost", in: .english) == "USAGE: outpost")
    }

    // MARK: The tool

    /// The environment of a person who speaks German.
    private static let germanEnvironment = [
        "OUTPOST_LANGUAGE": "", "LC_ALL": "", "LC_MESSAGES": "", "LANG": "de_DE.UTF-8",
    ]

    private func run(_ tool: Tool, _ arguments: String...) async throws -> Tool.Result {
        try await tool.run(arguments, environment: Self.germanEnvironment)
    }

    @Test("The help of a command is German, and its examples stay")
    func germanHelp() async throws {
        let site = try Site()
        let help = try await run(site.tool, "--help")
        #expect(help.code == 0 && help.output.contains("OData-Dienste offline nehmen."), "\(help.output)")
        for word in ["ÜBERSICHT:", "AUFRUF:", "BEFEHLE:", "OPTIONEN:", "RÜCKGABEWERTE"] {
            #expect(help.output.contains(word), "\(word)")
        }
        let query = try await run(site.tool, "query", "--help")
        #expect(query.output.contains("BEISPIEL\n  outpost query shop ''"), "\(query.output)")
        for word in ["EXAMPLE", "OVERVIEW", "Report as", "Show help"] { #expect(!query.output.contains(word)) }
    }

    @Test("Errors are German")
    func germanErrors() async throws {
        let site = try Site()
        let unknown = try await run(site.tool, "qery")
        #expect(unknown.code == 2 && unknown.errors.contains("Fehler: Es gibt keinen Befehl 'qery'. Gemeint: query?"))
        let missing = try await run(site.tool, "query")
        #expect(missing.errors.contains("fehlt.") && missing.errors.contains("Aufruf: "), "\(missing.errors)")
        let usage = try await run(site.tool, "undo", site.path("x"))
        #expect(usage.errors.contains("Die Entitäten nennen, oder --all angeben."), "\(usage.errors)")
        let folder = try await run(site.tool, "status", site.path("none"))
        #expect(folder.errors.contains("Einen anlegen mit: outpost clone URL \(site.path("none"))"), "\(folder.errors)")
        let connection = try await run(site.tool, "clone", "http://127.0.0.1:1/", site.path("clone"))
        #expect(connection.errors.contains("Keine Verbindung zu 127.0.0.1"), "\(connection.errors)")
        #expect(connection.errors.contains("Läuft der Dienst"), "\(connection.errors)")
    }

    @Test("A clone is made, changed and pushed in German, and its JSON is the same in both languages")
    func germanStory() async throws {
        let site = try Site()
        let clone = site.path("clone")
        try await ThingService(others: ["Others"]).serving { url in
            let cloned = try await run(site.tool, "clone", url, clone)
            #expect(cloned.output.contains("0 Zeilen aus 2 Entitätsmengen"), "\(cloned)")
            let created = try await run(site.tool, "create", clone, "Things", "Name=Ente")
            #expect(created.output.contains("Angelegt: Things("), "\(created)")
            #expect(created.output.contains("1 Änderung zu senden."), "\(created)")
            let status = try await run(site.tool, "status", clone)
            #expect(status.output.contains("Letzter Download") && status.output.contains("Zu senden:"), "\(status)")
            let json = try await run(site.tool, "status", clone, "--json")
            #expect(json.output == (try await site.tool.run("status", clone, "--json")).output)
            let pushed = try await run(site.tool, "push", clone)
            #expect(pushed.output.contains("Gesendet: 1 Änderung, 0 abgelehnt, 0 wartend."), "\(pushed)")
            let wrong = try await run(site.tool, "update", clone, "Things(1)", "Nam=x")
            #expect(wrong.errors.contains("hat keine Eigenschaft Nam.\nGemeint: Name?"), "\(wrong.errors)")
            let error = try await run(site.tool, "update", clone, "Things(1)", "Nam=x", "--json")
            #expect(error.errors.contains("has no property Nam."), "\(error.errors)")
        }
    }

    @Test("Manual pages and completions stay English")
    func englishForPrograms() async throws {
        let site = try Site()
        let dump = try await run(site.tool, "--experimental-dump-help")
        #expect(dump.output.contains("Take OData services offline.") && !dump.output.contains("BEISPIEL"))
        let completion = try await run(site.tool, "--generate-completion-script", "zsh")
        #expect(completion.output.contains("Report as JSON.") && !completion.output.contains("Ausgabe als JSON"))
    }
}
