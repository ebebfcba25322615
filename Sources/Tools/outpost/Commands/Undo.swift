import ArgumentParser
import ODataQuery
import OfflineOData
import ToolLanguage

struct Undo: AsyncParsableCommand, StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo",
        abstract: translated("Undo changes that were not sent."),
        discussion: translated(
            paragraphs: """
                A changed entity returns to its state of the last pull. A created entity is removed, and a deleted one \
                is restored. Dependent changes, such as the lines of a created order, are undone, too.

                A change set is undone as a whole: a part of it is refused unless you give --with-others.

                EXAMPLE
                  outpost undo shop 'Orders(10248)'
                  outpost undo shop 'Orders(-1)' "Customers('ALFKI')"
                  outpost undo shop --all
                """))

    @OptionGroup var store: StoreOptions
    @Argument(help: .text("The entities, such as 'Orders(1)'.")) var entities: [String] = []
    @Flag(help: .text("Undo all changes that were not pushed.")) var all = false
    @Flag(help: .text("Also undo the other changes of their change sets.")) var withOthers = false
    @Flag(help: .text("Report as JSON.")) var json = false

    func validate() throws {
        guard entities.isEmpty == all else { throw ValidationError(translated("Name the entities, or give --all.")) }
    }

    func run() async throws {
        let provider = try await store.open()
        let undone: Int
        do {
            let urls = try entities.map { try provider.url(typed: $0) }
            undone = try await all ? provider.changes.undoAll() : provider.changes.undo(urls, withAllOthers: withOthers)
            try provider.close()
        } catch {
            try? provider.close()
            throw error
        }
        if json {
            print(JSONText(Report(undone: undone)).text)
        } else {
            print(
                undone == 0
                    ? "There was nothing to take back."
                    : "Took back the changes of \(Terminal.plural(undone, "entity", plural: "entities")).")
        }
    }

    private struct Report: Encodable {
        var undone: Int
    }
}
