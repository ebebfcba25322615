import ArgumentParser
import ODataModel
import ODataQuery
import OfflineOData

/// `outpost status`.
struct Status: AsyncParsableCommand, StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Say what a clone holds and what waits in it.",
        discussion: """
            EXAMPLE
              outpost status shop
            """)

    @OptionGroup var store: StoreOptions
    @Flag(help: "Report as JSON.") var json = false

    func run() async throws {
        let provider = try await store.open()
        let status = try await provider.observe.status()
        try provider.close()
        if json {
            print(JSONText(Report(status)).text)
            return
        }
        print("Clone of \(Terminal.bold(status.serviceRoot))")
        var table = Table(["Query", "Rows", "Last download"])
        for query in status.queries {
            table.add([
                query.isShared ? "\(query.name) (shared)" : query.name, Terminal.number(query.rows),
                query.isLoaded ? query.lastDownload?.description ?? "" : "incomplete; go on with pull",
            ])
        }
        Terminal.write(table.rendered())
        for note in status.notes { print(note) }
        for line in UnreadableReport.lines(status.unreadable, of: store.directory) { print(line) }
        if status.pending.isEmpty, status.failed.isEmpty { print("Nothing to push.") }
        if !status.held.isEmpty {
            print("\nNot submitted yet:")
            for request in status.held { print("  \(RequestLine.text(request))") }
        }
        if !status.pending.isEmpty {
            print(status.hold == nil ? "\nTo push:" : "\nHeld:")
            if let hold = status.hold {
                let push = "outpost push \(store.directory.shellQuoted) --from-copy"
                print("\(hold.description) Look at the service. To send them all the same: \(push)")
            }
            for request in status.pending { print("  \(RequestLine.text(request))") }
        }
        if !status.failed.isEmpty {
            let errors = "outpost errors \(store.directory.shellQuoted)"
            print("\nIn the error archive " + Terminal.dim("(mend by editing, or see \(errors)):"))
            for request in status.failed { print("  \(RequestLine.text(request))") }
        }
    }

    private struct Report: Encodable {
        struct Query: Encodable {
            var name: String
            var query: String
            var rows: Int
            var isLoaded: Bool
            var isShared: Bool
            var lastDownload: String?
        }

        var service: String
        var queries: [Query]
        var pending: [RequestLine]
        /// Why the pending changes are held.
        var held: QueueHold.Reason?
        /// Changes that the app has not submitted yet.
        var notSubmitted: [RequestLine]
        var errors: [RequestLine]
        var unreadable: [UnreadableReport]
        var notes: [String]

        init(_ status: StoreStatus) {
            service = status.serviceRoot
            queries = status.queries.map {
                Query(
                    name: $0.name, query: $0.text, rows: $0.rows, isLoaded: $0.isLoaded, isShared: $0.isShared,
                    lastDownload: $0.lastDownload?.description)
            }
            pending = status.pending.map(RequestLine.init)
            held = status.hold?.reason
            notSubmitted = status.held.map(RequestLine.init)
            errors = status.failed.map(RequestLine.init)
            unreadable = status.unreadable.map(UnreadableReport.init)
            notes = status.notes
        }
    }
}

/// One queued request as a line, and as JSON.
struct RequestLine: Encodable {
    var id: Int64
    var kind: String
    var entity: String
    var state: String
    var changes: [String]
    var category: String?
    var status: Int?
    var code: String?
    var message: String?
    var target: String?
    /// What the service said besides its first message.
    var details: [Detail]?
    /// Of each changed property all versions, where the service's is known.
    var versions: [ValueVersions]?

    /// One of several errors behind the main one.
    struct Detail: Encodable {
        var code: String
        var message: String
        var target: String?

        var text: TerminalText { "\(message)\(target.map { " (\($0))" } ?? "")" }
    }

    /// A request with the versions of what it changes.
    init(_ request: QueuedRequest, versionsIn model: EntityDataModel) {
        self.init(request)
        versions = ValueVersions.all(of: request, model)
    }

    init(_ request: QueuedRequest) {
        id = request.id
        kind = request.kind.rawValue
        entity = request.entityText
        state = request.state.rawValue
        changes = request.changes.shape.properties.indices.compactMap {
            request.changes.values[$0] == nil ? nil : request.changes.shape.properties[$0].name
        }
        category = request.options.category
        status = request.failure?.status
        code = request.failure?.code
        message = request.failure?.message
        target = request.failure?.target
        details = request.failure.flatMap { failure in
            failure.details.isEmpty
                ? nil : failure.details.map { Detail(code: $0.code, message: $0.message, target: $0.target) }
        }
    }

    static func text(_ request: QueuedRequest) -> TerminalText {
        let line = RequestLine(request)
        var text: TerminalText = "#\(line.id) \(line.kind) \(line.entity)"
        if request.kind == .update { text += " (\(line.changes.joined(separator: ", ")))" }
        if let category = line.category { text += Terminal.dim(" in \(category)") }
        if request.state == .sending { text += Terminal.dim(" on its way") }
        if let failure = request.failure {
            let kind = request.state == .inDoubt ? "in doubt" : failure.isConflict ? "conflict" : "refused"
            text += " \(Terminal.red(kind)): \(failure.message)"
        }
        return text
    }
}
