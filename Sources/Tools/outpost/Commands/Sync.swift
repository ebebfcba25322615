import ArgumentParser
import ODataModel
import OfflineOData
import ToolLanguage

struct Sync: AsyncParsableCommand, StoreCommand, ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: translated("Push, then pull."),
        discussion: translated(
            paragraphs: """
                The clone keeps the header fields, options, language and user that it was made with; they apply here, \
                too. It does not keep passwords, tokens, keys and --trust: give them again.

                EXAMPLE
                  outpost sync shop
                """))

    @OptionGroup var store: StoreOptions
    @OptionGroup var service: ServiceOptions
    @OptionGroup var keeping: KeepingOptions
    @OptionGroup var sending: SendingOptions
    @OptionGroup var parameters: ParameterOptions
    @OptionGroup var amount: DownloadOptions
    @Flag(help: .text("Report as JSON.")) var json = false

    func run() async throws {
        let connected = try await store.open(service, keeping, download: amount)
        let options = try sending.uploadOptions
        let values = try parameters.values
        let early = EarlyEnd()
        connected.store.observe.setDelegate(early)
        var sent: UploadReport?
        var differences: [ModelDifference] = []
        do {
            // The result of the upload must be printed even if the download fails.
            let downloaded = try await connected.run { store in
                try sending.requireProperties(in: store.model)
                try sending.apply(to: store)
                try await store.queries.setParameters(values)
                var options = options
                options.fromCopy = try await sending.sendsHeldQueue(of: store)
                let uploaded = try await store.upload(options: options)
                sent = uploaded
                if !json {
                    PushReport.show(uploaded, of: store.directory, archived: try await store.changes.archived().count)
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
