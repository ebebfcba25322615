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
        guard let theirs = failure.theirs else {
            // Of a change set, others than this one may be in conflict.
            return failure.conflict == .deleted ? Ledger.deletion(of: born) : nil
        }
        guard theirs["Mark"] == base["Mark"] else { return text(theirs["Mark"]) }
        // What a change of the same client has left to others is in conflict with those behind it.
        let isLeft = base.shape.properties.map(\.name).contains { name in
            guard SimulatedService.isContent(name), let before = base[name], let other = theirs[name] else {
                return false
            }
            return before != other
        }
        return isLeft ? text(theirs["Mark"]) : nil
    }

    /// The requests of the same rows as some, of those that wait for one of theirs, and of those that are in one change set
    /// with one: what may go when those rows are taken back.
    ///
    /// - Parameter changeSets: The names of the change sets of requests, by their numbers.
    static func goingWith(
        _ chosen: [QueuedRequest], of all: [QueuedRequest], _ changeSets: [Int64: String]
    ) -> [QueuedRequest] {
        var rows = Set(chosen.map { QueuedRow(of: $0) })
        while true {
            let ids = Set(all.filter { rows.contains(QueuedRow(of: $0)) }.map(\.id))
            let names = Set(ids.compactMap { changeSets[$0] })
            let others = all.filter { request in
                guard !ids.contains(request.id) else { return false }
                return !ids.isDisjoint(with: request.dependsOn)
                    || changeSets[request.id].map(names.contains) ?? false
            }
            guard !others.isEmpty else { return all.filter { ids.contains($0.id) } }
            rows.formUnion(others.map { QueuedRow(of: $0) })
        }
    }

    /// The requests of the change set that one is in, itself among them.
    static func together(
        with request: QueuedRequest, of all: [QueuedRequest], _ changeSets: [Int64: String]
    ) -> [QueuedRequest] {
        guard let name = changeSets[request.id] else { return [request] }
        return all.filter { changeSets[$0.id] == name }
    }

    /// The names of the change sets of requests, by their numbers, as the store tells them to an app.
    static func changeSets(in store: OfflineStore) async throws -> [Int64: String] {
        var names: [Int64: String] = [:]
        for entity in try await store.entities("RequestQueue?$filter=ChangeSet ne null&$select=RequestID,ChangeSet") {
            if case .integer(let id)? = entity["RequestID"] { names[id] = text(entity["ChangeSet"]) }
        }
        return names
    }

    /// The mark of the change that has met another version.
    static func mark(of versions: ConflictVersions) -> String {
        versions.kind == .delete
            ? Ledger.deletion(of: text(versions.base?["Born"])) : text(versions.mine["Mark"])
    }

    /// The requests that go where the service's version of an entity counts.
    static func goingFor(
        _ versions: ConflictVersions, _ mark: String, of all: [QueuedRequest], _ changeSets: [Int64: String]
    ) -> [QueuedRequest] {
        let ofEntity = all.filter { $0.entitySet == versions.entitySet && $0.key == versions.key }
        // What was deleted there is given up with all its changes, and so is a change that is the only one; else the
        // others stay.
        guard versions.theirs != nil, ofEntity.count != 1 else { return goingWith(ofEntity, of: all, changeSets) }
        guard let request = ofEntity.first(where: { Self.mark(of: $0) == mark }) ?? ofEntity.first else { return [] }
        // What was to be made together is given up together.
        let together = together(with: request, of: all, changeSets)
        return together.count == 1 ? together : goingWith(together, of: all, changeSets)
    }

    /// A change without what others have changed too, and the names of that. Its mark stays, so that it can be told from others.
    ///
    /// The rule of the library merges all but the marks, which always differ; a conflict by that rule is left to the others.
    static func merged(_ versions: ConflictVersions) -> (ODataEntity, Set<String>) {
        let (mine, base, theirs) = (versions.mine, versions.base, versions.theirs)
        func content(_ entity: ODataEntity) -> ODataEntity {
            var content = ODataEntity(shape: entity.shape)
            for name in entity.shape.properties.map(\.name) where SimulatedService.isContent(name) {
                if let value = entity[name] { content[name] = value }
            }
            return content
        }
        let merge = ConflictVersions(
            entitySet: versions.entitySet, key: versions.key, kind: versions.kind, base: base.map(content),
            mine: content(mine), theirs: theirs.map(content)
        ).merge()
        let changes: ODataEntity? =
            switch merge {
            case .merged(let changes): changes
            case .agreed: ODataEntity(shape: mine.shape)
            case .conflict: nil
            }
        if var changes {
            var yielded: Set<String> = []
            for name in mine.shape.properties.map(\.name) {
                guard let value = mine[name] else { continue }
                if !SimulatedService.isContent(name) {
                    changes[name] = value
                } else if changes[name] == nil {
                    yielded.insert(name)
                }
            }
            return (changes, yielded)
        }
        var (kept, yielded): ([String: ODataValue], Set<String>) = ([:], [])
        for name in mine.shape.properties.map(\.name) {
            guard let value = mine[name] else { continue }
            if SimulatedService.isContent(name), let before = base?[name], let other = theirs?[name], other != before {
                yielded.insert(name)
            } else {
                kept[name] = value
            }
        }
        return (ODataEntity(shape: mine.shape, kept), yielded)
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
