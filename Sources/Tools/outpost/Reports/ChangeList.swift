import ODataModel
import ODataQuery
import OfflineOData
import ToolLanguage

/// The changes of a clone that the service has not accepted, each with its state.
struct ChangeList: Sendable {
    /// The state of a change as a person is told of it.
    enum State: Hashable, Sendable {
        /// The next push sends the change.
        case pending
        /// The service does not take the change for now. The next push sends it again.
        case locked
        /// The request is on its way.
        case sent
        /// The queue is held, since the clone may be a copy.
        case held
        /// The app has not submitted the change.
        case notSubmitted
        /// The change waits for a change in the error archive or for one that is not submitted.
        case waiting(for: Int64)
        case refused
        case conflict
        /// The outcome is unknown.
        case doubt

        /// The words in a table.
        var text: TerminalText {
            switch self {
            case .sent: "on its way"
            case .waiting(let id): "waits for #\(id)"
            case .doubt: "in doubt"
            case .pending: "pending"
            case .locked: "locked"
            case .held: "held"
            case .notSubmitted: "not submitted"
            case .refused: "refused"
            case .conflict: "conflict"
            }
        }
    }

    /// A change and its state.
    struct Item: Sendable {
        let request: QueuedRequest
        let state: State
    }

    let items: [Item]
    /// The reason why the queue is held.
    let hold: QueueHold?
    let model: EntityDataModel

    init(_ store: OfflineStore) async throws {
        let status = try await store.observe.status()
        hold = status.hold
        model = store.model
        var waiting: [Int64: Int64] = Dictionary(
            (status.failed + status.held).map { ($0.id, $0.id) }, uniquingKeysWith: { first, _ in first })
        var items: [Item] = []
        for request in status.pending {
            let blocker = request.dependsOn.lazy.compactMap { waiting[$0] }.first
            if let blocker { waiting[request.id] = blocker }
            let state: State =
                request.state == .sending
                ? .sent
                : hold != nil
                    ? .held
                    : blocker.map { .waiting(for: $0) }
                        ?? (request.failure == nil ? .pending : .locked)
            items.append(Item(request: request, state: state))
        }
        items += status.held.map { Item(request: $0, state: .notSubmitted) }
        items += status.failed.map { Item(request: $0, state: $0.archivedState) }
        self.items = items.sorted { $0.request.id < $1.request.id }
    }

    /// The changes that a filter leaves.
    func items(_ filter: ChangeFilter) -> [Item] { items.filter { filter.includes($0.state) } }

    /// Tells a person of changes: a table, and the reasons of those in the error archive below.
    func show(_ items: [Item], of directory: String) {
        let isMarked = items.contains { $0.request.options.category != nil }
        let isOrdered = items.contains { $0.request.options.priority != 0 }
        var table = Table(
            ["#", "Change", "Entity", "State", "Properties"] + (isMarked ? ["Category"] : [])
                + (isOrdered ? ["Priority"] : []))
        for item in items {
            let line = RequestLine(item.request)
            table.add(
                [
                    "#\(line.id)", line.kind, item.request.subjectText, item.state.text.description,
                    line.changes.joined(separator: ", "),
                ]
                    + (isMarked ? [line.category ?? ""] : [])
                    + (isOrdered ? [String(item.request.options.priority)] : []))
        }
        Terminal.write(table.rendered())
        for item in items where item.request.failure != nil { show(reasonsOf: item) }
        let name = directory.shellQuoted
        if let hold, items.contains(where: { $0.state == .held }) {
            print("\n\(LibraryText.text(hold.description)) To send them all the same: outpost push \(name) --from-copy")
        }
        var advice: [TerminalText] = []
        if items.contains(where: { $0.state == .refused }) {
            advice.append(
                "Mend a refused change by editing its entity, or: outpost changes retry|discard \(name) NUMBER")
        }
        if items.contains(where: { $0.state == .conflict }) {
            advice.append(
                "Put a change on top of a conflict, or give it up: outpost changes retry|discard \(name) --conflicts")
        }
        if items.contains(where: { $0.state == .doubt }) {
            advice.append(
                "Look at the service for a change in doubt, then: outpost changes accept|retry|discard \(name) NUMBER")
        }
        if !advice.isEmpty { print("") }
        for line in advice { print(Terminal.dim(line)) }
    }

    private func show(reasonsOf item: Item) {
        guard let failure = item.request.failure else { return }
        print("\n#\(item.request.id) \(Terminal.red(item.state.text)): \(LibraryText.text(failure.message))")
        for detail in RequestLine(item.request).details ?? [] { print("    \(detail.text)") }
        for versions in ValueVersions.all(of: item.request, model) ?? [] { print("    \(versions.text)") }
    }

    /// The changes for a script.
    func lines(_ items: [Item]) -> [ChangeLine] { items.map { ChangeLine($0, versionsIn: model) } }
}

/// A change as JSON: the line of its request, with its place in the queue.
struct ChangeLine: Encodable {
    private let request: RequestLine
    private let item: ChangeList.Item

    init(_ item: ChangeList.Item, versionsIn model: EntityDataModel) {
        request = RequestLine(item.request, versionsIn: model)
        self.item = item
    }

    private enum Key: CodingKey {
        case isHeld, isConflict, waitsFor, priority, tag, dependsOn
    }

    func encode(to encoder: any Encoder) throws {
        try request.encode(to: encoder)
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(item.state == .held || item.state == .notSubmitted, forKey: .isHeld)
        try container.encode(item.state == .conflict, forKey: .isConflict)
        if case .waiting(let id) = item.state { try container.encode(id, forKey: .waitsFor) }
        try container.encode(item.request.options.priority, forKey: .priority)
        try container.encodeIfPresent(item.request.options.tag, forKey: .tag)
        try container.encode(item.request.dependsOn, forKey: .dependsOn)
    }
}

extension QueuedRequest {
    /// The state of a change in the error archive.
    fileprivate var archivedState: ChangeList.State {
        state == .inDoubt ? .doubt : failure?.isConflict == true ? .conflict : .refused
    }

    /// The entity, and for a relation the entity that it leads to.
    var subjectText: String {
        if case .relation(let change) = subject { "\(entityText) → \(change.target)" } else { entityText }
    }
}
