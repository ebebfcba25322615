import ArgumentParser
import OfflineOData
import ToolLanguage

struct Conflicts: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "conflicts",
        abstract: translated("Former name of 'outpost changes --conflicts'."),
        discussion: translated(
            paragraphs: """
                Each conflict is shown with the values as they were, as they are here and as the service has them. \
                'mine' puts your change on top of theirs for the next push, 'theirs' gives it up. To merge, edit the \
                entity.

                EXAMPLE
                  outpost conflicts shop
                  outpost conflicts mine shop 3
                  outpost conflicts theirs shop
                """),
        shouldDisplay: false,
        subcommands: [List.self, Mine.self, Theirs.self], defaultSubcommand: List.self)

    struct List: AsyncParsableCommand, StoreCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: translated("List the conflicts."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost conflicts list shop --json
                    """))

        @OptionGroup var store: StoreOptions
        @Flag(help: .text("Report as JSON.")) var json = false

        func run() async throws {
            FormerName.hint("outpost changes", of: store.directory, "--conflicts")
            try await ChangesCommand.List.show(ChangeFilter(parts: [.conflicts]), of: store, json: json)
        }
    }

    struct Mine: AsyncParsableCommand, SettlingCommand {
        static let configuration = CommandConfiguration(
            commandName: "mine",
            abstract: translated("Put your changes on top of theirs; the next push sends them."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost conflicts mine shop 3
                    """))

        @OptionGroup var changes: SettlingOptions

        func run() async throws {
            FormerName.hint("outpost changes retry", of: changes.store.directory, "--conflicts")
            try await changes.settle(.retried, where: \.isConflict)
        }
    }

    struct Theirs: AsyncParsableCommand, SettlingCommand {
        static let configuration = CommandConfiguration(
            commandName: "theirs",
            abstract: translated("Discard your changes: each entity gets the server version."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost conflicts theirs shop 3
                    """))

        @OptionGroup var changes: SettlingOptions

        func run() async throws {
            FormerName.hint("outpost changes discard", of: changes.store.directory, "--conflicts")
            try await changes.settle(.discarded, where: \.isConflict)
        }
    }
}
