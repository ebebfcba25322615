import ArgumentParser
import ODataModel
import OfflineOData

/// `outpost errors`.
struct Errors: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "errors",
        abstract: "See, retry, accept or discard the changes that the service refused or that are in doubt.",
        discussion: """
            A refused change keeps its place in the clone until you decide: edit the entity again to mend it, retry it \
            as it is (after a conflict, on top of the other's version), or discard it. Of a change in doubt nobody \
            knows whether the service made it: look there, then accept it as made, retry it or discard it.

            EXAMPLE
              outpost errors shop
              outpost errors retry shop 3
              outpost errors accept shop 4
              outpost errors discard shop
            """,
        subcommands: [List.self, Retry.self, Accept.self, Discard.self], defaultSubcommand: List.self)

    struct List: AsyncParsableCommand, StoreCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the refused changes.",
            discussion: """
                EXAMPLE
                  outpost errors list shop
                """)

        @OptionGroup var store: StoreOptions
        @Flag(help: "Report as JSON.") var json = false

        func run() async throws {
            let (failed, model) = try await store.reading { (try await $0.changes.archived(), $0.model) }
            if json {
                print(JSONText(failed.map { RequestLine($0, versionsIn: model) }).text)
                return
            }
            if failed.isEmpty { print("No change was refused.") }
            for request in failed {
                print(RequestLine.text(request))
                for detail in RequestLine(request).details ?? [] { print("    \(detail.text)") }
                for versions in ValueVersions.all(of: request, model) ?? [] { print("    \(versions.text)") }
            }
        }
    }

    struct Retry: AsyncParsableCommand, SettlingCommand {
        static let configuration = CommandConfiguration(
            commandName: "retry",
            abstract: "Put refused changes back into the queue.",
            discussion: """
                EXAMPLE
                  outpost errors retry shop
                  outpost errors retry shop 3 5
                """)

        @OptionGroup var changes: SettlingOptions

        func run() async throws { try await changes.settle(.retried) }
    }

    struct Accept: AsyncParsableCommand, SettlingCommand {
        static let configuration = CommandConfiguration(
            commandName: "accept",
            abstract: "Treat changes in doubt as made by the service.",
            discussion: """
                EXAMPLE
                  outpost errors accept shop
                  outpost errors accept shop 4
                  outpost errors accept shop 4 --key 4=10248
                """)

        @OptionGroup var changes: SettlingOptions
        @OptionGroup var keys: GivenKeys

        func run() async throws { try await changes.settle(.accepted, keys: keys) }
    }

    struct Discard: AsyncParsableCommand, SettlingCommand {
        static let configuration = CommandConfiguration(
            commandName: "discard",
            abstract: "Give refused changes up: each entity becomes what the service has.",
            discussion: """
                EXAMPLE
                  outpost errors discard shop 3
                """)

        @OptionGroup var changes: SettlingOptions

        func run() async throws { try await changes.settle(.discarded) }
    }
}
