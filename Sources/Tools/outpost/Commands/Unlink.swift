import ArgumentParser
import OfflineOData
import ToolLanguage

struct Unlink: AsyncParsableCommand, StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "unlink",
        abstract: translated("Take a relation away in a clone; the next push takes it away at the service."),
        discussion: translated(
            paragraphs: """
                Both entities stay. A relation to several entities needs the one to take away.

                EXAMPLE
                  outpost unlink shop 'Albums(1)/Tags' 'Tags(2)'
                  outpost unlink shop 'Orders(10248)/Customer'
                """))

    @OptionGroup var store: StoreOptions
    @Argument(help: .text("An entity and its navigation property.")) var relation: String
    @Argument(help: .text("The related entity.")) var target: String?
    @OptionGroup var queuing: QueuingOptions
    @Flag(help: .text("Report as JSON.")) var json = false

    func run() async throws {
        try await Edit(store: store, queuing: queuing, json: json).run { editor in
            try await editor.send(editor.unlink(relation, from: target))
        }
    }
}
