import Foundation
import LanguageChecks
import Testing

@testable import ToolLanguage
@testable import outpost_server

@Suite("The server's program speaks English and German")
struct ServerLanguageTests {
    private static func folder(_ path: String) -> URL { ServerTool.root.appendingPathComponent("Sources/\(path)") }

    /// The texts with several words that are not for a person.
    private static let forPrograms: Set<String> = ["master key", "data folder"]

    /// The texts in the sources of the program; `nil` if the sources cannot be read.
    private static let census = try? TextCensus(
        folder: folder("Tools/outpost-server"), tables: GermanTexts.tables, forPrograms: forPrograms,
        exampleHeading: exampleHeading, documents: "Default")

    init() { Language.learn(GermanTexts.tables, sentences: GermanTexts.library) }

    @Test("Every text for a person has a German counterpart, and no counterpart is without its text")
    func complete() throws {
        let census = try #require(Self.census)
        #expect(census.literals.count > 400)
        #expect(census.missing == [])
        #expect(census.unused == [])
        #expect(census.doubled == [])
    }

    @Test("Values, options and variables are the same in both languages")
    func values() throws {
        for table in GermanTexts.tables + [GermanTexts.library] { #expect(TextCensus.otherValues(in: table) == []) }
        #expect(try #require(Self.census).unknownNames == [])
    }

    @Test("Help, usage errors and texts within others are looked up in the tables")
    func lookups() throws {
        let census = try #require(Self.census)
        #expect(census.bareHelp == [])
        #expect(census.bareNested == [])
    }

    @Test(
        "Every error and finding of the server and its state has a German counterpart",
        arguments: [
            "Mobile/MobileServer", "Mobile/ServerState", "Mobile/ServerStatePostgres", "Databases/PostgresClient",
        ])
    func errors(folder: String) throws {
        let missing = try LibrarySentences.untranslated(in: Self.folder(folder)) {
            LibraryText.text($0, in: .german) != $0
        }
        #expect(missing == [])
    }

    @Test("Each English sentence in the table stands in the source of the server or its state")
    func sentences() throws {
        #expect(GermanTexts.library.count > 100)
        let folders = ["Mobile", "Databases/PostgresClient"].map(Self.folder)
        #expect(try LibrarySentences.absent(GermanTexts.library.keys, from: folders) == [])
    }

    @Test("Errors of the state are put into German with their values")
    func german() {
        func german(_ text: String) -> String { LibraryText.text(text, in: .german) }
        #expect(german("There is no operator 'ann'.") == "Nicht vorhanden: Betreiber 'ann'.")
        #expect(
            german("server.listen is HOST:PORT, or empty for no listener.").hasSuffix("oder leer für keine Adresse."))
        #expect(
            german(
                "'a b' is no name in applications: a name has 1 to 64 letters, digits, dots, hyphens and underscores.")
                == "'a b' ist kein Name in Anwendungen: ein Name hat 1 bis 64 Buchstaben, Ziffern, Punkte, "
                + "Bindestriche und Unterstriche.")
    }

    @Test("Help, results and errors are German, and JSON is English")
    func story() async throws {
        let tool = try ServerTool(language: "de_DE.UTF-8")
        let help = try await tool.run("--help")
        #expect(help.code == 0)
        for word in ["ÜBERSICHT: OData-Dienste", "RÜCKGABEWERTE", "BEISPIEL", "BEFEHLE:"] {
            #expect(help.output.contains(word), "\(word) in \(help.output)")
        }
        let made = try await tool.run("init", tool.data)
        #expect(made.code == 0 && made.output.contains("Der Server ist in"), "\(made)")
        let unknown = try await tool.run("app", "show", "shop", "--data", tool.data)
        #expect(unknown.errors.contains("Fehler: Die Anwendung 'shop' gibt es nicht."), "\(unknown.errors)")
        let json = try await tool.run("app", "show", "shop", "--data", tool.data, "--json")
        #expect(json.errors.contains("There is no application 'shop'."), "\(json.errors)")
        let option = try await tool.run("app", "list", "--nothing")
        #expect(option.code == 2 && option.errors.contains("Die Option '--nothing' gibt es nicht."), "\(option.errors)")
        let file = try tool.write("server:\n  listn: 127.0.0.1:0\n", to: "s.yaml")
        let checked = try await tool.run("check", "--config", file)
        #expect(
            checked.code == 2 && checked.output.contains("hat keinen Schlüssel 'listn'. Gemeint: listen?"), "\(checked)"
        )
    }
}
