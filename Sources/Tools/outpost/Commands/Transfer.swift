import ArgumentParser
import ODataModel
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
        connected.store.setDelegate(early)
        do {
            let (report, archived) = try await connected.run { store in
                try sending.requireProperties(in: store.model)
                try sending.apply(to: store)
                try await Self.require(names, in: store)
                var chosen = chosen
                chosen.fromCopy = try await sending.sendsHeldQueue(of: store)
                return (try await store.upload(options: chosen), try await store.status().failed.count)
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
    private static func require(_ names: [String], in store: OfflineODataProvider) async throws {
        guard !names.isEmpty else { return }
        let status = try await store.status()
        let known = Set((status.pending + status.failed).compactMap(\.options.category))
        guard !status.pending.isEmpty, let name = names.first(where: { !known.contains($0) }) else { return }
        throw OfflineError.unknown(kind: "category", name: name)
    }
}

/// `outpost pull`.
struct Pull: AsyncParsableCommand, StoreCommand, ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "pull",
        abstract: "Bring what others changed into a clone.",
        discussion: """
            The header fields, options, language and user that the clone was made with are kept in it and apply here too. \
            Passwords, tokens, keys and --trust are not kept: give them again.

            EXAMPLE
              outpost pull shop
              outpost pull shop --only Orders
              outpost pull shop --metadata
              outpost pull shop --set employee=7
            """)

    @OptionGroup var store: StoreOptions
    @OptionGroup var service: ServiceOptions
    @OptionGroup var keeping: KeepingOptions
    @Option(help: ArgumentHelp("Only this query, or group of queries.", valueName: "name")) var only: [String] = []
    @OptionGroup var parameters: ParameterOptions
    @OptionGroup var amount: DownloadOptions
    @Flag(help: "Read the service's metadata again before, and bring the clone to what has changed in them.")
    var metadata = false
    @Flag(help: "Report as JSON.") var json = false

    func run() async throws {
        let connected = try await store.open(service, keeping, amount)
        let (names, rereads, connector) = (only, metadata, connected.connector)
        let values = try parameters.values
        var refresh: MetadataRefresh?
        var differences: [ModelDifference] = []
        let report = try await connected.run { store in
            try await Self.require(names, in: store)
            try await store.setParameters(values)
            guard rereads else {
                let report = try await store.download(names)
                differences = await Self.differences(at: store)
                return report
            }
            let done = try await store.refreshMetadata { try connector.client(root: $0, model: $1) }
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
    /// How the service's metadata differ from those of a clone; none if they cannot be read, which a pull need not.
    static func differences(at store: OfflineODataProvider) async -> [ModelDifference] {
        (try? await store.metadataDifferences()) ?? []
    }

    /// Makes sure that there is what is asked for, before anything is changed.
    private static func require(_ names: [String], in store: OfflineODataProvider) async throws {
        let queries = try await store.definingQueries()
        for name in names where !queries.contains(where: { $0.name == name || $0.group == name }) {
            throw OfflineError.unknown(kind: "defining query", name: name)
        }
    }

    /// Says what has changed in the metadata, as soon as it is so: nobody can tell it any more once the download behind it
    /// has failed. Beside a report as JSON it is for the person alone.
    private func show(_ refresh: MetadataRefresh) {
        let output: Terminal.Output = json ? .error : .output
        var lines = refresh.differences.map { TerminalText($0.description) }
        lines += refresh.refused.map { "\(Terminal.red("refused", on: output)) \($0)" }
        guard !lines.isEmpty else { return }
        Terminal.clearLine()
        for line in lines { Terminal.write(line + "\n", to: output) }
    }
}

/// `outpost sync`.
struct Sync: AsyncParsableCommand, StoreCommand, ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Push, then pull.",
        discussion: """
            The header fields, options, language and user that the clone was made with are kept in it and apply here too. \
            Passwords, tokens, keys and --trust are not kept: give them again.

            EXAMPLE
              outpost sync shop
            """)

    @OptionGroup var store: StoreOptions
    @OptionGroup var service: ServiceOptions
    @OptionGroup var keeping: KeepingOptions
    @OptionGroup var sending: SendingOptions
    @OptionGroup var parameters: ParameterOptions
    @OptionGroup var amount: DownloadOptions
    @Flag(help: "Report as JSON.") var json = false

    func run() async throws {
        let connected = try await store.open(service, keeping, amount)
        let options = try sending.uploadOptions
        let values = try parameters.values
        let early = EarlyEnd()
        connected.store.setDelegate(early)
        var sent: UploadReport?
        var differences: [ModelDifference] = []
        do {
            // One after the other: what was refused must be told even when the download fails.
            let downloaded = try await connected.run { store in
                try sending.requireProperties(in: store.model)
                try sending.apply(to: store)
                try await store.setParameters(values)
                var options = options
                options.fromCopy = try await sending.sendsHeldQueue(of: store)
                let uploaded = try await store.upload(options: options)
                sent = uploaded
                if !json {
                    PushReport.show(uploaded, of: store.directory, archived: try await store.status().failed.count)
                }
                let report = try await store.download()
                differences = await Pull.differences(at: store)
                return report
            }
            let bytes = connected.connector.received
            if json {
                var report = PullReport(downloaded, bytes: bytes)
                report.differences = differences.map(\.description)
                print(JSONText(Report(sent, report)).text)
            } else {
                PullReport.show(downloaded, bytes: bytes, differences, of: store.directory)
            }
        } catch {
            if sent == nil, let report = early.report {
                sent = report
                if !json { PushReport.show(report, of: store.directory) }
            }
            guard let sent else { throw error }
            if json, !sent.isEmpty { print(JSONText(Report(sent, nil)).text) }
            throw Failure(error, behind: sent, of: CommandSubject(self))
        }
        guard sent?.failed.isEmpty ?? true else { throw QuietExit(status: .someRefused) }
    }

    private struct Report: Encodable {
        var push: PushReport?
        var pull: PullReport?

        init(_ push: UploadReport?, _ pull: PullReport?) {
            self.push = push.map(PushReport.init)
            self.pull = pull
        }
    }
}
