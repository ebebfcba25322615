import ArgumentParser
import OfflineOData
import ToolLanguage

struct RemoveQuery: AsyncParsableCommand, StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove-query",
        abstract: translated("Stop keeping a query offline, and remove its rows."),
        discussion: translated(
            paragraphs: """
                Rows of other queries stay. Rows with pending changes stay until the changes are accepted.

                EXAMPLE
                  outpost remove-query shop open
                """))

    @OptionGroup var store: StoreOptions
    @Argument(help: .text("The name of the query, as 'outpost status' lists it.")) var name: String
    @Flag(help: .text("Report as JSON.")) var json = false

    func run() async throws {
        let provider = try await store.open()
        let removed: Int
        do {
            removed = try await provider.queries.remove(name)
            try provider.close()
        } catch {
            try? provider.close()
            throw error
        }
        if json {
            print(JSONText(Report(name: name, rows: removed)).text)
        } else {
            print("Removed \(name) and \(Terminal.plural(removed, "row")).")
        }
    }

    private struct Report: Encodable {
        var name: String
        var rows: Int
    }
}
