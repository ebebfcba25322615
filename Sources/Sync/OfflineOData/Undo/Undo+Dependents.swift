import GRDB
import ODataModel
import ODataSQL

/// The treatment of requests that depend on requests which will never be sent.
extension Undo {
    /// Requests that will never be sent, of one row or beside the rows, and their dependents.
    struct Dependents {
        fileprivate let gone: [QueuedRequest]
        /// The requests of the same row that stay.
        fileprivate let rest: [QueuedRequest]
        /// The dependents, the oldest first.
        fileprivate var ids: ArraySlice<Int64>
    }

    /// A request that does not release foreign keys any more, and the requests that were to get them.
    struct Takers {
        /// The properties that the request does not change any more.
        fileprivate let names: Set<String>
        /// The request before this change.
        fileprivate let giver: QueuedRequest
        fileprivate let rest: [QueuedRequest]
        fileprivate var ids: ArraySlice<Int64>
    }

    /// Undoes the changes that are impossible without some requests of one row, or beside the rows. A dependent
    /// entity loses all its changes. A change that takes a foreign key released by these requests loses the key,
    /// and keeps its other values.
    ///
    /// - Parameters:
    ///   - gone: the requests that will never be sent.
    ///   - rest: the requests of the same row that stay. A request that changes no row, such as a call, then
    ///     depends on these alone.
    /// - Throws: ``OfflineError/alreadySent(request:)`` if a request to be undone was sent.
    func undoDependents(
        of gone: [QueuedRequest], leaving rest: [QueuedRequest] = [], in database: Database
    ) throws {
        try work(off: [.dependents(try dependents(of: gone, leaving: rest, in: database))], in: database)
    }

    /// The dependents of requests that will never be sent.
    func dependents(
        of gone: [QueuedRequest], leaving rest: [QueuedRequest] = [], in database: Database
    ) throws -> Dependents {
        let ids = try dependencies.dependents(of: Set(gone.map(\.id)), in: database)
        return Dependents(gone: gone, rest: rest, ids: ids[...])
    }

    /// The requests that were to get foreign keys from a row which keeps them now.
    ///
    /// - Parameters:
    ///   - names: the properties that the request does not change any more.
    ///   - giver: the request before this change.
    ///   - rest: the other requests of its row.
    func takers(
        of names: Set<String>, from giver: QueuedRequest, leaving rest: [QueuedRequest], in database: Database
    ) throws -> Takers {
        let ids = try dependencies.dependents(of: [giver.id], in: database)
        return Takers(names: names, giver: giver, rest: rest, ids: ids[...])
    }

    /// Continues until another row must be undone first.
    func takeBack(_ dependents: Dependents, in database: Database) throws -> [Step] {
        var open = dependents
        while let id = open.ids.popFirst() {
            let steps = try takeBack(id, of: open, in: database)
            if !steps.isEmpty { return [.dependents(open)] + steps }
        }
        return []
    }

    private func takeBack(_ id: Int64, of dependents: Dependents, in database: Database) throws -> [Step] {
        let (gone, rest) = (dependents.gone, dependents.rest)
        // An undo may have removed others.
        guard let request = try queue.request(id, in: database) else { return [] }
        let awaited = gone.filter { request.dependsOn.contains($0.id) }
        if !request.isOfRow, rest.isEmpty {
            try checkUnsent(request)
            return try takeBesideRows(request, in: database)
        }
        // An entity that never existed at the service blocks no key.
        let unmade = Set(gone.filter { $0.kind == .create }.compactMap(\.touchedRow))
        let needed = awaited.filter { other in
            other.kind != .delete || !(other.touchedRow.map(unmade.contains) ?? false)
        }
        if request.isOfRow, try needed.contains(where: { try isNeeded($0, by: request, in: database) }) {
            // All requests of the entity are removed with it.
            for other in try queue.requests(set: request.entitySet, rowID: request.rowID, in: database) {
                try checkUnsent(other)
            }
            let row = RowReference(set: request.entitySet, rowID: request.rowID)
            return [.row(row, parent: nil, keepsRelations: false)]
        }
        try dependencies.set(Set(request.dependsOn).subtracting(gone.map(\.id)), of: id, in: database)
        // The service has never seen a local creation with the foreign key.
        guard request.isOfRow, !gone.contains(where: { $0.kind == .create }),
            !awaited.contains(where: { $0.touchedRow == request.touchedRow })
        else { return [] }
        return try takeBack(givenBy: awaited, from: request, leaving: rest, in: database)
    }

    /// Continues until another row must be undone first.
    func takeBack(_ takers: Takers, in database: Database) throws -> [Step] {
        var open = takers
        let giver = takers.giver
        while let id = open.ids.popFirst() {
            guard let request = try queue.request(id, in: database), request.isOfRow,
                request.touchedRow != giver.touchedRow,
                !foreignKeys(givenBy: giver, to: request).isDisjoint(with: takers.names)
            else { continue }
            try dependencies.set(Set(request.dependsOn).subtracting([giver.id]), of: id, in: database)
            let steps = try takeBack(givenBy: [giver], from: request, leaving: takers.rest, in: database)
            if !steps.isEmpty { return [.takers(open)] + steps }
        }
        return []
    }

    /// Lets a request wait for the entity that releases the foreign key now, or removes the key from the request.
    private func takeBack(
        givenBy givers: [QueuedRequest], from request: QueuedRequest, leaving rest: [QueuedRequest],
        in database: Database
    ) throws -> [Step] {
        let names = givers.reduce(into: Set<String>()) { $0.formUnion(foreignKeys(givenBy: $1, to: request)) }
        guard !names.isEmpty, let last = givers.map(\.id).max() else { return [] }
        let next = rest.first { other in
            other.id > last && (other.kind == .delete || names.contains { other.changes[$0] != nil })
        }
        if let next, try !dependencies.anyWaits([next.id], for: request.id, in: database) {
            let others = try dependencies.dependencies(of: request.id, in: database)
            try dependencies.set(others.union([next.id]), of: request.id, in: database)
            if request.options.changeSet != nil {
                // It may wait for other requests of the same change set, which must be sent with it.
                try dependencies.readAgain(queue.takeIntoCircle(request.id, in: database), in: database)
            }
            return []
        }
        try checkUnsent(request)
        return try Cancelling(undo: self).takeOut(names, of: request, in: database)
    }

    private func checkUnsent(_ request: QueuedRequest) throws {
        guard request.state != .sending else { throw OfflineError.alreadySent(request: request.id) }
    }

    /// Whether a request cannot exist without another one that it depends on.
    private func isNeeded(_ other: QueuedRequest, by request: QueuedRequest, in database: Database) throws -> Bool {
        switch other.kind {
        case .create: try other.entitySet != request.entitySet || refers(request, to: other, in: database)
        case .call, .link, .unlink: true
        // Its key is free only after the former entity with the key is deleted.
        case .delete:
            request.kind == .create && request.entitySet == other.entitySet && request.key == other.key
        case .update, .stream: false
        }
    }

    /// Whether a request refers to a created entity of the same set. Otherwise, it may wait for a foreign key.
    private func refers(_ request: QueuedRequest, to creation: QueuedRequest, in database: Database) throws -> Bool {
        let named = HeaderPlaceholders.entities(in: request.options.headers, model: queue.model)
        if named.contains(where: { $0.set == creation.entitySet && $0.key == creation.key }) { return true }
        guard let table = mapping.tables[request.entitySet] else { return true }
        let row = try BulkLoader(set: table.set, mapping: mapping, in: database).read(request.rowID)
        let entity = row?.merging(request.changes) ?? request.changes
        let made = creation.changes.merging(ODataEntity(shape: creation.changes.shape, key: creation.key))
        return entity.shape.navigationProperties.contains { navigation in
            !navigation.isCollection && !navigation.constraints.isEmpty
                && table.navigation[navigation.name]?.target == creation.entitySet
                && navigation.constraints.allSatisfy { constraint in
                    guard let value = entity[constraint.property], !value.isNull else { return false }
                    return value == made[constraint.referencedProperty]
                }
        }
    }

    /// The properties by which one entity gets a unique foreign key that another one releases.
    private func foreignKeys(givenBy giver: QueuedRequest, to request: QueuedRequest) -> Set<String> {
        guard giver.entitySet == request.entitySet, let table = mapping.tables[request.entitySet],
            let base = giver.base
        else { return [] }
        let (changes, keys) = (request.changes, mapping.singleForeignKeys(in: request.changes, of: table))
        let given = keys.filter { names in
            names.contains { base[$0] != nil }
                && names.allSatisfy { name in
                    // The service has null by now if the release was sent.
                    guard let old = base[name], !old.isNull, let value = changes[name] else { return true }
                    return old == value
                }
        }
        return Set(given.joined().filter { changes[$0] != nil })
    }
}
