import ArgumentParser
import ODataModel
import ODataQuery
import OfflineOData
import ToolLanguage

struct Status: AsyncParsableCommand, StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: translated("Show the queries of a clone and its pending changes."),
        discussion: translated(
            paragraphs: """
                EXAMPLE
                  outpost status shop
                """))

    @OptionGroup var store: StoreOptions
    @Flag(help: .text("Report as JSON.")) var json = false

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
                query.isShared ? translated("\(query.name) (shared)") : query.name, Terminal.number(query.rows),
                query.isLoaded ? query.lastDownload?.description ?? "" : translated("incomplete; go on with pull"),
            ])
        }
        Terminal.write(table.rendered())
        for note in status.notes { print(LibraryText.text(note)) }
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
                print("\(LibraryText.text(hold.description)) Look at the service. To send them anyway: \(push)")
            }
            for request in status.pending { print("  \(RequestLine.text(request))") }
        }
        if !status.failed.isEmpty {
            let errors = "outpost changes \(store.directory.shellQuoted) --failed"
            print("\nIn the error archive " + Terminal.dim("(correct by editing, or see \(errors)):"))
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
        /// The reason why pending changes are held.
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

/// A pending change as a line, and as JSON.
struct RequestLine: Encodable {
    var id: Int64
    var kind: String
    var entity: String
    /// The entity under the key that the service gave.
    var newEntity: String?
    var state: String
    var changes: [String]
    var category: String?
    var status: Int?
    var code: String?
    var message: String?
    var target: String?
    /// The further errors in the response of the service.
    var details: [Detail]?
    /// All known versions of each changed property.
    var versions: [ValueVersions]?

    /// One of several errors behind the main one.
    struct Detail: Encodable {
        var code: String
        var message: String
        var target: String?

        var text: TerminalText { "\(message)\(target.map { " (\($0))" } ?? "")" }
    }

    /// Describes a change with the versions of its properties.
    init(_ request: QueuedRequest, versionsIn model: EntityDataModel) {
        self.init(request)
        versions = ValueVersions.all(of: request, model)
    }

    /// A request that is settled.
    init(_ request: QueuedRequest, settledAs state: String) {
        self.init(request)
        self.state = state
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

    /// - Parameter isSettled: whether the request is over.
    static func text(_ request: QueuedRequest, isSettled: Bool = false) -> TerminalText {
        let line = RequestLine(request)
        var text: TerminalText = "#\(line.id) \(line.kind) \(request.subjectText)"
        if request.kind == .update { text += " (\(line.changes.joined(separator: ", ")))" }
        if let category = line.category { text += Terminal.dim(" in \(category)") }
        if request.state == .sending, !isSettled { text += Terminal.dim(" on its way") }
        if let failure = request.failure {
            let kind: TerminalText =
                switch request.state {
                case .inDoubt: "in doubt"
                case .held, .pending, .sending: "locked"
                case .refused: failure.isConflict ? "conflict" : "refused"
                }
            let isLocked = request.state != .inDoubt && request.state != .refused
            text += " \(isLocked ? Terminal.yellow(kind) : Terminal.red(kind)): \(failure.message)"
        }
        return text
    }
}
