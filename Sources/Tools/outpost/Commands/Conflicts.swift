import ArgumentParser
import ODataModel
import OfflineOData

/// `outpost conflicts`.
struct Conflicts: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "conflicts",
        abstract: "See the changes of entities that somebody else changed meanwhile, and say whose count.",
        discussion: """
            Each conflict is shown with the values as they were, as they are here and as the service has them. 'mine' \
            puts your change on top of theirs for the next push, 'theirs' gives it up. To merge, edit the entity.

            EXAMPLE
              outpost conflicts shop
              outpost conflicts mine shop 3
              outpost conflicts theirs shop
            """,
        subcommands: [List.self, Mine.self, Theirs.self], defaultSubcommand: List.self)

    struct List: AsyncParsableCommand, StoreCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the conflicts.",
            discussion: """
                EXAMPLE
                  outpost conflicts list shop --json
                """)

        @OptionGroup var store: StoreOptions
        @Flag(help: "Report as JSON.") var json = false

        func run() async throws {
            let model: EntityDataModel
            let conflicts: [QueuedRequest]
            (conflicts, model) = try await store.reading { provider in
                (try await provider.changes.archived().filter(\.isConflict), provider.model)
            }
            if json {
                print(JSONText(conflicts.map { RequestLine($0, versionsIn: model) }).text)
                return
            }
            if conflicts.isEmpty { print("There is no conflict.") }
            for request in conflicts {
                print(RequestLine.text(request))
                for versions in ValueVersions.all(of: request, model) ?? [] { print("    \(versions.text)") }
            }
        }
    }

    struct Mine: AsyncParsableCommand, SettlingCommand {
        static let configuration = CommandConfiguration(
            commandName: "mine",
            abstract: "Put your changes on top of theirs; the next push sends them.",
            discussion: """
                EXAMPLE
                  outpost conflicts mine shop 3
                """)

        @OptionGroup var changes: SettlingOptions

        func run() async throws { try await changes.settle(.retried, where: \.isConflict) }
    }

    struct Theirs: AsyncParsableCommand, SettlingCommand {
        static let configuration = CommandConfiguration(
            commandName: "theirs",
            abstract: "Give your changes up: each entity becomes what the service has.",
            discussion: """
                EXAMPLE
                  outpost conflicts theirs shop 3
                """)

        @OptionGroup var changes: SettlingOptions

        func run() async throws { try await changes.settle(.discarded, where: \.isConflict) }
    }
}

extension QueuedRequest {
    /// Whether the service refused it because somebody else had changed the entity.
    fileprivate var isConflict: Bool { state == .refused && (failure?.isConflict ?? false) }
}
