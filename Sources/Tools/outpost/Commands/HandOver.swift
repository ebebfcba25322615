import ArgumentParser
import ODataClient
import OfflineOData
import ToolLanguage

struct HandOver: AsyncParsableCommand, StoreCommand, ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "hand-over",
        abstract: translated("Give a clone on a shared device to another user."),
        discussion: translated(
            paragraphs: """
                All rows of the previous user are removed, except those of queries with --shared. The next pull brings \
                the rows of the new user, with the credentials of that user.

                Pending changes of the previous user are not lost: without --pending, the clone stays with its user. \
                --pending push sends them first, with the credentials of the previous user (--user, --token-file). \
                --pending discard gives them up.

                Without a name, the user of the clone is shown. --to-nobody removes the user and his rows, and the \
                next 'hand-over' names another one. 'outpost list' shows the users of all clones.

                EXAMPLE
                  outpost hand-over shop ada
                  outpost hand-over shop ben --pending push --user ada
                  outpost hand-over shop
                  outpost hand-over shop --to-nobody --pending discard
                """))

    /// The treatment of pending changes of the previous user.
    enum Pending: String, ExpressibleByArgument, CaseIterable {
        case refuse, push, discard
    }

    @OptionGroup var store: StoreOptions
    @Argument(help: .text("The new user.", valueName: "name")) var newUser: String?
    @Flag(help: .text("Remove the user, and give the clone to nobody yet.")) var toNobody = false
    @Option(
        help: .text(
            "Pending changes: 'refuse' leaves the clone with its user, 'push' sends them first, 'discard' gives them up."
        ))
    var pending = Pending.refuse
    @OptionGroup var service: ServiceOptions
    @OptionGroup var keeping: KeepingOptions
    @Flag(help: .text("Report as JSON.")) var json = false

    func validate() throws {
        guard newUser == nil || !toNobody else {
            throw ValidationError(translated("Give a name or --to-nobody, not both."))
        }
    }

    func run() async throws {
        guard newUser != nil || toNobody else { return try await showUser() }
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
            let isChanged =
                if let name {
                    try await store.users.switch(to: name, pending: changes)
                } else {
                    try await store.users.remove(pending: changes)
                }
            return (previous, isChanged, try await store.observe.status())
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
        guard let name else {
            print(
                previous.map { "\(store.directory) was taken from \($0), and is the clone of nobody." }
                    ?? "\(store.directory) is the clone of nobody.")
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

    /// Reports the user of the clone.
    private func showUser() async throws {
        let user = try await store.reading { try await $0.users.current() }
        guard !json else {
            return print(JSONText(Report(user: user, previousUser: user, isChanged: false, keptRows: nil)).text)
        }
        print("\(store.directory) is the clone of \(user ?? translated("nobody")).")
    }

    private struct Report: Encodable {
        var user: String?
        var previousUser: String?
        var isChanged: Bool
        var keptRows: Int?
    }
}
