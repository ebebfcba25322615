import ArgumentParser
import OfflineOData
import ToolLanguage

struct Doubts: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doubts",
        abstract: translated("Former name of 'outpost changes --doubts'."),
        discussion: translated(
            paragraphs: """
                The answer to such a request was lost, and the service does not recognise a repeat. Look there: \
                'accept' takes it as made, 'resend' sends it once more, 'outpost changes discard' gives it up.

                EXAMPLE
                  outpost doubts shop
                  outpost doubts accept shop 4
                  outpost doubts resend shop
                """),
        shouldDisplay: false,
        subcommands: [List.self, Accept.self, Resend.self], defaultSubcommand: List.self)

    struct List: AsyncParsableCommand, StoreCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: translated("List the changes in doubt."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost doubts list shop --json
                    """))

        @OptionGroup var store: StoreOptions
        @Flag(help: .text("Report as JSON.")) var json = false

        func run() async throws {
            FormerName.hint("outpost changes", of: store.directory, "--doubts")
            try await ChangesCommand.List.show(ChangeFilter(parts: [.doubts]), of: store, json: json)
        }
    }

    struct Accept: AsyncParsableCommand, SettlingCommand {
        static let configuration = CommandConfiguration(
            commandName: "accept",
            abstract: translated("Treat changes in doubt as made by the service."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost doubts accept shop 4
                      outpost doubts accept shop 4 --key 4=10248
                    """))

        @OptionGroup var changes: SettlingOptions
        @OptionGroup var keys: GivenKeys

        func run() async throws {
            FormerName.hint("outpost changes accept", of: changes.store.directory)
            try await changes.settle(.accepted, keys: keys, where: { $0.state == .inDoubt })
        }
    }

    struct Resend: AsyncParsableCommand, SettlingCommand {
        static let configuration = CommandConfiguration(
            commandName: "resend",
            abstract: translated(
                "Put changes in doubt back into the queue. They are made twice if the service made them before."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost doubts resend shop 4
                    """))

        @OptionGroup var changes: SettlingOptions

        func run() async throws {
            FormerName.hint("outpost changes retry", of: changes.store.directory, "--doubts")
            try await changes.settle(.retried, where: { $0.state == .inDoubt })
        }
    }
}
