import ArgumentParser
import OfflineOData
import ToolLanguage

struct ChangesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "changes",
        abstract: translated("List, cancel and settle the changes that the service has not accepted."),
        discussion: translated(
            paragraphs: """
                Each change has a number. A refused change keeps its place in the clone until you decide. Edit the \
                entity again to mend it, retry it as it is, or discard it. After a conflict, 'retry' puts your change \
                on top of the other one, 'discard' gives it up. Of a change in doubt nobody knows whether the service \
                made it: look there, then accept it as made, retry it or discard it.

                EXAMPLE
                  outpost changes shop
                  outpost changes shop --failed
                  outpost changes cancel shop 3
                  outpost changes retry shop --conflicts
                  outpost changes accept shop 4 --key 4=10248
                  outpost changes discard shop 5
                """),
        subcommands: [List.self, Cancel.self, Retry.self, Accept.self, Discard.self], defaultSubcommand: List.self)

    struct List: AsyncParsableCommand, StoreCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: translated("List the changes."),
            discussion: translated(
                paragraphs: """
                    Several filters show the changes of each of them.

                    EXAMPLE
                      outpost changes list shop
                      outpost changes list shop --conflicts --doubts
                      outpost changes list shop --held --json
                    """))

        @OptionGroup var store: StoreOptions
        @OptionGroup var filters: ChangeFilterOptions
        @Flag(help: .text("Report as JSON.")) var json = false

        func run() async throws { try await Self.show(filters.filter, of: store, json: json) }

        /// Shows the changes that a filter leaves.
        static func show(_ filter: ChangeFilter, of store: StoreOptions, json: Bool) async throws {
            let list = try await store.reading { try await ChangeList($0) }
            let items = list.items(filter)
            guard !json else { return print(JSONText(list.lines(items)).text) }
            guard !items.isEmpty else { return print(filter.absence) }
            list.show(items, of: store.directory)
        }
    }

    struct Cancel: AsyncParsableCommand, StoreCommand {
        static let configuration = CommandConfiguration(
            commandName: "cancel",
            abstract: translated("Take single changes back before they are sent."),
            discussion: translated(
                paragraphs: """
                    The entity keeps its other changes. A change of a change set is taken back with the others of the \
                    set, which needs --with-others. 'outpost undo' takes back all changes of an entity.

                    EXAMPLE
                      outpost changes cancel shop 3 5
                      outpost changes cancel shop 3 --with-others
                    """))

        @OptionGroup var store: StoreOptions
        @Argument(help: .text("The numbers of the changes.")) var ids: [Int64]
        @Flag(help: .text("Also the changes that were made together with them.")) var withOthers = false
        @Flag(help: .text("Report as JSON.")) var json = false

        func run() async throws {
            let (ids, withOthers) = (ids, withOthers)
            let (count, left) = try await store.reading { store in
                let count = try await store.changes.cancel(ids, withAllOthers: withOthers)
                return (count, try await store.changes.pending().count)
            }
            guard !json else { return print(JSONText(["cancelled": count, "pending": left]).text) }
            print(
                "Took \(Terminal.plural(count, "change")) back. "
                    + Terminal.dim("\(Terminal.plural(left, "change")) to push."))
        }
    }

    struct Retry: AsyncParsableCommand, SettlingCommand {
        static let configuration = CommandConfiguration(
            commandName: "retry",
            abstract: translated("Put refused changes back into the queue; the next push sends them."),
            discussion: translated(
                paragraphs: """
                    A change in doubt is sent again only if its number or --doubts is given: it is made twice if the \
                    service has made it.

                    EXAMPLE
                      outpost changes retry shop
                      outpost changes retry shop 3 5
                      outpost changes retry shop --conflicts
                    """))

        @OptionGroup var changes: SettlingOptions
        @OptionGroup var filter: ArchiveFilter

        func run() async throws {
            let isUnfiltered = !filter.conflicts && !filter.doubts
            // A change in doubt is sent again only if the person names it.
            let isMeant = filter.condition ?? (isUnfiltered && changes.ids.isEmpty ? { $0.state == .refused } : nil)
            try await changes.settle(.retried, where: isMeant)
        }
    }

    struct Accept: AsyncParsableCommand, SettlingCommand {
        static let configuration = CommandConfiguration(
            commandName: "accept",
            abstract: translated("Treat changes in doubt as made by the service."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost changes accept shop
                      outpost changes accept shop 4 --key 4=10248
                    """))

        @OptionGroup var changes: SettlingOptions
        @OptionGroup var keys: GivenKeys

        func run() async throws { try await changes.settle(.accepted, keys: keys, where: { $0.state == .inDoubt }) }
    }

    struct Discard: AsyncParsableCommand, SettlingCommand {
        static let configuration = CommandConfiguration(
            commandName: "discard",
            abstract: translated("Discard changes in the error archive: each entity gets the server version."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost changes discard shop 3
                      outpost changes discard shop --conflicts
                    """))

        @OptionGroup var changes: SettlingOptions
        @OptionGroup var filter: ArchiveFilter

        func run() async throws { try await changes.settle(.discarded, where: filter.condition) }
    }
}

extension ArchiveFilter {
    /// The condition on a change; `nil` if none is given.
    fileprivate var condition: ((QueuedRequest) -> Bool)? {
        guard conflicts || doubts else { return nil }
        return { (conflicts && $0.isConflict) || (doubts && $0.state == .inDoubt) }
    }
}

extension QueuedRequest {
    /// Whether the service refused the change because somebody else had changed the entity.
    var isConflict: Bool { state == .refused && (failure?.isConflict ?? false) }
}

/// The name that a command had in the release before.
enum FormerName {
    /// Tells a person of the command that took its place.
    static func hint(_ command: String, of directory: String, _ rest: String = "") {
        let text = [command, directory.shellQuoted, rest].filter { !$0.isEmpty }.joined(separator: " ")
        Terminal.error(Terminal.dim("This command has a new name: \(text)", on: .error))
    }
}
