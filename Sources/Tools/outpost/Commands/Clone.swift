import ArgumentParser
import Foundation
import ODataClient
import ODataHTTP
import ODataModel
import ODataQuery
import ODataSQL
import ODataService
import OfflineOData
import Secrets
import ToolLanguage

struct Clone: AsyncParsableCommand, CloneCommand, ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "clone",
        abstract: translated("Take a service, or a part of it, offline."),
        discussion: translated(
            paragraphs: """
                Without --query, the clone holds everything that can be read: entity sets, singletons, contained \
                entities, and relations without a foreign key. Omitted parts are listed with the queries that would \
                bring them.

                The store is encrypted with a generated key. The key is kept in a file that only you can read \
                (~/.local/share/outpost/keys; see 'outpost keys list'). With --key-file or --passphrase, you give \
                another one. Anybody with that file can read the clone.

                The clone keeps the header fields, options, language and user, encrypted, for each later push, pull \
                and sync. It does not keep passwords, tokens, keys and --trust: give them again.

                EXAMPLE
                  outpost clone https://host/service/
                  outpost clone https://host/service/ shop \\
                    --query 'open=Orders?$filter=ShippedDate eq null'
                  outpost clone https://host/service/ shop \\
                    --query 'mine=Orders?$filter=EmployeeID eq @me' --set me=7
                  outpost clone https://host/service/ --dry-run
                """))

    @Argument(help: .text("The root of the service."))
    var url: String

    @Argument(help: .text("The new directory; the default is the name of the service."), completion: .directory)
    var directory: String?

    @Option(
        name: .customLong("query"),
        help: .text("A query to keep offline, with a name; may be repeated.", valueName: "name=query"))
    var queries: [String] = []

    @Option(help: .text("The group in which these queries are pulled."))
    var group: String?

    @Flag(help: .text("Also load the streams of the entities, such as pictures."))
    var streams = false

    @Option(
        help: .text(
            """
            A query with the same rows for every user. They stay when another user takes over the clone. \
            May be repeated.
            """, valueName: "name"))
    var shared: [String] = []

    @OptionGroup var parameters: ParameterOptions

    @OptionGroup var amount: DownloadOptions

    @Flag(help: .text("Do not ask before a large download."))
    var all = false

    @Flag(help: .text("Go on even if the rows may not fit on the disk."))
    var anyway = false

    @Flag(name: .customLong("dry-run"), help: .text("Only show the planned download."))
    var dryRun = false

    @OptionGroup var key: KeyOptions

    @Flag(help: .text("Protect the store with a passphrase; the command asks for it."))
    var passphrase = false

    @OptionGroup var service: ServiceOptions

    @Flag(help: .text("Report as JSON."))
    var json = false

    /// The number of entity sets above which the person is asked.
    static let setLimit = 50
    /// The number of rows above which the person is asked.
    static let rowLimit = 1_000_000

    mutating func validate() throws {
        guard !passphrase || key.keyFile == nil else {
            throw ValidationError(translated("--passphrase and --key-file exclude each other."))
        }
        var names: Set<Substring> = []
        for query in queries {
            let name = query.prefix { $0 != "=" }
            guard names.insert(name).inserted else {
                throw ValidationError(translated("Two parts are named '\(name)'."))
            }
        }
        if !queries.isEmpty, let unknown = shared.first(where: { !names.contains($0[...]) }) {
            throw ValidationError(translated("--shared \(unknown): no part has that name."))
        }
    }

    var cloneDirectory: String? { directory ?? defaultDirectory }

    func run() async throws {
        let target = directory ?? defaultDirectory
        let defining = try queries.map { text in
            let name = String(text.prefix { $0 != "=" })
            return try Self.definingQuery(
                text, root: url, group: group, streams: streams, isShared: shared.contains(name))
        }
        let values = try parameters.values
        if !dryRun { try CloneFile.requireNone(in: target) }
        let connector = try service.connector(to: url, amount)
        do {
            let client = try connector.client(root: url)
            let survey = try await ProgressLine.during("Asking \(url) how much there is") { _ in
                try await ServiceSurvey.take(of: client, queries: defining, parameters: values)
            }
            if !json { Self.sayWhatIsLeftOut(survey) }
            if let unknown = shared.first(where: { name in !survey.parts.contains { $0.query.name == name } }) {
                throw Failure(
                    message: "--shared \(unknown): the service has no entity set of that name.",
                    advice: "List its entity sets: outpost clone \(url.shellQuoted) --dry-run", status: .misused)
            }
            if !json, dryRun || queries.isEmpty {
                for line in MissingParts.lines(missing(survey), title: "Left out") { Terminal.error(line) }
            }
            if dryRun {
                show(survey)
            } else {
                try announce(survey)
                if !anyway { try await checkSpace(survey, of: client, at: target) }
                try await clone(from: client, connector, survey: survey, into: target)
            }
            try await connector.close()
        } catch {
            try? await connector.close()
            throw error
        }
    }

    /// The last segment of the path of the service, or its host.
    private var defaultDirectory: String {
        let address = URLComponents(string: url)
        let step = address?.path.split(separator: "/").last.map(String.init)
        if let step, ![".", ".."].contains(step) { return step }
        // Nobody would type an address in brackets as a directory.
        guard let host = address?.host, !host.isEmpty, !host.contains(":") else { return "clone" }
        return host
    }

    static func definingQuery(
        _ text: String, root: String, group: String?, streams: Bool, isShared: Bool = false
    ) throws -> DefiningQuery {
        guard let mark = text.firstIndex(of: "="), mark != text.startIndex,
            !text[..<mark].contains(where: { "?$(/".contains($0) })
        else {
            throw Failure(
                message: "A query is given as NAME=QUERY, not '\(text)'.",
                advice: "For example: 'open=Orders?$filter=ShippedDate eq null'", status: .misused)
        }
        return try DefiningQuery(
            String(text[..<mark]), try TypedQuery.text(String(text[text.index(after: mark)...]), root: root),
            group: group, retrievesStreams: streams, isShared: isShared)
    }

    private func show(_ survey: ServiceSurvey) {
        if json {
            print(JSONText(Report(survey, missing: missing(survey))).text)
            return
        }
        Terminal.write(Self.table(survey).rendered())
        print(Self.sum(survey))
    }

    private static func sayWhatIsLeftOut(_ survey: ServiceSurvey) {
        for (names, reason): ([String], TerminalText) in [
            (survey.leftOut, "they can be read through others or with a filter alone"),
            (survey.withoutKey, "their entities have no key"),
            (survey.withoutType, "the metadata do not declare their types"),
        ] where !names.isEmpty {
            Terminal.error("Left out, since \(reason): \(names.joined(separator: ", "))")
        }
    }

    private static func table(_ survey: ServiceSurvey) -> Table {
        var table = Table(["Query", "Rows"])
        for part in survey.parts {
            table.add([part.query.name, part.rows.map { Terminal.number($0) } ?? translated("unknown")])
        }
        return table
    }

    private static func sum(_ survey: ServiceSurvey) -> TerminalText {
        "\(Terminal.plural(survey.parts.count, "query", plural: "queries")), \(Terminal.plural(survey.rows, "row"))"
    }

    /// Shows the planned download to a person at a terminal, and asks before a very large one.
    private func announce(_ survey: ServiceSurvey) throws {
        let isLarge =
            (queries.isEmpty && survey.sets.count > Self.setLimit) || survey.rows > Self.rowLimit
        let asks = isLarge && !all
        if asks || Terminal.isInteractive(.error) {
            Terminal.write(Self.table(survey).rendered(for: .error) + Self.sum(survey) + "\n", to: .error)
        }
        guard asks else { return }
        let parts =
            queries.isEmpty
            ? Terminal.plural(survey.sets.count, "entity set")
            : Terminal.plural(survey.parts.count, "query", plural: "queries")
        let size: TerminalText = "\(parts) with \(Terminal.plural(survey.rows, "row"))"
        guard let answer = Terminal.confirm("This takes \(size) from \(url). Go on?") else {
            throw Failure(
                message: "This takes \(size) from \(url).", advice: "\(takingLess), or everything with --all.")
        }
        guard answer else { throw QuietExit(status: .failed) }
    }

    /// Advice for a smaller clone.
    private var takingLess: TerminalText {
        queries.isEmpty ? "Take a part of it with --query" : "Take less of it by filters in the queries"
    }

    private func checkSpace(
        _ survey: ServiceSurvey, of client: ODataClient, at target: String
    ) async throws {
        // The new folders will be on the disk of the nearest existing folder.
        var folder = URL(fileURLWithPath: target).standardizedFileURL
        while !FileManager.default.fileExists(atPath: folder.path), folder.path != "/" {
            folder.deleteLastPathComponent()
        }
        let values = try? FileManager.default.attributesOfFileSystem(forPath: folder.path)
        guard let free = (values?[.systemFreeSize] as? NSNumber)?.int64Value else { return }
        // The first rows are only requested if a cautious guess finds too little room.
        guard RoomEstimate.guess(survey) > free else { return }
        let needed = await RoomEstimate.measured(survey, client)
        guard needed > free else { return }
        throw Failure(
            message: """
                \(Terminal.plural(survey.rows, "row")) may take \(Terminal.bytes(needed)), and \
                \(folder.path) has \(Terminal.bytes(free)) left.
                """,
            advice: "\(takingLess), make room, or go on with --anyway.")
    }

    private func clone(
        from client: ODataClient, _ connector: Connector, survey: ServiceSurvey, into target: String
    ) async throws {
        let given = try NewKey.given(passphrase: passphrase, keyFile: key.keyFile)
        let (store, newKey) = try await CloneMaking.make(in: target, key: given) { protection in
            try await OfflineStore.create(
                at: target, protection: protection, serviceRoot: url, remote: client,
                queries: try survey.parts.map { try grouped($0.query) }, options: connector.storeOptions)
        }
        let line = ProgressLine(store)
        let notice = KeptNotice(store, goingOnWith: "outpost pull \(target.shellQuoted)", line)
        defer { notice.end() }
        do {
            try await store.queries.setParameters(try parameters.values)
            try await store.setKeptText(KeptConnection.name, to: try KeptConnection(service).text)
            let report = try await store.download()
            line.finish()
            try store.close()
            if json {
                print(
                    JSONText(
                        Report(survey, missing: missing(survey), directory: target, report, bytes: connector.received)
                    ).text)
            } else {
                print(
                    """
                    Cloned \(Terminal.plural(survey.rows(of: report), "row")) of \
                    \(Terminal.plural(queries.isEmpty ? survey.sets.count : report.queries.count, "entity set")) \
                    (\(Terminal.bytes(connector.received))) into \(Terminal.bold(target)).
                    """)
                for line in UnreadableReport.lines(report.unreadable, of: target) { print(line) }
                print(Terminal.dim(newKey.said))
            }
        } catch {
            line.finish()
            try? store.close()
            var failure = Failure(error, of: CommandSubject(self))
            failure.advice = Self.advice(behind: error, failure.advice, in: target)
            throw failure
        }
    }

    /// Returns the next step for an incomplete clone; the advice of the failure comes first.
    private static func advice(behind error: any Error, _ advice: TerminalText?, in target: String)
        -> TerminalText
    {
        let kept: TerminalText = "What is complete is kept in \(target)"
        // Other failures advise to run the same command again, which would find an existing clone.
        let isOfAnswer = (error as? TransportError).map { !$0.mayPass } ?? false
        if case .tooLarge? = error as? TransportError, let advice { return "\(advice)\n\(kept)." }
        let helps = error is OfflineError || error is ODataError || isOfAnswer
        guard helps, let advice else { return "\(kept); go on with: outpost pull \(target.shellQuoted)" }
        return advice.description.contains("outpost pull")
            ? "\(kept). \(advice)" : "\(advice)\n\(kept); go on with: outpost pull \(target.shellQuoted)"
    }

    /// Returns the parts of the service that the clone will not hold. An option asks for the streams of whole
    /// sets.
    private func missing(_ survey: ServiceSurvey) -> [MissingPart] {
        survey.missing.filter { !$0.needsStreams || !streams || !queries.isEmpty }
    }

    /// Returns a query with the group and streams of the options.
    private func grouped(_ query: DefiningQuery) throws -> DefiningQuery {
        guard queries.isEmpty, group != nil || streams || !shared.isEmpty else { return query }
        return try DefiningQuery(
            query.name, query.text, group: group, retrievesStreams: streams, isShared: shared.contains(query.name))
    }

    private struct Report: Encodable {
        struct Part: Encodable {
            var name: String
            var rows: Int?
        }

        var directory: String?
        var queries: [Part]
        var rows: Int
        var leftOut: [String]
        var missing: [MissingParts.Line]
        var bytes: Int64?

        init(_ survey: ServiceSurvey, missing: [MissingPart]) {
            self.missing = missing.map(MissingParts.Line.init)
            queries = survey.parts.map { Part(name: $0.query.name, rows: $0.rows) }
            rows = survey.rows
            leftOut = survey.leftOut + survey.withoutKey + survey.withoutType
        }

        init(
            _ survey: ServiceSurvey, missing: [MissingPart], directory: String, _ report: DownloadReport, bytes: Int64
        ) {
            self.missing = missing.map(MissingParts.Line.init)
            self.directory = directory
            queries = report.queries.map { Part(name: $0.name, rows: $0.received) }
            rows = report.received
            leftOut = survey.leftOut + survey.withoutKey + survey.withoutType
            self.bytes = bytes
        }
    }
}

extension ServiceSurvey {
    /// The entity sets and singletons that the queries begin with.
    fileprivate var sets: Set<String> { Set(parts.map(\.query.url.path.description)) }

    /// Returns the number of rows that a download has brought of these sets. A second query of a complete set
    /// brings the same entities again.
    fileprivate func rows(of report: DownloadReport) -> Int {
        let whole = Set(parts.filter { $0.query.url.options == QueryOptions() }.map(\.query.text))
        let again = Set(
            parts.filter { $0.query.url.options != QueryOptions() && whole.contains($0.query.url.path.description) }
                .map(\.query.name))
        return report.queries.filter { !again.contains($0.name) }.reduce(0) { $0 + $1.received }
    }
}
