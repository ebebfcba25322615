import ArgumentParser
import OfflineOData
import ToolLanguage

struct Push: AsyncParsableCommand, StoreCommand, ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "push",
        abstract: translated("Send the pending changes of a clone."),
        discussion: translated(
            paragraphs: """
                Changes are sent in order. A refused change goes to the error archive and holds up only its \
                dependants; the exit code is then 3.

                If a clone was copied, restored from a backup or reset to an earlier state, its changes may have been \
                sent already. They are held until you give --from-copy, unless the service is known to recognise \
                repeated requests. Moving a clone with 'mv' within its volume holds nothing.

                The clone keeps the header fields, options, language and user that it was made with; they apply here, \
                too. It does not keep passwords, tokens, keys and --trust: give them again.

                EXAMPLE
                  outpost push shop
                  outpost push shop --on-conflict merge
                  outpost push shop --on-conflict theirs --on-conflict Visits=mine
                  outpost push shop --only visits
                  outpost push shop --correlate Visits=Number
                  outpost push restored-shop --from-copy
                """))

    @OptionGroup var store: StoreOptions
    @OptionGroup var service: ServiceOptions
    @OptionGroup var keeping: KeepingOptions
    @OptionGroup var sending: SendingOptions
    @Option(
        help: .text(
            "Only the changes of this category and the changes that they depend on; may be repeated.",
            valueName: "category"))
    var only: [String] = []
    @Flag(help: .text("Report as JSON.")) var json = false

    func run() async throws {
        let connected = try await store.open(service, keeping)
        var options = try sending.uploadOptions
        if !only.isEmpty { options.categories = Set(only) }
        let (chosen, names) = (options, only)
        let early = EarlyEnd()
        connected.store.observe.setDelegate(early)
        do {
            let (report, archived) = try await connected.run(goingOnWith: "push") { store in
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

    /// Checks that each named category has changes, unless there is nothing to send at all.
    private static func require(_ names: [String], in store: OfflineStore) async throws {
        guard !names.isEmpty else { return }
        let status = try await store.observe.status()
        let known = Set((status.pending + status.failed).compactMap(\.options.category))
        guard !status.pending.isEmpty, let name = names.first(where: { !known.contains($0) }) else { return }
        throw OfflineError.unknown(kind: "category", name: name)
    }
}
