import GRDB
import ODataModel
import ODataSQL

/// What the call of an action does to the entity that it is bound to, as far as that is here: it is our own doing, and what
/// waits for the entity is made of it (rule 5).
extension UploadOutcomes {
    /// The next change of the entity that an action is bound to.
    func next(behind call: QueuedRequest, in database: Database) throws -> QueuedRequest? {
        guard let bound = call.boundRow else { return nil }
        return try queue.requests(set: bound.set, rowID: bound.rowID, in: database).first {
            $0.id > call.id && ($0.kind == .update || $0.kind == .delete)
        }
    }

    /// Whether an entity is the one that an action is bound to.
    func isBound(_ call: QueuedRequest, to entity: ODataEntity, in database: Database) throws -> Bool {
        guard let bound = call.boundRow, let table = mapping.tables[bound.set], let key = entity.key,
            isOfType(entity.shape, table.shape.name)
        else { return false }
        return try version(of: bound, table, in: database)?.key == key
    }

    private func isOfType(_ shape: TypeShape, _ name: QualifiedName) -> Bool {
        var type: TypeShape? = shape
        while let current = type {
            if current.name == name { return true }
            type = current.baseType.flatMap { mapping.model.shape($0) }
        }
        return false
    }

    /// The version of a row that the service has, as far as is known here.
    private func version(
        of row: RowReference, _ table: TableStorage, in database: Database
    ) throws -> ODataEntity? {
        try before.image(set: row.set, rowID: row.rowID, shape: table.shape, in: database)?.entity
            ?? BulkLoader(set: row.set, mapping: mapping, in: database).read(row.rowID)
    }

    /// Stores what an action has made of the entity that it is bound to; nothing happens for any other request.
    ///
    /// - Parameters:
    ///   - theirs: the entity as the service has it now. Where that is not known, neither is its ETag: the values tell whether
    ///     the next change meets what it was made of (rule 8).
    ///   - seen: the entity as the service had it before.
    ///   - isRepeated: whether it may have acted long before: nobody can tell then what is its work and what another's.
    func accept(
        call request: QueuedRequest, theirs: ODataEntity?, seen: ODataEntity?, isRepeated: Bool, in database: Database
    ) throws {
        guard let bound = request.boundRow, let table = mapping.tables[bound.set],
            var version = try version(of: bound, table, in: database),
            // Another entity may be in its place by now.
            theirs == nil || theirs?.key == version.key
        else { return }
        let next = try next(behind: request, in: database)
        guard let theirs else {
            try queue.setETag(nil, ofCallsBoundTo: bound, in: database)
            if let next { try queue.setETag(nil, of: next.id, in: database) }
            return
        }
        version = version.merging(try storable(theirs, table, in: database))
        version.control.etag = theirs.control.etag
        try queue.setETag(version.control.etag, ofCallsBoundTo: bound, in: database)
        // Without an ETag, only the values of what waited were compared before: of what is in the archive, others may have
        // changed the same.
        let isMade = !isRepeated || next?.base.map(theirs.matches) ?? true
        if let next, isMade, request.etag != nil || next.failure == nil {
            try put(next, on: version, table, in: database)
        }
        let rest = try queue.requests(set: bound.set, rowID: bound.rowID, in: database)
        if let next, request.etag == nil {
            try advance(rest, behind: next, of: request, seen: seen, to: version, table, in: database)
        }
        let image = try before.image(set: bound.set, rowID: bound.rowID, shape: table.shape, in: database)
        guard rest.isEmpty || image != nil else { return }
        try keep(version, table, rowID: bound.rowID, beneath: rest, owner: image?.owner ?? 0, in: database)
    }

    /// Called again, an action that was refused for another's change, or that may have acted, is called on what the service
    /// has now. One that may have acted may have changed the entity: what waits for that is sent on top, unless the
    /// service has other values than it was made of.
    func fail(
        call request: QueuedRequest, _ state: QueuedRequest.State, _ theirs: ODataEntity, in database: Database
    ) throws {
        let etag = theirs.control.etag
        guard state == .inDoubt, let bound = request.boundRow else {
            return try queue.setETag(etag, of: request.id, in: database)
        }
        try queue.setETag(etag, of: request.id, in: database)
        // Other calls are made on what was seen: only where that is what the service has still.
        if let table = mapping.tables[bound.set],
            try version(of: bound, table, in: database).map(theirs.matches) ?? false
        {
            try queue.setETag(etag, ofCallsBoundTo: bound, in: database)
        }
        guard let next = try next(behind: request, in: database), next.base.map(theirs.matches) ?? true else { return }
        try queue.setETag(etag, of: next.id, in: database)
    }

    /// Puts a call on top of the service's version, to be sent again. Without an ETag, it was the next change that told of
    /// the conflict, which goes along.
    func rebase(call request: QueuedRequest, onto theirs: ODataEntity, in database: Database) throws {
        try queue.setETag(theirs.control.etag, of: request.id, in: database)
        try queue.markPending(request.id, forgetsIdentification: true, in: database)
        guard request.etag == nil, let next = try next(behind: request, in: database),
            let table = mapping.tables[next.entitySet]
        else { return }
        try put(next, on: theirs, table, in: database)
    }

    /// Makes a change that waits one of a version that the service has.
    func put(
        _ next: QueuedRequest, on version: ODataEntity, _ table: TableStorage, in database: Database
    ) throws {
        let base = next.kind == .update ? version.only(where: { next.changes[$0] != nil }) : version
        try queue.rewrite(
            next.id, key: ODataEntity(shape: table.shape, key: next.key), changes: next.changes, base: base,
            in: database)
        try queue.setETag(version.control.etag, of: next.id, in: database)
    }

    /// Makes the changes that wait behind one which no ETag guarded ones of what the service has now, as far as that is known
    /// to be our own work: what it changed itself, and what was still as they were made of when the service was asked before
    /// (rule 8). What others have done meanwhile differs from what they were made of, and they meet it when they are sent.
    ///
    /// - Parameters:
    ///   - rest: the requests of the row, in order.
    ///   - next: the one of them that has been made one of the version already; those behind it follow.
    ///   - request: what the service has taken. All of what it created is our own.
    ///   - seen: the entity as the service had it before; `nil` where it was not asked.
    func advance(
        _ rest: [QueuedRequest], behind next: QueuedRequest? = nil, of request: QueuedRequest, seen: ODataEntity?,
        to version: ODataEntity, _ table: TableStorage, in database: Database
    ) throws {
        var isFirst = next == nil
        // What a waiting change has made of a property is what the ones behind it were made of.
        var changed = next?.changes.loadedProperties ?? []
        for waiting in rest where waiting.kind == .update || waiting.kind == .delete {
            if let next, waiting.id <= next.id { continue }
            defer {
                isFirst = false
                changed.formUnion(waiting.changes.loadedProperties)
            }
            guard let old = waiting.base else { continue }
            var base = old
            for name in old.loadedProperties where !changed.contains(name) {
                guard let value = version[name] else { continue }
                let before = request.changes[name] ?? seen?[name]
                if request.kind == .create || (before != nil && before == old[name]) { base[name] = value }
            }
            if base != old {
                try queue.rewrite(
                    waiting.id, key: ODataEntity(shape: table.shape, key: waiting.key), changes: waiting.changes,
                    base: base, in: database)
            }
            guard isFirst, let etag = version.control.etag, version.matches(base) else { continue }
            try queue.setETag(etag, of: waiting.id, in: database)
        }
    }

    /// Keeps the version of a row that the service has now, with what still waits for the row on top.
    func keep(
        _ version: ODataEntity, _ table: TableStorage, rowID: Int64, beneath rest: [QueuedRequest], owner: Int64,
        in database: Database
    ) throws {
        let etag = version.control.etag
        let loader = try BulkLoader(set: table.set, mapping: mapping, in: database)
        guard !rest.isEmpty else {
            try before.remove(set: table.set, rowID: rowID, in: database)
            try loader.update(rowID, version)
            return try Rows.setETag(etag, table, rowID: rowID, in: database)
        }
        try before.save(
            BeforeImages.Image(entity: version, etag: etag, owner: owner), set: table.set, rowID: rowID, in: database)
        guard try Rows.owner(table, rowID: rowID, in: database) != nil else { return }
        try loader.update(rowID, rest.reduce(version) { $0.merging($1.changes) })
    }
}
