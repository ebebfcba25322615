import ArgumentParser
import OfflineOData

/// `outpost push`.
struct Push: AsyncParsableCommand, StoreCommand, ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "push",
        abstract: "Send the changes made in a clone.",
        discussion: """
            Requests are sent in order. One that is refused goes to the error archive and holds up only what depends \
            on it; the exit code is then 3.

            The changes of a clone that was copied, restored from a backup, or put back to an earlier state may have been sent \
            already. They are held until --from-copy says that they are to be sent, unless the service has confirmed that it \
            recognises repeated requests. 'mv' of a clone within its volume holds nothing.

            The header fields, options, language and user that the clone was made with are kept in it and apply here too. \
            Passwords, tokens, keys and --trust are not kept: give them again.

            EXAMPLE
              outpost push shop
              outpost push shop --on-conflict merge
              outpost push shop --on-conflict theirs --on-conflict Visits=mine
              outpost push shop --only visits
              outpost push shop --correlate Visits=Number
              outpost push restored-shop --from-copy
            """)

    @OptionGroup var store: StoreOptions
    @OptionGroup var service: ServiceOptions
    @OptionGroup var keeping: KeepingOptions
    @OptionGroup var sending: SendingOptions
    @Option(
        help: ArgumentHelp(
            "Only the changes of this category, with those that they depend on; may be repeated.",
            valueName: "category"))
    var only: [String] = []
    @Flag(help: "Report as JSON.") var json = false

    func run() async throws {
        let connected = try await store.open(service, keeping)
        var options = try sending.uploadOptions
        if !only.isEmpty { options.categories = Set(only) }
        let (chosen, names) = (options, only)
        let early = EarlyEnd()
        connected.store.observe.setDelegate(early)
        do {
            let (report, archived) = try await connected.run { store in
                try sending.requireProperties(in: store.model)
                try sending.apply(to: store)
                try await Self.require(names, in: store)
                var chosen = chosen
                chosen.fromCopy = try await sending.sendsHeldQueue(of: store)
                return (try await store.upload(options: chosen), try await store.changes.archived().count)
            }
            show(report, archived: archived)
            guard report.failed.isEmpty else { throw QuietExit(status: .someRefused) }
        } catch {
            guard let report = early.report else { throw error }
            show(report)
            throw Failure(error, behind: report, of: CommandSubject(self))
        }
    }

    private func show(_ report: UploadReport, archived: Int = 0) {
        if json {
            print(JSONText(PushReport(report)).text)
        } else {
            PushReport.show(report, of: store.directory, archived: archived)
        }
    }

    /// Makes sure that something is in each category that is asked for, unless nothing is to be sent at all.
    private static func require(_ names: [String], in store: OfflineStore) async throws {
        guard !names.isEmpty else { return }
        let status = try await store.observe.status()
        let known = Set((status.pending + status.failed).compactMap(\.options.category))
        guard !status.pending.isEmpty, let name = names.first(where: { !known.contains($0) }) else { return }
        throw OfflineError.unknown(kind: "category", name: name)
    }
}
