/// The subject of a request as stored in the column `detail` of the queue: one JSON object. Each kind of request
/// has some of its members. SQL reads single members.
struct StoredSubject: Codable, Hashable {
    private var stream: Int64?
    private var property: String?
    private var navigation: String?
    private var sourceRow: Int64?
    private var targetSet: String?
    private var targetRow: Int64?
    private var target: String?
    private var replaced: [QueuedRequest.RelatedPair]?
    private var seen: [QueuedRequest.RelatedPair]?
    private var shown: String?
    private var url: String?
    private var parameters: String?
    private var bound: RowReference?
    private var parentRow: Int64?
    private var container: String?
    private var former: QueuedRequest.FormerRequest?

    init() {}

    init(_ subject: QueuedRequest.Subject) {
        switch subject.former {
        case .entity(let change): stream = change.stream
        case .stream(let change): (stream, property) = (change.stream, change.property)
        case .relation(let change):
            (navigation, sourceRow) = (change.navigation, change.sourceRow)
            (targetSet, targetRow, target) = (change.targetSet, change.targetRow, change.target)
            (replaced, seen, shown) = (change.replaced, change.seen, change.shown)
        case .call(let call): (url, parameters, bound) = (call.url, call.parameters, call.bound)
        case .unmapped: break
        }
        if case .unmapped(let request, _) = subject { former = request }
        (parentRow, container) = (subject.container?.row, subject.container?.url)
    }

    /// Whether there is nothing to keep.
    var isEmpty: Bool { self == StoredSubject() }

    /// Whether the model has a place for the request.
    var isMapped: Bool { former == nil }

    /// The entity set of the entity that a called action is bound to.
    var boundSet: String? { bound?.set }

    /// The subject of a request.
    ///
    /// - Throws: ``OfflineError/damagedQueue(reason:)`` if a part is missing that the kind of request must have.
    func subject(of kind: QueuedRequest.Kind, _ id: Int64) throws(OfflineError) -> QueuedRequest.Subject {
        let subject = try mapped(kind, id)
        return former.map { .unmapped($0, subject) } ?? subject
    }

    private func mapped(_ kind: QueuedRequest.Kind, _ id: Int64) throws(OfflineError) -> QueuedRequest.Subject {
        let container = parentRow.map { QueuedRequest.Container(row: $0, url: self.container) }
        switch kind {
        case .create, .update, .delete:
            return .entity(QueuedRequest.EntityChange(stream: stream, container: container))
        case .stream:
            return .stream(QueuedRequest.StreamChange(stream: stream, property: property, container: container))
        case .link, .unlink:
            guard let navigation, let sourceRow, let targetSet, let targetRow, let target else {
                throw .damagedQueue(reason: "request \(id) does not name both ends of its relation")
            }
            return .relation(
                QueuedRequest.RelationChange(
                    navigation: navigation, sourceRow: sourceRow, targetSet: targetSet, targetRow: targetRow,
                    target: target, replaced: replaced, seen: seen, shown: shown))
        case .call:
            guard let url else { throw .damagedQueue(reason: "request \(id) names no action") }
            return .call(QueuedRequest.ActionCall(url: url, parameters: parameters ?? "{}", bound: bound))
        }
    }
}
