import ArgumentParser
import OfflineOData
import ToolLanguage

struct AddQuery: AsyncParsableCommand, StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "add-query",
        abstract: translated("Keep one more query offline; the next pull brings its rows."),
        discussion: translated(
            paragraphs: """
                EXAMPLE
                  outpost add-query shop 'open=Orders?$filter=ShippedDate eq null'
                  outpost add-query shop --group daily \\
                    norway="Customers?\\$filter=Country eq 'Norway'"
                  outpost add-query shop 'mine=Orders?$filter=EmployeeID eq @me' --set me=7
                  outpost pull shop --only open
                """))

    @OptionGroup var store: StoreOptions
    @Argument(help: .text("The query, with a name for it.", valueName: "name=query")) var query: String
    @Option(help: .text("The group in which the query is pulled.")) var group: String?
    @Flag(help: .text("Also load the streams of its entities, such as pictures.")) var streams = false
    @Flag(help: .text("Its rows are the same for every user: keep them when another user takes over the clone."))
    var shared = false
    @OptionGroup var parameters: ParameterOptions
    @Flag(help: .text("Report as JSON.")) var json = false

    func run() async throws {
        let provider = try await store.open()
        let query: DefiningQuery
        do {
            query = try Clone.definingQuery(
                self.query, root: provider.serviceRoot, group: group, streams: streams, isShared: shared)
            try await provider.queries.setParameters(try parameters.values)
            try await provider.queries.add(query)
            try provider.close()
        } catch {
            try? provider.close()
            throw error
        }
        if json {
            print(JSONText(Report(query)).text)
        } else {
            print("Added \(query.name).")
            print(
                Terminal.dim(
                    "Bring its rows with: outpost pull \(store.directory.shellQuoted) --only \(query.name.shellQuoted)")
            )
        }
    }

    private struct Report: Encodable {
        var name: String
        var query: String
        var group: String?
        var streams: Bool
        var isShared: Bool

        init(_ query: DefiningQuery) {
            name = query.name
            self.query = query.text
            group = query.group
            streams = query.retrievesStreams
            isShared = query.isShared
        }
    }
}
