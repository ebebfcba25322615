import GRDB
import ODataModel
import ODataStore

/// What becomes of requests that waited for some that will never be sent.
extension Undo {
    /// Takes back what cannot be without some requests of one row, or beside the rows: an entity that waited for what they make
    /// goes with all its changes; one that waited for a foreign key which they give up does not get that, and keeps its others.
    ///
    /// - Parameters:
    ///   - gone: the requests that will never be sent.
    ///   - rest: those of the same row that stay. What is no change of a row, such as a call, then waits for these alone.
    /// - Throws: ``OfflineError/alreadySent(request:)`` when one that is to be taken back is on its way.
    func undoDependents(
        of gone: [QueuedRequest], leaving rest: [QueuedRequest] = [], in database: Database
    ) throws {
        let ids = Set(gone.map(\.id))
        // What was never made keeps its key from nobody.
        let unmade = Set(gone.filter { $0.kind == .create }.compactMap(\.touchedRow))
        for id in try dependencies.dependents(of: ids, in: database) {
            // Taking one back may have taken others back.
            guard let request = try queue.request(id, in: database) else { continue }
            let awaited = gone.filter { request.dependsOn.contains($0.id) }
            if !request.isOfRow, rest.isEmpty {
                try checkUnsent(request)
                try undoBesideRows(request, in: database)
                continue
            }
            let needed = awaited.filter { other in
                other.kind != .delete || !(other.touchedRow.map(unmade.contains) ?? false)
            }
            if request.isOfRow, try needed.contains(where: { try isNeeded($0, by: request, in: database) }) {
                // All of the entity's requests go with it.
                for other in try queue.requests(set: request.entitySet, rowID: request.rowID, in: database) {
                    try checkUnsent(other)
                }
                try undo(set: request.entitySet, rowID: request.rowID, in: database)
                continue
            }
            try dependencies.set(Set(request.dependsOn).subtracting(ids), of: id, in: database)
            // The service has never seen what was made here with the foreign key.
            guard request.isOfRow, !gone.contains(where: { $0.kind == .create }),
                !awaited.contains(where: { $0.touchedRow == request.touchedRow })
            else { continue }
            try takeBack(givenBy: awaited, from: request, leaving: rest, in: database)
        }
    }

    /// Takes foreign keys from those that were to get them from a row which keeps them now, since a request does not change them
    /// any more.
    ///
    /// - Parameters:
    ///   - names: what the request does not change any more.
    ///   - giver: the request as it was.
    ///   - rest: the other requests of its row.
    func undoTakers(
        of names: Set<String>, from giver: QueuedRequest, leaving rest: [QueuedRequest], in database: Database
    ) throws {
        for id in try dependencies.dependents(of: [giver.id], in: database) {
            guard let request = try queue.request(id, in: database), request.isOfRow,
                request.touchedRow != giver.touchedRow,
                !foreignKeys(givenBy: giver, to: request).isDisjoint(with: names)
            else { continue }
            try dependencies.set(Set(request.dependsOn).subtracting([giver.id]), of: id, in: database)
            try takeBack(givenBy: [giver], from: request, leaving: rest, in: database)
        }
    }

    /// Lets a request wait for whoever gives up now what it was to get, or takes that from it.
    private func takeBack(
        givenBy givers: [QueuedRequest], from request: QueuedRequest, leaving rest: [QueuedRequest],
        in database: Database
    ) throws {
        let names = givers.reduce(into: Set<String>()) { $0.formUnion(foreignKeys(givenBy: $1, to: request)) }
        guard !names.isEmpty, let last = givers.map(\.id).max() else { return }
        let next = rest.first { other in
            other.id > last && (other.kind == .delete || names.contains { other.changes[$0] != nil })
        }
        if let next, try !dependencies.anyWaits([next.id], for: request.id, in: database) {
            let others = try dependencies.dependencies(of: request.id, in: database)
            return try dependencies.set(others.union([next.id]), of: request.id, in: database)
        }
        try checkUnsent(request)
        try Cancelling(undo: self).takeOut(names, of: request, in: database)
    }

    private func checkUnsent(_ request: QueuedRequest) throws {
        guard request.state != .sending else { throw OfflineError.alreadySent(request: request.id) }
    }

    /// Whether there is nothing that a request could change without another one that it waited for.
    private func isNeeded(_ other: QueuedRequest, by request: QueuedRequest, in database: Database) throws -> Bool {
        switch other.kind {
        case .create: try other.entitySet != request.entitySet || refers(request, to: other, in: database)
        case .call, .link, .unlink: true
        // Its key is free only where the one that had it is gone.
        case .delete:
            request.kind == .create && request.entitySet == other.entitySet && request.key == other.key
        case .update, .stream: false
        }
    }

    /// Whether a request is about an entity that refers to one of the same set, or names it: it may also have waited for that to
    /// give something up.
    private func refers(_ request: QueuedRequest, to creation: QueuedRequest, in database: Database) throws -> Bool {
        let named = HeaderPlaceholders.entities(in: request.options.headers, model: queue.model)
        if named.contains(where: { $0.set == creation.entitySet && $0.key == creation.key }) { return true }
        guard let table = mapping.tables[request.entitySet] else { return true }
        let row = try BulkLoader(set: table.set, mapping: mapping, in: database).read(request.rowID)
        let entity = row?.merging(request.changes) ?? request.changes
        let made = creation.changes.merging(Entity(shape: creation.changes.shape, key: creation.key))
        return entity.shape.navigationProperties.contains { navigation in
            !navigation.isCollection && !navigation.constraints.isEmpty
                && table.navigation[navigation.name]?.target == creation.entitySet
                && navigation.constraints.allSatisfy { constraint in
                    guard let value = entity[constraint.property], !value.isNull else { return false }
                    return value == made[constraint.referencedProperty]
                }
        }
    }

    /// The properties by which one entity gets a foreign key that one alone may have, and that another one gives up.
    private func foreignKeys(givenBy giver: QueuedRequest, to request: QueuedRequest) -> Set<String> {
        guard giver.entitySet == request.entitySet, let table = mapping.tables[request.entitySet],
            let base = giver.base
        else { return [] }
        let (changes, keys) = (request.changes, mapping.singleForeignKeys(in: request.changes, of: table))
        let given = keys.filter { names in
            names.contains { base[$0] != nil }
                && names.allSatisfy { name in
                    // Null is what the service has by now, where the giver was brought to that.
                    guard let old = base[name], !old.isNull, let value = changes[name] else { return true }
                    return old == value
                }
        }
        return Set(given.joined().filter { changes[$0] != nil })
    }
}
