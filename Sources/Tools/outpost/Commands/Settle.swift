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
                (try await provider.status().failed.filter(\.isConflict), provider.model)
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

/// `outpost doubts`.
struct Doubts: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doubts",
        abstract: "See the changes of which nobody knows whether the service made them, and settle them.",
        discussion: """
            The answer to such a request was lost, and the service does not recognise a repeat. Look there: 'accept' \
            takes it as made, 'resend' sends it once more, 'outpost errors discard' gives it up.

            EXAMPLE
              outpost doubts shop
              outpost doubts accept shop 4
              outpost doubts resend shop
            """,
        subcommands: [List.self, Accept.self, Resend.self], defaultSubcommand: List.self)

    struct List: AsyncParsableCommand, StoreCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the changes in doubt.",
            discussion: """
                EXAMPLE
                  outpost doubts list shop --json
                """)

        @OptionGroup var store: StoreOptions
        @Flag(help: "Report as JSON.") var json = false

        func run() async throws {
            let doubts = try await store.reading { try await $0.status().failed.filter { $0.state == .inDoubt } }
            if json {
                print(JSONText(doubts.map(RequestLine.init)).text)
                return
            }
            if doubts.isEmpty { print("No change is in doubt.") }
            for request in doubts { print(RequestLine.text(request)) }
        }
    }

    struct Accept: AsyncParsableCommand, SettlingCommand {
        static let configuration = CommandConfiguration(
            commandName: "accept",
            abstract: "Treat changes in doubt as made by the service.",
            discussion: """
                EXAMPLE
                  outpost doubts accept shop 4
                  outpost doubts accept shop 4 --key 4=10248
                """)

        @OptionGroup var changes: SettlingOptions
        @OptionGroup var keys: GivenKeys

        func run() async throws { try await changes.settle(.accepted, keys: keys, where: { $0.state == .inDoubt }) }
    }

    struct Resend: AsyncParsableCommand, SettlingCommand {
        static let configuration = CommandConfiguration(
            commandName: "resend",
            abstract: "Put changes in doubt back into the queue. They are made twice where the service made them.",
            discussion: """
                EXAMPLE
                  outpost doubts resend shop 4
                """)

        @OptionGroup var changes: SettlingOptions

        func run() async throws { try await changes.settle(.retried, where: { $0.state == .inDoubt }) }
    }
}

extension QueuedRequest {
    /// Whether the service refused it because somebody else had changed the entity.
    fileprivate var isConflict: Bool { state == .refused && (failure?.isConflict ?? false) }
}

extension StoreOptions {
    /// Opens the store without a connection, uses it, and closes it whatever happened.
    func reading<Value>(_ body: (OfflineODataProvider) async throws -> Value) async throws -> Value {
        let provider = try await open()
        do {
            let value = try await body(provider)
            try provider.close()
            return value
        } catch {
            try? provider.close()
            throw error
        }
    }
}
