import ArgumentParser
import ODataClient
import OfflineOData

/// `outpost hand-over`.
struct HandOver: AsyncParsableCommand, StoreCommand, ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "hand-over",
        abstract: "Give a clone on a shared device to another user.",
        discussion: """
            All rows of the previous user are removed, except those of queries with --shared. The next pull brings \
            the rows of the new user, with the credentials of that user.

            Pending changes of the previous user are not lost: without --pending, the clone stays with its user. \
            --pending push sends them first, with the credentials of the previous user (--user, --token-file). \
            --pending discard gives them up.

            EXAMPLE
              outpost hand-over shop ada
              outpost hand-over shop ben --pending push --user ada
            """)

    /// The treatment of pending changes of the previous user.
    enum Pending: String, ExpressibleByArgument, CaseIterable {
        case refuse, push, discard
    }

    @OptionGroup var store: StoreOptions
    @Argument(help: ArgumentHelp("The new user.", valueName: "name")) var newUser: String
    @Option(
        help: ArgumentHelp(
            "Pending changes: 'refuse' leaves the clone with its user, 'push' sends them first, 'discard' gives them up."
        ))
    var pending = Pending.refuse
    @OptionGroup var service: ServiceOptions
    @OptionGroup var keeping: KeepingOptions
    @Flag(help: "Report as JSON.") var json = false

    func run() async throws {
        let connected = try await store.open(service, keeping)
        let (name, choice, connector) = (newUser, pending, connected.connector)
        let (previous, isNew, status) = try await connected.run { store in
            let changes: PendingChanges =
                switch choice {
                case .refuse: .refuse
                case .discard: .discard
                case .push:
                    .upload(through: try connector.client(root: store.serviceRoot, model: store.serviceModel))
                }
            let previous = try await store.users.current()
            let isNew = try await store.users.switch(to: name, pending: changes)
            return (previous, isNew, try await store.observe.status())
        }
        let kept = status.queries.filter(\.isShared)
        if json {
            print(
                JSONText(
                    Report(
                        user: name, previousUser: previous, isChanged: isNew,
                        keptRows: kept.reduce(0) { $0 + $1.rows })
                ).text)
            return
        }
        guard isNew else {
            print("\(store.directory) is the clone of \(name).")
            return
        }
        print("\(store.directory) is the clone of \(name) now.")
        for query in kept { print("Kept \(Terminal.plural(query.rows, "row")) of \(query.name).") }
        print(Terminal.dim("Bring the rest with: outpost pull \(store.directory.shellQuoted)"))
    }

    private struct Report: Encodable {
        var user: String
        var previousUser: String?
        var isChanged: Bool
        var keptRows: Int
    }
}
