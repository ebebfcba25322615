import ArgumentParser
import OfflineOData
import ToolLanguage

struct Link: AsyncParsableCommand, StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "link",
        abstract: translated("Relate an entity to another one in a clone; the relation is sent with the next push."),
        discussion: translated(
            paragraphs: """
                A relation to a single entity is set and replaces the one before. A relation to several entities gets \
                one more.

                EXAMPLE
                  outpost link shop 'Albums(1)/Tags' 'Tags(2)'
                  outpost link shop 'Orders(10248)/Customer' "Customers('ALFKI')"
                """))

    @OptionGroup var store: StoreOptions
    @Argument(help: .text("An entity and its navigation property.")) var relation: String
    @Argument(help: .text("The entity to relate it to.")) var target: String
    @OptionGroup var queuing: QueuingOptions
    @Flag(help: .text("Report as JSON.")) var json = false

    func run() async throws {
        try await Edit(store: store, queuing: queuing, json: json).run { editor in
            try await editor.send(editor.link(relation, to: target))
        }
    }
}
