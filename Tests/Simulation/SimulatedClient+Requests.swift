import ODataModel
import OfflineOData

/// The relation of a client's queued requests and their conflicts to the ledger.
extension SimulatedClient {
    /// Returns the mark of the change in a request.
    static func mark(of request: QueuedRequest) -> String {
        switch request.kind {
        case .delete: Ledger.deletion(of: text(request.base?["Born"]))
        default: text(request.changes["Mark"])
        }
    }

    /// Returns the mark of the server version if a change was refused because its base version was outdated.
    static func conflict(of request: QueuedRequest, born: String) -> String? {
        guard let failure = request.failure, failure.isConflict, let base = request.base else { return nil }
        guard let theirs = failure.theirs else {
            // In a change set, another change may have the conflict.
            return failure.conflict == .deleted ? Ledger.deletion(of: born) : nil
        }
        guard theirs["Mark"] == base["Mark"] else { return text(theirs["Mark"]) }
        // If a change of the same client gave up values, its later changes are in conflict with those values.
        let isLeft = base.shape.properties.map(\.name).contains { name in
            guard SimulatedService.isContent(name), let before = base[name], let other = theirs[name] else {
                return false
            }
            return before != other
        }
        return isLeft ? text(theirs["Mark"]) : nil
    }

    /// Returns the requests that may be removed when some rows are undone: requests of the same rows, requests
    /// that depend on them, and requests of the same change sets.
    ///
    /// - Parameter changeSets: The change set names of requests, by request number.
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

    /// Returns all requests of the change set of a request, including the request itself.
    static func together(
        with request: QueuedRequest, of all: [QueuedRequest], _ changeSets: [Int64: String]
    ) -> [QueuedRequest] {
        guard let name = changeSets[request.id] else { return [request] }
        return all.filter { changeSets[$0.id] == name }
    }

    /// Returns the change set names of requests by request number, as the store reports them to an app.
    static func changeSets(in store: OfflineStore) async throws -> [Int64: String] {
        var names: [Int64: String] = [:]
        for entity in try await store.entities("RequestQueue?$filter=ChangeSet ne null&$select=RequestID,ChangeSet") {
            if case .integer(let id)? = entity["RequestID"] { names[id] = text(entity["ChangeSet"]) }
        }
        return names
    }

    /// Returns the mark of the change in a conflict.
    static func mark(of versions: ConflictVersions) -> String {
        versions.kind == .delete
            ? Ledger.deletion(of: text(versions.base?["Born"])) : text(versions.mine["Mark"])
    }

    /// Returns the requests that are removed if the server version of an entity wins.
    static func goingFor(
        _ versions: ConflictVersions, _ mark: String, of all: [QueuedRequest], _ changeSets: [Int64: String]
    ) -> [QueuedRequest] {
        let ofEntity = all.filter { $0.entitySet == versions.entitySet && $0.key == versions.key }
        // If the entity was deleted at the service, all its changes are withdrawn; so is a single change.
        // Otherwise the other changes stay.
        guard versions.theirs != nil, ofEntity.count != 1 else { return goingWith(ofEntity, of: all, changeSets) }
        guard let request = ofEntity.first(where: { Self.mark(of: $0) == mark }) ?? ofEntity.first else { return [] }
        // Changes of one change set are withdrawn together.
        let together = together(with: request, of: all, changeSets)
        return together.count == 1 ? together : goingWith(together, of: all, changeSets)
    }

    /// Returns a change without the values that others have changed too, and the names of the removed values.
    /// The mark stays, so that the change remains identifiable.
    ///
    /// The library's rule merges all properties except the marks, which always differ. A conflict by that rule
    /// is resolved in favour of the server version.
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

/// The row of a request.
struct QueuedRow: Hashable {
    let set: String
    let id: Int64

    init(of request: QueuedRequest) {
        set = request.entitySet
        id = request.rowID
    }
}
