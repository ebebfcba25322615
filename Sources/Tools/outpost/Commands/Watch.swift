import ArgumentParser
import Foundation
import ODataModel
import ODataQuery
import OfflineOData
import ToolLanguage

struct Watch: AsyncParsableCommand, StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: translated("Show the changes of a query result until interrupted."),
        discussion: translated(
            paragraphs: """
                Shows edits and pulls of every process as they happen: '+' for an entity that enters the result, '~' \
                for a changed one, '-' for one that leaves.

                EXAMPLE
                  outpost watch shop \\
                    'Orders?$filter=ShippedDate eq null&$select=OrderID,Freight'
                  outpost watch shop Orders --json | jq .entity
                """))

    @OptionGroup var store: StoreOptions
    @Argument(help: .text("The query.")) var query: String
    @Flag(help: .text("Print each change as a line of JSON.")) var json = false

    func run() async throws {
        let provider = try await store.open()
        do {
            let url = try provider.url(typed: query)
            let table = EntityTable(model: provider.model, url: url)
            let writer = EntityJSON(model: provider.model, url: url, provider.traits.queryLanguage)
            for try await changes in provider.observe.changes(of: url) {
                for (sign, entities) in [
                    (Sign.removed, changes.removed), (.updated, changes.updated), (.inserted, changes.inserted),
                ] {
                    for entity in entities {
                        print(
                            json
                                ? TerminalText(json: line(sign, entity, writer: writer))
                                : text(sign, entity, table: table))
                    }
                }
                // A pipe would buffer the lines; if they cannot be written, the reader is gone.
                try Terminal.finish()
            }
            try provider.close()
        } catch {
            try? provider.close()
            throw error
        }
    }

    private enum Sign: String {
        case inserted, updated, removed

        var text: TerminalText {
            switch self {
            case .inserted: Terminal.green("+")
            case .updated: Terminal.yellow("~")
            case .removed: Terminal.red("-")
            }
        }
    }

    private func text(_ sign: Sign, _ entity: ODataEntity, table: EntityTable) -> TerminalText {
        let pairs: [TerminalText] = table.pairs(entity).map { "\($0.0)=\($0.1)" }
        return "\(sign.text) \(pairs.joined(separator: "  "))"
    }

    private func line(_ sign: Sign, _ entity: ODataEntity, writer: EntityJSON) -> String {
        var json = JSONWriter(reservingCapacity: 256)
        json.beginObject()
        json.key("change")
        json.string(sign.rawValue)
        json.key("entity")
        writer.write(entity, to: &json)
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }
}
