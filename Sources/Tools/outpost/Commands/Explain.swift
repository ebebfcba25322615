import ArgumentParser
import ODataQuery
import OfflineOData
import ToolLanguage

struct Explain: AsyncParsableCommand, StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: translated("Show how queries are downloaded, or how a query is answered."),
        discussion: translated(
            paragraphs: """
                Without a query, each defining query is shown with its way of download and its $expand. Missing parts \
                of the service follow, with the queries that would bring them.

                With a query, the command shows its parsed form, the SQL and the plan of SQLite.

                EXAMPLE
                  outpost explain shop
                  outpost explain shop 'Orders?$filter=Freight gt 500'
                """))

    @OptionGroup var store: StoreOptions
    @Argument(help: .text("A query, relative to the service root.")) var query: String?
    @Flag(help: .text("Report as JSON.")) var json = false

    private struct Line: Encodable {
        var name: String
        var query: String
        var download: String
        var leftOut: [String]?
        var expands: [String]
    }

    func run() async throws {
        if let query {
            let explanation = try await store.reading { provider in
                let url = try provider.url(typed: query)
                return try await provider.indexes.explain(url)
            }
            print(
                json
                    ? JSONText(explanation.description.split(separator: "\n").map(String.init)).text
                    : explanation.text)
            return
        }
        let (downloads, untyped, missing) = try await store.reading {
            (
                try await $0.queries.explainDownloads(), try await $0.queries.setsOfUnknownTypes(),
                try await $0.queries.missingParts()
            )
        }
        var lines = downloads.map {
            Line(
                name: $0.name, query: $0.query, download: $0.method, leftOut: $0.leftOut.isEmpty ? nil : $0.leftOut,
                expands: $0.parts)
        }
        lines += untyped.map {
            Line(
                name: $0, query: $0, download: translated("left out: the metadata do not declare its type"), expands: []
            )
        }
        if json {
            let rest = missing.map {
                Line(
                    name: $0.name, query: $0.query ?? "", download: translated("not in the clone"), leftOut: nil,
                    expands: [])
            }
            print(JSONText(lines + rest).text)
            return
        }
        for line in lines {
            print("\(Terminal.bold(line.name)): \(line.query)")
            print("    \(LibraryText.text(line.download))")
            if let left = line.leftOut {
                print("    asked without \(left.joined(separator: ", ")), which the service refuses")
            }
            for part in line.expands { print("    \(LibraryText.text(part))") }
        }
        for line in MissingParts.lines(missing, title: "Not in the clone") { print(line) }
    }
}
