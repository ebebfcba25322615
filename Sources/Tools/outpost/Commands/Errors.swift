import ArgumentParser
import OfflineOData
import ToolLanguage

struct Errors: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "errors",
        abstract: translated("Former name of 'outpost changes --failed'."),
        discussion: translated(
            paragraphs: """
                A refused change keeps its place in the clone until you decide. Edit the entity again to mend it, \
                retry it as it is, or discard it. After a conflict, a retry goes on top of the server version. Of a \
                change in doubt nobody knows whether the service made it: look there, then accept it as made, retry it \
                or discard it.

                EXAMPLE
                  outpost errors shop
                  outpost errors retry shop 3
                  outpost errors accept shop 4
                  outpost errors discard shop
                """),
        shouldDisplay: false,
        subcommands: [List.self, Retry.self, Accept.self, Discard.self], defaultSubcommand: List.self)

    struct List: AsyncParsableCommand, StoreCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: translated("List the refused changes."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost errors list shop
                    """))

        @OptionGroup var store: StoreOptions
        @Flag(help: .text("Report as JSON.")) var json = false

        func run() async throws {
            FormerName.hint("outpost changes", of: store.directory, "--failed")
            try await ChangesCommand.List.show(ChangeFilter(parts: [.failed]), of: store, json: json)
        }
    }

    struct Retry: AsyncParsableCommand, SettlingCommand {
        static let configuration = CommandConfiguration(
            commandName: "retry",
            abstract: translated("Put refused changes back into the queue."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost errors retry shop
                      outpost errors retry shop 3 5
                    """))

        @OptionGroup var changes: SettlingOptions

        func run() async throws {
            FormerName.hint("outpost changes retry", of: changes.store.directory)
            try await changes.settle(.retried)
        }
    }

    struct Accept: AsyncParsableCommand, SettlingCommand {
        static let configuration = CommandConfiguration(
            commandName: "accept",
            abstract: translated("Treat changes in doubt as made by the service."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost errors accept shop
                      outpost errors accept shop 4
                      outpost errors accept shop 4 --key 4=10248
                    """))

        @OptionGroup var changes: SettlingOptions
        @OptionGroup var keys: GivenKeys

        func run() async throws {
            FormerName.hint("outpost changes accept", of: changes.store.directory)
            try await changes.settle(.accepted, keys: keys)
        }
    }

    struct Discard: AsyncParsableCommand, SettlingCommand {
        static let configuration = CommandConfiguration(
            commandName: "discard",
            abstract: translated("Discard refused changes: each entity gets the server version."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost errors discard shop 3
                    """))

        @OptionGroup var changes: SettlingOptions

        func run() async throws {
            FormerName.hint("outpost changes discard", of: changes.store.directory)
            try await changes.settle(.discarded)
        }
    }
}
