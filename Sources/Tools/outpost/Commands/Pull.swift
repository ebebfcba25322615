import ArgumentParser
import ODataModel
import OfflineOData
import ToolLanguage

struct Pull: AsyncParsableCommand, StoreCommand, ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "pull",
        abstract: translated("Download the changes of the service into a clone."),
        discussion: translated(
            paragraphs: """
                The clone keeps the header fields, options, language and user that it was made with; they apply here, \
                too. It does not keep passwords, tokens, keys and --trust: give them again.

                EXAMPLE
                  outpost pull shop
                  outpost pull shop --only Orders
                  outpost pull shop --metadata
                  outpost pull shop --set employee=7
                """))

    @OptionGroup var store: StoreOptions
    @OptionGroup var service: ServiceOptions
    @OptionGroup var keeping: KeepingOptions
    @Option(help: .text("Only this query or group; may be repeated.", valueName: "name")) var only: [String] = []
    @OptionGroup var parameters: ParameterOptions
    @OptionGroup var amount: DownloadOptions
    @Flag(help: .text("First read the metadata again, and apply their changes to the clone."))
    var metadata = false
    @Flag(help: .text("Report as JSON.")) var json = false

    func run() async throws {
        let connected = try await store.open(service, keeping, download: amount)
        let (names, rereads, connector) = (only, metadata, connected.connector)
        let values = try parameters.values
        var refresh: MetadataRefresh?
        var differences: [ModelDifference] = []
        let report = try await connected.run(goingOnWith: "pull") { store in
            try await Self.require(names, in: store)
            try await store.queries.setParameters(values)
            guard rereads else {
                let report = try await store.download(names)
                differences = await Self.differences(at: store)
                return report
            }
            let done = try await store.maintenance.refreshMetadata { try connector.client(root: $0, model: $1) }
            refresh = done
            show(done)
            return try await done.store.download(names)
        }
        if json {
            var report = PullReport(report, bytes: connected.connector.received, refresh: refresh)
            report.differences = differences.map(\.description)
            print(JSONText(report).text)
        } else {
            PullReport.show(report, bytes: connected.connector.received, differences, of: store.directory)
        }
    }
}

extension Pull {
    /// Returns the differences between the metadata of the service and those of a clone; none if the metadata
    /// cannot be read.
    static func differences(at store: OfflineStore) async -> [ModelDifference] {
        (try? await store.maintenance.metadataDifferences()) ?? []
    }

    /// Checks that the named queries and groups exist, before anything is changed.
    private static func require(_ names: [String], in store: OfflineStore) async throws {
        let queries = try await store.queries.all()
        for name in names where !queries.contains(where: { $0.name == name || $0.group == name }) {
            throw OfflineError.unknown(kind: "defining query", name: name)
        }
    }

    /// Prints the changes of the metadata at once, because a failed download would hide them. With a report
    /// as JSON they go to standard error.
    private func show(_ refresh: MetadataRefresh) {
        let output: Terminal.Output = json ? .error : .output
        var lines = refresh.differences.map(\.text)
        let label: TerminalText = "refused"
        lines += refresh.refused.map { "\(Terminal.red(label, on: output)) \($0)" }
        guard !lines.isEmpty else { return }
        Terminal.clearLine()
        for line in lines { Terminal.write(line + "\n", to: output) }
    }
}
