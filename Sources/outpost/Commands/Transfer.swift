import ArgumentParser
import OfflineOData

/// `outpost push`.
struct Push: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Send the changes made in a clone.",
        discussion: """
            Requests are sent in order. One that is refused goes to the error archive and holds up only what
            depends on it; the exit code is then 3.

            EXAMPLE
              outpost push shop
              outpost push shop --conflicts mine
              outpost push shop --only visits
              outpost push shop --correlate Visits=Number
            """)

    @OptionGroup var store: StoreOptions
    @OptionGroup var service: ServiceOptions
    @OptionGroup var sending: SendingOptions
    @Option(
        help: ArgumentHelp(
            "Only the changes of this category, with those that they depend on; may be repeated.",
            valueName: "category"))
    var only: [String] = []
    @Flag(help: "Report as JSON.") var json = false

    func run() async throws {
        let connected = try await store.open(service)
        var options = try sending.uploadOptions
        if !only.isEmpty { options.categories = Set(only) }
        let chosen = options
        let report = try await connected.run { try await $0.upload(options: chosen) }
        if json {
            print(JSONText(PushReport(report)).text)
        } else {
            PushReport.show(report)
        }
        guard report.failed.isEmpty else { throw QuietExit(status: .someRefused) }
    }
}

/// `outpost pull`.
struct Pull: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Bring what others changed into a clone.",
        discussion: """
            EXAMPLE
              outpost pull shop
              outpost pull shop --only Orders
              outpost pull shop --metadata
              outpost pull shop --set employee=7
            """)

    @OptionGroup var store: StoreOptions
    @OptionGroup var service: ServiceOptions
    @Option(help: ArgumentHelp("Only this query, or group of queries.", valueName: "name")) var only: [String] = []
    @OptionGroup var parameters: ParameterOptions
    @Flag(help: "Read the service's metadata again before, and bring the clone to what has changed in them.")
    var metadata = false
    @Flag(help: "Report as JSON.") var json = false

    func run() async throws {
        let connected = try await store.open(service)
        let (names, rereads, connector) = (only, metadata, connected.connector)
        let values = try parameters.values
        var refresh: MetadataRefresh?
        let report = try await connected.run { store in
            try await Self.require(names, in: store)
            try await store.setParameters(values)
            guard rereads else { return try await store.download(names) }
            let done = try await store.refreshMetadata { try connector.client(root: $0, model: $1) }
            refresh = done
            show(done)
            return try await done.store.download(names)
        }
        if json {
            print(JSONText(PullReport(report, bytes: connected.connector.received, refresh: refresh)).text)
        } else {
            PullReport.show(report, bytes: connected.connector.received)
        }
    }
}

extension Pull {
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
        var lines = refresh.differences.map { $0.description.withoutControls() }
        lines += refresh.refused.map { "\(Terminal.red("refused", on: output)) \($0.withoutControls())" }
        guard !lines.isEmpty else { return }
        Terminal.clearLine()
        for line in lines { Terminal.write(line + "\n", to: output) }
    }
}

/// `outpost sync`.
struct Sync: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Push, then pull.",
        discussion: """
            EXAMPLE
              outpost sync shop
            """)

    @OptionGroup var store: StoreOptions
    @OptionGroup var service: ServiceOptions
    @OptionGroup var sending: SendingOptions
    @OptionGroup var parameters: ParameterOptions
    @Flag(help: "Report as JSON.") var json = false

    func run() async throws {
        let connected = try await store.open(service)
        let options = try sending.uploadOptions
        let values = try parameters.values
        let report = try await connected.run { store in
            try await store.setParameters(values)
            return try await store.sync(options: options)
        }
        let bytes = connected.connector.received
        if json {
            print(
                JSONText(Report(push: PushReport(report.upload), pull: PullReport(report.download, bytes: bytes))).text)
        } else {
            PushReport.show(report.upload)
            PullReport.show(report.download, bytes: bytes)
        }
        guard report.upload.failed.isEmpty else { throw QuietExit(status: .someRefused) }
    }

    private struct Report: Encodable {
        var push: PushReport
        var pull: PullReport
    }
}

/// How changes are sent.
struct SendingOptions: ParsableArguments {
    /// The policies that need no program.
    enum Policy: String, ExpressibleByArgument, CaseIterable {
        case fail, mine, theirs
    }

    @Option(
        help: ArgumentHelp(
            "When somebody else has changed the entity: 'fail' puts the change into the error archive, "
                + "'mine' sends it again on top, 'theirs' gives it up."))
    var conflicts = Policy.fail

    @Flag(help: "Send one request for several changes of an entity, and none for what was made and deleted.")
    var fold = false

    @Option(
        help: ArgumentHelp(
            "A property whose values are unique and given by you: where the answer to a creation was lost, the entity "
                + "is looked for by it instead of being in doubt; may be repeated.", valueName: "set=property"))
    var correlate: [String] = []

    mutating func validate() throws { _ = try uploadOptions }

    var uploadOptions: UploadOptions {
        get throws {
            var options = UploadOptions(conflictPolicy: policy, foldsRequests: fold)
            options.correlationProperties = try NamedValue.dictionary(
                correlate, option: "--correlate", example: "Orders=Number")
            return options
        }
    }

    private var policy: ConflictPolicy {
        switch conflicts {
        case .fail: .fail
        case .mine: .clientWins
        case .theirs: .serverWins
        }
    }
}

/// What a push did.
struct PushReport: Encodable {
    var accepted: [RequestLine]
    /// What '--conflicts theirs' gave up.
    var givenUp: [RequestLine]
    var failed: [RequestLine]
    var waiting: [RequestLine]

    init(_ report: UploadReport) {
        accepted = report.accepted.map(RequestLine.init)
        givenUp = report.givenUp.map(RequestLine.init)
        failed = report.failed.map(RequestLine.init)
        waiting = report.waiting.map(RequestLine.init)
    }

    static func show(_ report: UploadReport) {
        if report.accepted.isEmpty, report.givenUp.isEmpty, report.failed.isEmpty, report.waiting.isEmpty {
            print("Nothing to push.")
            return
        }
        for request in report.accepted { print("\(Terminal.green("accepted")) \(RequestLine.text(request))") }
        for request in report.givenUp { print("\(Terminal.yellow("given up")) \(RequestLine.text(request))") }
        for request in report.failed { print("\(Terminal.red("refused"))  \(RequestLine.text(request))") }
        for request in report.waiting { print("\(Terminal.yellow("waiting"))  \(RequestLine.text(request))") }
        let givenUp = report.givenUp.isEmpty ? "" : ", \(Terminal.number(report.givenUp.count)) given up"
        print(
            "Pushed \(Terminal.plural(report.accepted.count, "change")), "
                + "\(Terminal.number(report.failed.count)) refused, "
                + "\(Terminal.number(report.waiting.count)) waiting\(givenUp).")
        if !report.failed.isEmpty {
            print(Terminal.dim("Mend a refused change by editing its entity again, or see: outpost errors --help"))
        }
    }
}

/// What a pull brought.
struct PullReport: Encodable {
    struct Query: Encodable {
        var name: String
        var method: String
        var received: Int
        var inserted: Int
        var updated: Int
        var removed: Int
    }

    /// What came of reading the metadata again.
    struct Metadata: Encodable {
        var differences: [String]
        var refused: [String]
        var isRebuilt: Bool
    }

    var queries: [Query]
    var rows: Int
    var bytes: Int64
    var metadata: Metadata?

    init(_ report: DownloadReport, bytes: Int64, refresh: MetadataRefresh? = nil) {
        metadata = refresh.map {
            Metadata(
                differences: $0.differences.map(\.description), refused: $0.refused, isRebuilt: $0.isRebuilt)
        }
        queries = report.queries.map {
            Query(
                name: $0.name, method: $0.method.rawValue, received: $0.received, inserted: $0.inserted,
                updated: $0.updated, removed: $0.removed)
        }
        rows = report.received
        self.bytes = bytes
    }

    static func show(_ report: DownloadReport, bytes: Int64) {
        for query in report.queries where query.received > 0 {
            print(
                "\(query.name): \(Terminal.plural(query.received, "row")) received "
                    + Terminal.dim("(\(query.inserted) new, \(query.updated) changed, \(query.removed) removed)"))
        }
        print("Pulled \(Terminal.plural(report.received, "row")), \(Terminal.bytes(bytes)).")
    }
}
