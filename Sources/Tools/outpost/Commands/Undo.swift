import ArgumentParser
import ODataQuery
import OfflineOData

/// `outpost undo`.
struct Undo: AsyncParsableCommand, StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo",
        abstract: "Take back changes that the service does not have yet.",
        discussion: """
            A changed entity is again what the last pull brought, a created one is gone, a deleted one is back. What \
            was made for it, such as the lines of a created order, is taken back with it. What was changed together is \
            taken back together: a part of it is refused unless --with-others is given.

            EXAMPLE
              outpost undo shop 'Orders(10248)'
              outpost undo shop 'Orders(-1)' "Customers('ALFKI')"
              outpost undo shop --all
            """)

    @OptionGroup var store: StoreOptions
    @Argument(help: "The entities, by key.") var entities: [String] = []
    @Flag(help: "Everything that is not pushed yet.") var all = false
    @Flag(help: "Also what was changed together with them.") var withOthers = false
    @Flag(help: "Report as JSON.") var json = false

    func validate() throws {
        guard entities.isEmpty == all else { throw ValidationError("Name the entities, or give --all.") }
    }

    func run() async throws {
        let urls = try entities.map { text in try ODataURL(parsing: text) }
        let provider = try await store.open()
        let undone: Int
        do {
            for (url, text) in zip(urls, entities) { try provider.queries.check(url, written: text) }
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
