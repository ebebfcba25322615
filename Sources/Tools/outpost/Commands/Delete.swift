import ArgumentParser
import ODataService
import ToolLanguage

struct Delete: AsyncParsableCommand, StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: translated("Delete an entity in a clone; it is deleted at the service with the next push."),
        discussion: translated(
            paragraphs: """
                EXAMPLE
                  outpost delete shop 'Orders(10248)'
                """))

    @OptionGroup var store: StoreOptions
    @Argument(help: .text("The entity.")) var entity: String
    @OptionGroup var queuing: QueuingOptions
    @Flag(help: .text("Report as JSON.")) var json = false

    func run() async throws {
        try await Edit(store: store, queuing: queuing, json: json).run { editor in
            try await editor.send(editor.deletion(of: entity))
        }
    }
}
