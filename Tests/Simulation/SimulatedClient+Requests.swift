import ODataModel
import OfflineOData

/// What the requests of a client's queue, and the conflicts that they meet, stand for in the ledger.
extension SimulatedClient {
    /// The mark of the change that a request makes.
    static func mark(of request: QueuedRequest) -> String {
        switch request.kind {
        case .delete: Ledger.deletion(of: text(request.base?["Born"]))
        default: text(request.changes["Mark"])
        }
    }

    /// The mark of what had been done to the entity, where a change was refused since it was made of another version.
    static func conflict(of request: QueuedRequest, born: String) -> String? {
        guard let failure = request.failure, failure.isConflict, let base = request.base else { return nil }
        guard let theirs = failure.theirs else { return Ledger.deletion(of: born) }
        return theirs["Mark"] == base["Mark"] ? nil : text(theirs["Mark"])
    }

    /// The requests of the same rows as some, and of those that wait for one of theirs: what goes when those rows are taken
    /// back.
    static func goingWith(_ chosen: [QueuedRequest], of all: [QueuedRequest]) -> [QueuedRequest] {
        var rows = Set(chosen.map { QueuedRow(of: $0) })
        while true {
            let ids = Set(all.filter { rows.contains(QueuedRow(of: $0)) }.map(\.id))
            let waiting = all.filter { !ids.contains($0.id) && !ids.isDisjoint(with: $0.dependsOn) }
            guard !waiting.isEmpty else { return all.filter { ids.contains($0.id) } }
            rows.formUnion(waiting.map { QueuedRow(of: $0) })
        }
    }

    /// The mark of the change that has met another version.
    static func mark(of versions: ConflictVersions) -> String {
        versions.kind == .delete
            ? Ledger.deletion(of: text(versions.base?["Born"])) : text(versions.mine["Mark"])
    }

    /// The requests that go where the service's version of an entity counts.
    static func goingFor(
        _ versions: ConflictVersions, _ mark: String, of all: [QueuedRequest]
    ) -> [QueuedRequest] {
        let ofEntity = all.filter { $0.entitySet == versions.entitySet && $0.key == versions.key }
        // What was deleted there is given up with all its changes, and so is a change that is the only one; else the
        // others stay.
        guard versions.theirs != nil, ofEntity.count != 1 else { return goingWith(ofEntity, of: all) }
        return [ofEntity.first { Self.mark(of: $0) == mark } ?? ofEntity.first].compactMap(\.self)
    }

    /// A change without what others have changed too, and the names of that. Its mark stays, so that it can be told from others.
    static func merged(_ versions: ConflictVersions) -> (Entity, Set<String>) {
        let (mine, base, theirs) = (versions.mine, versions.base, versions.theirs)
        var (kept, yielded): ([String: ODataValue], Set<String>) = ([:], [])
        for name in mine.shape.properties.map(\.name) {
            guard let value = mine[name] else { continue }
            if SimulatedService.isContent(name), let before = base?[name], let other = theirs?[name], other != before {
                yielded.insert(name)
            } else {
                kept[name] = value
            }
        }
        return (Entity(shape: mine.shape, kept), yielded)
    }
}

/// The row that a request is about.
struct QueuedRow: Hashable {
    let set: String
    let id: Int64

    init(of request: QueuedRequest) {
        set = request.entitySet
        id = request.rowID
    }
}
